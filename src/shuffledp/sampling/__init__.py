"""Exact integer samplers for deployments, and the randomizers of clients that use them.

Everything is integer arithmetic on uniform bits, which come from the operating system unless a source is given: no
floating point number is drawn, compared or computed. Parameters are rational numbers, or ``exp(-x)`` of a rational x.
It needs the standard library alone. The samplers of the protocols, which use NumPy, are for simulation.
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
