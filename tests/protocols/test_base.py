"""Defaults of the interface."""

from dataclasses import dataclass

import numpy as np
import pytest

from shuffledp.populations import Binomial, Fixed
from shuffledp.protocols import Cost, Messages, ProtocolBase, get
from shuffledp.tasks import Budget, Frequency, Participants, Public, Users

BUDGET = Budget(1.0, 1e-3)


@dataclass(frozen=True)
class Echo(ProtocolBase):
    """Protocol that sends the values unchanged, and records its arguments."""

    name = "echo"
    task_kind = "frequency"
    label = "Echo"
    source = "none"
    trust = "central"
    refined: bool = False

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        return cls()

    def encode(self, users, rng):
        return Messages(users.values)

    def estimate(self, aggregate, public):
        return aggregate / public.n_users[:, None]

    def cost(self):
        return Cost(3.0, 2.0)

    def refine(self, public):
        return Echo(refined=True)

    def expected_variance(self, participants):
        return np.full(participants.counts.shape, 1.0 if self.refined else np.nan)


def test_unexpected_messages_are_refused():
    with pytest.raises(ValueError, match=r"message 4 is outside 0\.\.1; set alphabet_size"):
        Echo().aggregate(Messages(np.array([0, 4])))


def test_default_simulation_reads_chunks():
    """It passes all public knowledge to the methods."""
    seen = []

    class Listener(Echo):
        def dummies(self, public, rng):
            seen.append(public)

        def encode(self, users, rng):
            seen.append(users)
            return Messages(users.values)

        def refine(self, public):
            return self

    def chunks(repeat):
        yield Users(np.array([0, 1]), np.array([0, 0]), offset=0)
        yield Users(np.array([1]), np.array([1]), offset=2)

    public = Public(np.array([3, 3]), np.array([[2.0, 1.0], [1.0, 2.0]]))
    counts = np.array([[1, 2], [1, 2]])
    who = Participants(public, counts, counts / 3, chunks)
    assert np.array_equal(Listener().simulate(who, np.random.default_rng(0)), counts / 3)
    assert np.array_equal(seen[0].values, [0, 1, 1])
    assert np.array_equal(seen[0].levels, [0, 0, 1])
    assert np.array_equal(seen[3].level_counts, [[1.0, 2.0]])

    def mixed(repeat):
        yield Users(np.array([0, 1]), np.array([0, 0]))
        yield Users(np.array([1]))

    with pytest.raises(ValueError, match="for all chunks of users or for none"):
        Listener().simulate(Participants(public, counts, counts / 3, mixed), np.random.default_rng(0))
    with pytest.raises(ValueError, match="raw inputs"):
        Listener().simulate(Participants(public, counts, counts / 3), np.random.default_rng(0))


def test_refined_protocol_is_simulated_and_expected():
    assert Echo().expected_mse([1, 2]) == 1.0
    assert np.array_equal(Echo().expected_mse([[1, 2], [3, 4]]), [1.0, 1.0])


def test_values_outside_domain_are_refused():
    local = get("frequency", "local").calibrate(BUDGET, Fixed(10), Frequency(2))
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"must lie in 0\.\.1, got 0\.\.2"):
        local.encode(Users(np.array([0, 2])), rng)
    with pytest.raises(ValueError, match=r"must have shape \(1, 2\), got \(1, 3\)"):
        local.simulate([1, 2, 3], rng)
    with pytest.raises(ValueError, match=r"must have shape"):
        local.expected_mse([1, 2, 3])


def test_numbers_of_users_have_limits():
    """A group refuses more users than it can sum; the guarantee states its least number."""
    bits = get("frequency", "multi_exact").calibrate(Budget(1.0, 1e-6), Fixed(999), Frequency(2))
    rng, most = np.random.default_rng(0), bits.capacity
    assert bits.least_users == 1000 <= most < 5000
    for refused in (
        lambda: bits.simulate([2000, 3000], rng),
        lambda: bits.encode(Users(np.zeros(2, np.int64), offset=most - 1), rng),
        lambda: bits.estimate(np.zeros((1, 2), np.int64), Public(np.array([most + 1]))),
    ):
        with pytest.raises(ValueError, match=rf"multi_exact: sums of at most {most} users"):
            refused()
    coins = get("frequency", "designated_coins").calibrate(Budget(1.0, 1e-6), Fixed(999), Frequency(2))
    with pytest.warns(
        UserWarning, match="designated_coins: the guarantee needs 1000 users, and 800 take part"
    ):
        coins.simulate([500, 300], rng)
    coins.simulate([500, 900], rng)
    random = get("frequency", "grr_blanket").calibrate(Budget(1.0, 1e-6), Binomial(999, 0.9), Frequency(2))
    assert random.least_users == 1
