"""Discrete Gaussian noise of a trusted curator: a reference line for histograms."""

from dataclasses import dataclass

from shuffledp.protocols._integer_noise import DiscreteGaussian
from shuffledp.protocols.frequency._curator_noise import NoisyHistogram
from shuffledp.tasks import Neighbours


@dataclass(frozen=True)
class CentralGaussian(NoisyHistogram):
    """Histogram of a trusted curator with discrete Gaussian noise on each count; Laplace noise has less variance."""

    sigma: float
    relation: Neighbours = "replace_one"

    name = "central_gaussian"
    label = "central discrete Gaussian"
    source = "Canonne, Kamath and Steinke 2020; the pair of counts is derived for this project"
    scale = "sigma"

    @property
    def noise(self) -> DiscreteGaussian:
        """Noise of a count."""
        return DiscreteGaussian(self.sigma, *self.changed_counts)
