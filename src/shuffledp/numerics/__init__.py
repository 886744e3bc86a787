"""Numerical methods: roots, binomial tails, windows of probability mass functions, integer noise.

Samplers check their arguments and raise ValueError with the argument, the value and the range. Callers check the
arguments of all other functions (:mod:`shuffledp.numerics.argument_ranges`).
"""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.numerics.roots import root_below, walk_to_minimum
    from shuffledp.numerics.samplers import (
        discrete_gaussian,
        discrete_gaussian_pmf,
        discrete_gaussian_variance,
        polya_difference,
        two_sided_geometric,
    )
    from shuffledp.numerics.tails import binomial_upper_tail, log_binomial_pmf, log_poisson_pmf
    from shuffledp.numerics.windows import (
        Window,
        binomial_window,
        convolve,
        negative_binomial_window,
        poisson_window,
        thin,
    )
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "Window",
    "binomial_upper_tail",
    "binomial_window",
    "convolve",
    "discrete_gaussian",
    "discrete_gaussian_pmf",
    "discrete_gaussian_variance",
    "log_binomial_pmf",
    "log_poisson_pmf",
    "negative_binomial_window",
    "poisson_window",
    "polya_difference",
    "root_below",
    "thin",
    "two_sided_geometric",
    "walk_to_minimum",
]
