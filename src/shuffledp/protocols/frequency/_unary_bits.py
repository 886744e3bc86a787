"""Protocols with one bit per value: rows of independent bits, and counts of set bits.

The bit of a user's value is set with probability p, every other bit with probability q. Users may also send rows
without a value. A protocol sends a row as one message or as one message per set bit.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from shuffledp.accounting.baselines.fragmented_rappor import proven_bits_delta
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.numerics.memoize import remember
from shuffledp.protocols._coins import coin_blocks
from shuffledp.protocols._inputs import checked_inputs
from shuffledp.protocols.frequency._pure_reports import PureReports
from shuffledp.protocols.frequency._value_counts import checked_values
from shuffledp.protocols.messages import Messages
from shuffledp.tasks import Array, Users


@dataclass(frozen=True)
class UnaryBits(PureReports):
    """Rows of randomized bits, set with probability ``own_rate`` for the user's value and ``other_rate`` for others."""

    no_client = "No client is written for reports with a bit per value; subset_selection has one."

    own_rate: float
    other_rate: float

    @property
    def two_rates(self) -> tuple[float, float, float]:
        """Rates of set bits for the user's value and for another value, and their difference."""
        return self.own_rate, self.other_rate, self.own_rate - self.other_rate

    def local_epsilon(self) -> float:
        """Return the local eps of a user's rows; two bits of a row depend on the value."""
        p, q = self.own_rate, self.other_rate
        if p == 1:  # rounded: the user's value is never flipped
            return math.inf
        return math.log(p) - math.log(q) + math.log1p(-q) - math.log1p(-p)

    def rows(self, users: Users, rng: Generator) -> NDArray[np.bool_]:
        """Draw randomized rows, (n * rows_per_user, k), rows of values first. Raise ValueError for invalid values."""
        values = checked_values(users.values, self.domain_size)
        row_values = np.concatenate((values, np.full((self.rows_per_user - 1) * len(values), -1)))
        rows = np.empty((len(row_values), self.domain_size), bool)
        for block, coins in coin_blocks(len(row_values), self.domain_size, rng):
            own_bits = row_values[block, None] == np.arange(self.domain_size)
            rows[block] = coins < np.where(own_bits, self.own_rate, self.other_rate)
        return rows


@dataclass(frozen=True)
class WholeRows(UnaryBits):
    """Rows of randomized bits, each row one message."""

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw the rows of bits, (n * rows_per_user, k)."""
        return Messages(self.rows(users, rng))

    def aggregate(self, messages: Messages) -> Array:
        """Return the number of set bits of each value, (k,)."""
        return np.asarray(np.count_nonzero(messages.payload, axis=0))


#: Cache, because profiles for many numbers of users need the same few values again.
_remembered = remember(1024)(proven_bits_delta)


@dataclass(frozen=True)
class FlippedBits(UnaryBits):
    """Rows of bits, all flipped with the same probability."""

    few_numbers = True

    @property
    def flip_probability(self) -> float:
        """Probability p in (0, 1/2) that a bit is flipped."""
        return self.other_rate

    def parameters(self) -> dict[str, float]:
        """Return the flip probability and the local budget of a bit."""
        p = self.flip_probability
        return {"flip_probability": p, "eps_bit": math.log1p(-p) - math.log(p)}

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Return an upper bound on delta for every data set of the other users."""
        if users < 2:
            return None
        return Profile(
            lambda eps: _remembered(users, self.flip_probability, eps),
            "two sums of randomized bits, bounded for every data set of the others",
        )
