"""Geometric dummies of a trusted shuffler: their law, its delta, and the table of the specification."""

import mpmath
import numpy as np
import pytest

from references.laws import moved, two_counts
from shuffledp.protocols.frequency.sageo import GeometricDummies, least_share, sageo_dummies

LAWS = [
    GeometricDummies(0.5, 1.0, 9),
    GeometricDummies(0.5, 0.7, 4),
    GeometricDummies(0.5, 0.5, 0),
    GeometricDummies(0.5, least_share(1.0), 0),
    GeometricDummies(1.5, 0.9, 2),
    GeometricDummies(0.7, 0.95, 1),
    GeometricDummies(5e-4, 1.0, 3),
]


def pmf(noise, size=4000):
    """Return the normalized law over 0, 1, .. by its definition."""
    z = np.arange(size)
    below = noise.left ** np.maximum(noise.turn - z, 0.0)
    law = np.where(z < noise.turn, below, noise.right ** np.maximum(z - noise.turn, 0.0))
    endless = law[: noise.turn].sum() + 1 / (1 - noise.right)
    return law / endless


@pytest.mark.parametrize("noise", LAWS, ids=str)
def test_moments_are_those_of_the_law(noise):
    size = 4000 if noise.half_eps > 0.01 else 80_000
    law, z = pmf(noise, size), np.arange(size)
    assert law.sum() == pytest.approx(1, abs=1e-12)
    assert noise.mean == pytest.approx(law @ z, rel=1e-11)
    assert noise.variance == pytest.approx(law @ (z - noise.mean) ** 2, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"beta": 0.39}, "beta must be in"),
        ({"beta": 1.1}, "beta must be in"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        sageo_dummies(10, 2, 1.0, 1e-3, **arguments)


@pytest.mark.parametrize(("n", "eps", "beta"), [(3, 20.0, None), (3, 12.0, 0.9999), (1000, 2.0, None)])
def test_drawn_law_has_delta_of_profile(n, eps, beta):
    """Rounding probabilities of 1e-5 to 2^-53 of 1 once made delta ten times as large at eps = 20."""
    noise = sageo_dummies(n, 3, eps, 1e-12, beta=beta)
    with mpmath.workdps(40):
        right, left, below = (mpmath.exp(-rate) for rate in noise.rates)
        downs = [left**j for j in range(noise.turn)][::-1]
        law = [below * x / mpmath.fsum(downs) for x in downs]
        law += [(1 - below) * (1 - right) * right**j for j in range(60)]
        law = dict(enumerate(law))
        true = float(two_counts(moved(law, noise.share), law, eps))
    assert true == pytest.approx(noise.delta(eps), rel=1e-3)
