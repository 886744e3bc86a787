"""Discrete Laplace noise of a trusted curator: the reference line for histograms."""

from dataclasses import dataclass

from shuffledp.protocols._integer_noise import DiscreteLaplace
from shuffledp.protocols.frequency._curator_noise import NoisyHistogram
from shuffledp.tasks import Neighbours


@dataclass(frozen=True)
class CentralLaplace(NoisyHistogram):
    """Histogram of a trusted curator with discrete Laplace noise on each count; ``eps`` is for all counts together."""

    eps: float
    relation: Neighbours = "replace_one"

    name = "central_laplace"
    label = "central discrete Laplace"
    source = "Ghosh, Roughgarden and Sundararajan 2012"
    scale = "eps"

    @property
    def noise(self) -> DiscreteLaplace:
        """Noise of a count."""
        return DiscreteLaplace(self.eps, *self.changed_counts)
