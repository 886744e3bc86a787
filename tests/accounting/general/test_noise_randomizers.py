"""Randomizers with densities: the proof for Laplace noise holds, and mass outside of the edges counts."""

import math

import numpy as np
import pytest
from scipy.stats import laplace, uniform

from enumerated_reports import both_sides
from shuffledp.accounting import (
    DensityRandomizer,
    GaussianRandomizer,
    Infeasible,
    LaplaceRandomizer,
    blanket_randomizer_delta,
)


def test_upper_law_dominates_in_convex_order():
    """The convex order requires E (G - t)^+ to be ordered for all t."""
    for randomizer in (LaplaceRandomizer(2.0), LaplaceRandomizer(0.01), GaussianRandomizer(1.0)):
        (cells,) = randomizer.comparisons("upper", 1e-9)
        (low, low_mass), (up, up_mass) = both_sides(cells.law, 0.005)
        for t in np.quantile(up, np.linspace(0, 1, 41)):
            assert up_mass @ np.maximum(up - t, 0) >= low_mass @ np.maximum(low - t, 0) * (1 - 1e-12) - 1e-15


def density(noise):
    """Return the logarithm of the density of an input with this noise, and the mass of an interval."""
    return (
        lambda x, y: noise.logpdf(y - x),
        lambda x, low, high: noise.cdf(high - x) - noise.cdf(low - x),
    )


def laplace_within(edges):
    noise = density(laplace(scale=0.5))
    return DensityRandomizer(*noise, inputs=(0.0, 1.0), edges=tuple(edges), eps_local=2.0)


def test_user_densities_agree_with_laplace():
    """The edges omit 1/2, where the input with the least density changes; the function finds this point."""
    own = laplace_within([-20.0, *np.linspace(0, 1, 400), 21.0])
    found, built_in = (
        both_sides(blanket_randomizer_delta, each, 1000, 0.3) for each in (own, LaplaceRandomizer(2.0))
    )
    assert found[0] <= built_in[0] * (1 + 1e-3)  # 1/2 is not among its inputs
    assert found[1] == pytest.approx(built_in[1], rel=5e-3)


def test_mass_outside_edges_is_lost():
    own = laplace_within(np.linspace(-0.5, 1.5, 500))
    assert blanket_randomizer_delta(own, 1000, 0.3) > 0.5 * math.exp(-1)


def test_outside_mass_counts_in_lower_bound():
    """The edges omit a region where the other input is likelier; without its mass there would be no lower bound."""
    wide, narrow = (laplace_within(np.linspace(-9, last, 800)) for last in (10.0, 0.6))
    for users, eps in ((20, 0.5), (1000, 0.2)):
        low, all_of_it = (blanket_randomizer_delta(r, users, eps, "lower") for r in (narrow, wide))
        assert 0 < low <= all_of_it * (1 + 1e-6)
    (held_middle, *_) = GaussianRandomizer(1.0).comparisons("lower", 0.05)
    values, masses = held_middle.law(0.3, "lower")
    assert float(masses @ values) == pytest.approx(1 - math.exp(0.3), abs=1e-12)
    assert float(np.sum(masses)) == pytest.approx(1.0, abs=1e-12)


def test_density_that_ends_has_no_blanket():
    randomizer = DensityRandomizer(*density(uniform), inputs=(0.0, 1.0), edges=(0.0, 0.5, 1.0))
    with pytest.raises(Infeasible, match="no blanket"):
        blanket_randomizer_delta(randomizer, 10, 0.1)
