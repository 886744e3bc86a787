"""Contour integrals for reports among uniform messages that match values, in place of tables that are too large.

:mod:`shuffledp.accounting.general.matched_blanket` defines the laws. Delta is the mean of the positive part of a sum
(:mod:`shuffledp.accounting.general.comparisons`): of n copies for n reports that are uniform with probability lambda,
of M copies for a report among M - 1 uniform messages. A contour integral gives an upper bound in a time that does not
grow with n. Tables are exact to more digits, and faster for few reports.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.accounting.general.blanket import compared_delta
from shuffledp.accounting.general.comparisons import Outputs
from shuffledp.accounting.general.epsilon_search import COARSE
from shuffledp.accounting.general.matched_blanket import matched_rate
from shuffledp.numerics.relative_sizes import log_ratio
from shuffledp.numerics.roots import root_below
from shuffledp.populations.base import Fixed

if TYPE_CHECKING:
    from collections.abc import Callable

#: Largest relative excess of delta over the value.
GAP = 1e-6
#: Cells of a table beyond which the contour is faster than one evaluation of it.
_MOST_CELLS = 1e6
#: Standard deviations that a window holds, about, for the least mass that is left out.
_DEVIATIONS = 17.0
MOST_BUDGET = 200.0
#: Tolerances of the log of a budget: of the result, and while a root is approached.
_XTOL, _XTOL_COARSE = 1e-8, 1e-6
_NONE = np.zeros((0, 2))


def is_long(others: int, match_rate: float, eps_local: float) -> bool:
    """Return whether a table over the other users' uniform reports and their matches is too large."""
    rate = matched_rate(match_rate, eps_local)
    numbers = min(_DEVIATIONS * math.sqrt(others * rate * (1 - rate)), others)
    return (numbers + 1) * (_DEVIATIONS * math.sqrt(2 * others * rate * match_rate) + 1) > _MOST_CELLS


def contour_delta(
    eps: float,
    others: int,
    match_rate: float,
    eps_local: float,
    both_rate: float,
    *,
    gap: float = GAP,
    floor: float = 0.0,
) -> float:
    """Return an upper bound on delta of :mod:`shuffledp.accounting.general.matched_blanket`, within `gap` relative.
    `others` are reports with the same local budget, or uniform messages for infinite `eps_local`. `eps` is in [0, 350],
    a finite `eps_local` in (0, 300]. A delta below `floor` is an upper bound without stated accuracy.
    """
    if eps >= eps_local:
        return 0.0
    one_rate, none_rate = match_rate - both_rate, max(1 - 2 * match_rate + both_rate, 0.0)
    if eps_local == math.inf:
        rate, match, miss = 1.0, -math.log(match_rate), -math.inf
    else:
        rate, match, miss = matched_rate(match_rate, eps_local), eps_local, 0.0
    pair = Outputs(
        np.array([match, match, miss, miss]),
        np.array([match, miss, match, miss]),
        rate * np.array([both_rate, one_rate, one_rate, none_rate]),
        _NONE,
    )
    if miss == -math.inf:  # neither view holds a message that matches nothing
        pair = Outputs(pair.log_own[:3], pair.log_other[:3], pair.masses[:3], _NONE)
    return compared_delta(pair, Fixed(others), eps, "upper", gap, floor)


def contour_budget(
    others: int,
    match_rate: float,
    both_rate: float,
    eps: float,
    delta: float,
    *,
    rough: bool = False,
    guess: float | None = None,
) -> float:
    """Return a lower bound on the largest local budget of a report among others, in [eps, max(200, eps)]. With `rough`,
    the result is up to about 1e-4 relative below the largest budget. `guess` is a value close to it.
    """
    low, high = math.log(eps), math.log(max(MOST_BUDGET, eps))
    if low >= high:
        return eps

    def excess(gap: float) -> Callable[[float], float]:
        def log_excess(log_budget: float) -> float:
            value = contour_delta(
                eps, others, match_rate, math.exp(log_budget), both_rate, gap=gap, floor=1e-9 * delta
            )
            return log_ratio(value, delta)

        return log_excess

    coarse = excess(COARSE)
    first = guess or max(
        1.1 * eps, 1 + math.log1p(match_rate * others * eps * eps / (8 * math.log(2 / delta)))
    )
    near = root_below(coarse, math.log(first), low, high, xtol=_XTOL_COARSE, ytol=COARSE)
    if rough:
        return math.exp(near)
    before = near - 1e-3
    rise = coarse(near) - coarse(before) if before > low else math.nan
    slope = 1e3 * rise if math.isfinite(rise) and rise > 0 else None
    return math.exp(root_below(excess(GAP), near, low, high, xtol=_XTOL, ytol=GAP, slope=slope))
