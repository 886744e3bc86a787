"""Discrete Gaussian noise from a trusted curator: a reference line of a sum."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from shuffledp.accounting.baselines.noisy_counts import noisy_count_variance, noisy_counts_profile
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import EXACT, under
from shuffledp.numerics.samplers import discrete_gaussian, discrete_gaussian_variance
from shuffledp.populations import Population
from shuffledp.protocols._requests import from_request, law_of
from shuffledp.protocols.summation._curator import CuratorNoise, touched_sums
from shuffledp.protocols.summation._sums import Numbers, numbers_of
from shuffledp.tasks import Budget, Ints, Neighbours, Task


@dataclass(frozen=True)
class CentralGaussian(CuratorNoise):
    """Users send their numbers, and nothing if they hold 0; the curator adds discrete Gaussian noise to each sum.

    Parameters
    ----------
    numbers : Numbers
        What users hold.
    sigma : float
        Of the noise, in steps.
    relation : {"replace_one", "add_remove"}
        Neighboring relation of the guarantee.
    """

    numbers: Numbers
    sigma: float
    relation: Neighbours = "replace_one"

    name = "central_gaussian"
    task_kind = "summation"
    label = "central discrete Gaussian"
    source = "Canonne, Kamath and Steinke 2020; the pair of sums is derived for this project"
    trust = "central"
    neighbours = ("replace_one", "add_remove")
    guarantees = under(exact=EXACT)

    @classmethod
    @from_request
    def calibrate(cls, budget: Budget, population: Population, task: Task, eps: float, delta: float) -> Self:
        """The smallest sigma for a change by the largest number; of two sums if there are several and one is replaced.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, either relation.
        task : Summation
            Numbers that are not negative, in one or several sums.

        Raises
        ------
        Infeasible
            If delta is 0, numbers may be negative, there are too many levels to sum over, or the population is no law.
        """
        law_of(population)
        numbers = numbers_of(task, coordinates=True)
        variance = noisy_count_variance(
            eps,
            delta,
            "gaussian",
            shift=numbers.max_value,
            counts=touched_sums(numbers, budget.neighbours),
        )
        return cls(numbers, math.sqrt(variance), budget.neighbours)

    def noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Ints:
        """Discrete Gaussian variables."""
        return discrete_gaussian(self.sigma, rng, shape)

    @property
    def noise_variance(self) -> float:
        """``sigma^2``, but for tiny sigma."""
        return discrete_gaussian_variance(self.sigma)

    def privacy_profile(self) -> PrivacyProfile:
        """The noise of one sum, or of the two between which a user moves."""
        return noisy_counts_profile(
            "gaussian",
            self.sigma**2,
            self.numbers.max_value,
            touched_sums(self.numbers, self.relation),
            neighbours=self.relation,
        )

    def parameters(self) -> dict[str, float]:
        """sigma in steps, and error of a sum."""
        return {"sigma": self.sigma, "noise_rmse": math.sqrt(self.noise_variance) * self.numbers.step}
