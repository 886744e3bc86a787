"""Rows of bits: errors of the specification."""

from __future__ import annotations

import numpy as np
import pytest

from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.tasks import Budget, Frequency, Users


def calibrated(name, n, k, eps, accounting="exact", delta=1e-6, **options):
    return get("frequency", name).calibrate(
        Budget(eps, delta), Fixed(n - 1), Frequency(k), accounting=accounting, **options
    )


@pytest.mark.parametrize(
    ("n", "eps", "kappa", "mse"),
    [
        (10**4, 0.2, 1, 1.4531e-5),
        (10**4, 0.2, 10, 7.9934e-6),
        (10**5, 1.0, 1, 8.5306e-9),
        (10**5, 1.0, 10, 4.6920e-9),
        (10**6, 2.0, 1, 3.6173e-11),
    ],
)
def test_errors_of_fake_users(n, eps, kappa, mse):
    found = calibrated("fake_users", n, 50, eps, kappa=kappa)
    # The same for all data.
    for counts in (np.full(50, n // 50), np.append(n, np.zeros(49, int))):
        assert found.expected_mse(counts) == pytest.approx(mse, rel=3e-5)
    assert (found.cost().messages_per_user, found.cost().bits_per_message) == (1 + kappa, 50)


def test_fake_users_send_rows_without_a_value():
    found = calibrated("fake_users", 40, 3, 8.0, delta=0.3, kappa=2)
    rows = found.encode(Users(np.array([2] * 40)), np.random.default_rng(1)).payload
    assert rows.shape == (120, 3)
    ones = rows.sum(axis=0)
    assert ones[2] > 30 > 2 * max(ones[:2])
    with pytest.raises(ValueError, match=r"Values must lie in 0\.\.2"):
        found.encode(Users(np.array([3])), np.random.default_rng(1))
    with pytest.raises(ValueError, match="kappa"):
        calibrated("fake_users", 40, 3, 1.0, kappa=0)
