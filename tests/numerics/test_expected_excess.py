"""Expected excess of sums over thresholds: above the closed form for binomial sums, and close to it."""

import numpy as np
from scipy.stats import binom

from shuffledp.numerics.expected_excess import chernoff_excess, expected_excesses
from shuffledp.numerics.sum_excess import Summands


def test_one_contour_bounds_many_thresholds():
    n, rate = 400, 0.3
    thresholds = np.arange(0.0, 60.0, 2.5)
    summands = Summands(np.array([1 - rate, -rate]), np.array([rate, 1 - rate]), n)
    j = np.arange(n + 1)
    sums = np.maximum(j - n * rate - thresholds[:, None], 0) @ binom.pmf(j, n, rate)
    found = expected_excesses(summands, thresholds, gap=1e-3)
    there = ~np.isnan(found)
    assert there[:4].all()
    assert np.all(found[there] >= sums[there] * (1 - 1e-9))
    assert np.all(found[there] <= sums[there] * 1.003)
    assert sums[0] <= chernoff_excess(summands) <= 10 * sums[0]
