"""Single-message sum: a number after rounding to few levels and generalized randomized response, under the blanket.

A message is one of g + 1 levels (Balle, Bell, Gascon and Nissim 2019). For many users
``lambda = 2 (g + 1) / (n mu^2)``, where Gaussian noise with the ratio mu of sensitivity to deviation meets the budget.
This lambda ranks all g. The exact local budget of the best g gives a corrected factor of lambda, which ranks the next
few g. Around the best g the error is flat; the paper's choice is not known.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.baselines.noisy_counts import gaussian_ratio
from shuffledp.accounting.general.dummy_blanket import blanket_rate
from shuffledp.accounting.general.grr_blanket import blanket_local_budget
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import FromOne
from shuffledp.protocols.request import Request
from shuffledp.protocols.summation._levels import LevelReports
from shuffledp.protocols.summation._sums import Numbers, numbers_of

#: Number of candidate levels whose exact error is computed.
_TRIED = 3


def spread_error(numbers: Numbers, levels: int, uniform_rate: float) -> float:
    """Return the mean squared error of one user with a uniform number, relative to the squared largest number.

    The closed form is the mean of `level_variances`, and avoids a sum over a million numbers. With g / D = h / P in
    lowest terms, the fractional parts 0, 1 / P, .., (P - 1) / P occur equally often, except for the largest number.
    """
    d, g, rate = numbers.max_value, levels, uniform_rate
    period = d // math.gcd(g, d)
    rounding = d / (d + 1) * (1 - 1 / period**2) / (6 * g**2)
    square = (2 * d + 1) / (6 * d) + rounding
    second = (1 - rate) * square + rate * (2 * g + 1) / (6 * g)
    first = (1 - rate) ** 2 * square + (1 - rate) * rate / 2 + rate * rate / 4
    return (second - first) / (1 - rate) ** 2 + rounding


def best_levels(
    numbers: Numbers, n: int, eps: float, delta: float, budget_of: Callable[[int], float]
) -> tuple[int, float]:
    """Return the number of levels with the least `spread_error`, and its local budget by `budget_of`."""
    hidden = n * gaussian_ratio(eps, delta) ** 2
    weight = 2 / hidden
    candidates = range(1, 9 + math.ceil(4 * hidden ** (1 / 3)))
    budgets: dict[int, float] = {}

    def limit(g: int) -> tuple[float, int]:
        return spread_error(numbers, g, min(weight * (g + 1), blanket_rate(g + 1, eps))), g

    for _ in range(_TRIED):  # there are more
        levels = min((g for g in candidates if g not in budgets), key=limit)
        budgets[levels] = budget_of(levels)
        weight = blanket_rate(levels + 1, budgets[levels]) / (levels + 1)
    best = min(budgets, key=lambda g: (spread_error(numbers, g, blanket_rate(g + 1, budgets[g])), g))
    return best, budgets[best]


@dataclass(frozen=True)
class SingleMessageSum(LevelReports):
    """One of g + 1 levels as a message, by randomized response; users rely on all others for the blanket."""

    name = "single_message_sum"
    label = "single message, levels"
    source = "Balle, Bell, Gascon and Nissim 2019, with Theorem 3.1"
    guarantees = under(printed=UPPER, exact=UPPER)

    @classmethod
    def fit(cls, request: Request, *, levels: FromOne | None = None) -> Self:
        """Find the largest local budget under the privacy blanket, averaged over the number of uniform levels.

        ``printed`` is the theorem for eps <= 1. ``levels`` fixes g >= 1; the default has the least error for users
        spread evenly over all numbers. Raises `Infeasible` for negative numbers or several sums.
        """
        n, eps, delta = request.n, request.eps, request.delta
        numbers = numbers_of(request.task)

        def budget_of(g: int) -> float:
            return blanket_local_budget(n, g + 1, eps, delta, accounting=request.accounting)

        if levels is None:
            return cls(n, numbers, *best_levels(numbers, n, eps, delta, budget_of))
        return cls(n, numbers, levels, budget_of(levels))
