r"""Mean and variance of numbers 0..D from two private sums.

A number x is released in the sum of x, and in the sum of its *square level*
``z = ((2 x - D)^2 - (D mod 2)) / 4``, an integer up to ``D^2 / 4``. With ``m = mean(x) - D / 2`` the variance is
``mean(z) + (D mod 2) / 4 - m^2``, times ``n / (n - 1)``.

**A curator** adds discrete Laplace noise of ratio ``exp(-e_1 / D)`` to the first sum, and of ratio ``exp(-e_2 / D^2)``
to the second. Replacing x by y changes the sums by ``|x - y|`` and ``|x - y| |x + y - D|``, so that both sums together
are (eps, 0)-private exactly if ``j (e_1 / D + e_2 (D - j) / D^2) <= eps`` for all ``j = |x - y|`` in 1..D. Then
``e_1 = eps`` and ``e_2 = eps D / (D - 1)`` are possible at once: numbers at both ends, which change the first sum most,
have equal squares. For real numbers the bound is ``e_2 = 2 eps - e_1 + 2 sqrt(eps (eps - e_1))``.

Replacement neighbors. Derived for this project.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Normal quantile of a two-sided 95 % interval, for the sampling of users from a population.
_NORMAL = 1.959963984540054


def square_levels(max_value: int) -> NDArray[np.int64]:
    """Return the square levels of the numbers 0..D, (D + 1,)."""
    return np.asarray(((2 * np.arange(max_value + 1) - max_value) ** 2 - max_value % 2) // 4, np.int64)


def second_budget(max_value: int, eps: float, first: float) -> float:
    """Return the largest e_2 for e_1 = `first` in (0, eps], by the curator's condition of the module; inf for D = 1."""
    j = np.arange(1, max_value)
    bounds = (eps - j * first / max_value) * max_value**2 / (j * (max_value - j))
    return float(np.min(bounds, initial=math.inf))


@dataclass(frozen=True)
class Moments:
    """Mean and variance of the users' numbers, with half-widths of 95 % intervals from the half-widths of the sums.

    ``population_mean_half_width`` is for the mean of a population from which the users are a random sample.
    """

    mean: float
    variance: float
    mean_half_width: float
    variance_half_width: float
    population_mean_half_width: float

    @classmethod
    def from_sums(
        cls, users: int, max_value: int, sums: Sequence[float], half_widths: Sequence[float]
    ) -> Moments:
        """Return the moments for the sums of numbers and of square levels, and their half-widths."""
        (first, second), (wide, wide_squares) = sums, half_widths
        center, correction = first / users - max_value / 2, users / max(users - 1, 1)
        variance = (second / users + max_value % 2 / 4 - center**2) * correction
        # Half-widths of independent errors add up in squares: exact for normal noise, too wide for Laplace noise.
        spread = math.hypot(wide_squares, 2 * center * wide) + wide**2 / users
        population = math.hypot(_NORMAL * math.sqrt(max(variance, 0.0) / users), wide / users)
        return cls(first / users, variance, wide / users, spread * correction / users, population)
