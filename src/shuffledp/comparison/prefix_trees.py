r"""Frequent values of a large domain, by a prefix tree in rounds.

A value is a number of ``h b`` bits. In round l, a user sends the first ``l b`` bits of the value if the round counts
them, and otherwise the node *other*, by one protocol with independent noise on the counts of all nodes. A round counts
the ``2^b`` extensions of every prefix that survived the round before. A prefix survives if its estimated count reaches
a threshold, at which all m prefixes that no user has survive together with a probability of at most 5 %.

A round is a release to the same users, and its nodes depend on earlier rounds alone. Replacing a user moves at most two
counts of each round. Hence the rounds have the accounting of the levels of :mod:`shuffledp.comparison.count_trees`,
for any prefixes that survive. Tails of the noise are saddlepoint approximations.

Replacement neighbors. Derived for this project.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from shuffledp.comparison.count_trees import TREE_PROTOCOLS, calibrated_levels
from shuffledp.guarantees import GUARANTEES, Guarantee
from shuffledp.numerics.argument_ranges import check_choice, check_count
from shuffledp.numerics.saddlepoint import ErrorLaw
from shuffledp.protocols.base import ProtocolBase
from shuffledp.tasks import Array, Frequency, Participants, Public

#: Probability that a prefix without users survives a round, for all prefixes of the round together.
_FALSE = 0.05
#: Largest number of bits of a value, and of a round.
_MOST_BITS, _MOST_CHUNK = 64, 20


@dataclass(frozen=True)
class PrefixTree:
    """Calibrated protocol of all rounds.

    Parameters
    ----------
    protocol : ProtocolBase
        Protocol of a round of three nodes, whose noise does not depend on the number of nodes.
    guarantee : Guarantee
        Label of the guarantee of all rounds together, at best ``upper``.
    users : int
        Number of users, which the protocol is calibrated for.
    rounds, bits : int
        Number h of rounds, and bits b of each.
    """

    protocol: ProtocolBase = field(repr=False)
    guarantee: Guarantee
    users: int
    rounds: int
    bits: int

    @classmethod
    def calibrate(cls, name: str, users: int, rounds: int, bits: int, eps: float, delta: float) -> Self:
        """Return a protocol calibrated for a budget (eps in nats) of all rounds together.

        Raises
        ------
        ValueError
            If a number is out of range, or the protocol is not one of `TREE_PROTOCOLS`.
        Infeasible
            If no parameters meet the budget.
        """
        check_choice("protocol", name, TREE_PROTOCOLS)
        check_count("users", users, 2)
        check_count("bits", bits, 1, _MOST_CHUNK)
        check_count("rounds", rounds, 2, _MOST_BITS // bits)
        releases = calibrated_levels(name, users, rounds, eps, delta)
        guarantee = max((releases.guarantee, "upper"), key=GUARANTEES.index)
        return cls(releases.protocol, guarantee, users, rounds, bits)

    def of_round(self, prefixes: int) -> ProtocolBase:
        """Return the protocol of a round that counts `prefixes` >= 2 prefixes and the node of other users."""
        task = Frequency(prefixes + 1)
        changes: dict[str, Any] = {"domain_size": task.domain_size, "calibrated_for": task}
        return replace(self.protocol, **changes)

    def _tail(self, distance: int, sign: float) -> float:
        """Return the log probability that the noise of a count, times `sign`, is at least `distance` > 0."""
        nobody = np.zeros((1, 3))
        law = self.protocol.error_law(_participants(self.users, nobody))
        assert law is not None
        noise = ErrorLaw([term.times(sign) for term in law.terms], law.step)
        return float(np.ravel(noise.log_tail(np.array([[distance / self.users]]))[0])[0])

    def threshold(self, prefixes: int) -> int:
        """Return the smallest count with which a prefix survives, for the number of prefixes that the round counts."""
        rare = math.log(_FALSE / prefixes)
        return _smallest(lambda count: self._tail(count, 1.0) <= rare)

    def certain_count(self, prefixes: int, chance: float = 0.99) -> int:
        """Return the smallest number of users of a value that is found with a probability of at least `chance`."""
        least = self.threshold(prefixes)
        lost = math.log1p(-(chance ** (1 / self.rounds)))  # in one round
        return least + _smallest(lambda above: self._tail(above + 1, -1.0) <= lost)

    def find(self, values: NDArray[Any], rng: Generator, *, most: int = 10_000) -> dict[int, float]:
        """Simulate all rounds, and return the estimated counts of the values that survive, the largest first.

        Parameters
        ----------
        values : (users,) ndarray of int
            The users' values, in ``[0, 2^(rounds bits))``.
        most : int
            Largest number of prefixes that survive a round; the largest estimates do.
        """
        if len(values) != self.users:
            raise ValueError(f"values must be of {self.users} users, got {len(values)}.")
        if np.min(values) < 0 or int(np.max(values)) >> (self.rounds * self.bits):
            raise ValueError(f"values must be integers in [0, 2^{self.rounds * self.bits}).")
        values, extensions = np.asarray(values, np.uint64), np.arange(2**self.bits, dtype=np.uint64)
        survivors, estimates = np.zeros(1, np.uint64), np.zeros(1)
        for left in range(self.rounds - 1, -1, -1):
            nodes = (survivors[:, None] << np.uint64(self.bits) | extensions).ravel()
            sent = values >> np.uint64(left * self.bits)
            places = np.minimum(np.searchsorted(nodes, sent), len(nodes) - 1)
            places[nodes[places] != sent] = len(nodes)
            counts = np.bincount(places, minlength=len(nodes) + 1)[None].astype(float)
            protocol = self.of_round(len(nodes))
            noisy = self.users * protocol.simulate(_participants(self.users, counts), rng)[0, :-1]
            chosen = np.flatnonzero(noisy >= self.threshold(len(nodes)))
            chosen = np.sort(chosen[np.argsort(-noisy[chosen], kind="stable")[:most]])
            survivors, estimates = nodes[chosen], noisy[chosen]
            if not survivors.size:
                break
        pairs = zip(survivors.tolist(), estimates.tolist(), strict=True)
        return dict(sorted(pairs, key=lambda pair: -pair[1]))


def _participants(users: int, counts: Array) -> Participants:
    return Participants(Public(np.full(1, users)), counts, counts / users)


def _smallest(holds: Callable[[int], bool]) -> int:
    """Return the smallest positive integer from which on a condition holds."""
    low, high = 0, 1
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
