"""Base class of reference lines: sums to which a trusted curator adds integer noise."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from shuffledp.numerics.saddlepoint import ErrorLaw
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._integer_noise import CuratorNoise, DiscreteGaussian
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.request import Request
from shuffledp.protocols.summation._sums import Numbers, numbers_of
from shuffledp.tasks import Array, Floats, Neighbours, Participants, Public, Users


def moved_sums(numbers: Numbers, relation: Neighbours) -> tuple[int, int]:
    """Return the largest change of a sum by one user, and the number of sums that change."""
    return numbers.max_value, min(numbers.coordinates, 2 if relation == "replace_one" else 1)


@dataclass(frozen=True)
class NoisySums(CuratorNoise):
    """Sums of the users' positive numbers; the curator adds integer noise to each sum."""

    numbers: Numbers

    task_kind = "summation"
    poisoning = "one value"

    def gain_per_fake(self, most: float) -> float:
        """Return the largest number."""
        return self.numbers.unit

    @classmethod
    def derive_fields(cls, request: Request) -> dict[str, Any]:
        """Return the numbers of the task. Raise `Infeasible` if they may be negative."""
        return {"numbers": numbers_of(request.task, coordinates=True)}

    @property
    def changed_counts(self) -> tuple[int, int]:
        """Largest change of a sum by one user, and the number of sums that change, one or two."""
        return moved_sums(self.numbers, self.relation)

    def cost(self) -> Cost:
        """Return the cost of one number per user, and of one noise message per sum from the curator."""
        n = self.numbers
        return Cost(
            1.0,
            message_bits(n.coordinates * n.max_value),
            shuffler_messages=float(n.coordinates),
            most_messages=1.0,
        )

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Return the positive numbers of the users."""
        where, number = self.numbers.inputs(users)
        return Messages(self.numbers.rows(where[number > 0], number[number > 0]))

    def dummies(self, public: Public, rng: Generator) -> Messages:
        """Draw the curator's noise, one integer per sum."""
        copies = self.numbers.coordinates
        return Messages(self.numbers.rows(np.arange(copies), self.noise.draw(rng, (copies,))))

    def aggregate(self, messages: Messages) -> Array:
        """Return the sums in units of the step, (coordinates,)."""
        where, number = self.numbers.read(messages.payload)
        total = np.zeros(self.numbers.coordinates, np.int64)
        np.add.at(total, where, number)
        return total

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the noisy sums from their exact law, (R, coordinates)."""
        total = self.numbers.total(self.numbers.held(participants).astype(np.int64))
        total = total.reshape(-1, self.numbers.coordinates)
        return total + self.noise.draw(rng, total.shape)

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return the noisy sums, (R, *estimate_shape)."""
        total = aggregate * self.numbers.step
        return total.reshape(len(total), *self.numbers.estimate_shape)

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the law of the noise of a sum."""
        shape = np.ones((participants.public.repeats, self.numbers.coordinates))
        return ErrorLaw(
            [term.times(self.numbers.step * shape) for term in self.noise.terms], self.numbers.step
        )

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of the noise, (R, *estimate_shape), which does not depend on the data."""
        true_counts = self.numbers.held(participants)
        return np.full(true_counts.shape[:-1], self.noise.variance * self.numbers.step**2)

    def parameters(self) -> dict[str, float]:
        """Return sigma in steps, or the budget, and the root mean squared error of a sum."""
        noise = self.noise
        scale = {"sigma": noise.sigma} if isinstance(noise, DiscreteGaussian) else {"eps_star": noise.eps}
        return {**scale, "noise_rmse": math.sqrt(noise.variance) * self.numbers.step}
