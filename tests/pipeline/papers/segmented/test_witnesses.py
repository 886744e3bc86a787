"""The errata of the segmented paper: every witness shows its erratum, and the values are the known ones."""

from __future__ import annotations

from functools import cache

import pytest
from numpy.testing import assert_allclose

from shuffledp.pipeline.claims import errata_data, review

ERRATA = errata_data.errata("segmented")
ALL = [*ERRATA, *errata_data.reading_notes("segmented")]


@cache
def witness_of(key):
    """Computed once, and not by every process that collects the tests."""
    return next(erratum for erratum in ALL if erratum.id == key).compute()


def test_errata_are_complete_and_in_order():
    main, details = [f"SEG-6.{i}" for i in (1, 2, 3)], [f"SEG-6.4.{i}" for i in range(1, 11)]
    assert list(review.verdicts("segmented")) == [*main, *details]
    assert {e.id for e in ERRATA if e.effect == "unsafe"} == {"SEG-6.1", "SEG-6.2"}


@pytest.mark.parametrize("erratum", ALL, ids=lambda e: e.id)
def test_witness_shows_its_erratum(erratum):
    witness = witness_of(erratum.id)
    assert erratum.shown_by(witness), witness
    assert witness.quantity and witness.note


@pytest.mark.parametrize(
    ("key", "printed", "correct", "rtol"),
    [
        ("SEG-6.1", 3.0327e-7, 3200 * 3.0327e-7, 0.02),
        ("SEG-6.2", 0.01092, 0.02968, 4e-4),
        ("SEG-6.3", 6.80, 6.80 / 4.138, 5e-4),
        ("SEG-6.4.5", 6.80, 0.596, 1e-3),
        ("SEG-N6.4.8", 4, 17.2, 3e-3),
        ("SEG-N6.4.9", 2.1e-5, 2.7e-5, 0.01),
    ],
)
def test_witness_values_are_the_known_ones(key, printed, correct, rtol):
    witness = witness_of(key)
    assert_allclose([witness.printed, witness.correct], [printed, correct], rtol=rtol)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("SEG-6.1", ["1.99: 1.72", "2: 643", "0.092786", "0.132920"]),
        ("SEG-6.3", ["1.5e-17", "8.25"]),
        ("SEG-6.4.5", ["6.8, 1.95, 0.596", "best m is 1.95"]),
        ("SEG-N6.4.8", ["7.12", "4.49 and 1.81"]),
    ],
)
def test_notes_hold_the_known_numbers(key, words):
    note = witness_of(key).note
    assert all(word in note for word in words), note
