"""Errors of rounded numbers and of randomized levels and bits, by enumeration of one user's messages."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.protocols.summation._levels import level_variances
from shuffledp.protocols.summation._sums import Numbers


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
