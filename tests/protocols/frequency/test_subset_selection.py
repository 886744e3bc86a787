"""Subset selection: the messages, and the law of the counts."""

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting import SubsetSelection, blanket_local_budget, blanket_randomizer_delta
from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.protocols.conformance import Case, check_cost, check_one_law, check_unbiased, check_variance
from shuffledp.protocols.frequency.subset_selection import SubsetReport, subset_delta, subset_report
from shuffledp.tasks import Budget, Frequency


@pytest.mark.parametrize("k, size, counts", [(5, 2, (20, 0, 1, 9, 0)), (12, 7, (9, *[1] * 11))])
def test_subsets_of_several_values_conform(k, size, counts):
    """For (12, 7) there are too many subsets to list."""
    protocol = get("frequency", "subset_selection")
    options = (("size", size),)
    case = Case(Budget(2.0, 0.05), Fixed(sum(counts) - 1), Frequency(k), "exact", counts, options)
    checks = (check_cost, check_unbiased, check_variance, *((check_one_law,) if k == 5 else ()))
    for check in checks:
        check(protocol, [case])


# -- calibration --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k, d", [(4, 1), (4, 2), (5, 3), (2, 1)])
def test_rates_are_those_of_all_subsets(k, d):
    report = SubsetReport(k, d, 1.3)
    subsets = list(itertools.combinations(range(k), d))
    weights = np.array([math.exp(1.3) if 0 in subset else 1.0 for subset in subsets])
    weights /= weights.sum()
    one, other = (sum(w for s, w in zip(subsets, weights, strict=True) if v in s) for v in (0, 1))
    assert_allclose([report.own_rate, report.other_rate], [one, other], rtol=1e-13)
    assert report.match_rate == pytest.approx(np.mean([0 in s for s in subsets]))
    assert report.both_rate == pytest.approx(np.mean([0 in s and 1 in s for s in subsets]))


@pytest.mark.parametrize("k, d", [(4, 2), (5, 3), (6, 1)])
def test_blanket_is_that_of_accountant(k, d):
    """The accountant adds losses on a fine grid, for any randomizer."""
    for n, eps in [(2, 0.4), (60, 0.5)]:
        got = subset_delta(eps, n, SubsetReport(k, d, 1.5))
        want = blanket_randomizer_delta(SubsetSelection(1.5, k, d), n, eps)
        assert_allclose(got, want, rtol=2e-3)


def test_single_values_are_usually_best():
    few = subset_report(10**5, 100, 1.0, 1e-8)
    assert few.size == 1
    assert few.eps_local == blanket_local_budget(10**5, 100, 1.0, 1e-8)
    many = subset_report(10**4, 5000, 0.2, 1e-6)
    assert many.size > 1
    others = [subset_report(10**4, 5000, 0.2, 1e-6, size=d).mse(10**4) for d in (1, many.size + 2)]
    assert many.mse(10**4) < min(others)
    assert subset_delta(0.2, 10**4, many) <= 1e-6
    wider = SubsetReport(5000, many.size, many.eps_local * (1 + 1e-5))
    assert subset_delta(0.2, 10**4, wider) > 1e-6


@pytest.mark.parametrize("k, size, mse", [(1_024, 7, 26.293), (22_000, 148, 27.271)])
def test_errors_of_local_subsets(k, size, mse):
    assert SubsetReport(k, size, 5.0).mse(1_000) * 1e6 == pytest.approx(mse, rel=3e-5)
