import math

import mpmath as mp
import pytest

from shuffledp.numerics import (
    log_binomial_pmf,
    log_poisson_pmf,
)
from shuffledp.numerics.logs import log1mexp


@pytest.mark.parametrize("x", [1e-300, 1e-17, 1e-3, 0.69, 0.7, 5.0, 36.0, 37.0, 40.0, 100.0, 700.0])
def test_log1mexp_matches_fifty_digits(x):
    with mp.workdps(50):
        want = float(mp.log(-mp.expm1(-mp.mpf(x))))
    assert float(log1mexp(x)) == pytest.approx(want, rel=1e-15)
    assert log1mexp([0.0, x]).tolist() == [-math.inf, float(log1mexp(x))]


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.3), (7, 0.5), (40, 1e-3), (10**5, 0.2), (10**8, 0.018), (10**6, 0.999)]
)
def test_log_binomial_pmf_matches_forty_digits(n, p):
    spread = math.sqrt(n * p * (1 - p))
    for x in {0, n, *(min(n, max(0, round(n * p + z * spread))) for z in (-8, -1, 0, 0.5, 6))}:
        with mp.workdps(40):
            want = float(
                mp.loggamma(n + 1)
                - mp.loggamma(x + 1)
                - mp.loggamma(n - x + 1)
                + x * mp.log(mp.mpf(p))
                + (n - x) * mp.log(1 - mp.mpf(p))
            )
        assert log_binomial_pmf(x, n, p) == pytest.approx(want, rel=1e-13, abs=1e-12)


@pytest.mark.parametrize("mean", [0.01, 3.0, 15.5, 1e4, 1e8])
def test_log_poisson_pmf_matches_forty_digits(mean):
    for z in (-5, 0, 2):
        x = max(0, round(mean + z * math.sqrt(mean)))
        with mp.workdps(40):
            want = float(x * mp.log(mp.mpf(mean)) - mp.mpf(mean) - mp.loggamma(x + 1))
        assert log_poisson_pmf(x, mean) == pytest.approx(want, rel=1e-13, abs=1e-12)
