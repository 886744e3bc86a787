"""Generic numerical helpers: root finding, binomial tails, windows of probability mass functions."""

from shuffledp.numerics.roots import root_below
from shuffledp.numerics.tails import binomial_upper_tail, log_binomial_pmf, log_poisson_pmf
from shuffledp.numerics.windows import Window, binomial_window, convolve, poisson_window, thin

__all__ = [
    "Window",
    "binomial_upper_tail",
    "binomial_window",
    "convolve",
    "log_binomial_pmf",
    "log_poisson_pmf",
    "poisson_window",
    "root_below",
    "thin",
]
