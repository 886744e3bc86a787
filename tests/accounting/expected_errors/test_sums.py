"""Baselines of summation: the published numbers, and exact enumeration where that is possible."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting.baselines.fragmented_rappor import rappor_flip_probability
from shuffledp.accounting.expected_errors.sums import (
    central_laplace_mse,
    discrete_laplace_variance,
    rappor_messages,
    rappor_mse,
    real_summation_levels,
    rounded_sum_mse,
    sparse_vector_levels,
)

VALUES = (2, 3, 5, 10, 15)


def test_central_errors_of_the_figure():
    found = [[round(math.sqrt(central_laplace_mse(d, e)), 3) for d in VALUES] for e in (1.0, 0.9)]
    assert found[0] == [2.799, 4.223, 7.059, 14.136, 21.209]
    assert found[1] == [3.116, 4.696, 7.846, 15.708, 23.567]


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


def test_errors_of_rappor_in_the_figure():
    n = 10**6
    p = rappor_flip_probability(n, 1.0, 1e-6, calibration="optimistic")
    plain = [math.sqrt(rappor_mse(n, d, p, estimator="plain")) for d in VALUES]
    centred = [math.sqrt(rappor_mse(n, d, p, estimator="centred")) for d in VALUES]
    assert [round(v, 1) for v in plain] == [14.6, 24.4, 48.4, 128.1, 230.0]
    assert_allclose(centred, [9.24, 14.6, 27.3, 68.5, 120.4], rtol=2e-3)
    # The published curve is sqrt(2) times the centred one.
    assert_allclose(np.sqrt(2) * np.array(centred), [13.06, 20.65, 38.64, 96.87, 170.31], rtol=2e-4)
    assert_allclose(np.sqrt(2) * np.array(centred), [13.1, 20.6, 38.8, 96.9, 169.8], atol=0.55)
    assert_allclose(rappor_messages(5, p), 1 + 3 * p, rtol=1e-12)


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


def test_levels_of_sparse_vectors():
    for n, d, eps, zeta in itertools.product((10**4, 10**6), (1, 17, 100), (0.5, 1.0), (0.1, 0.3)):
        levels = sparse_vector_levels(n, d, eps, zeta)
        error = rounded_sum_mse(n, levels, (1 - zeta / 2) * eps / 2, dimension=d)
        assert error <= 8 * d / ((1 - zeta) * eps) ** 2
        assert levels <= real_summation_levels(n, eps / 2, zeta) / math.sqrt(d) + 1
