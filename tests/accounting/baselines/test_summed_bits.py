"""Two sums of randomized bits: the bound is above delta of every data set, but hardly above the largest delta."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp.accounting import rappor_delta
from shuffledp.accounting.baselines.summed_bits import summed_bits_delta

OMITTED = 1e-25


def pair(others, p, ones):
    """Return the laws of a sum with and without the victim's bit if `ones` of the others have bit 1."""
    law = np.convolve(
        binom.pmf(np.arange(ones + 1), ones, 1 - p),
        binom.pmf(np.arange(others - ones + 1), others - ones, p),
    )
    return np.convolve(law, [p, 1 - p]), np.convolve(law, [1 - p, p])


def divergence(first, second, eps):
    return np.maximum(first - math.exp(eps) * second, 0).sum()


def of_data_set(others, p, eps, first, second):
    """Return delta of two sums; `first` and `second` are their numbers of ones, and the second sum is reversed."""
    (p0, q0), (p1, q1) = pair(others, p, first), pair(others, p, second)
    return divergence(np.outer(p0, p1), np.outer(q0, q1), eps)


@pytest.mark.parametrize("others, p", [(1, 0.1), (3, 0.2), (7, 0.05), (12, 0.3), (16, 0.02)])
@pytest.mark.parametrize("eps", [0.0, 0.1, 0.5, 1.0, 2.0])
def test_no_data_set_loses_more(others, p, eps):
    bound = summed_bits_delta(others, p, eps, OMITTED)
    everything = range(others + 1)
    worst = max(of_data_set(others, p, eps, a, c) for a in everything for c in everything)
    assert worst <= bound * (1 + 1e-9) + 1e-15


def test_fourier_sums_stay_above_exact():
    users, eps_bit, eps = 10**7, 4.0, 0.0152
    p = 1 / (1 + math.exp(eps_bit))
    known = rappor_delta(users, p, eps, calibration="worst_case")
    assert known < summed_bits_delta(users - 1, p, eps, 1e-20) < 1.05 * known
