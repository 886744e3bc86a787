"""Rows of bits: errors of the specification, and the messages."""

import numpy as np
import pytest

from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.tasks import Budget, Frequency, Users


def calibrated(name, n, k, eps, accounting="exact", delta=1e-6, **options):
    return get("frequency", name).calibrate(
        Budget(eps, delta), Fixed(n - 1), Frequency(k), accounting=accounting, **options
    )


def test_fake_users_send_empty_rows():
    found = calibrated("fake_users", 40, 3, 8.0, delta=0.3, kappa=2)
    rows = found.encode(Users(np.array([2] * 40)), np.random.default_rng(1)).payload
    assert rows.shape == (120, 3)
    ones = rows.sum(axis=0)
    assert ones[2] > 30 > 2 * max(ones[:2])
    with pytest.raises(ValueError, match=r"must lie in 0\.\.2"):
        found.encode(Users(np.array([3])), np.random.default_rng(1))
    with pytest.raises(ValueError, match="kappa"):
        calibrated("fake_users", 40, 3, 1.0, kappa=0)
