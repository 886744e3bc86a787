"""Caps of the sphere against quadrature, and the error of the specification."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from shuffledp.accounting.expected_errors.unit_vectors import (
    cap_height,
    report_mean,
    report_square,
    unit_vector_error,
)


def moments(d, c, p):
    """Mean and mean square of the inner product, from its density ``(1 - t^2)^((d - 3) / 2)``."""
    gamma = cap_height(d, c)

    def integral(power, low, high):
        # t = sin(angle), as the density is infinite at the ends for d = 2.
        found = quad(
            lambda a: math.sin(a) ** power * math.cos(a) ** (d - 2), math.asin(low), math.asin(high), epsabs=0
        )
        return found[0]

    whole = integral(0, -1, 1)
    assert integral(0, gamma, 1) / whole == pytest.approx(c, rel=1e-10)
    return tuple(
        (p / c * integral(k, gamma, 1) + (1 - p) / (1 - c) * integral(k, -1, gamma)) / whole for k in (1, 2)
    )


@pytest.mark.parametrize(("d", "c", "p"), [(5, 0.1, 0.7), (2, 0.3, 0.9), (3, 0.5, 0.8), (40, 0.01, 0.5)])
def test_moments_of_a_report(d, c, p):
    mean, square = moments(d, c, p)
    assert report_mean(d, c, p) == pytest.approx(mean, rel=1e-10)
    assert report_square(d, c, p) == pytest.approx(square, rel=1e-10)


def test_the_error_of_the_specification():
    assert unit_vector_error(1, 5, 0.1, 0.7) == pytest.approx(3.066608, abs=5e-7)
    assert unit_vector_error(10, 5, 0.1, 0.7) == pytest.approx(0.3066608, abs=5e-8)


def test_a_cap_of_half_the_sphere_starts_at_the_middle():
    assert cap_height(7, 0.5) == 0.0
    assert np.isfinite(unit_vector_error(1, 1000, 0.001, 0.9))
    for wrong in (0.0, 0.6, 1.0):
        with pytest.raises(ValueError, match="cap_mass"):
            cap_height(7, wrong)
    with pytest.raises(ValueError, match="dimension"):
        cap_height(1, 0.2)
