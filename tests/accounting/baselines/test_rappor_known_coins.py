"""RAPPOR with known coins: its bound on delta, against enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp.accounting.baselines import rappor_known_coins
from shuffledp.accounting.baselines.fragmented_rappor import rappor_delta


@pytest.mark.parametrize("eps", [0.0, 0.1, 2.0])
@pytest.mark.parametrize("p", [0.01, 0.1, 0.45])
@pytest.mark.parametrize("n", [2, 5, 14])
def test_sound_calibration_bounds_delta_of_every_data_set(n, p, eps):
    """The test covers any number of others on either value, both directions, and a victim of whom one bit changes."""

    def count(holders):
        law = binom.pmf(np.arange(holders + 1), holders, 1 - p)
        return np.convolve(law, binom.pmf(np.arange(n - holders + 1), n - holders, p))

    def stick(one, two):
        return float(np.maximum(one - math.exp(eps) * two, 0).sum())

    pairs = [
        (np.outer(count(i + 1), count(j)), np.outer(count(i), count(j + 1)))
        for i in range(n)
        for j in range(n - i)
    ]
    pairs += [(count(i + 1), count(i)) for i in range(n)]
    worst = max(max(stick(a, b), stick(b, a)) for a, b in pairs)
    bound = rappor_delta(n, p, eps, calibration="sound")
    assert worst <= bound * (1 + 1e-12)


@pytest.mark.parametrize(
    ("n", "flips", "eps"), [(10**6, 2e4, 0.03), (10**9, 3e6, 0.0027), (10**4, 4e3, 0.02)]
)
def test_blocks_of_coins_raise_the_bound_by_little(monkeypatch, n, flips, eps):
    args = (n - 1, flips / n, eps, 1e-20)
    coarse = rappor_known_coins.told_bits_delta(*args)
    monkeypatch.setattr(rappor_known_coins, "_CELLS", 5 * rappor_known_coins._CELLS)
    monkeypatch.setattr(rappor_known_coins, "_MANY_COINS", math.inf)  # every number of heads by itself
    rappor_known_coins._signs._cached.cache_clear()
    fine = rappor_known_coins.told_bits_delta(*args)
    rappor_known_coins._signs._cached.cache_clear()
    assert 1e-8 < fine <= coarse * (1 + 1e-12) and coarse <= fine * (1 + 1e-3)
