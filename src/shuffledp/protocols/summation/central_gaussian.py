"""Discrete Gaussian noise from a trusted curator: a reference line of a sum."""

from dataclasses import dataclass

from shuffledp.protocols._integer_noise import GaussianNoise
from shuffledp.protocols.summation._curator import NoisySums


@dataclass(frozen=True)
class CentralGaussian(GaussianNoise, NoisySums):
    """Users send their numbers, and nothing if they hold 0; the curator adds discrete Gaussian noise to each sum."""

    name = "central_gaussian"
    source = "Canonne, Kamath and Steinke 2020; the pair of sums is derived for this project"
