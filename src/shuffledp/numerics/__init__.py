"""Numerical methods: roots, binomial tails, windows of probability mass functions, integer noise.

Samplers check their arguments and raise ValueError with the argument, the value and the range. Callers check the
arguments of all other functions (:mod:`shuffledp.numerics.argument_ranges`).
"""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.numerics.roots import root_below as root_below, walk_to_minimum as walk_to_minimum
    from shuffledp.numerics.samplers import (
        discrete_gaussian as discrete_gaussian,
        discrete_gaussian_pmf as discrete_gaussian_pmf,
        discrete_gaussian_variance as discrete_gaussian_variance,
        polya_difference as polya_difference,
        two_sided_geometric as two_sided_geometric,
    )
    from shuffledp.numerics.tails import (
        binomial_upper_tail as binomial_upper_tail,
        log_binomial_pmf as log_binomial_pmf,
        log_poisson_pmf as log_poisson_pmf,
    )
    from shuffledp.numerics.windows import (
        Window as Window,
        binomial_window as binomial_window,
        convolve as convolve,
        negative_binomial_window as negative_binomial_window,
        poisson_window as poisson_window,
        thin as thin,
    )
else:
    __getattr__, __dir__ = door(__name__)
