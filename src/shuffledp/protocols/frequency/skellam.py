"""Skellam noise in a secure sum: a reference line of a histogram."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.noisy_counts import noisy_count_variance, noisy_counts_profile
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import EXACT, under
from shuffledp.numerics.samplers import skellam
from shuffledp.protocols._random_users import PlannedUsers
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.base import Cost, Messages
from shuffledp.protocols.frequency._curator_noise import (
    moving_counts,
    noise_of_all,
    released_counts,
)
from shuffledp.protocols.frequency._value_counts import checked_values, held_counts
from shuffledp.tasks import Budget, Floats, Neighbours, Participants, Public, Users


@dataclass(frozen=True)
class Skellam(PlannedUsers):
    """Users add Skellam noise of variance ``mu / n`` to each count of their one-hot row; a secure sum adds up all rows.

    A message is a row of k integers, which nobody sees: only the sums are revealed. Of two values under replacement a
    row is (y, 1 - y), of which y is sent: the number of users is public, and noise on both counts would pay twice. All
    users are relied on for their share of the noise. The shares are Skellam again for any number of users; shares of a
    discrete Gaussian would be 0 for nearly everybody, see :mod:`shuffledp.accounting.baselines.noisy_counts`.

    Parameters
    ----------
    n_users : int
        Users that the noise is made for, user 1 included.
    domain_size : int
        Values are 0..domain_size-1.
    variance : float
        mu, of the noise of a count when as many take part.
    relation : {"replace_one", "add_remove"}
        Neighboring relation of the guarantee.
    """

    n_users: int
    domain_size: int
    variance: float
    relation: Neighbours = "replace_one"

    name = "skellam"
    task_kind = "frequency"
    label = "Skellam, secure aggregation"
    source = "Agarwal, Kairouz and Liu 2021; the pair of counts is derived for this project"
    trust = "secure_sum"
    relies_on = "shares of the noise"
    neighbours = ("replace_one", "add_remove")
    guarantees = under(exact=EXACT)

    @classmethod
    @from_request
    def calibrate(cls, budget: Budget, n: int, k: int, eps: float, delta: float) -> Self:
        """The smallest variance for two counts that move by one; for one under add or remove, or of two values.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, either relation. Under add or remove a user who leaves sends a row without its value,
            but with its share of the noise: otherwise the noise would change with the input.
        """
        counts = moving_counts(k, budget.neighbours)
        variance = noisy_count_variance(eps, delta, "skellam", counts=counts)
        return cls(n, k, variance, budget.neighbours)

    def counted_on(self) -> str:
        """The users who share the noise."""
        return self.all_users()

    def cost(self) -> Cost:
        """A row of k integers modulo a number that the sum reaches with a probability far below delta.

        Payload alone: keys that users agree on are not counted. Of two values under replacement one integer is sent.
        """
        deviation = math.sqrt(self.variance * self.usual_users / self.n_users)
        each = math.ceil(math.log2(self.usual_users + 20 * deviation))
        return Cost(1.0, float(self._released * each), most_messages=1.0)

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """One-hot rows and shares of the noise, (n, k)."""
        values = checked_values(users.values, self.domain_size)
        shares = skellam(self.variance / self.n_users, rng, (len(values), self._released))
        rows = noise_of_all(shares)
        rows[np.arange(len(values)), values] += 1
        return Messages(rows)

    def aggregate(self, messages: Messages) -> NDArray[Any]:
        """Sums of all rows, (k,)."""
        return np.asarray(messages.payload.sum(axis=0))

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the noisy counts, (R, k), at a cost that does not depend on the number of users."""
        held = held_counts(participants, self.domain_size).astype(np.int64)
        noise = skellam(self._noise(participants.public)[:, None], rng, (len(held), self._released))
        return np.asarray(held + noise_of_all(noise))

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Noisy relative frequencies, (R, k)."""
        return np.asarray(np.asarray(aggregate, float) / public.n_users[:, None])

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of each frequency, (R, k): that of the noise, whatever the data."""
        n = np.asarray(participants.public.n_users, float)
        return np.repeat((self._noise(participants.public) / n**2)[:, None], self.domain_size, axis=1)

    def profile_for(self, users: int) -> PrivacyProfile:
        """The noise of the counts that move, from as many users."""
        noise = self.variance * users / self.n_users
        counts = moving_counts(self.domain_size, self.relation)
        return noisy_counts_profile("skellam", noise, 1, counts, neighbours=self.relation)

    def parameters(self) -> dict[str, float]:
        """Variance of a count when as many take part as are planned for."""
        return {"noise_variance": self.variance}

    @property
    def _released(self) -> int:
        return released_counts(self.domain_size, self.relation)

    def _noise(self, public: Public) -> Floats:
        return np.asarray(self.variance * np.asarray(public.n_users, float) / self.n_users)
