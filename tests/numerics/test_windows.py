import math

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from references.laws import log_binomial, log_negative_binomial, log_poisson
from shuffledp.numerics import (
    Window,
    binomial_window,
    negative_binomial_window,
    poisson_window,
    thin,
)


@pytest.mark.parametrize("tail", [1e-6, 1e-30, 1e-300])
@pytest.mark.parametrize(
    "n, p", [(0, 0.5), (5, 0.0), (5, 1.0), (12, 0.4), (10**6, 1e-5), (50000, 0.3), (4000, 0.9999)]
)
def test_binomial_window_is_accurate(n, p, tail):
    """The mass that the window omits is at most the stated one."""
    window = binomial_window(n, p, tail)
    middle = window.start + window.pmf.size // 2
    for x in {window.start, middle, window.stop - 1}:
        with mp.workdps(40):
            want = float(mp.exp(log_binomial(x, n, p))) if 0 < p < 1 else 1.0
        assert window.pmf[x - window.start] == pytest.approx(want, rel=1e-10, abs=1e-307)
    assert math.fsum(window.pmf) == pytest.approx(1, abs=window.omitted + 1e-11)
    if tail == 1e-6 and window.omitted > 0:
        assert 1 - math.fsum(window.pmf) <= window.omitted
        assert 0 <= window.start < n * p < window.stop <= n + 1


@pytest.mark.parametrize("tail", [1e-6, 1e-30])
@pytest.mark.parametrize("shape, decay", [(0.3, 0.2), (1.0, 1e-3), (25.0, 0.05), (1e6, 10.0), (4.0, 8.0)])
def test_negative_binomial_window_is_accurate(shape, decay, tail):
    """The mass that the window omits is at most the stated one."""
    window = negative_binomial_window(shape, decay, tail, 2**20)
    with mp.workdps(40):
        p = mp.exp(-mp.mpf(decay))
        for x in {window.start, window.start + window.pmf.size // 2, window.stop - 1}:
            want = mp.exp(log_negative_binomial(x, shape, p))
            assert window.pmf[x - window.start] == pytest.approx(float(want), rel=1e-9)
    assert 1 - math.fsum(window.pmf) <= window.omitted + 1e-11
    assert window.omitted <= 2 * tail
    assert negative_binomial_window(shape, decay, tail, 8) is None


@pytest.mark.parametrize("mean", [0.0, 0.3, 20.0, 1e5])
def test_poisson_window_is_accurate(mean):
    window = poisson_window(mean, 1e-20)
    for x in {window.start, window.start + window.pmf.size // 2, window.stop - 1}:
        with mp.workdps(40):
            want = float(mp.exp(log_poisson(x, mean))) if mean else 1.0
        assert window.pmf[x - window.start] == pytest.approx(want, rel=1e-10)
    assert math.fsum(window.pmf) == pytest.approx(1, abs=1e-11)


@pytest.mark.parametrize("length", [1, 2, 47, 48, 49, 96, 97, 300])
@pytest.mark.parametrize("rate", [0.0, 1e-12, 0.02, 0.6, 1 - 1e-9, 1.0])
def test_thin_treats_any_length_alike(length, rate):
    """Windows are compared with one row at a time; the relative error and the omitted mass are small."""
    pmf = np.random.default_rng(length).dirichlet(np.full(length, 0.3))
    pmf[length // 2] = 0.0
    thinned = thin(Window(30, pmf, 0.125), rate, 1e-40)
    want = np.zeros(30 + length)
    for n, weight in enumerate(pmf, 30):
        row = binomial_window(n, rate, 1e-60)
        want[row.start : row.stop] += weight * row.pmf
    got = np.zeros(30 + length)
    got[thinned.start : thinned.stop] = thinned.pmf
    assert_allclose(got, want, rtol=1e-11, atol=1e-38)
    assert 0.125 <= thinned.omitted <= 0.125 + 1e-38


def test_thinned_long_window_is_complete():
    thinned = thin(poisson_window(4e4, 1e-25), 1e-4, 1e-25)
    assert math.fsum(thinned.pmf) == pytest.approx(1, abs=1e-10)
    assert float(thinned.pmf @ thinned.support) == pytest.approx(4.0, rel=1e-9)
    assert thinned.omitted < 1e-20
