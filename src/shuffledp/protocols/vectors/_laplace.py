"""Protocols with Laplace noise: the local randomizer, and one report per user with dummies.

Every vector is clipped to l1 norm C, so that two vectors are at most 2C apart, and Laplace noise of scale
``2C / eps_local`` is added to each coordinate (Wang et al. 2023, section VII). Dummies are reports of the zero vector,
which only add their noise.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.errors import Infeasible
from shuffledp.numerics.saddlepoint import ErrorLaw, Term, two_sided
from shuffledp.populations.base import Law
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._schedules import OneReport
from shuffledp.protocols.messages import Messages
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Floats, Ints, Participants, Public, Task, Vectors

#: Reports are sent as double precision numbers.
BITS_PER_COORDINATE = 64


def clipped(values: Array, task: Vectors) -> Floats:
    """Return copies of the vectors, scaled to norm at most ``task.clip``. Raise ValueError for another dimension."""
    vectors = np.asarray(values, float)
    if vectors.ndim != 2 or vectors.shape[1] != task.dimension:
        raise ValueError(f"Expected vectors of shape (n, {task.dimension}), got {vectors.shape}.")
    norms = np.linalg.norm(vectors, ord=1 if task.norm == "l1" else 2, axis=1, keepdims=True)
    return np.asarray(vectors * (task.clip / np.maximum(norms, task.clip)))


def vectors_of(task: Task) -> Vectors:
    """Return the task. Raise ValueError for another kind of task, and `Infeasible` for a norm other than l1."""
    if not isinstance(task, Vectors):
        raise ValueError(f"This protocol estimates means of vectors, but the task is {task.kind!r}.")
    if task.norm != "l1":
        raise Infeasible(
            f"Laplace noise protects vectors that are clipped in the l1 norm, not in the {task.norm} norm."
        )
    return task


def sums_held(participants: Participants, task: Vectors) -> Floats:
    """Return the sums of the clipped vectors, (R, dimension). Raise ValueError for another shape."""
    expected = (participants.public.repeats, task.dimension)
    if participants.counts.shape != expected:
        raise ValueError(
            f"Expected sums of shape {expected} (repeats, dimension), got {participants.counts.shape}."
        )
    return np.asarray(participants.counts, float)


#: Odds of negative binomial variables that are nearly gamma variables.
_FINE = 1e6


@dataclass(frozen=True)
class LaplaceResponse:
    """Laplace noise on clipped vectors, with the local budget in nats."""

    task: Vectors
    eps_local: float

    @property
    def scale(self) -> float:
        """Scale of the noise, ``2C / eps_local``."""
        return 2 * self.task.clip / self.eps_local

    @property
    def variance(self) -> float:
        """Variance of the noise in one coordinate of one report, ``2 scale^2``."""
        return 2 * self.scale**2

    def randomize(self, values: Array, rng: Generator) -> Floats:
        """Draw one report per vector, (n, dimension)."""
        exact = clipped(values, self.task)
        return exact + rng.laplace(scale=self.scale, size=exact.shape)

    def noise_terms(self, reports: Array | float, share: Floats) -> list[Term]:
        """Return the terms of the noise of this number of reports, (R, 1), each with the weight `share`, (R, 1)."""
        wide = np.repeat(share, self.task.dimension, axis=1)
        return two_sided(reports * _FINE, -_FINE, self.scale / _FINE * wide)

    def noise_of_sums(self, reports: Ints, rng: Generator) -> Floats:
        """Draw the noise in sums of ``reports[r]`` >= 1 reports, (R, dimension), as differences of gamma variables."""
        shape = (len(reports), self.task.dimension)
        total = np.asarray(reports, float)[:, None]
        return self.scale * (rng.standard_gamma(total, size=shape) - rng.standard_gamma(total, size=shape))


@dataclass(frozen=True)
class VectorReports(OneReport):
    """Reports of clipped vectors with Laplace noise; the dummies' public input is the zero vector."""

    no_client = "Laplace noise is a real number, for which there is no exact sampler."

    population: Law
    task: Vectors
    eps_local: float

    @classmethod
    def scheduled(cls, request: Request, eps_local: float, **schedule: Any) -> Self:
        """Return the protocol for a request and a schedule."""
        return cls(request.law, vectors_of(request.task), eps_local, **schedule)

    @property
    def response(self) -> LaplaceResponse:
        """Local randomizer of the protocol."""
        return LaplaceResponse(self.task, self.eps_local)

    def fixed_inputs(self, count: int) -> Array:
        """Return `count` zero vectors."""
        return np.zeros((count, self.task.dimension))

    def reports(self, values: Array, rng: Generator) -> Array:
        """Draw clipped vectors with Laplace noise in every coordinate, (n, dimension)."""
        return self.response.randomize(values, rng)

    def report_bits(self) -> float:
        """Return the bits of a report, one double-precision number per coordinate."""
        return float(BITS_PER_COORDINATE * self.task.dimension)

    def aggregate(self, messages: Messages) -> Array:
        """Return the sum of all messages, (dimension,)."""
        return np.asarray(messages.payload.sum(axis=0))


@dataclass(frozen=True)
class LaplaceNoise(VectorReports):
    """Laplace noise with dummies of the zero vector; the aggregate is the sum of all reports, (dimension,)."""

    dummy_count: int = 0
    adaptive: bool = False

    objective = "laplace"

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the sum of all reports, (R, dimension), from its exact law, at a cost independent of n."""
        return sums_held(participants, self.task) + self.response.noise_of_sums(
            self._reports(participants.public), rng
        )

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased mean vectors, (R, dimension); dummies have mean 0."""
        return aggregate / public.n_users[:, None]

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the law of a mean of Laplace variables."""
        n = participants.public.users_column
        return ErrorLaw(self.response.noise_terms(self._reports(participants.public)[:, None], 1 / n))

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each coordinate, (R, dimension), which is the same for all coordinates."""
        n = participants.public.n
        each = self.response.variance * self._reports(participants.public) / n**2
        return np.repeat(each[:, None], self.task.dimension, axis=1)

    def _reports(self, public: Public) -> Ints:
        return public.n_users + self.dummies_added(public.n_users)
