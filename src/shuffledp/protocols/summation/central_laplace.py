"""Discrete Laplace noise from a trusted curator."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from shuffledp.accounting.expected_errors.sums import central_laplace_mse
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import EXACT, under
from shuffledp.numerics.samplers import two_sided_geometric
from shuffledp.populations import Population
from shuffledp.protocols._requests import from_request, law_of
from shuffledp.protocols.summation._curator import CuratorNoise, touched_sums
from shuffledp.protocols.summation._sums import LaplaceProfile, Numbers, numbers_of
from shuffledp.tasks import Budget, Ints, Neighbours, Task


@dataclass(frozen=True)
class CentralLaplace(CuratorNoise):
    """Users send their numbers, and nothing if they hold 0; the curator adds one noise to each sum.

    Parameters
    ----------
    numbers : Numbers
        What users hold.
    eps : float
        Nats, of all sums together.
    relation : {"replace_one", "add_remove"}
        Neighboring relation of the guarantee: one user more or less moves one sum only.
    """

    numbers: Numbers
    eps: float
    relation: Neighbours = "replace_one"

    name = "central_laplace"
    task_kind = "summation"
    label = "central discrete Laplace"
    source = "Ghosh, Roughgarden and Sundararajan 2012; as a baseline in Ghazi et al. 2021 (ICML), Section 5"
    trust = "central"
    neighbours = ("replace_one", "add_remove")
    guarantees = under(exact=EXACT)

    @classmethod
    @from_request
    def calibrate(cls, budget: Budget, population: Population, task: Task, eps: float) -> Self:
        """Noise for a change by the largest number; of two sums if there are several and a user is replaced.

        Parameters
        ----------
        budget : Budget
            One eps, either relation; delta is not needed.
        task : Summation
            Numbers that are not negative, in one or several sums.

        Raises
        ------
        Infeasible
            If numbers may be negative, or the population is no law.
        """
        law_of(population)
        numbers = numbers_of(task, coordinates=True)
        return cls(numbers, eps, budget.neighbours)

    @property
    def change(self) -> int:
        """Largest change of all sums together, in steps."""
        return self.numbers.max_value * touched_sums(self.numbers, self.relation)

    def noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Ints:
        """Two-sided geometric variables."""
        return two_sided_geometric(self.change / self.eps, rng, shape)

    @property
    def noise_variance(self) -> float:
        """Of discrete Laplace noise."""
        return central_laplace_mse(self.change, self.eps)

    def privacy_profile(self) -> PrivacyProfile:
        """The noise of one sum, or of the two between which a user moves."""
        return LaplaceProfile(
            self.eps / self.change,
            self.numbers.max_value,
            touched_sums(self.numbers, self.relation),
            neighbours=self.relation,
        )

    def parameters(self) -> dict[str, float]:
        """Budget, and error of a sum."""
        return {"eps_star": self.eps, "noise_rmse": math.sqrt(self.noise_variance) * self.numbers.step}
