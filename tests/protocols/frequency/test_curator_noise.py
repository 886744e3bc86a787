"""Reference lines of a histogram: variances, both neighboring relations, and messages of a secure sum."""

import numpy as np
import pytest

from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.tasks import Budget, Frequency, Participants, Public, Summation, Users

N, K = 10**5, 100


def calibrated(name, relation="replace_one", n=N, k=K, eps=1.0, delta=1e-8):
    return get("frequency", name).calibrate(Budget(eps, delta, relation), Fixed(n - 1), Frequency(k))


@pytest.mark.parametrize("name", ["central_laplace", "central_gaussian", "skellam"])
def test_two_values_need_one_count(name):
    """Under replacement the second count is n minus the first, so that the error equals the error of a sum of bits."""
    where = Budget(1.0, 1e-8), Fixed(N - 1)
    bits = get("summation", name).calibrate(*where, Summation(1))
    protocol = calibrated(name, k=2)
    assert protocol.expected_mse([60_000, 40_000]) * N**2 == pytest.approx(
        bits.expected_mse([60_000, 40_000])
    )
    assert float(protocol.privacy_profile().delta(1.0)) == pytest.approx(
        float(bits.privacy_profile().delta(1.0))
    )
    held = Participants.from_counts(np.tile([60_000, 40_000], (500, 1)))
    noisy = protocol.sample_aggregate(held, np.random.default_rng(1))
    assert np.all(noisy.sum(axis=1) == N)
    alone = protocol.simulate_messages(
        Users(np.zeros(9, np.int64)), Public(np.array([9])), np.random.default_rng(2)
    )
    assert alone.sum() == 9
    added = calibrated(name, "add_remove", k=2).sample_aggregate(held, np.random.default_rng(1))
    assert np.any(added.sum(axis=1) != N)
