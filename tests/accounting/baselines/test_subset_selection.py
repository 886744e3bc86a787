"""Subset selection: its blanket by enumeration and against the accountant's, and the best size."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting import SubsetSelection, blanket_local_budget, blanket_randomizer_delta
from shuffledp.protocols.frequency.subset_selection import SubsetReport, subset_delta, subset_report


@pytest.mark.parametrize(("k", "d"), [(4, 1), (4, 2), (5, 3), (2, 1)])
def test_rates_are_those_of_all_subsets(k: int, d: int) -> None:
    report = SubsetReport(k, d, 1.3)
    subsets = list(itertools.combinations(range(k), d))
    weights = np.array([math.exp(1.3) if 0 in subset else 1.0 for subset in subsets])
    weights /= weights.sum()
    one, other = (sum(w for s, w in zip(subsets, weights, strict=True) if v in s) for v in (0, 1))
    assert_allclose([report.own_rate, report.other_rate], [one, other], rtol=1e-13)
    assert report.match_rate == pytest.approx(np.mean([0 in s for s in subsets]))
    assert report.both_rate == pytest.approx(np.mean([0 in s and 1 in s for s in subsets]))


@pytest.mark.parametrize(("k", "d"), [(4, 2), (5, 3), (6, 1)])
def test_the_blanket_is_that_of_the_accountant(k: int, d: int) -> None:
    """Which adds up losses on a fine grid, for any randomizer."""
    for n, eps in [(2, 0.4), (60, 0.5)]:
        got = subset_delta(eps, n, SubsetReport(k, d, 1.5))
        want = blanket_randomizer_delta(SubsetSelection(1.5, k, d), n, eps)
        assert_allclose(got, want, rtol=2e-3)


def test_single_values_are_best_unless_there_are_very_many() -> None:
    few = subset_report(10**5, 100, 1.0, 1e-8)
    assert few.size == 1
    assert few.eps_local == blanket_local_budget(10**5, 100, 1.0, 1e-8)
    assert few.mse(10**5) * 1e10 == pytest.approx(118.2, abs=0.05)  # k-RR in the specification
    many = subset_report(10**4, 5000, 0.2, 1e-6)
    assert many.size > 1
    others = [subset_report(10**4, 5000, 0.2, 1e-6, size=d).mse(10**4) for d in (1, many.size + 2)]
    assert many.mse(10**4) < min(others)
    assert subset_delta(0.2, 10**4, many) <= 1e-6
    wider = SubsetReport(5000, many.size, many.eps_local * (1 + 1e-5))
    assert subset_delta(0.2, 10**4, wider) > 1e-6


@pytest.mark.parametrize("size", [0, 4, 7])
def test_impossible_sizes_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match="size must be"):
        subset_report(100, 4, 1.0, 1e-3, size=size)
