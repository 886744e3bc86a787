import mpmath as mp
import numpy as np
from numpy.testing import assert_allclose

from shuffledp.numerics import (
    binomial_upper_tail,
)


def exact_binomial(n, p, x):
    with mp.workdps(40):
        return mp.binomial(n, x) * mp.mpf(p) ** x * (1 - mp.mpf(p)) ** (n - x)


def test_binomial_upper_tail_matches_sums_and_handles_the_ends():
    x = np.arange(-2, 14)
    want = [float(sum(exact_binomial(11, 0.3, i) for i in range(max(0, k), 12))) for k in x]
    assert_allclose(binomial_upper_tail(x, 11, 0.3), want, rtol=1e-13, atol=0)
    assert binomial_upper_tail(1, 0, 0.5) == 0.0
    assert binomial_upper_tail(0, 0, 0.5) == 1.0
