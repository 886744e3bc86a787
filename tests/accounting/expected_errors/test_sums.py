"""Errors of sums: discrete Laplace noise, and the levels of real summation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting.expected_errors.sums import (
    discrete_laplace_variance,
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
