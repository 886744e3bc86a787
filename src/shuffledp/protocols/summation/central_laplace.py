"""Discrete Laplace noise from a trusted curator: a reference line of a sum."""

from dataclasses import dataclass

from shuffledp.protocols._integer_noise import DiscreteLaplace
from shuffledp.protocols.summation._curator import NoisySums
from shuffledp.tasks import Neighbours


@dataclass(frozen=True)
class CentralLaplace(NoisySums):
    """Users send their numbers, and nothing if they hold 0; the curator adds one noise to each sum.

    Parameters
    ----------
    eps : float
        Budget of all sums together, nats.
    relation : {"replace_one", "add_remove"}
        Neighboring relation of the guarantee.
    """

    eps: float
    relation: Neighbours = "replace_one"

    name = "central_laplace"
    label = "central discrete Laplace"
    source = "Ghosh, Roughgarden and Sundararajan 2012; as a baseline in Ghazi et al. 2021 (ICML), Section 5"
    scale = "eps"

    @property
    def noise(self) -> DiscreteLaplace:
        """Noise of a sum."""
        return DiscreteLaplace(self.eps, *self.moved)
