from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import poisson

from shuffledp.accounting.segmented.users import (
    user_level_blankets,
    user_level_delta,
    user_level_reporting_rate,
)

# -- whole users ----------------------------------------------------------------------------------------------


def users_by_enumeration(eps: float, rate: float, mean: float, pairs: int, most: int) -> float:
    """Return the divergence over all counts of the exchanged items, up to `most`."""
    quiet = poisson.pmf(np.arange(most), mean)
    held = (1 - rate) * quiet
    held[1:] += rate * quiet[:-1]
    left = right = np.ones(1)
    for _ in range(pairs):
        left = np.outer(np.outer(left, held), quiet).ravel()
        right = np.outer(np.outer(right, quiet), held).ravel()
    return float(np.maximum(left - math.exp(eps) * right, 0).sum())


@pytest.mark.parametrize("pairs, mean, most", [(1, 0.05, 12), (1, 4.0, 40), (2, 0.5, 20), (3, 0.3, 11)])
@pytest.mark.parametrize("rate", [0.1, 0.999999, 1.0])
def test_user_level_delta_equals_enumeration(pairs, mean, most, rate):
    for eps in (0.1, 0.4, 1.0, 3.0):
        want = users_by_enumeration(eps, rate, mean, pairs, most)
        got = user_level_delta(eps, rate, 20, mean / 2, 10, pairs)
        cut = 2 * pairs * poisson.sf(most - 2, mean)
        assert want * (1 - 1e-9) <= got <= (want + cut) * (1 + 3e-4)
        assert cut < 1e-3 * want or want < 1e-12


def test_user_level_delta_at_zero_and_at_large_eps():
    want = users_by_enumeration(0.0, 0.5, 2.0, 2, 28)
    assert_allclose(user_level_delta(0.0, 0.5, 2, 10.0, 10, 2), want, rtol=2e-3)
    # all that remains: one of the exchanged items has no blanket message
    assert_allclose(user_level_delta(60.0, 1.0, 2, 10.0, 10, 2), 1 - (1 - math.exp(-2)) ** 2, rtol=1e-9)
    assert 0 < user_level_delta(9.0, 0.5, 5000, 10.0, 10, 2) < 1e-280


def test_overlapping_sets_differ_in_fewer_items():
    assert user_level_delta(0.3, 0.6, 50, 1.0, 10, 8) == user_level_delta(0.3, 0.6, 50, 1.0, 10, 2)
    assert user_level_delta(0.3, 0.6, 50, 1.0, 10, 10) == 0
    assert user_level_reporting_rate(50, 1.0, 10, 10, 0.3, 1e-6) == 1
    assert user_level_blankets(50, 10, 10, 0.3, 1e-6) == 0


def test_user_level_delta_without_blankets():
    assert_allclose(user_level_delta(0.3, 0.2, 5, 0.0, 10, 3), 1 - 0.8**3)
    assert user_level_delta(0.3, 1.0, 5, 0.0, 10, 3) == 1
    assert_allclose(user_level_reporting_rate(5, 0.0, 10, 3, 0.3, 1e-4), 1 - (1 - 1e-4) ** (1 / 3))
