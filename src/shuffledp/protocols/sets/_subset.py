"""Subset exponential mechanism: a random subset of k items that favors the user's items."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from shuffledp.accounting.errors import Infeasible
from shuffledp.numerics.saddlepoint import ErrorLaw, report_law
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.sets._set_protocol import SetProtocol, holders
from shuffledp.protocols.sets._subset_exponential import SubsetExponential
from shuffledp.protocols.streaming import regrouped
from shuffledp.tasks import USERS_AT_ONCE, Array, Floats, Ints, Participants, Public, Sets, Users

#: Number of items of messages in memory together: 256 MiB.
_ITEMS = 1 << 26
#: Number of numbers to rank, or of items to count, per pass; their 64 bits need little memory.
_AT_ONCE = 1 << 20
#: Approximate number of users whose messages are drawn together.
TOGETHER = 1 << 18


def selectable(task: Sets) -> tuple[int, int]:
    """Return the numbers of items and of items per user. Raise `Infeasible` if every user has all items."""
    if task.set_size == task.domain_size:
        raise Infeasible(
            f"set_size must be below domain_size = {task.domain_size}: every user holds all items."
        )
    return task.domain_size, task.set_size


@dataclass(frozen=True)
class SubsetReports(SetProtocol):
    """One message per user, a subset of items from the subset exponential mechanism."""

    mechanism: SubsetExponential

    task_kind = "sets"
    reported = ("mechanism.eps_local", "mechanism.subset_size")

    @property
    def gap(self) -> float:
        """Probability that a message contains an item of its user, minus the probability for another item."""
        return self.mechanism.own_rate - self.mechanism.other_rate

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw one subset per user, (n, k), with increasing items."""
        return Messages(np.sort(drawn_subsets(self.mechanism, users.values, rng), axis=1).astype(np.int64))

    def aggregate(self, messages: Messages) -> Array:
        """Return the number of messages that contain each item, (d,)."""
        return super().aggregate(Messages(messages.payload.ravel()))

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the messages per item, (R, d), from the users' sets, in blocks of users."""
        n = participants.public.n_users
        most = self._users_at_once
        if int(n.max()) > most:
            return np.stack([self._in_blocks(participants, repeat, rng) for repeat in range(len(n))])
        d, tables = self.domain_size, []
        for user_sets, repeats in _batches(participants):
            items = drawn_subsets(self.mechanism, user_sets, rng)
            ends = np.cumsum(repeats)
            tables += [count_items(items[end - n : end], d) for n, end in zip(repeats, ends, strict=True)]
        return np.stack(tables)

    @property
    def _users_at_once(self) -> int:
        """Largest number of users whose messages are in memory at the same time."""
        return max(1, min(USERS_AT_ONCE, _ITEMS // self.mechanism.subset_size))

    def _in_blocks(self, participants: Participants, repeat: int, rng: Generator) -> Ints:
        """Draw the messages per item of one repeat, (d,), in blocks of users."""
        counts = np.zeros(self.domain_size, np.int64)
        for part in regrouped(_sets_of(participants)(repeat), self._users_at_once):
            items = drawn_subsets(self.mechanism, part.values, rng)
            counts += count_items(items, self.domain_size)
        return counts

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased shares of holders, (R, d - padding_items)."""
        hits = aggregate / public.n_users[:, None]
        return self.real((hits - self.mechanism.other_rate) / self.gap)

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the exact law of the reports that contain an item."""
        n, item_holders = participants.public.users_column, self.real(holders(participants).sum(axis=1))
        return report_law(
            item_holders, self.mechanism.own_rate, n - item_holders, self.mechanism.other_rate, n * self.gap
        )

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each share given the items of all users."""
        own_rate, other_rate = self.mechanism.own_rate, self.mechanism.other_rate
        n, item_holders = participants.public.n_users[:, None], holders(participants).sum(axis=1)
        coins = item_holders * own_rate * (1 - own_rate) + (n - item_holders) * other_rate * (1 - other_rate)
        return self.real(coins / (n * self.gap) ** 2)

    def cost(self) -> Cost:
        """Return the cost of one message per user, the index of a subset."""
        subsets = math.comb(self.domain_size, self.mechanism.subset_size)
        return Cost(1.0, message_bits(subsets), most_messages=1.0)


def _batches(participants: Participants) -> Iterator[tuple[Ints, list[int]]]:
    """Yield the sets of the users of some consecutive repeats, (n, s), and the number of users of each repeat."""
    users_of = _sets_of(participants)
    sets: list[Array] = []
    sizes: list[int] = []
    together = 0
    for repeat in range(participants.public.repeats):
        chunks = [users.values for users in users_of(repeat)]
        sets += chunks
        sizes.append(sum(map(len, chunks)))
        together += sizes[-1]
        if together >= TOGETHER:
            yield np.concatenate(sets), sizes
            sets, sizes, together = [], [], 0
    if sizes:
        yield np.concatenate(sets), sizes


def _sets_of(participants: Participants) -> Callable[[int], Iterator[Users]]:
    if participants.users is None:
        raise ValueError("The subset exponential mechanism needs the users' sets, which were not given.")
    return participants.users


def drawn_subsets(mechanism: SubsetExponential, user_sets: Array, rng: Generator) -> Array:
    """Draw the messages of users with the sets `user_sets`: (n, s) becomes (n, k), items in any order."""
    n, s, k = len(user_sets), mechanism.set_size, mechanism.subset_size
    sets = user_sets.astype(np.int32)
    overlaps = np.searchsorted(_overlap_law(mechanism), rng.random(n), side="right")
    subsets = _distinct(n, mechanism.domain_size - s, k, rng)
    for item in np.sort(sets, axis=1).T:  # from ranks among the other items to items
        subsets += subsets >= item
    # The others are in random order, so that any that are replaced without looking at them leave a uniform subset.
    for overlap in range(1, min(s, k) + 1):
        users = np.flatnonzero(overlaps == overlap)
        positions = _distinct(len(users), s, overlap, rng)
        subsets[:overlap, users] = sets[users, positions]
    return subsets.T


def count_items(items: Array, kinds: int) -> Ints:
    """Return the frequency of each of 0..kinds-1 among the items: (n, k) becomes (kinds,). The items are not copied."""
    counts = np.zeros(kinds, np.int64)
    by_place = items.T  # as they were drawn: one place of all messages after the other
    step = max(1, _AT_ONCE // max(1, by_place.shape[1]))
    for begin in range(0, len(by_place), step):
        counts += np.bincount(by_place[begin : begin + step].ravel(), minlength=kinds)
    return counts


def _overlap_law(mechanism: SubsetExponential) -> Floats:
    """Return cumulative probabilities of 0, 1, .. items of the user in a message, without the last probability, 1."""
    d, s, k = mechanism.domain_size, mechanism.set_size, mechanism.subset_size
    weights = [math.comb(s, i) * math.comb(d - s, k - i) / math.comb(d, k) for i in range(min(s, k) + 1)]
    weights[0] *= math.exp(-mechanism.eps_local)
    return np.cumsum(weights)[:-1] / sum(weights)


def _distinct(n: int, size: int, count: int, rng: Generator) -> NDArray[np.int32]:
    """Draw for each of n users `count` different numbers below `size`, in uniformly random order, (count, n)."""
    if count * (count - 1) > size:  # duplicates would be frequent
        ranks = np.empty((count, n), np.int32)
        step = max(1, _AT_ONCE // size)
        for begin in range(0, n, step):
            some = slice(begin, min(begin + step, n))
            ranks[:, some] = np.argsort(rng.random((some.stop - begin, size)), axis=1)[:, :count].T
        return ranks
    numbers = rng.integers(0, size, (count, n), dtype=np.int32)
    again = np.flatnonzero(_repeated(numbers))
    while again.size:
        numbers[:, again] = rng.integers(0, size, (count, again.size), dtype=np.int32)
        again = again[_repeated(numbers[:, again])]
    return numbers


def _repeated(numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return, for each user, whether two of the user's numbers are equal, (n,)."""
    has_repeat = np.zeros(numbers.shape[1], bool)
    for column in range(1, len(numbers)):
        has_repeat |= (numbers[:column] == numbers[column]).any(axis=0)
    return has_repeat
