"""Fragmented RAPPOR: published numbers, and exact enumeration for few users."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom

from shuffledp.accounting.baselines.fragmented_rappor import rappor_delta, rappor_flip_probability
from shuffledp.accounting.baselines.split_and_mix import (
    ikos_shares,
)
from shuffledp.accounting.errors import Infeasible


@pytest.mark.parametrize("eps", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("n, p", [(2, 0.2), (5, 0.1), (30, 0.05)])
def test_rappor_delta_equals_enumeration(n, p, eps):
    k = np.arange(n + 1)
    flips = binom.pmf(k, n, p)
    moved = p * binom.pmf(k, n - 1, p) + (1 - p) * binom.pmf(k - 1, n - 1, p)
    pairs = {
        "optimistic": [(np.outer(moved, flips), np.outer(flips, moved))],
        "sound": [told(n, p)],
        "worst_case": [
            (np.outer(flips, flips), np.outer(moved, moved)),
            (np.outer(moved, moved), np.outer(flips, flips)),
        ],
    }
    for calibration, laws in pairs.items():
        want = max(float(np.maximum(u - math.exp(eps) * v, 0).sum()) for u, v in laws)
        found = rappor_delta(n, p, eps, calibration=calibration)
        assert_allclose(found, want, rtol=1e-6 if calibration == "sound" else 1e-10, atol=1e-15)
        assert found >= want * (1 - 1e-12)


def test_missing_flip_probability_is_refused():
    with pytest.raises(Infeasible, match="No flip probability below 1/2"):
        rappor_flip_probability(2, 1e-14, 1e-14, calibration="sound")


def told(n, p):
    """Return, for the victim's two values, the law of both counts and of the set of uniform bits of the others."""
    up, down = [], []
    for coins in range(n):
        weight = binom.pmf(coins, n - 1, 2 * p)
        fair = binom.pmf(np.arange(coins + 1), coins, 0.5)
        up.append(weight * np.convolve(fair, [p, 1 - p]))
        down.append(weight * np.convolve(fair, [1 - p, p]))
    one, zero = np.concatenate(up), np.concatenate(down)
    return np.outer(one, zero), np.outer(zero, one)


@pytest.mark.parametrize(
    "users, delta, message", [(10**6, 1e-6, "n = 1000000"), (3, 1e-300, "64 shares of 3 users")]
)
def test_uncounted_collision_shares_are_refused(users, delta, message):
    with pytest.raises(Infeasible, match=message):
        ikos_shares(users, 5, 1.0, delta, form="collision")
