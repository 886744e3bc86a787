"""Histograms with integer noise of a curator or of a secure sum: reference lines outside of the shuffle model.

A user moves two counts under replacement, and one count if added or removed. Noise of different counts is independent.
For two values under replacement one count is released, and the other is n minus this count, as the number n of users is
public. Independent noise on both counts would use the budget twice for one number. If users are added or removed, the
number who take part is not public: frequencies are counts divided by the planned number.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator

from shuffledp.numerics.saddlepoint import ErrorLaw
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._integer_noise import CuratorNoise
from shuffledp.protocols._requests import divisor_of
from shuffledp.protocols.frequency._value_counts import checked_values, held_integers
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Floats, Ints, Neighbours, Participants, Public, Users


def released_counts(domain_size: int, relation: Neighbours) -> int:
    """Return the number of counts with independent noise: all, or one of two counts with a public sum."""
    return 1 if domain_size == 2 and relation == "replace_one" else domain_size


def moved_counts(domain_size: int, relation: Neighbours) -> tuple[int, int]:
    """Return the change of a released count by one user, and the number of released counts that change."""
    return 1, min(released_counts(domain_size, relation), 2 if relation == "replace_one" else 1)


def noise_of_all(released: Ints) -> Ints:
    """Return noise of all counts, (R, k), from noise of the released counts; noise of two counts has sum 0."""
    return released if released.shape[1] > 1 else np.hstack((released, -released))


@dataclass(frozen=True)
class NoisyHistogram(CuratorNoise):
    """Histogram of a trusted curator, who adds integer noise to each count.

    Messages are rows ``(x, 1)`` from users and ``(j, noise)`` from the curator. For two values under replacement the
    second count has the opposite noise.
    """

    domain_size: int
    planned_users: int | None = field(default=None, kw_only=True)

    task_kind = "frequency"
    poisoning = "one value"

    def gain_per_fake(self, most: float) -> float:
        """Return one, as the curator counts one value per user."""
        return 1.0

    @classmethod
    def derive_fields(cls, request: Request) -> dict[str, Any]:
        """Return the fields with the numbers of values and, unless users are replaced, of planned users."""
        return {"domain_size": request.k, "planned_users": request.planned_users}

    @property
    def changed_counts(self) -> tuple[int, int]:
        """Change of a count by one user, which is 1, and the number of released counts that change."""
        return moved_counts(self.domain_size, self.relation)

    def cost(self) -> Cost:
        """Return the cost of one value per user; the curator adds one noise message per count."""
        return Cost(
            1.0, message_bits(self.domain_size), shuffler_messages=float(self.domain_size), most_messages=1.0
        )

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Return the values without noise."""
        values = checked_values(users.values, self.domain_size)
        return Messages(np.column_stack((values, np.ones_like(values))))

    def dummies(self, public: Public, rng: Generator) -> Messages:
        """Draw the curator's noise, one integer per count."""
        return Messages(np.column_stack((np.arange(self.domain_size), self._drawn(1, rng)[0])))

    def aggregate(self, messages: Messages) -> Array:
        """Return the noisy counts, (k,)."""
        rows = np.asarray(messages.payload, np.int64)
        total = np.zeros(self.domain_size, np.int64)
        np.add.at(total, rows[:, 0], rows[:, 1])
        return total

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the noisy counts, (R, k), from their exact law."""
        true_counts = held_integers(participants, self.domain_size)
        return true_counts + self._drawn(len(true_counts), rng)

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return noisy relative frequencies, (R, k)."""
        return aggregate / divisor_of(self.planned_users, public)

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the law of the noise of a count."""
        step = 1 / divisor_of(self.planned_users, participants.public)
        ones = np.ones(self.domain_size)
        return ErrorLaw([term.times(step * ones) for term in self.noise.terms], step)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each frequency, (R, k), which does not depend on the data."""
        n = divisor_of(self.planned_users, participants.public)
        return np.repeat(self.noise.variance / n**2, self.domain_size, axis=1)

    def parameters(self) -> dict[str, float]:
        """Return sigma (Gaussian noise) or eps (Laplace noise), and the variance of a count."""
        return {self.scale: getattr(self, self.scale), "noise_variance": self.noise.variance}

    def _drawn(self, repeats: int, rng: Generator) -> Ints:
        released = released_counts(self.domain_size, self.relation)
        return noise_of_all(self.noise.draw(rng, (repeats, released)))
