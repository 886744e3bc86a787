"""Single-message protocols with generalized randomized response.

Dummies are reports of the fixed public input 0. Protocols differ in their schedule (`shuffledp.protocols._schedules`),
which fixes ``eps_local`` and the dummies.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.random import Generator

from shuffledp.numerics.saddlepoint import ErrorLaw
from shuffledp.populations.base import Law
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._schedules import OneReport
from shuffledp.protocols.frequency._value_counts import GeneralizedResponse, held_counts
from shuffledp.protocols.messages import message_bits
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Floats, Participants, Public


@dataclass(frozen=True)
class ValueReports(OneReport):
    """Reports by generalized randomized response; the fixed public input is 0."""

    no_client = "The client for randomized response is the client of grr_blanket."

    population: Law
    domain_size: int
    eps_local: float

    @classmethod
    def scheduled(cls, request: Request, eps_local: float, **schedule: Any) -> Self:
        """Return the protocol for a request and a schedule."""
        return cls(request.law, request.k, eps_local, **schedule)

    @property
    def response(self) -> GeneralizedResponse:
        """Local randomizer of the protocol."""
        return GeneralizedResponse(self.eps_local, self.domain_size)

    def fixed_inputs(self, count: int) -> Array:
        """Return `count` zeros."""
        return np.zeros(count, dtype=np.int64)

    def reports(self, values: Array, rng: Generator) -> Array:
        """Draw one randomized value per user, (n,), which is true with probability ``E / (E + k - 1)``."""
        return self.response.randomize(values, rng)

    def report_bits(self) -> float:
        """Return the bits of a report, one of k values."""
        return message_bits(self.domain_size)


@dataclass(frozen=True)
class RandomizedResponse(ValueReports):
    """Generalized randomized response with dummies of input 0."""

    dummy_count: int = 0
    adaptive: bool = False

    poisoning = "one report"

    def gain_per_fake(self, most: float) -> float:
        """Return the gain of reports of the target."""
        return (most - self.response.lie) / self.response.gap

    @property
    def alphabet_size(self) -> int:
        """Number of different messages, one per value."""
        return self.domain_size

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the reports per value, (R, k), from their exact law, at a cost independent of n."""
        return self.response.sample_counts(self._reporters(participants).astype(np.int64), rng)

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased relative frequencies, (R, k), by the corrected formula of erratum RP-E14."""
        dummies = self.dummies_added(public.n_users)
        counts = self.response.debiased(aggregate, public.n_users + dummies)
        counts[:, 0] -= dummies
        return counts / public.n_users[:, None]

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the exact law of the reports of users and dummies."""
        return self.response.error_law(self._reporters(participants), participants.public.users_column)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each frequency given the values, (R, k)."""
        n = participants.public.users_column
        return self.response.variance(self._reporters(participants)) / n**2

    def _reporters(self, participants: Participants) -> Array:
        """Return the users and dummies per value, (R, k), as a new array."""
        reporters = held_counts(participants, self.domain_size).copy()
        reporters[:, 0] += self.dummies_added(participants.public.n_users)
        return reporters
