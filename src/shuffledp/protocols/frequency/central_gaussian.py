"""Discrete Gaussian noise from a trusted curator: a reference line of a histogram."""

from dataclasses import dataclass

from shuffledp.protocols._integer_noise import GaussianNoise
from shuffledp.protocols.frequency._curator_noise import NoisyHistogram


@dataclass(frozen=True)
class CentralGaussian(GaussianNoise, NoisyHistogram):
    """Users send their values; the curator, who alone is trusted, adds discrete Gaussian noise to each count.

    The Gaussian is not the floor of what a curator can reach: discrete Laplace noise has less variance here.
    """

    name = "central_gaussian"
    source = "Canonne, Kamath and Steinke 2020; the pair of counts is derived for this project"
