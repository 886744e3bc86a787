"""Exact integer samplers for deployments, and the randomizers of clients that use them.

All samplers use integer arithmetic on uniform bits, by default from the operating system. They do not draw, compare or
compute floating point numbers. Parameters are rational numbers, or ``exp(-x)`` of a rational x. Parameters outside of
their ranges raise ValueError. The package needs the standard library only. The samplers of the protocols, which use
NumPy, are for simulation.
"""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.sampling.bits import (
        FixedBits as FixedBits,
        OutOfBits as OutOfBits,
        Source as Source,
        SystemBits as SystemBits,
    )
    from shuffledp.sampling.clients import (
        ValueResponse as ValueResponse,
        counter_noise as counter_noise,
        shuffled as shuffled,
    )
    from shuffledp.sampling.coins import (
        bernoulli as bernoulli,
        binomial as binomial,
        uniform_below as uniform_below,
    )
    from shuffledp.sampling.laws import (
        discrete_gaussian as discrete_gaussian,
        discrete_laplace as discrete_laplace,
        geometric as geometric,
        logarithmic as logarithmic,
        negative_binomial as negative_binomial,
        negative_binomial_clusters as negative_binomial_clusters,
        poisson as poisson,
    )
    from shuffledp.sampling.rationals import Exponential as Exponential
else:
    __getattr__, __dir__ = door(__name__)
