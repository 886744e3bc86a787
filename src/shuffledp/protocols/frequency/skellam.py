"""Skellam noise in a secure sum: a reference line of a histogram."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.noisy_counts import noisy_count_variance, noisy_counts_profile
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.numerics.samplers import skellam
from shuffledp.protocols._random_users import PlannedUsers
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.base import Cost, Messages
from shuffledp.protocols.frequency._curator_noise import ReleasedCounts, moving_counts
from shuffledp.protocols.frequency._value_counts import checked_values
from shuffledp.tasks import Budget, Floats, Ints, Neighbours, Users


@dataclass(frozen=True)
class Skellam(ReleasedCounts, PlannedUsers):
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
    label = "Skellam, secure aggregation"
    source = "Agarwal, Kairouz and Liu 2021; the pair of counts is derived for this project"
    trust = "secure_sum"
    relies_on = "shares of the noise"

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
        return Cost(1.0, float(self.released * each), most_messages=1.0)

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """One-hot rows and shares of the noise, (n, k)."""
        values = checked_values(users.values, self.domain_size)
        rows = self.noise_of_all(np.ones((len(values), 1)), rng, len(values))
        rows[np.arange(len(values)), values] += 1
        return Messages(rows)

    def aggregate(self, messages: Messages) -> NDArray[Any]:
        """Sums of all rows, (k,)."""
        return np.asarray(messages.payload.sum(axis=0))

    def noise(self, users: Floats, rng: np.random.Generator, shape: tuple[int, ...]) -> Ints:
        """Skellam variables: the sum of the users' shares."""
        return skellam(self.noise_variance(users), rng, shape)

    def noise_variance(self, users: Floats) -> Floats:
        """The users' shares of mu."""
        return np.asarray(self.variance * users / self.n_users)

    def profile_for(self, users: int) -> PrivacyProfile:
        """The noise of the counts that move, from as many users."""
        noise = self.variance * users / self.n_users
        return noisy_counts_profile("skellam", noise, 1, self.moving_counts, neighbours=self.relation)

    def parameters(self) -> dict[str, float]:
        """Variance of a count when as many take part as are planned for."""
        return {"noise_variance": self.variance}
