"""Number of filled slots: its blocks and moments."""

import numpy as np
import pytest

from shuffledp.protocols import _occupancy
from shuffledp.protocols._occupancy import filled, filled_moments


@pytest.mark.parametrize("users, slots", [(50, 40), (12, 100), (20, 7), (30, 1)])
def test_blocks_of_slots_follow_law(monkeypatch, users, slots):
    monkeypatch.setattr(_occupancy, "_AT_ONCE", 8)
    drawn = np.array([filled(users, slots, np.random.default_rng([slots, seed])) for seed in range(800)])
    mean, variance = (float(x[0]) for x in filled_moments(np.array([users]), slots))
    assert drawn.max() <= min(users, slots)
    assert abs(drawn.mean() - mean) <= 5 * np.sqrt(variance / 800)
    assert abs(drawn.var() - variance) <= 0.3 * variance + 1e-12
