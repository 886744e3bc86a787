"""Optimal numbers of dummies, and the errors that the published figures follow from."""

import numpy as np
import pytest

from shuffledp.accounting import (
    error_factor,
    inverse_moments,
)
from shuffledp.populations import Binomial, Empirical, Fixed, Poisson

FIG3 = Binomial(5000, 0.2)


def test_inverse_moments():
    first, second = inverse_moments(FIG3)
    # E[1/n] of a binomial plus one has a closed form, 9.998000e-4.
    assert first == pytest.approx((1 - 0.8**5001) / (5001 * 0.2), rel=1e-11)
    assert second == pytest.approx(1.0004011e-6, abs=5e-14)
    assert inverse_moments(Empirical((0.5, 0.0, 0.5))) == pytest.approx((0.5 + 0.5 / 3, 0.5 + 0.5 / 9))


def test_error_factors_do_not_fall_with_the_number_of_dummies():
    for law in (FIG3, Poisson(30), Fixed(7)):
        for how in ({}, {"adaptive": True}, {"adaptive": True, "stray_factor": True}):
            factors = [error_factor(law, k, **how) for k in range(0, 1300, 13)]
            assert np.all(np.diff(factors) >= -1e-15)
            assert factors[0] == pytest.approx(inverse_moments(law)[0], rel=1e-14)
