"""Discrete Laplace noise from a trusted curator: a reference line of a sum."""

from dataclasses import dataclass

from shuffledp.protocols._integer_noise import LaplaceNoise
from shuffledp.protocols.summation._curator import NoisySums


@dataclass(frozen=True)
class CentralLaplace(LaplaceNoise, NoisySums):
    """Users send their numbers, and nothing if they hold 0; the curator adds one noise to each sum."""

    name = "central_laplace"
    source = "Ghosh, Roughgarden and Sundararajan 2012; as a baseline in Ghazi et al. 2021 (ICML), Section 5"

    def parameters(self) -> dict[str, float]:
        """Budget, and what the noise does to a count."""
        return {"eps_star": self.eps, **super().parameters()}
