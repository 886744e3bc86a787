"""Randomized bits: the bound against enumeration, and the published rate against the exact one."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp.accounting.baselines.bit_sums import bit_sum_rate
from shuffledp.accounting.general.dummy_blanket import blanket_rate
from shuffledp.accounting.general.grr_blanket import blanket_local_budget
from shuffledp.protocols.summation.unary_bits import unary_bits_delta, unary_bits_rate


def ones(level, bits, rate):
    """Return the law of the ones among the randomized bits of a level."""
    kept = binom.pmf(np.arange(level + 1), level, 1 - rate / 2)
    return np.convolve(kept, binom.pmf(np.arange(bits - level + 1), bits - level, rate / 2))


def true_delta(n, bits, rate, eps):
    """Return the largest delta over all data sets and pairs of levels."""
    laws, worst = [ones(level, bits, rate) for level in range(bits + 1)], 0.0
    for others in combinations_with_replacement(range(bits + 1), n - 1):
        crowd = np.ones(1)
        for level in others:
            crowd = np.convolve(crowd, laws[level])
        seen = [np.convolve(crowd, law) for law in laws]
        sticks = [np.maximum(a - math.exp(eps) * b, 0).sum() for a in seen for b in seen]
        worst = max(worst, max(sticks))
    return worst


@pytest.mark.parametrize(("n", "bits"), [(1, 1), (1, 3), (2, 1), (4, 2), (3, 3)])
@pytest.mark.parametrize("rate", [0.1, 0.6])
@pytest.mark.parametrize("eps", [0.0, 0.5, 1.5])
def test_the_bound_holds_and_is_exact_for_a_lone_user(n, bits, rate, eps):
    bound, truth = unary_bits_delta(eps, n, bits, rate), true_delta(n, bits, rate, eps)
    assert truth <= bound * (1 + 1e-12)
    if n == 1:
        assert bound == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize(("n", "bits", "eps", "delta"), [(1, 2, 1.0, 1e-3), (100, 4, 1.0, 1e-3)])
def test_the_rate_meets_the_budget_and_no_smaller_one_does(n, bits, eps, delta):
    rate = unary_bits_rate(n, bits, eps, delta)
    assert unary_bits_delta(eps, n, bits, rate) <= delta * (1 + 1e-9)
    assert unary_bits_delta(eps, n, bits, rate * (1 - 1e-4)) > delta


@pytest.mark.parametrize("n", [2, 60, 10**4, 10**6])
@pytest.mark.parametrize("eps", [0.05, 1.0, 4.0])
@pytest.mark.parametrize("delta", [1e-2, 1e-8])
def test_the_published_rate_was_above_the_exact_one_wherever_it_was_compared(n, eps, delta):
    exact = blanket_rate(2, blanket_local_budget(n, 2, eps, delta))
    assert exact <= bit_sum_rate(n, eps, delta) < 1
