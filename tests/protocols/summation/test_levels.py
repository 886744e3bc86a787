"""Errors of rounded numbers and of randomized levels and bits, by enumeration of one user's messages."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.protocols.summation._levels import level_variances
from shuffledp.protocols.summation._sums import Numbers
from shuffledp.protocols.summation.unary_bits import bit_variances


def levels_of(number, most, steps):
    """Return the levels of a rounded number with their probabilities."""
    exact = number * steps / most
    below = int(exact + 1e-9)
    part = max(exact - below, 0.0)
    return [(below, 1 - part), (below + 1, part)]


def variance(law):
    values, mass = np.array(law).T
    return mass @ values**2 - (mass @ values) ** 2, mass @ values


@pytest.mark.parametrize(("most", "steps"), [(1, 1), (5, 1), (5, 3), (4, 2), (3, 7)])
@pytest.mark.parametrize("rate", [0.0, 0.3, 0.9])
def test_levels(most, steps, rate):
    for number in range(most + 1):
        law = [
            ((level / steps - rate / 2) / (1 - rate), chance * (1 - rate))
            for level, chance in levels_of(number, most, steps)
        ]
        law += [((level / steps - rate / 2) / (1 - rate), rate / (steps + 1)) for level in range(steps + 1)]
        want, mean = variance(law)
        assert mean == pytest.approx(number / most, abs=1e-12)
        assert_allclose(level_variances(Numbers(most, False, 1), steps, rate)[number], want, atol=1e-13)


@pytest.mark.parametrize(("most", "bits", "rate"), [(5, 2, 0.2), (3, 1, 0.5), (4, 4, 0.1)])
def test_bits(most, bits, rate):
    for number in range(most + 1):
        law = []
        for level, chance in levels_of(number, most, bits):
            for ones in np.ndindex(*(2,) * bits):
                turned = [(1 - rate / 2) if bit == (j < level) else rate / 2 for j, bit in enumerate(ones)]
                estimate = (sum(ones) / bits - rate / 2) / (1 - rate)
                law.append((estimate, chance * float(np.prod(turned))))
        want, mean = variance(law)
        assert mean == pytest.approx(number / most, abs=1e-12)
        assert_allclose(bit_variances(Numbers(most, False, 1), bits, rate)[number], want, atol=1e-13)


def test_numbers_on_a_level_are_not_rounded():
    assert Numbers(6, False, 1).rounding_variance(3).tolist() == pytest.approx(
        [0, 1 / 36, 0, 1 / 36, 0, 1 / 36, 0]
    )
