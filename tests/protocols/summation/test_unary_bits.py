"""Randomized bits: the bound against enumeration, and the published rate against the exact one."""

from __future__ import annotations

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
