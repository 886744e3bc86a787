"""RAPPOR with known coins: its bound on delta, against enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp.accounting.baselines.fragmented_rappor import rappor_delta


@pytest.mark.parametrize("eps", [0.0, 0.1, 2.0])
@pytest.mark.parametrize("p", [0.01, 0.1, 0.45])
@pytest.mark.parametrize("n", [2, 5, 14])
def test_sound_calibration_bounds_every_data_set(n, p, eps):
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
