"""Errata and reading notes on random populations: every witness shows its entry, with the known values."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting import log_gaussian_delta
from shuffledp.pipeline.claims import errata_data, evaluation, review
from shuffledp.pipeline.papers.random_population import multi_message_witnesses, witnesses

PAPER = "random_population"
ERRATA = errata_data.errata(PAPER)
NOTES = errata_data.reading_notes(PAPER)
ALL = [*ERRATA, *NOTES]


def by_id(key: str) -> errata_data.Erratum | errata_data.ReadingNote:
    return next(e for e in ALL if e.id == key)


def test_errata_are_complete_and_in_order():
    assert PAPER in errata_data.papers()
    assert list(review.verdicts(PAPER)) == [f"RP-E{i}" for i in range(1, 29)]
    assert [n.id for n in NOTES] == [f"RP-N{i}" for i in (2, 3, 5, 6, 9, 10, 11, 26)]
    assert {e.effect for e in ERRATA} <= set(errata_data.EFFECTS)


@pytest.mark.parametrize("erratum", ALL, ids=lambda e: e.id)
def test_witness_shows_its_erratum(erratum):
    witness = erratum.compute()
    assert witness.shows, witness
    assert erratum.shown_by(witness), witness
    assert witness.quantity and witness.note


@pytest.mark.parametrize("erratum", ALL, ids=lambda e: e.id)
def test_swapped_values_are_caught(erratum, monkeypatch):
    witness = erratum.compute()
    swapped = dataclasses.replace(witness, printed=witness.correct, correct=witness.printed)
    monkeypatch.setitem(errata_data.witnesses(PAPER), erratum.witness, lambda: swapped)
    changed = next(
        e for e in (*errata_data.errata(PAPER), *errata_data.reading_notes(PAPER)) if e.id == erratum.id
    )
    name = "reading_notes" if isinstance(changed, errata_data.ReadingNote) else "errata"
    only = dataclasses.replace(evaluation.LAYOUTS[name], entries=lambda paper: [changed])
    monkeypatch.setitem(evaluation.LAYOUTS, name, only)
    with pytest.raises(errata_data.ErratumError, match=rf"{erratum.id} \({erratum.witness}\)"):
        evaluation.evaluate(PAPER, name, checked=True)
    assert not evaluation.evaluate(PAPER, name)["shown"].any()


@pytest.mark.parametrize(
    ("key", "printed", "correct", "rtol"),
    [
        ("RP-E1", None, 8827, 1e-4),
        ("RP-N3", 0.20296, None, 3e-5),
        ("RP-E4", 3, 14, 6e-3),
        ("RP-N10", 1e-5, 3.0e-5, 1e-3),
        ("RP-E14", -1 / (math.e**2 - 1), 1, 1e-12),
        ("RP-E15", 0, 3780, 0),
        ("RP-E16", 5e-6, 1.7e-4, 0.03),
        ("RP-E17", 5e-6, 0.5, 1e-9),
        ("RP-E18", 1e10, None, 1e-9),
        ("RP-E19", None, 5e-6, 1e-6),
        ("RP-E21", math.exp(-(((8 - 0.02) / 2) ** 2) / 2), 4.95e-4, 1e-3),
        ("RP-E22", 1e-5, 1e-3, 1e-6),
        ("RP-E23", 2 * math.exp(-((6.5 - 1 / 6.5) ** 2) / 2), 1.541e-7, 1e-3),
        ("RP-E24", None, 5e-6, 1e-9),
        ("RP-E25", 5e-6, (1 + math.exp(0.5)) ** (1 - math.log(2)) * 5e-6 ** math.log(2), 1e-9),
        ("RP-E26", 2 * math.exp(-2 * 16), 4.1e-5, 0.02),
        ("RP-N26", 8.03e-5, 1, 1e-3),
        ("RP-E28", 48841, 48842, 0),
    ],
)
def test_witness_values_are_the_known_ones(key, printed, correct, rtol):
    witness = by_id(key).compute()
    if printed is not None:
        assert_allclose(witness.printed, printed, rtol=rtol, atol=1e-300)
    if correct is not None:
        assert_allclose(witness.correct, correct, rtol=rtol)


def test_sum_of_discrete_gaussians_is_nearly_one():
    exact = multi_message_witnesses._sum_delta(4, 5.0, 10, 2.0)
    pmf = multi_message_witnesses._noise_pmf(4, 5.0)
    x = np.arange(pmf.size) - pmf.size // 2
    assert_allclose([pmf.sum(), pmf @ x, pmf @ x**2], [1, 0, 100], atol=1e-9)
    assert_allclose(exact, math.exp(log_gaussian_delta(1.0, 2.0)), rtol=0.01)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_leftover_is_the_sum_of_lemma_4(n):
    terms = [math.exp(-2 * math.pi**2 * 0.25 * k / (k + 1)) for k in range(1, n)]
    assert_allclose(multi_message_witnesses._leftover(n, 0.5), sum(terms), rtol=1e-12)


def test_limit_of_theorem_3_with_two_deltas():
    assert_allclose(witnesses.theorem3_limit(5000, 0.5, 1e-3), 8826.57, atol=0.005)
    assert_allclose(witnesses.theorem3_limit(5000, 0.5, 1e-3, 1e-4), 8711.92, atol=0.005)
    assert witnesses.theorem3_limit(5000, 0.5, 1e-4) < 0
