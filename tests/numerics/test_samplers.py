"""Samplers of integer noise against their probability mass functions.

Seeds are fixed. Each chi-square test rejects a correct sampler with probability 1e-6 per seed; moments may differ by
five standard errors (6e-7).
"""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import hypergeom, nbinom

from drawn_numbers import follow
from shuffledp.numerics import (
    discrete_gaussian,
    discrete_gaussian_pmf,
    discrete_gaussian_variance,
    polya_difference,
    samplers,
    two_sided_geometric,
)

DRAWS = 200_000


def rng(seed=0):
    return np.random.default_rng([20230215, seed])


def assert_moments(drawn, variance):
    """Check that the mean is 0 and the variance as given, within five standard errors."""
    x = drawn.astype(float)
    assert abs(x.mean()) <= 5 * math.sqrt(variance / x.size)
    spread = np.sqrt(max(np.mean(x**4) - np.mean(x**2) ** 2, 0) / x.size)
    assert abs(np.mean(x**2) - variance) <= 5 * spread + 1e-12


@pytest.mark.parametrize("sigma", [0.05, 0.3, 0.999, 1.0, 2.0, 60.0])
def test_discrete_gaussian_follows_its_pmf(sigma):
    drawn = discrete_gaussian(sigma, rng(1), DRAWS)
    support = np.arange(-math.ceil(40 * sigma), math.ceil(40 * sigma) + 1)
    weights = np.exp(-(support**2) / (2 * sigma**2))
    assert follow(drawn, support, weights / weights.sum(), 20)
    assert_moments(drawn, np.sum(weights * support**2) / weights.sum())


def test_each_discrete_gaussian_has_a_sigma():
    sigmas = np.repeat([0.4, 3.0, 1e5], 50_000).reshape(3, 50_000)
    drawn = discrete_gaussian(sigmas, rng(3))
    assert drawn.shape == sigmas.shape
    assert drawn.dtype == np.int64
    for row, sigma in zip(drawn, sigmas[:, 0], strict=True):
        assert_moments(row, discrete_gaussian_variance(sigma))
    assert discrete_gaussian([1.0, 2.0, 3.0], rng(), (4, 3)).shape == (4, 3)
    assert discrete_gaussian(2.0, rng()).shape == ()
    assert discrete_gaussian(2.0, rng(), 0).shape == (0,)


@pytest.mark.parametrize("sigma", [1e-3, 0.2, 0.5, 1.0, 2.0, 3.0, 40.0])
def test_discrete_gaussian_variance_and_pmf(sigma):
    """Poisson summation of the theta function converges fast for scales at which the direct sum does not."""
    pmf = discrete_gaussian_pmf(sigma)
    most = pmf.size // 2
    assert pmf.size == 2 * most + 1
    assert_allclose(pmf.sum(), 1, rtol=1e-12)
    assert_allclose(pmf, pmf[::-1], rtol=0)
    assert_allclose(discrete_gaussian_variance(sigma), pmf @ np.arange(-most, most + 1.0) ** 2, rtol=1e-12)
    if sigma >= 0.5:
        k = np.arange(1, 20)
        waves = np.exp(-2 * (math.pi * sigma * k) ** 2)
        dual = sigma**2 * (1 - 8 * (math.pi * sigma) ** 2 * np.sum(k**2 * waves) / (1 + 2 * waves.sum()))
        assert_allclose(discrete_gaussian_variance(sigma), dual, rtol=1e-11)


@pytest.mark.parametrize("scale", [0.1, 1.0, 4.5, 40.0])
def test_two_sided_geometric_follows_its_pmf(scale):
    drawn = two_sided_geometric(scale, rng(4), DRAWS)
    r = math.exp(-1 / scale)
    support = np.arange(-math.ceil(60 * scale), math.ceil(60 * scale) + 1)
    assert follow(drawn, support, (1 - r) / (1 + r) * r ** np.abs(support), 20)
    assert_moments(drawn, 2 * r / (1 - r) ** 2)


@pytest.mark.parametrize("shape, ratio", [(0.01, 0.9), (0.3, 0.5), (1.0, 0.8), (1.24, 0.9), (17.5, 0.3)])
def test_polya_difference_follows_its_pmf(shape, ratio):
    drawn = polya_difference(shape, -1 / math.log(ratio), rng(6), DRAWS)
    one = nbinom.pmf(np.arange(800), shape, 1 - ratio)
    assert follow(drawn, np.arange(-799, 800), np.convolve(one, one[::-1]), 20)
    assert_moments(drawn, 2 * shape * ratio / (1 - ratio) ** 2)


@pytest.mark.parametrize("bad", [0, -1.0, math.nan, math.inf, [1.0, 0.0], "1", True, 1j])
def test_scales_out_of_range_are_refused(bad):
    for draw, parameters, message in (
        (discrete_gaussian, (bad,), "sigma must be in"),
        (two_sided_geometric, (bad,), "scale must be in"),
        (polya_difference, (bad, 0.5), "shape must be positive"),
        (polya_difference, (1.0, bad), r"scale must be in|broadcast"),
    ):
        with pytest.raises(ValueError, match=message):
            draw(*parameters, rng())


@pytest.mark.parametrize("size", [1, 4, 9])
def test_choices_follow_the_hypergeometric_law(monkeypatch, size):
    monkeypatch.setattr(samplers, "_MOST_HYPERGEOMETRIC", 0)  # as for more than numpy takes
    counts, generator = np.array([3, 0, 5, 2]), rng(size)
    drawn = np.array([samplers.without_replacement(counts, size, generator) for _ in range(8000)])
    assert np.all(drawn.sum(axis=1) == size)
    assert np.all((drawn >= 0) & (drawn <= counts))
    for kind, count in enumerate(counts):
        if count:
            support = np.arange(count + 1)
            assert follow(drawn[:, kind], support, hypergeom(10, count, size).pmf(support), 20)


def test_choices_among_more_than_numpy_takes():
    counts = np.array([10**10, 0, 3 * 10**10, 7])
    with pytest.raises(ValueError, match="must be less than 1000000000"):
        rng().multivariate_hypergeometric(counts, 10**10, method="marginals")
    size = 10**10
    drawn = np.array([samplers.without_replacement(counts, size, rng(seed)) for seed in range(40)])
    assert np.all(drawn.sum(axis=1) == size)
    share = 10**10 / counts.sum()
    spread = math.sqrt(size * share * (1 - share) * (1 - size / counts.sum()) / 40)
    assert abs(drawn[:, 0].mean() - size * share) < 5 * spread
    assert samplers.without_replacement(counts, 0, rng()).tolist() == [0, 0, 0, 0]
    assert samplers.without_replacement(counts, int(counts.sum()), rng()).tolist() == counts.tolist()
    with pytest.raises(ValueError, match=r"size must be in 0\.\.40000000007, got -1"):
        samplers.without_replacement(counts, -1, rng())
