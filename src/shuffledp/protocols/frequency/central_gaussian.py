"""Discrete Gaussian noise from a trusted curator: a reference line of a histogram."""

from dataclasses import dataclass

from shuffledp.protocols._integer_noise import DiscreteGaussian
from shuffledp.protocols.frequency._curator_noise import NoisyHistogram
from shuffledp.tasks import Neighbours


@dataclass(frozen=True)
class CentralGaussian(NoisyHistogram):
    """Histogram of a trusted curator, who adds discrete Gaussian noise to each count.

    Gaussian noise is not optimal for a curator: discrete Laplace noise has less variance here.

    Parameters
    ----------
    sigma : float
        Parameter of the noise.
    relation : {"replace_one", "add_remove"}
        Neighboring relation of the guarantee.
    """

    sigma: float
    relation: Neighbours = "replace_one"

    name = "central_gaussian"
    label = "central discrete Gaussian"
    source = "Canonne, Kamath and Steinke 2020; the pair of counts is derived for this project"
    scale = "sigma"

    @property
    def noise(self) -> DiscreteGaussian:
        """Noise of a count."""
        return DiscreteGaussian(self.sigma, *self.moved)
