"""Findings about released code: every witness shows its entry, with the known values."""

from __future__ import annotations

import pytest

from shuffledp.pipeline.claims import errata_data
from shuffledp.pipeline.papers.comparison.witnesses import _bins_delta, _criterion, _searched

WITNESSES = errata_data.witnesses("comparison")
ENTRIES = [*errata_data.errata("comparison"), *errata_data.reading_notes("comparison")]


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.id for entry in ENTRIES])
def test_every_entry_is_shown(entry):
    assert entry.shown_by(entry.compute())


def test_the_search_finds_what_it_finds_where_nothing_overflows():
    """The reference table has found and exact mu; if the code ends at 1,000, the exact sums need more."""
    assert _searched(10**5, 1.0, 1e-6, 1000.0) == pytest.approx(55.499, abs=0.1)
    assert _searched(10**5, 0.2, 1e-10, 4000.0) == pytest.approx(2007.4, abs=0.2)
    assert _searched(5000, 0.2, 1e-8, 2500.0) == pytest.approx(1213, abs=1)
    assert _bins_delta(10**5, 42.664, 1.0) == pytest.approx(1e-6, rel=2e-4)
    assert _bins_delta(10**5, 1572.9, 0.2) == pytest.approx(1e-10, rel=2e-3)
    assert _criterion(10**5, 1000.0, 0.2) > 1e-10


def test_the_largest_deltas_of_the_table_of_dummies_are_told():
    assert "1.2e-07 to 2.8e-07" in WITNESSES["table_of_dummies"]().note
