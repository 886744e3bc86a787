"""The message level in parts: the same law and users, and memory that does not grow with their number."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from protocols.test_base import Echo
from shuffledp.accounting import Infeasible
from shuffledp.populations import Fixed
from shuffledp.protocols import Cost, Messages, get, stream
from shuffledp.protocols.conformance import default_cases
from shuffledp.protocols.streaming import users_at_once
from shuffledp.tasks import Budget, Frequency, Participants, Public, Summation, Users
from small_tasks import BUILT_INS

STREAMED = [found for found in BUILT_INS if get(*found).streamable]
#: False-alarm rate of one comparison: one of some thousand comparisons fails with a probability below one in a million.
RARE = 1e-10


def feasible_case(kind, name):
    """Return a case with few messages, under the first feasible accounting."""
    found = get(kind, name)
    for most in (3_000, 150_000):
        for case in default_cases(found, users=24):
            if len(case.users()) < 10:
                continue
            try:
                protocol = case.calibrate(found)
            except Infeasible:
                continue
            protocol = protocol.refine(case.participants(1).public)
            cost = protocol.cost()
            if cost.messages_per_user * len(case.users()) + cost.shuffler_messages < most:
                return case, protocol
    raise AssertionError(f"no small case of {name}")


def chunks(users, *cuts):
    """Return the same users, cut at the given places."""
    for start, stop in pairwise((0, *cuts, len(users))):
        levels = None if users.levels is None else users.levels[start:stop]
        yield Users(users.values[start:stop], levels)


@pytest.mark.parametrize("kind, name", STREAMED)
def test_parts_follow_the_whole_law(kind, name):
    case, protocol = feasible_case(kind, name)
    public = case.participants(1).public
    repeats = 40
    streamed = np.stack(
        [
            stream(protocol, chunks(case.users(), 5), public, np.random.default_rng([1, seed]), at_once=7)
            for seed in range(repeats)
        ]
    )
    whole = np.stack(
        [
            protocol.simulate_messages(case.users(), public, np.random.default_rng([2, seed]))
            for seed in range(repeats)
        ]
    )
    assert streamed.shape == whole.shape
    assert streamed.dtype == whole.dtype
    many = Public(np.repeat(public.n_users, repeats), _repeated(public.level_counts, repeats))
    # For so many runs the asymptotic probability is above the exact one.
    for of_parts, of_whole in ((streamed, whole), [protocol.estimate(x, many) for x in (streamed, whole)]):
        for mine, other in zip(of_parts.reshape(repeats, -1).T, of_whole.reshape(repeats, -1).T, strict=True):
            if np.ptp(np.concatenate((mine, other))) > 0:
                assert stats.ks_2samp(mine, other, method="asymp").pvalue > RARE


def _repeated(level_counts, repeats):
    return None if level_counts is None else np.repeat(level_counts, repeats, axis=0)


def test_sums_in_large_groups_are_exact():
    protocol = get("summation", "split_and_mix").calibrate(Budget(1.0, 1e-6), Fixed(199), Summation(5))
    large = type(protocol)(200, protocol.numbers, protocol.eps, 3, 2**61 + 1, protocol.form)
    users, public = Users(np.full(200, 2)), Public(np.array([200]))
    seen = stream(large, [users], public, np.random.default_rng(1), at_once=1)
    assert abs(float(large.estimate(seen[None], public)[0]) - 400) < 200
    assert 0 <= seen[0] < large.group_order


def test_progress_reaches_the_end_once():
    protocol = get("frequency", "local").calibrate(Budget(1.0, 1e-3), Fixed(24), Frequency(2))
    told = []
    users = Users(np.zeros(25, np.int64))
    stream(
        protocol,
        [users],
        Public(np.array([25])),
        np.random.default_rng(1),
        at_once=10,
        progress=lambda *s: told.append(s),
    )
    assert told == [(10, 25), (20, 25), (25, 25)]


@pytest.mark.parametrize("announced, coming", [(25, "24"), (23, "24 or more"), (25, "0")])
def test_other_users_than_announced_are_refused(announced, coming):
    protocol = get("frequency", "local").calibrate(Budget(1.0, 1e-3), Fixed(24), Frequency(2))
    users = [] if coming == "0" else [Users(np.zeros(24, np.int64))]
    with pytest.raises(
        ValueError, match=f"users must be {announced} in all, as public.n_users, got {coming}"
    ):
        stream(protocol, users, Public(np.array([announced])), np.random.default_rng(1))


def test_unstreamable_protocols_are_refused():
    local = get("frequency", "local").calibrate(Budget(1.0, 1e-3), Fixed(24), Frequency(2))

    @dataclass(frozen=True)
    class OwnShuffle(type(local)):
        def shuffle(self, messages, public, rng):
            return messages

    users, public, rng = [Users(np.zeros(25, np.int64))], Public(np.array([25])), np.random.default_rng(1)
    own = OwnShuffle(local.population, local.domain_size, local.eps_local)
    with pytest.raises(ValueError, match="its class overrides shuffle"):
        stream(own, users, public, rng)
    with pytest.raises(ValueError, match="one repeat, got 2"):
        stream(local, users, Public(np.array([25, 25])), rng)
    with pytest.raises(ValueError, match="at_once"):
        stream(local, users, public, rng, at_once=0)
    for kind, name in set(BUILT_INS) - set(STREAMED):
        assert not get(kind, name).streamable
        case, protocol = feasible_case(kind, name)
        with pytest.raises(ValueError, match="cannot be streamed"):
            stream(protocol, [case.users()], case.participants(1).public, rng)


@dataclass(frozen=True)
class Wide(Echo):
    """Protocol without a fast law that records how many users it encodes at a time."""

    bits: float = 2.0**27

    def encode(self, users, rng):
        return Messages(np.full(len(users), min(len(users) - 1, 1)))

    def cost(self):
        return Cost(1.0, self.bits)


def test_many_users_run_in_parts():
    # A message of 2^27 bits: one user at a time, hence message 0 only; together they would send message 1.
    who = Participants.from_counts(np.array([[3, 2], [1, 0]]))
    assert users_at_once(Wide().cost()) == 1
    assert Wide().sample_aggregate(who, np.random.default_rng(1)).tolist() == [[5, 0], [1, 0]]
    assert Wide(bits=8.0).sample_aggregate(who, np.random.default_rng(1)).tolist() == [[0, 5], [1, 0]]
