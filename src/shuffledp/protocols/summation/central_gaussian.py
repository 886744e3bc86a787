"""Discrete Gaussian noise from a trusted curator: a reference line of a sum."""

from dataclasses import dataclass

from shuffledp.protocols._integer_noise import DiscreteGaussian
from shuffledp.protocols.summation._curator import NoisySums
from shuffledp.tasks import Neighbours


@dataclass(frozen=True)
class CentralGaussian(NoisySums):
    """Users send their numbers, and nothing if they hold 0; the curator adds discrete Gaussian noise to each sum.

    Parameters
    ----------
    sigma : float
        Parameter of the noise, in steps.
    relation : {"replace_one", "add_remove"}
        Neighboring relation of the guarantee.
    """

    sigma: float
    relation: Neighbours = "replace_one"

    name = "central_gaussian"
    label = "central discrete Gaussian"
    source = "Canonne, Kamath and Steinke 2020; the pair of sums is derived for this project"
    scale = "sigma"

    @property
    def noise(self) -> DiscreteGaussian:
        """Noise of a sum."""
        return DiscreteGaussian(self.sigma, *self.moved)
