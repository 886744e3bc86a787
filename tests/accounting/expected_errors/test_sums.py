"""Errors of sums: discrete Laplace noise, and the levels of real summation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting.expected_errors.sums import (
    discrete_laplace_variance,
    real_summation_levels,
    rounded_sum_mse,
)


@pytest.mark.parametrize("rate", [1e-4, 0.3, 2.0, 20.0, 700.0])
def test_variance_of_discrete_laplace_noise(rate):
    a = math.exp(-rate)
    assert_allclose(discrete_laplace_variance(rate), 2 * a / math.expm1(-rate) ** 2, rtol=1e-12)
    if rate >= 0.3:
        k = np.arange(1, 200)
        assert_allclose(
            discrete_laplace_variance(rate),
            2 * np.sum(k**2.0 * np.exp(-rate * k)) * (1 - a) / (1 + a),
            rtol=1e-12,
        )


def test_levels_of_real_summation():
    assert real_summation_levels(10**6, 1.0, 0.1) == 994
    assert real_summation_levels(10**6, 1.0, 0.2) == 618
    assert real_summation_levels(10**4, 1.0, 0.2) == 62
    for n, eps, zeta in itertools.product((10**3, 10**6), (0.3, 1.0, 2.0), (0.05, 0.2, 0.4)):
        levels = real_summation_levels(n, eps, zeta)
        assert levels <= eps / 2 * math.sqrt(n / (2 * zeta)) + 1
        allowed = 2 / ((1 - zeta) * eps) ** 2
        printed = [n / (4 * d * d) + 2 / ((1 - zeta / 2) * eps) ** 2 for d in (levels - 1 or 1, levels)]
        assert printed[1] <= allowed * (1 + 1e-12)
        assert levels == 1 or printed[0] > allowed
        assert rounded_sum_mse(n, levels, (1 - zeta / 2) * eps) <= allowed
