"""Discrete Laplace noise from a trusted curator: the reference line of a histogram."""

from dataclasses import dataclass

from shuffledp.protocols._integer_noise import LaplaceNoise
from shuffledp.protocols.frequency._curator_noise import NoisyHistogram


@dataclass(frozen=True)
class CentralLaplace(LaplaceNoise, NoisyHistogram):
    """Users send their values; the curator, who alone is trusted, adds discrete Laplace noise to each count."""

    name = "central_laplace"
    source = "Ghosh, Roughgarden and Sundararajan 2012"

    def parameters(self) -> dict[str, float]:
        """Budget, and what the noise does to a count."""
        return {"eps": self.eps, **super().parameters()}
