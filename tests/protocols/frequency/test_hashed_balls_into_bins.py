"""Hashed balls into bins: what messages count for, and the errors of the specification."""

from __future__ import annotations

import numpy as np
import pytest

from shuffledp.populations import Binomial, Fixed
from shuffledp.protocols import Messages, get
from shuffledp.protocols.conformance import Case, check_one_law, running, statistics
from shuffledp.tasks import Budget, Frequency, Participants, Users


def calibrated(n, k, eps=1.0, delta=1e-6, **options):
    return get("frequency", "hashed_balls_into_bins").calibrate(
        Budget(eps, delta), Fixed(n - 1), Frequency(k), accounting="exact", **options
    )


@pytest.mark.parametrize(
    ("n", "k", "delta", "bins", "messages", "mse"),
    [
        (10**5, 5000, 1e-6, "cubed", 1.0274, 1.5846e-7),
        (10**5, 5000, 1e-6, "logarithmic", 4.7046, 4.2661e-9),
        (10**6, 5000, 1e-6, 379, 1.016133, 2.4897e-9),
        (10**5, 100, 1e-8, "logarithmic", 6.39, 6.21e-9),
    ],
)
def test_errors_and_messages(n, k, delta, bins, messages, mse):
    found = calibrated(n, k, delta=delta, bins=bins)
    assert found.expected_mse(np.full(k, n // k)) == pytest.approx(mse, rel=2e-4)
    assert found.cost().messages_per_user == pytest.approx(messages, rel=5e-4)
    if k == 5000:
        assert found.cost().bits_per_message == {"cubed": 33, "logarithmic": 42, 379: 35}[bins]


@pytest.mark.parametrize("bins", [2, 7, 30])
def test_a_message_counts_for_all_values_of_its_bin(bins):
    found = calibrated(50, 23, delta=0.1, bins=bins)
    rng = np.random.default_rng(5)
    sent = found.encode(Users(rng.integers(0, 23, 50)), rng).payload
    q = found.family.prime
    values = np.arange(23)
    want = ((sent[:, :1] * values + sent[:, 1:2]) % q % bins == sent[:, 2:]).sum(axis=0)
    assert np.array_equal(found.aggregate(Messages(sent)), want)
    assert len(sent) == 50 + found.dummies_in_all


@pytest.mark.parametrize("seed", [3, 4])
def test_counts_of_few_values_have_the_joint_law(monkeypatch, seed):
    """Values of a bin shut each other out: counts that were drawn one by one were found out with every other seed."""
    monkeypatch.setattr(statistics, "SEED", seed)
    protocol = get("frequency", "hashed_balls_into_bins")
    case = Case(Budget(1.0, 1e-3), Binomial(236, 0.25), Frequency(5), "exact", (30, 0, 1, 15, 14))
    assert running.calibrated(protocol, case).joint_law
    check_one_law(protocol, [case])


@pytest.mark.parametrize(("k", "joint"), [(6, True), (40, False)])
def test_correlations_are_those_of_the_hash_functions_or_declared_to_be_left_out(k, joint):
    found = calibrated(400, k, delta=0.1, bins=3)
    assert found.joint_law == joint
    held = np.zeros(k, np.int64)
    held[0] = 400
    rng, family = np.random.default_rng(8), found.family
    drawn = found.sample_aggregate(Participants.from_counts(np.tile(held, (20_000, 1))), rng)[:, 1:]
    both = np.corrcoef(drawn.T)[np.triu_indices(k - 1, 1)]
    assert np.mean(both) == pytest.approx(-0.16 if joint else 0.0, abs=0.01)
    own = 400 * family.collision_rate + found.dummies_in_all / 3
    assert np.allclose(drawn.mean(axis=0), own, rtol=5e-3)


def test_the_first_users_send_one_dummy_more():
    found = calibrated(50, 23, delta=0.1, bins=3)
    each, more = divmod(found.dummies_in_all, 50)
    assert more
    rng = np.random.default_rng(5)
    for first in (0, more - 1, more, 49):
        sent = found.encode(Users(np.array([1]), offset=first), rng)
        assert len(sent) == 1 + each + (first < more)


def test_bad_requests_are_refused():
    with pytest.raises(ValueError, match="bins"):
        calibrated(50, 3, bins=1)
    with pytest.raises(ValueError, match="bins must be one of"):
        calibrated(50, 3, bins="all")
    with pytest.raises(ValueError, match=r"Values must lie in 0\.\.2"):
        calibrated(50, 3, delta=0.1).encode(Users(np.array([3])), np.random.default_rng(1))
