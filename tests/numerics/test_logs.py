import math

import mpmath as mp
import pytest

from shuffledp.numerics.logs import log1mexp


@pytest.mark.parametrize("x", [1e-300, 1e-17, 1e-3, 0.69, 0.7, 5.0, 36.0, 37.0, 40.0, 100.0, 700.0])
def test_log1mexp_matches_fifty_digits(x):
    with mp.workdps(50):
        want = float(mp.log(-mp.expm1(-mp.mpf(x))))
    assert float(log1mexp(x)) == pytest.approx(want, rel=1e-15)
    assert log1mexp([0.0, x]).tolist() == [-math.inf, float(log1mexp(x))]
