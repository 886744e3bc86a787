"""Skellam noise in a secure sum: a reference line for histograms."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.random import Generator

from shuffledp.numerics.saddlepoint import ErrorLaw, two_sided
from shuffledp.numerics.samplers import skellam
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._integer_noise import SkellamNoise
from shuffledp.protocols._requests import divisor_of
from shuffledp.protocols.frequency._curator_noise import moved_counts, noise_of_all, released_counts
from shuffledp.protocols.frequency._value_counts import checked_values, held_integers
from shuffledp.protocols.messages import Messages
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Floats, Participants, Public, Users


@dataclass(frozen=True)
class Skellam(SkellamNoise):
    """One-hot rows of k integers plus each user's Skellam noise of variance ``mu / n`` per count, for a secure sum.

    For two values under replacement a row is (y, 1 - y), of which only y is sent, as the number of users is public.
    """

    domain_size: int

    name = "skellam"
    task_kind = "frequency"
    source = "Agarwal, Kairouz and Liu 2021; the pair of counts is derived for this project"

    @classmethod
    def derive_fields(cls, request: Request) -> dict[str, Any]:
        """Return the field with the number of values."""
        return {"domain_size": request.k}

    @property
    def changed_counts(self) -> tuple[int, int]:
        """Change of a count by one user, which is 1, and the number of released counts that change."""
        return moved_counts(self.domain_size, self.relation)

    @property
    def released_counts(self) -> int:
        """Number of released counts: all, or one of two."""
        return released_counts(self.domain_size, self.relation)

    @classmethod
    def fit_random(cls, request: Request, options: Mapping[str, Any]) -> Self:
        """Plan for a random number; under ``add_remove`` it is refused, as frequencies are of the planned number."""
        if request.budget.neighbours == "add_remove":
            return cls.fit(request, **options)
        return super().fit_random(request, options)

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw one-hot rows plus each user's share of the noise, (n, k)."""
        values = checked_values(users.values, self.domain_size)
        shares = skellam(self.variance / self.n_users, rng, (len(values), self.released_counts))
        rows = noise_of_all(shares)
        rows[np.arange(len(values)), values] += 1
        return Messages(rows)

    def aggregate(self, messages: Messages) -> Array:
        """Return the sums of all rows, (k,)."""
        return np.asarray(messages.payload.sum(axis=0))

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the noisy counts, (R, k), from their exact law, at a cost independent of n."""
        true_counts = held_integers(participants, self.domain_size)
        noise = skellam(
            self._noise(participants.public)[:, None], rng, (len(true_counts), self.released_counts)
        )
        return true_counts + noise_of_all(noise)

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return noisy relative frequencies, (R, k)."""
        return aggregate / self._divisor(public)

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the exact law, a difference of Poisson variables."""
        n = self._divisor(participants.public)
        mean = np.repeat(self._noise(participants.public)[:, None] / 2, self.domain_size, axis=1)
        return ErrorLaw(two_sided(mean, 0.0, 1 / n), 1 / n)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each frequency, (R, k), which does not depend on the data."""
        public = participants.public
        return np.repeat(self._noise(public)[:, None] / self._divisor(public) ** 2, self.domain_size, axis=1)

    def parameters(self) -> dict[str, float]:
        """Return the variance of a count if the planned number of users take part."""
        return {"noise_variance": self.variance}

    def _divisor(self, public: Public) -> Floats:
        return divisor_of(None if self.relation == "replace_one" else self.n_users, public)

    def _noise(self, public: Public) -> Floats:
        return self.variance * public.n / self.n_users
