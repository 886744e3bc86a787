"""Histograms with integer noise of a curator or of a secure sum: reference lines, no protocols of the shuffle model.

A user moves two counts under replacement and one if it is added or removed. Noise of the counts is independent. Of two
values under replacement one count is released and the other is n minus it: the number n of users is public, and
independent noise on both counts would pay twice for one number.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.guarantees import EXACT, under
from shuffledp.protocols.base import Cost, Messages, ProtocolBase, message_bits
from shuffledp.protocols.frequency._value_counts import checked_values, held_counts
from shuffledp.tasks import Floats, Ints, Neighbours, Participants, Public, Users


def released_counts(domain_size: int, relation: Neighbours) -> int:
    """Return the number of counts with noise of their own: all, or one of two if the number of users is public."""
    return 1 if domain_size == 2 and relation == "replace_one" else domain_size


def moving_counts(domain_size: int, relation: Neighbours) -> int:
    """Return the number of released counts that one user moves."""
    return min(released_counts(domain_size, relation), 2 if relation == "replace_one" else 1)


class ReleasedCounts(ProtocolBase):
    """Counts with independent noise that does not depend on what users hold."""

    domain_size: int
    relation: Neighbours

    task_kind = "frequency"
    neighbours = ("replace_one", "add_remove")
    guarantees = under(exact=EXACT)

    @abstractmethod
    def noise(self, users: Floats, rng: np.random.Generator, shape: tuple[int, ...]) -> Ints:
        """Independent draws of the noise when (R, 1) users take part."""

    @abstractmethod
    def noise_variance(self, users: Floats) -> Floats | float:
        """Variance of the noise of a count when (R, 1) users take part."""

    @property
    def moving_counts(self) -> int:
        """Counts with noise of their own that one user moves."""
        return moving_counts(self.domain_size, self.relation)

    @property
    def released(self) -> int:
        """Counts with noise of their own."""
        return released_counts(self.domain_size, self.relation)

    def noise_of_all(self, users: Floats, rng: np.random.Generator, repeats: int) -> Ints:
        """Noise of all counts, (R, k); of two of which one is released, the second has the opposite noise."""
        drawn = self.noise(users, rng, (repeats, self.released))
        return drawn if drawn.shape[1] > 1 else np.hstack((drawn, -drawn))

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the noisy counts, (R, k), at a cost that does not depend on the number of users."""
        held = held_counts(participants, self.domain_size).astype(np.int64)
        return np.asarray(held + self.noise_of_all(participants.public.users_column, rng, len(held)))

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Noisy relative frequencies, (R, k)."""
        return np.asarray(np.asarray(aggregate, float) / public.n_users[:, None])

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of each frequency, (R, k): that of the noise, whatever the data."""
        n = participants.public.users_column
        return np.repeat(self.noise_variance(n) / n**2, self.domain_size, axis=1)


class CuratorNoise(ReleasedCounts):
    """Users send their values; a trusted curator adds one noise to each count.

    Messages are rows (value, number): ``(x, 1)`` from users and ``(j, noise)`` from the curator.
    """

    trust = "central"
    relies_on = "no other user"

    def cost(self) -> Cost:
        """One value per user; the curator adds a noise per count."""
        return Cost(
            1.0, message_bits(self.domain_size), shuffler_messages=float(self.domain_size), most_messages=1.0
        )

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """The values as they are."""
        values = checked_values(users.values, self.domain_size)
        return Messages(np.column_stack((values, np.ones_like(values))))

    def dummies(self, public: Public, rng: np.random.Generator) -> Messages:
        """The curator's noise, one number per count."""
        return Messages(
            np.column_stack((np.arange(self.domain_size), self.noise_of_all(public.users_column, rng, 1)[0]))
        )

    def aggregate(self, messages: Messages) -> NDArray[Any]:
        """Noisy counts, (k,)."""
        rows = np.asarray(messages.payload, np.int64)
        total = np.zeros(self.domain_size, np.int64)
        np.add.at(total, rows[:, 0], rows[:, 1])
        return total
