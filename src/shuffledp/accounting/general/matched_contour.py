r"""Reports among uniform messages that match values, where tables over all numbers of matches are too large.

The laws are defined in :mod:`shuffledp.accounting.general.matched_blanket`; for n reports of which each is uniform with
probability lambda, and for a report among M - 1 uniform messages, delta is the mean of the positive part of a sum of n
or M copies (:mod:`shuffledp.accounting.general.comparisons`). A contour integral evaluates it in a time that does not
grow with n, from above: tables are exact to more digits, and faster for few reports.
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
from shuffledp.populations import Fixed

if TYPE_CHECKING:
    from collections.abc import Callable

#: Largest relative excess of delta over the value.
GAP = 1e-6
#: Cells of a table beyond which the contour is faster than one evaluation of it.
_MOST_CELLS = 1e6
#: Standard deviations that a window holds, about, for the least mass that is left out.
_DEVIATIONS = 17.0
MOST_BUDGET = 200.0
#: Of the log of a budget; the second while a root is approached.
_XTOL, _XTOL_COARSE = 1e-8, 1e-6
_NONE = np.zeros((0, 2))


def is_long(others: int, match_rate: float, eps_local: float, rows: float = math.inf) -> bool:
    """Return whether a table over uniform reports of others and their matches is too large.

    Parameters
    ----------
    others : int
        Other reports, >= 0.
    match_rate : float
        Probability that a uniform report matches a value, in (0, 1).
    eps_local : float
        Nats; ``inf`` for uniform messages.
    rows : float
        Largest number of rows of a table, one per number of uniform reports.
    """
    if eps_local == math.inf:
        return _DEVIATIONS * math.sqrt(2 * others * match_rate) > _MOST_CELLS
    rate = matched_rate(match_rate, eps_local)
    numbers = min(_DEVIATIONS * math.sqrt(others * rate * (1 - rate)), others, rows)
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
    """Return delta of a report among others, or among uniform messages where `eps_local` is infinite.

    Parameters
    ----------
    eps : float
        Nats, in [0, 350].
    others : int
        Other reports, each with the same local budget; or uniform messages.
    match_rate, both_rate : float
        Probability that a uniform report matches a value, and two of them.
    eps_local : float
        Nats, in (0, 300], or ``inf``.
    gap, floor : float
        As in :func:`shuffledp.accounting.general.blanket.compared_delta`.

    Returns
    -------
    float
        In [0, 1], an upper bound on the delta of :mod:`shuffledp.accounting.general.matched_blanket`, above it by
        `gap` relative at most.

    Notes
    -----
    Derived for this project. Replacement neighbors; the inputs of all others are known to the adversary.
    """
    if eps >= eps_local:
        return 0.0
    one, none = match_rate - both_rate, max(1 - 2 * match_rate + both_rate, 0.0)
    if eps_local == math.inf:
        rate, match, miss = 1.0, -math.log(match_rate), -math.inf
    else:
        rate, match, miss = matched_rate(match_rate, eps_local), eps_local, 0.0
    pair = Outputs(
        np.array([match, match, miss, miss]),
        np.array([match, miss, match, miss]),
        rate * np.array([both_rate, one, one, none]),
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
    """Return the largest local budget of a report among others.

    Parameters
    ----------
    others, match_rate, both_rate
        As in :func:`contour_delta`.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    rough : bool
        If True, the result is up to about 1e-4 relative below the largest budget.
    guess : float, optional
        Nats, close to the result.

    Returns
    -------
    float
        Nats, at least `eps`, at most 200 or eps; a lower bound on the largest budget.

    Notes
    -----
    Derived for this project.
    """
    low, high = math.log(eps), math.log(max(MOST_BUDGET, eps))
    if low >= high:
        return eps

    def excess(gap: float) -> Callable[[float], float]:
        def at(log_budget: float) -> float:
            value = contour_delta(
                eps, others, match_rate, math.exp(log_budget), both_rate, gap=gap, floor=1e-9 * delta
            )
            return log_ratio(value, delta)

        return at

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
