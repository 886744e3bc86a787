"""Discrete Gaussian noise of a trusted curator: a reference line for sums."""

from dataclasses import dataclass

from shuffledp.protocols._integer_noise import DiscreteGaussian
from shuffledp.protocols.summation._curator import NoisySums
from shuffledp.tasks import Neighbours


@dataclass(frozen=True)
class CentralGaussian(NoisySums):
    """Positive numbers, to whose sums the curator adds discrete Gaussian noise; ``sigma`` is in steps."""

    sigma: float
    relation: Neighbours = "replace_one"

    name = "central_gaussian"
    label = "central discrete Gaussian"
    source = "Canonne, Kamath and Steinke 2020; the pair of sums is derived for this project"
    scale = "sigma"

    @property
    def noise(self) -> DiscreteGaussian:
        """Noise of a sum."""
        return DiscreteGaussian(self.sigma, *self.changed_counts)
