import math

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from references.laws import binomial, log_binomial
from shuffledp.numerics import binomial_upper_tail, tails


def test_binomial_upper_tail_matches_sums():
    x = np.arange(-2, 14)
    with mp.workdps(40):
        law = binomial(11, 0.3)
        want = [float(mp.fsum(law[i] for i in range(max(0, k), 12))) for k in x]
    assert_allclose(binomial_upper_tail(x, 11, 0.3), want, rtol=1e-13, atol=0)
    assert binomial_upper_tail(1, 0, 0.5) == 0.0
    assert binomial_upper_tail(0, 0, 0.5) == 1.0


def summed_half_tail(n, x):
    """Return Pr[Bin(n, 1/2) >= x] by the sum of its terms, whose ratios are (n - i) / (i + 1)."""
    if 2 * x < n:
        return 1 - summed_half_tail(n, n - x + 1)
    i = np.arange(x, min(n, x + 30 * math.isqrt(n)), dtype=np.longdouble)
    with mp.workdps(40):
        first = mp.exp(log_binomial(x, n, 0.5))
    return float(first) * float(1 + np.sum(np.cumprod((n - i) / (i + 1))))


@pytest.mark.parametrize("trials", [100_001, 4 * 10**9])
def test_fair_coin_tails_match_sums(trials):
    deviations = np.array([-9, -1.5, -1e-3, 0, 1e-3, 1, 4, 12, 30])
    x = np.floor(trials / 2 + deviations * np.sqrt(trials) / 2).astype(int)
    want = [summed_half_tail(trials, int(k)) for k in x]
    assert_allclose(binomial_upper_tail(x, trials, 0.5), want, rtol=3e-13, atol=0)


@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.3, 0.5, 0.999])
def test_many_binomial_probabilities_equal_single_ones(rate):
    rng = np.random.default_rng(5)
    trials = rng.integers(1, 10 ** rng.integers(1, 8, 500))
    x = np.concatenate((rng.binomial(trials, rate), rng.integers(0, trials + 1), trials, 0 * trials))
    trials = np.tile(trials, 4)
    one = [tails.log_binomial_pmf(int(a), int(n), rate) for a, n in zip(x, trials, strict=True)]
    assert_array_equal(tails.log_binomial_pmfs(x.astype(float), trials.astype(float), rate), one)
