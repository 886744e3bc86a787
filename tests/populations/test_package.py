import math

import numpy as np
import pytest

from shuffledp.populations import (
    Binomial,
    Empirical,
    Fixed,
    Law,
    MomentBounded,
    Poisson,
    SubExponential,
    SubGaussian,
)
from shuffledp.populations.laws import PoissonBinomial

LAWS: list[Law] = [
    Fixed(0),
    Fixed(5),
    Binomial(0, 0.5),
    Binomial(30, 0.0),
    Binomial(30, 1.0),
    Binomial(30, 0.3),
    Binomial(48841, 0.05),
    PoissonBinomial(((30, 0.2), (500, 0.9), (3, 1.0))),
    Poisson(0.0),
    Poisson(2.5),
    Poisson(1000.0),
    Empirical((0.2, 0.0, 0.5, 0.3), start=4),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_window_has_the_stated_moments(law):
    window = law.window()
    assert math.fsum(window.pmf) == pytest.approx(1, abs=1e-11)
    assert 0 <= window.omitted <= 2e-30
    mean = float(window.pmf @ window.support)
    assert mean == pytest.approx(law.mean, rel=1e-10)
    assert float(window.pmf @ (window.support - mean) ** 2) == pytest.approx(
        law.variance, rel=1e-8, abs=1e-12
    )


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("level", [1e-12, 5e-6, 0.25, 0.5, 0.9, 1 - 1e-12])
def test_quantile_is_smallest_sufficient_point(law, level):
    window = law.window()
    quantile = law.quantile(level)
    at_most = math.fsum(window.pmf[window.support <= quantile])
    less = math.fsum(window.pmf[window.support < quantile])
    assert at_most >= level - 1e-15
    assert less < level


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("failure", [1e-200, 5e-6, 0.3])
def test_lower_bound_of_law_is_exact(law, failure):
    bound = law.lower_bound(failure)
    window = law.window(1e-250)
    assert bound == int(bound)
    assert math.fsum(window.pmf[window.support < bound]) <= failure
    assert math.fsum(window.pmf[window.support <= bound]) > failure


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("rate", [0.0, 0.4, 1.0])
def test_thinned_law_has_mixture_moments(law, rate):
    thinned = law.thinned(rate)
    assert thinned.mean == pytest.approx(rate * law.mean, rel=1e-12)
    variance = rate * (1 - rate) * law.mean + rate**2 * law.variance
    assert thinned.variance == pytest.approx(variance, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_samples_follow_the_law(law):
    draws = law.sample(np.random.default_rng(11), (40, 100))
    assert draws.shape == (40, 100)
    assert draws.dtype == np.int64
    error = 5 * math.sqrt(law.variance / draws.size)
    assert abs(draws.mean() - law.mean) <= error + 1e-12
    assert draws.min() >= 0
    assert law.sample(np.random.default_rng(1)).shape == ()


def test_empirical_of_observed_rounds():
    law = Empirical.of([7, 5, 5, 8])
    assert law == Empirical((0.5, 0.0, 0.25, 0.25), start=5)
    assert law.mean == 6.25
    with pytest.raises(ValueError, match="counts must not be empty"):
        Empirical.of([])


def test_bounds_hold_with_equality():
    mean, t = 1000.0, 80.0
    assert SubGaussian(mean, 30.0).lower_bound(math.exp(-(t**2) / (2 * 900))) == pytest.approx(mean - t)
    printed = SubGaussian(mean, 30.0, convention="printed")
    assert printed.lower_bound(math.exp(-(t**2) / 900)) == pytest.approx(mean - t)
    assert SubExponential(mean, 2.0, 0.1).lower_bound(2 * math.exp(-0.1 * t)) == pytest.approx(mean - t)
    # Cantelli is attained by a law with two points.
    p = 900 / (900 + t**2)
    assert MomentBounded(mean, 900.0).lower_bound(p) == pytest.approx(mean - t)


def test_bounds_never_leave_the_range():
    for bound in (SubGaussian(10, 50.0), SubExponential(10, 1.0, 1e-3), MomentBounded(10, 1e4)):
        assert bound.lower_bound(1e-9) == 0.0
    assert SubExponential(10, 1e-3, 1.0).lower_bound(0.9) == 10.0


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Empirical(()), "Empirical: pmf must be a non-empty"),
        (lambda: Empirical((0.5, 0.6)), "Empirical: pmf must sum to 1"),
        (lambda: Empirical((1.5, -0.5)), "Empirical: every entry"),
        (lambda: Poisson(3).quantile(0.0), "level must be in"),
    ],
)
def test_out_of_range_values_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_numpy_scalars_become_plain_numbers():
    law = Binomial(np.int64(48841), np.float64(0.05))
    assert law == Binomial(48841, 0.05)
    assert type(law.trials) is int
    assert hash(law) == hash(Binomial(48841, 0.05))
    assert type(Fixed(np.float64(3.0)).others) is int
