"""Skellam noise in a secure sum: a reference line for sums."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from shuffledp.numerics.saddlepoint import ErrorLaw, two_sided
from shuffledp.numerics.samplers import skellam
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._integer_noise import SkellamNoise
from shuffledp.protocols.messages import Messages
from shuffledp.protocols.request import Request
from shuffledp.protocols.summation._curator import moved_sums
from shuffledp.protocols.summation._sums import Numbers, numbers_of, over_users
from shuffledp.tasks import Array, Floats, Participants, Public, Users


@dataclass(frozen=True)
class Skellam(SkellamNoise):
    """Numbers plus Skellam noise of variance ``mu / n``, sent to a secure sum."""

    numbers: Numbers

    name = "skellam"
    task_kind = "summation"
    source = "Agarwal, Kairouz and Liu 2021; the pair of sums is derived for this project"
    released_counts = 1

    @classmethod
    def derive_fields(cls, request: Request) -> dict[str, Any]:
        """Return the numbers of the task. Raise `Infeasible` for negative numbers or several sums."""
        return {"numbers": numbers_of(request.task)}

    @property
    def changed_counts(self) -> tuple[int, int]:
        """Largest change of the sum by one user, and the number of sums that change, which is 1."""
        return moved_sums(self.numbers, self.relation)

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw the users' numbers plus each user's share of the noise, (n,)."""
        _, number = self.numbers.inputs(users)
        return Messages(number + skellam(self.variance / self.n_users, rng, number.shape))

    def aggregate(self, messages: Messages) -> Array:
        """Return the sum in units of the step, (1,)."""
        return np.array([messages.payload.sum()])

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the noisy sum, (R, 1), from its exact law, at a cost independent of n."""
        total = self.numbers.total(self.numbers.held(participants).astype(np.int64))
        noise = self.variance * over_users(participants, self.n_users, self.numbers)
        return np.asarray(total + skellam(noise, rng, total.shape))[:, None]

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return the noisy sums, (R,)."""
        (total,) = np.transpose(aggregate)
        return np.asarray(total * self.numbers.step)

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the exact law, a difference of Poisson variables."""
        noise = self.variance * over_users(participants, self.n_users, self.numbers)
        return ErrorLaw(two_sided(noise[:, None] / 2, 0.0, self.numbers.step), self.numbers.step)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of the noise, (R,)."""
        noise = self.variance * over_users(participants, self.n_users, self.numbers)
        return noise * self.numbers.step**2

    def parameters(self) -> dict[str, float]:
        """Return the root mean squared error of the sum if the planned number of users take part."""
        return {"noise_rmse": math.sqrt(self.variance) * self.numbers.step}
