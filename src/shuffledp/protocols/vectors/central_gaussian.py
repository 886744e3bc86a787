"""Gaussian noise of a trusted curator: the reference line for a mean of vectors."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.baselines.noisy_counts import gaussian_ratio
from shuffledp.accounting.general.profiles import GaussianProfile, PrivacyProfile
from shuffledp.guarantees import EXACT, under
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._requests import divisor_of
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.messages import Cost, Messages
from shuffledp.protocols.request import Request
from shuffledp.protocols.vectors._laplace import BITS_PER_COORDINATE, clipped, sums_held
from shuffledp.tasks import Array, Floats, Neighbours, Participants, Public, Users, Vectors


@dataclass(frozen=True)
class CentralGaussian(ProtocolBase):
    """Sum of clipped vectors to which a trusted curator adds Gaussian noise, sigma per coordinate.

    One user changes the sum by up to 2 clips in the l2 norm under ``replace_one``, and by up to one clip under
    ``add_remove``, where the mean is the sum over the planned number of users. The guarantee holds for real numbers and
    not for floating-point numbers, as the noise is continuous.
    """

    no_client = "A curator draws the noise; users send their data as they are."

    task: Vectors
    sigma: float
    relation: Neighbours = "replace_one"
    planned_users: int | None = None

    name = "central_gaussian"
    task_kind = "vectors"
    profile_points = 960
    label = "central Gaussian"
    source = "Balle and Wang 2018, Theorem 8"
    trust = "central"
    relies_on = "no other user"
    neighbours = ("replace_one", "add_remove")
    guarantees = under(exact=EXACT)

    @classmethod
    def fit(cls, request: Request) -> Self:
        """Find the smallest sigma of the exact Gaussian profile, for vectors clipped in the l2 or l1 norm."""
        _ = request.law  # a mere bound is refused
        budget, task = request.budget, request.task
        assert isinstance(task, Vectors)  # check_request has seen to it
        ratio = gaussian_ratio(request.eps, request.delta)
        change = (2 if budget.neighbours == "replace_one" else 1) * task.clip
        planned = request.planned_users
        return cls(task, change / ratio, budget.neighbours, planned)

    def cost(self) -> Cost:
        """Return the cost of one double-precision number per coordinate; the curator adds one vector of noise."""
        bits = float(BITS_PER_COORDINATE * self.task.dimension)
        return Cost(1.0, bits, shuffler_messages=1.0, most_messages=1.0)

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Return the clipped vectors, (n, dimension)."""
        return Messages(clipped(users.values, self.task))

    def dummies(self, public: Public, rng: Generator) -> Messages:
        """Draw the curator's noise, (1, dimension)."""
        return Messages(self.sigma * rng.standard_normal((1, self.task.dimension)))

    def aggregate(self, messages: Messages) -> Array:
        """Return the noisy sum, (dimension,)."""
        return np.asarray(messages.payload.sum(axis=0))

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the noisy sums, (R, dimension), from their exact law."""
        sums = sums_held(participants, self.task)
        return sums + self.sigma * rng.standard_normal(sums.shape)

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return noisy means, (R, dimension)."""
        return aggregate / divisor_of(self.planned_users, public)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each coordinate, (R, dimension), which does not depend on the data."""
        n = divisor_of(self.planned_users, participants.public)
        return np.repeat((self.sigma / n) ** 2, self.task.dimension, axis=1)

    def privacy_profile(self) -> PrivacyProfile:
        """Return the Gaussian profile for the largest change of the sum."""
        change = (2 if self.relation == "replace_one" else 1) * self.task.clip
        return GaussianProfile(change / self.sigma, self.relation)

    def parameters(self) -> dict[str, float]:
        """Return sigma, and the root mean square of the l2 norm of the noise."""
        return {"sigma": self.sigma, "noise_norm": self.sigma * math.sqrt(self.task.dimension)}
