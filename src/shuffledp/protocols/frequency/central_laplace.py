"""Discrete Laplace noise from a trusted curator: the reference line of a histogram."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from shuffledp.accounting.expected_errors.sums import discrete_laplace_variance
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.numerics.samplers import two_sided_geometric
from shuffledp.populations import Population
from shuffledp.protocols._requests import from_request, law_of
from shuffledp.protocols.frequency._curator_noise import CuratorNoise
from shuffledp.protocols.summation._sums import LaplaceProfile
from shuffledp.tasks import Budget, Floats, Ints, Neighbours


@dataclass(frozen=True)
class CentralLaplace(CuratorNoise):
    """Users send their values; the curator, who alone is trusted, adds discrete Laplace noise to each count.

    Parameters
    ----------
    domain_size : int
        Values are 0..domain_size-1.
    eps : float
        Nats.
    relation : {"replace_one", "add_remove"}
        Neighboring relation of the guarantee.
    """

    domain_size: int
    eps: float
    relation: Neighbours = "replace_one"

    name = "central_laplace"
    label = "central discrete Laplace"
    source = "Ghosh, Roughgarden and Sundararajan 2012"

    @classmethod
    @from_request
    def calibrate(cls, budget: Budget, population: Population, k: int, eps: float) -> Self:
        """Noise for two counts that move by one; for one under add or remove, or of two values.

        Parameters
        ----------
        budget : Budget
            One eps; delta is not needed and buys nothing. Either relation.
        """
        law_of(population)
        return cls(k, eps, budget.neighbours)

    @property
    def rate(self) -> float:
        """Loss per count, nats."""
        return self.eps / self.moving_counts

    def noise(self, users: Floats, rng: np.random.Generator, shape: tuple[int, ...]) -> Ints:
        """Two-sided geometric variables."""
        return two_sided_geometric(1 / self.rate, rng, shape)

    def noise_variance(self, users: Floats) -> float:
        """``1 / (2 sinh(rate / 2)^2)``."""
        return discrete_laplace_variance(self.rate)

    def privacy_profile(self) -> PrivacyProfile:
        """The noise of the counts that move."""
        return LaplaceProfile(self.rate, 1, self.moving_counts, neighbours=self.relation)

    def parameters(self) -> dict[str, float]:
        """Budget, and variance of a count."""
        return {"eps": self.eps, "noise_variance": discrete_laplace_variance(self.rate)}
