"""Findings about released code: every witness shows its entry, with the known values."""

from __future__ import annotations

import pytest

from shuffledp.pipeline.papers.comparison.witnesses import _bins_delta, _criterion, _searched


def test_search_reproduces_the_reference_table():
    """The reference table has found and exact mu; if the code ends at 1,000, the exact sums need more."""
    assert _searched(10**5, 1.0, 1e-6, 1000.0) == pytest.approx(55.499, abs=0.1)
    assert _searched(10**5, 0.2, 1e-10, 4000.0) == pytest.approx(2007.4, abs=0.2)
    assert _searched(5000, 0.2, 1e-8, 2500.0) == pytest.approx(1213, abs=1)
    assert _bins_delta(10**5, 42.664, 1.0) == pytest.approx(1e-6, rel=2e-4)
    assert _bins_delta(10**5, 1572.9, 0.2) == pytest.approx(1e-10, rel=2e-3)
    assert _criterion(10**5, 1000.0, 0.2) > 1e-10
