"""Geometric dummies of a trusted shuffler: their law, its delta, and the table of the specification."""

import mpmath
import pytest

from references.laws import moved, two_counts
from shuffledp.protocols.frequency.sageo import sageo_dummies


@pytest.mark.parametrize("n, eps, beta", [(3, 20.0, None), (3, 12.0, 0.9999), (1000, 2.0, None)])
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
