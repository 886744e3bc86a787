"""Errors of randomized reports and dummies."""

import numpy as np
import pytest

from shuffledp.accounting import (
    error_factor,
    inverse_moments,
)
from shuffledp.populations import Binomial, Fixed, Poisson

FIG3 = Binomial(5000, 0.2)


def test_error_factors_do_not_fall_with_the_number_of_dummies():
    for law in (FIG3, Poisson(30), Fixed(7)):
        for how in ({}, {"adaptive": True}, {"adaptive": True, "stray_factor": True}):
            factors = [error_factor(law, k, **how) for k in range(0, 1300, 13)]
            assert np.all(np.diff(factors) >= -1e-15)
            assert factors[0] == pytest.approx(inverse_moments(law)[0], rel=1e-14)
