"""What protocols with one bit per value share: rows whose bits are independent, and counts of set bits.

The own bit of a user is set with probability p, every other bit with probability q; rows that nobody holds a value in
may be sent besides. How rows travel, as one message or bit by bit, does not matter here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.fragmented_rappor import proven_bits_delta
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.numerics.memoize import remember
from shuffledp.protocols._coins import coin_blocks
from shuffledp.protocols._random_users import PlannedUsers
from shuffledp.protocols.base import Messages
from shuffledp.protocols.frequency._randomized_response import held_counts
from shuffledp.tasks import Floats, Participants, Public, Users


@dataclass(frozen=True)
class UnaryBits(PlannedUsers):
    """Rows of randomized bits.

    Parameters
    ----------
    n_users : int
        Users that the protocol is calibrated for, user 1 included.
    domain_size : int
        Values are 0..domain_size-1; a row has as many bits.
    own_rate, other_rate : float
        Probabilities p > q that the own bit and any other one is set.
    """

    n_users: int
    domain_size: int
    own_rate: float
    other_rate: float

    @property
    def rows_per_user(self) -> int:
        """The own row, and rows without a value."""
        return 1

    def local_epsilon(self) -> float:
        """Of a user's own rows: two bits depend on its value."""
        p, q = self.own_rate, self.other_rate
        return math.log(p) - math.log(q) + math.log1p(-q) - math.log1p(-p)

    def rows(self, users: Users, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Randomized rows of these users, (n * rows_per_user, k), a user's own rows first.

        Raises
        ------
        ValueError
            If a value is not in 0..k-1.
        """
        values = np.asarray(users.values, np.int64)
        if values.size and not (values.min() >= 0 and values.max() < self.domain_size):
            raise ValueError(
                f"Values must lie in 0..{self.domain_size - 1}, got {values.min()}..{values.max()}."
            )
        held = np.concatenate((values, np.full((self.rows_per_user - 1) * len(values), -1)))
        rows = np.empty((len(held), self.domain_size), bool)
        for block, coins in coin_blocks(len(held), self.domain_size, rng):
            own = held[block, None] == np.arange(self.domain_size)
            rows[block] = coins < np.where(own, self.own_rate, self.other_rate)
        return rows

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the set bits of each value, (R, k): binomials, independent over values."""
        held = held_counts(participants, self.domain_size).astype(np.int64)
        others = self.rows_per_user * participants.public.n_users[:, None] - held
        return np.asarray(rng.binomial(held, self.own_rate) + rng.binomial(others, self.other_rate))

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Unbiased relative frequencies, (R, k)."""
        share = np.asarray(aggregate, float) / np.asarray(public.n_users, float)[:, None]
        return np.asarray((share - self.rows_per_user * self.other_rate) / (self.own_rate - self.other_rate))

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of each frequency given the participants' values, (R, k)."""
        n = np.asarray(participants.public.n_users, float)[:, None]
        held = np.asarray(held_counts(participants, self.domain_size), float)
        p, q = self.own_rate, self.other_rate
        noise = held * p * (1 - p) + (self.rows_per_user * n - held) * q * (1 - q)
        return np.asarray(noise / (n * (p - q)) ** 2)


@dataclass(frozen=True)
class WholeRows(UnaryBits):
    """Rows of randomized bits, a row being one message."""

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """(n * rows_per_user, k) rows of bits."""
        return Messages(self.rows(users, rng))

    def aggregate(self, messages: Messages) -> NDArray[Any]:
        """(k,): set bits of each value."""
        return np.asarray(np.count_nonzero(messages.payload, axis=0))


_remembered = remember(1024)(
    proven_bits_delta
)  # profiles for many numbers of users ask for the same few again


@dataclass(frozen=True)
class FlippedBits(UnaryBits):
    """Rows of which every bit is flipped with the same probability."""

    few_numbers = True

    @property
    def flip_probability(self) -> float:
        """p, in (0, 1/2)."""
        return self.other_rate

    def parameters(self) -> dict[str, float]:
        """Flip probability, and the budget of a bit."""
        p = self.flip_probability
        return {"flip_probability": p, "eps_bit": math.log1p(-p) - math.log(p)}

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """A bound for every data set of the others."""
        if users < 2:
            return None
        return Profile(
            lambda eps: _remembered(users, self.flip_probability, eps),
            "two sums of randomized bits, bounded for every data set of the others",
        )
