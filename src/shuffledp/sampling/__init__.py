"""Exact integer samplers for deployments, and the randomizers of clients that use them.

All samplers use integer arithmetic on uniform bits, by default from the operating system. They do not draw, compare or
compute floating point numbers. Parameters are rational numbers, or ``exp(-x)`` of a rational x. Parameters outside of
their ranges raise ValueError. The package needs the standard library only. The samplers of the protocols, which use
NumPy, are for simulation.
"""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.sampling.bits import FixedBits, OutOfBits, Source, SystemBits
    from shuffledp.sampling.clients import ValueResponse, counter_noise, shuffled
    from shuffledp.sampling.coins import bernoulli, binomial, uniform_below
    from shuffledp.sampling.laws import (
        discrete_gaussian,
        discrete_laplace,
        geometric,
        logarithmic,
        negative_binomial,
        negative_binomial_clusters,
        poisson,
    )
    from shuffledp.sampling.rationals import Exponential
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "Exponential",
    "FixedBits",
    "OutOfBits",
    "Source",
    "SystemBits",
    "ValueResponse",
    "bernoulli",
    "binomial",
    "counter_noise",
    "discrete_gaussian",
    "discrete_laplace",
    "geometric",
    "logarithmic",
    "negative_binomial",
    "negative_binomial_clusters",
    "poisson",
    "shuffled",
    "uniform_below",
]
