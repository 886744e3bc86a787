"""Discrete Laplace noise of a trusted curator: a reference line for sums."""

from dataclasses import dataclass

from shuffledp.protocols._integer_noise import DiscreteLaplace
from shuffledp.protocols.summation._curator import NoisySums
from shuffledp.tasks import Neighbours


@dataclass(frozen=True)
class CentralLaplace(NoisySums):
    """Positive numbers, to whose sums the curator adds discrete Laplace noise; ``eps`` is for all sums together."""

    eps: float
    relation: Neighbours = "replace_one"

    name = "central_laplace"
    label = "central discrete Laplace"
    source = "Ghosh, Roughgarden and Sundararajan 2012; as a baseline in Ghazi et al. 2021 (ICML), Section 5"
    scale = "eps"

    @property
    def noise(self) -> DiscreteLaplace:
        """Noise of a sum."""
        return DiscreteLaplace(self.eps, *self.changed_counts)
