"""Published bounds for random allocation: at least the pair's delta, and equal to brute force for printed formulas."""

import math

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from references.curves import gaussian_delta
from references.laws import binomial, hockey_stick
from shuffledp.accounting import (
    ALLOCATION_METHODS,
    AllocationProfile,
    Infeasible,
    allocation_bounds,
    allocation_delta,
    allocation_epsilon,
    allocation_method_epsilon,
    allocation_noise,
)


def sampled_delta(steps, rate, eps_local, eps, way):
    """Return delta of binary randomized response in randomly sampled steps, by sums with 40 digits."""
    with mpmath.workdps(40):
        absent = 1 / (1 + mpmath.exp(eps_local))
        mixed = (1 - rate) * absent + rate * (1 - absent)
        first, second = (mixed, absent) if way == "remove" else (absent, mixed)
        return hockey_stick(binomial(steps, first), binomial(steps, second), eps)


@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize("steps, eps_local, delta", [(100, 1.0, 1e-4), (200, 0.5, 1e-6)])
def test_decomposition_is_its_formula(steps, eps_local, delta, way):
    eps = allocation_method_epsilon("decomposition", delta, steps, eps_local=eps_local, direction=way)
    part = 1 - (1 - 1 / steps) ** steps
    if way == "remove":
        inner, share = math.log(1 + part * (math.exp(eps) - 1)), part
    else:
        inner = -math.log(1 - part * (1 - math.exp(-eps)))
        share = part / (part + math.exp(eps) * (1 - part))
    assert float(sampled_delta(steps, 1 / steps, eps_local, inner, way)) / share == pytest.approx(
        delta, rel=1e-4
    )


def test_poisson_is_its_formula():
    steps, eps_local, delta = 1000, 1.0, 1e-6
    eps = allocation_method_epsilon("poisson", delta, steps, eps_local=eps_local)
    count = 0.005 * delta
    rate = 1 / (steps * (1 - math.cosh(eps_local) * math.sqrt(2 / steps * math.log(1 / count))))
    worst = max(sampled_delta(steps, rate, eps_local, eps, way) for way in ("remove", "add"))
    assert float(worst) + count == pytest.approx(delta, rel=1e-4)


@pytest.mark.parametrize(
    "options, steps",
    [({"eps_local": 1.0}, 1000), ({"eps_local": 3.0}, 100), ({"sigma": 1.0}, 100), ({"sigma": 0.4}, 50)],
)
def test_no_method_is_below_the_pair(options, steps):
    for way in ("remove", "add"):
        found = allocation_bounds(1e-6, steps, direction=way, **options)
        assert found["combined"] == min(found.values())
        assert found["pair"] == found["combined"] == allocation_epsilon(1e-6, steps, direction=way, **options)
    both = allocation_bounds(1e-6, steps, **options)
    assert set(both) <= {*ALLOCATION_METHODS, "combined"}
    assert both["combined"] == allocation_epsilon(1e-6, steps, **options)


def test_renyi_add_is_published_formula():
    eps = allocation_method_epsilon("renyi", 1e-6, 100, sigma=1.0, direction="add")
    lost = mpmath.mpf(eps) - mpmath.mpf("0.99") / 2
    value = gaussian_delta(0.1, lost)
    assert float(value) == pytest.approx(1e-6, rel=1e-4)


def test_method_without_bound_is_named():
    with pytest.raises(Infeasible, match="The method renyi has no bound for 10 steps"):
        allocation_method_epsilon("renyi", 1e-6, 10, eps_local=1.0)
    assert "poisson" not in allocation_bounds(1e-6, 10, eps_local=1.0, direction="remove")


def test_two_participations_are_two_users():
    """The pair composed with itself is compared, for pure steps, with sums over both numbers of ones."""
    profile = AllocationProfile(8, eps_local=1.0, participations=2)
    low = AllocationProfile(4, eps_local=1.0).epsilon(1e-3)
    assert low < profile.epsilon(1e-3) <= 2.0
    p = 1 / (1 + math.exp(1.0))
    others = binom.pmf(np.arange(4), 3, p)
    absent, present = (np.convolve(others, [1 - one, one]) for one in (p, 1 - p))
    for first, second in ((present, absent), (absent, present)):
        both = np.maximum(np.outer(first, first) - math.exp(0.7) * np.outer(second, second), 0)
        assert float(profile.delta(0.7)) >= float(np.sum(both))
    assert float(profile.delta(0.7)) < 0.3
    assert float(AllocationProfile(4, eps_local=1.0).delta(0.7)) == allocation_delta(0.7, 4, eps_local=1.0)


def test_noise_inverts_eps():
    sigma = allocation_noise(1.0, 1e-6, 1000)
    assert allocation_epsilon(1e-6, 1000, sigma=sigma) <= 1.0
    assert allocation_epsilon(1e-6, 1000, sigma=sigma * 0.999) > 1.0
    assert allocation_noise(300.0, 0.5, 10) == 0.1
    with pytest.raises(Infeasible, match="above 1e6 would be needed"):
        allocation_noise(1e-9, 1e-12, 1)
