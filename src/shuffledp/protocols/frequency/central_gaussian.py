"""Discrete Gaussian noise from a trusted curator: a reference line of a histogram."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from shuffledp.accounting.baselines.noisy_counts import noisy_count_variance, noisy_counts_profile
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.numerics.samplers import discrete_gaussian, discrete_gaussian_variance
from shuffledp.populations import Population
from shuffledp.protocols._requests import from_request, law_of
from shuffledp.protocols.frequency._curator_noise import CuratorNoise, moving_counts
from shuffledp.tasks import Budget, Floats, Ints, Neighbours


@dataclass(frozen=True)
class CentralGaussian(CuratorNoise):
    """Users send their values; the curator, who alone is trusted, adds discrete Gaussian noise to each count.

    The Gaussian is not the floor of what a curator can reach: discrete Laplace noise has less variance here.

    Parameters
    ----------
    domain_size : int
        Values are 0..domain_size-1.
    sigma : float
        Of the noise.
    relation : {"replace_one", "add_remove"}
        Neighboring relation of the guarantee.
    """

    domain_size: int
    sigma: float
    relation: Neighbours = "replace_one"

    name = "central_gaussian"
    label = "central discrete Gaussian"
    source = "Canonne, Kamath and Steinke 2020; the pair of counts is derived for this project"

    @classmethod
    @from_request
    def calibrate(cls, budget: Budget, population: Population, k: int, eps: float, delta: float) -> Self:
        """The smallest sigma for two counts that move by one; for one under add or remove, or of two values.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, either relation.
        """
        law_of(population)
        counts = moving_counts(k, budget.neighbours)
        variance = noisy_count_variance(eps, delta, "gaussian", counts=counts)
        return cls(k, math.sqrt(variance), budget.neighbours)

    def noise(self, users: Floats, rng: np.random.Generator, shape: tuple[int, ...]) -> Ints:
        """Discrete Gaussian variables."""
        return discrete_gaussian(self.sigma, rng, shape)

    def noise_variance(self, users: Floats) -> float:
        """``sigma^2``, but for tiny sigma."""
        return discrete_gaussian_variance(self.sigma)

    def privacy_profile(self) -> PrivacyProfile:
        """The noise of the counts that move."""
        return noisy_counts_profile(
            "gaussian", self.sigma**2, 1, self.moving_counts, neighbours=self.relation
        )

    def parameters(self) -> dict[str, float]:
        """sigma, and variance of a count."""
        return {"sigma": self.sigma, "noise_variance": discrete_gaussian_variance(self.sigma)}
