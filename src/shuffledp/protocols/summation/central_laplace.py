"""Discrete Laplace noise from a trusted curator."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.accounting.standing import EXACT, Standing
from shuffledp.numerics.samplers import two_sided_geometric
from shuffledp.populations import Population
from shuffledp.protocols._requests import law_of
from shuffledp.protocols.base import Cost, Messages, ProtocolBase, message_bits
from shuffledp.protocols.summation._sums import LaplaceProfile, Numbers, numbers_of
from shuffledp.tasks import Budget, Floats, Participants, Public, Task, Users
from shuffledp.utility.sums import central_laplace_mse


@dataclass(frozen=True)
class CentralLaplace(ProtocolBase):
    """Users send their numbers, and nothing if they hold 0; the curator adds one noise to each sum.

    Parameters
    ----------
    numbers : Numbers
        What users hold.
    eps : float
        Nats, of all sums together.
    """

    numbers: Numbers
    eps: float

    name = "central_laplace"
    task_kind = "summation"
    label = "central discrete Laplace"
    source = "Ghosh, Roughgarden and Sundararajan 2012; as a baseline in Ghazi et al. 2021 (ICML), Section 5"
    trust = "central"
    accountings = ("exact",)
    reduction = "own"
    guarantees: ClassVar[Mapping[str, Standing]] = {"exact": EXACT}

    @classmethod
    def calibrate(
        cls, budget: Budget, population: Population, task: Task, *, accounting: str = "exact"
    ) -> Self:
        """Noise for a change by the largest number; of two sums if there are several.

        Parameters
        ----------
        budget : Budget
            One eps, replacement neighbours; delta is not needed.
        population : Law
        task : Summation
            Numbers that are not negative, in one or several sums.
        accounting : {"exact"}

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If numbers may be negative, or the population is no law.
        """
        cls.check_request(budget, task, accounting)
        law_of(population)
        return cls(numbers_of(task, coordinates=True), budget.largest_eps, calibrated_under=accounting)

    @property
    def change(self) -> int:
        """Largest change of all sums together, in steps."""
        return self.numbers.max_value * min(self.numbers.coordinates, 2)

    def cost(self) -> Cost:
        """One number per user; the curator adds a noise per sum."""
        n = self.numbers
        return Cost(1.0, message_bits(n.coordinates * n.max_value), shuffler_messages=float(n.coordinates))

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """The numbers above 0."""
        where, number = self.numbers.inputs(users)
        return Messages(self.numbers.rows(where[number > 0], number[number > 0]))

    def dummies(self, public: Public, rng: np.random.Generator) -> Messages:
        """The curator's noise, one number per sum."""
        copies = self.numbers.coordinates
        noise = two_sided_geometric(self.change / self.eps, rng, copies)
        return Messages(self.numbers.rows(np.arange(copies), noise))

    def aggregate(self, messages: Messages) -> NDArray[Any]:
        """Sums in steps, (1,) or (coordinates,)."""
        where, number = self.numbers.read(messages.payload)
        total = np.zeros(self.numbers.coordinates, np.int64)
        np.add.at(total, where, number)
        return total

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the noisy sums, (R, coordinates)."""
        total = self.numbers.total(self.numbers.held(participants).astype(np.int64))
        total = total.reshape(-1, self.numbers.coordinates)
        return np.asarray(total + two_sided_geometric(self.change / self.eps, rng, total.shape))

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """The noisy sums, (R, *estimate_shape)."""
        total = np.asarray(aggregate, float) * self.numbers.step
        return total.reshape(len(total), *self.numbers.estimate_shape)

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of the noise, (R, *estimate_shape)."""
        held = self.numbers.held(participants)
        return np.full(held.shape[:-1], self._variance)

    @property
    def _variance(self) -> float:
        return central_laplace_mse(self.change, self.eps) * self.numbers.step**2

    def privacy_profile(self) -> PrivacyProfile:
        """The noise of one sum, or of the two between which a user moves."""
        return LaplaceProfile(
            self.eps / self.change, self.numbers.max_value, min(self.numbers.coordinates, 2)
        )

    def parameters(self) -> dict[str, float]:
        """Budget, and error of a sum."""
        return {"eps_star": self.eps, "noise_rmse": math.sqrt(self._variance)}
