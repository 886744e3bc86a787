"""Errata of the segmented paper: every witness shows its erratum, with the known values."""

from __future__ import annotations

from functools import cache

import pytest

from shuffledp.pipeline.claims import errata_data, review

ERRATA = errata_data.errata("segmented")
ALL = [*ERRATA, *errata_data.reading_notes("segmented")]


@cache
def witness_of(key):
    """Return a witness, which is computed once per process, at the first use by a test."""
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
