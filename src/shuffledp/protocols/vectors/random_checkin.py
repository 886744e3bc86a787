"""RandomCheckin for vectors: every participant picks one of m slots, and each slot keeps one noisy vector."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.populations import Binomial
from shuffledp.protocols._occupancy import inverse_filled
from shuffledp.protocols._schedules import CheckinSchedule, Threat
from shuffledp.protocols.base import Messages
from shuffledp.protocols.vectors._laplace import BITS_PER_COORDINATE, LaplaceResponse, vectors_of
from shuffledp.protocols.vectors._participants import spread_of, sums_of_some
from shuffledp.tasks import Floats, Participants, Public, Task, Vectors


@dataclass(frozen=True)
class RandomCheckin(CheckinSchedule):
    """Random check-in with a fixed window, for means of vectors; fillers are reports of the zero vector.

    Parameters
    ----------
    population : Binomial
        Law of the number of *other* users.
    task : Vectors
        Dimension, and the l1 norm that vectors are clipped to.
    eps_local : float
        Local budget in nats.
    slots : int
        m, at least 1.
    threat : {"conditional", "own_coin"}
        Whether user 1 is known to take part, or its own coin counts as protection.
    """

    population: Binomial
    task: Vectors
    eps_local: float
    slots: int
    threat: Threat = "conditional"

    name = "random_checkin"
    task_kind = "vectors"

    @classmethod
    def scheduled(
        cls, task: Task, population: Binomial, eps_local: float, slots: int, threat: Threat
    ) -> Self:
        """The protocol for a task once its schedule is known."""
        return cls(population, vectors_of(task), eps_local, slots, threat)

    @property
    def response(self) -> LaplaceResponse:
        """The local randomizer."""
        return LaplaceResponse(self.task, self.eps_local)

    def fixed_inputs(self, count: int) -> NDArray[Any]:
        """The zero vector."""
        return np.zeros((count, self.task.dimension))

    def reports(self, values: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Clipped vectors with Laplace noise, (n, dimension)."""
        return self.response.randomize(values, rng)

    def message_bits(self) -> float:
        """One of m slots, and one double precision number per coordinate."""
        return math.log2(self.slots) + BITS_PER_COORDINATE * self.task.dimension

    def aggregate(self, messages: Messages) -> NDArray[Any]:
        """(dimension + 1,): sum of the reports, then the number of filled slots."""
        return np.asarray(messages.payload.sum(axis=0))

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the aggregate, (R, dimension + 1).

        Which users are kept does not depend on what they hold: given their number K, a uniform K-subset. The noise is
        that of all m reports, fillers included.
        """
        filled = self.filled_slots(participants.public.n_users, rng)
        kept = sums_of_some(participants, self.task, filled, rng)
        noise = self.response.noise_of_sums(np.full(len(filled), self.slots), rng)
        return np.column_stack((kept + noise, filled))

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Unbiased mean vectors, (R, dimension): of the kept users, who are a random sample of all."""
        table = np.asarray(aggregate, float)
        return np.asarray(table[:, :-1] / table[:, -1:])

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of each coordinate given the participants' vectors, (R, dimension).

        Noise of all m reports over K^2, plus the sampling of K users out of N. Where nothing is known of the vectors,
        the noise alone: with dimension 7850 and local budgets up to 6 sampling adds less than 1e-4 of it.
        """
        n = participants.public.n_users
        inverse, inverse_square = inverse_filled(n, self.slots)
        noise = np.repeat(
            (self.slots * self.response.variance * inverse_square)[:, None], self.task.dimension, axis=1
        )
        spread = spread_of(participants, self.task)
        return noise if spread is None else noise + spread * (inverse - 1 / n)[:, None]
