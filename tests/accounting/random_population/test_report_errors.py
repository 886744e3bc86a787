"""Optimal numbers of dummies, and the errors that the published figures follow from."""

import math

import numpy as np
import pytest

from shuffledp.accounting import (
    error_factor,
    inverse_moments,
    report_variance,
)
from shuffledp.populations import Binomial, Empirical, Fixed, Poisson

FIG3 = Binomial(5000, 0.2)


def test_inverse_moments():
    first, second = inverse_moments(FIG3)
    # E[1/n] of a binomial plus one has a closed form, 9.998000e-4.
    assert first == pytest.approx((1 - 0.8**5001) / (5001 * 0.2), rel=1e-11)
    assert second == pytest.approx(1.0004011e-6, abs=5e-14)
    assert inverse_moments(Empirical((0.5, 0.0, 0.5))) == pytest.approx((0.5 + 0.5 / 3, 0.5 + 0.5 / 9))


@pytest.mark.parametrize("k", [0, 3, 40])
def test_error_factors_match_sums_over_the_law(k):
    law = Empirical((0.1, 0.2, 0.3, 0.4), 1)
    n = np.arange(2, 6)
    pmf = np.array(law.pmf)
    assert error_factor(law, k) == pytest.approx(float(pmf @ ((n + k) / n**2)))
    added = np.maximum(k - n, 0)  # as equation (7) counts them
    assert error_factor(law, k, adaptive=True) == pytest.approx(float(pmf @ ((n + added) / n**2)), rel=1e-14)
    # Equation (7) letter for letter.
    printed = float(pmf @ (1 / n)) + k * float(pmf @ (np.maximum(k - n, 0) / n**2))
    assert error_factor(law, k, adaptive=True, stray_factor=True) == pytest.approx(printed, rel=1e-14)


def test_error_factors_do_not_fall_with_the_number_of_dummies():
    for law in (FIG3, Poisson(30), Fixed(7)):
        for how in ({}, {"adaptive": True}, {"adaptive": True, "stray_factor": True}):
            factors = [error_factor(law, k, **how) for k in range(0, 1300, 13)]
            assert np.all(np.diff(factors) >= -1e-15)
            assert factors[0] == pytest.approx(inverse_moments(law)[0], rel=1e-14)


def test_report_variance():
    e = math.exp(0.7)
    assert report_variance(0.7) == pytest.approx(e / (e - 1) ** 2)
    assert report_variance(0.7, "laplace") == pytest.approx(1 / 0.49)
    assert report_variance(900.0) == 0.0
    assert report_variance(1e-8) == pytest.approx(1e16)
    with pytest.raises(ValueError, match="objective must be one of"):
        report_variance(0.7, "median")
