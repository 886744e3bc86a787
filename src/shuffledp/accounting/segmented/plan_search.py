"""The number of blanket messages of the segmented protocol with the least error, or given.

Source: arXiv 2407.19639, Section 5.2. Conventions and accountings are those of
:mod:`shuffledp.accounting.segmented.plans`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.accounting.segmented.plans import (
    SEGMENTED_ACCOUNTINGS,
    SegmentedPlan,
    blanket_law_of,
    check_items,
    full_reporting,
    level_rate,
)
from shuffledp.numerics.checks import check_choice, check_count, check_open_unit, check_positive
from shuffledp.numerics.remember import remember
from shuffledp.utility.sets import checked_spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_REMEMBERED = 1024
#: Points of the logarithmic grid over m, fewer where one costs much; and integers that are tried besides, where the
#: number of slots jumps.
_POINTS = {"printed": 200, "corrected": 200, "exact": 60}
_MOST_INTEGERS = 2000
#: Relative precision of the best m within its piece, where the objective is flat, and of the ends of the flat range.
_MTOL = 1e-4
_ETOL = 1e-3
#: What counts as flat.
_FLAT = 1.05
_GOLDEN = (math.sqrt(5) - 1) / 2


def segmented_plan(
    level_sizes: Sequence[int],
    eps: Sequence[float],
    delta: float,
    domain_size: int,
    set_size: int,
    *,
    blankets: float | None = None,
    accounting: str = "exact",
    spread: float | None = None,
    interval: tuple[float, float] | None = None,
) -> SegmentedPlan:
    """Return the parameters of the segmented protocol, for a given number of blanket messages or the best one.

    Parameters
    ----------
    level_sizes : sequence of int
        Users n_k of each level, >= 0; at least one user in all. Published, or an estimate rounded to integers.
    eps : sequence of float
        Budgets of the levels, nats, > 0, in any order.
    delta : float
        Of every user, in (0, 1).
    domain_size, set_size : int
        Items d >= 2, and items per user s in [1, d].
    blankets : float, optional
        Expected number of blanket messages per user m, > 0. Searched if left out.
    accounting : {"printed", "corrected", "exact"}
        See :mod:`shuffledp.accounting.segmented.plans`.
    spread : float, optional
        What the search minimizes: the bound of the paper, which needs no data, if left out; otherwise the exact
        expected error against the frequencies of the n users, for this ``sum_j w_j (1 - w_j)``.
    interval : tuple of float, optional
        Where to search. By default between the smallest and the largest m_k, outside of which all rates are below 1,
        or all are 1 and only noise is added. (The paper has the ends exchanged.)

    Returns
    -------
    SegmentedPlan
        Rates are rounded down. ``exact`` and ``corrected`` are guarantees, ``printed`` where all rates are 1.

    Raises
    ------
    Infeasible
        If the search needs more than 1e9 blanket messages per user, or a sum does not fit into memory.

    Notes
    -----
    The objective has kinks at every m_k, where the best m often is, jumps by up to 1e-4 relative behind every integer,
    where a slot is added, and may have several minima. All m_k, all integers and 200 points in between (exact: 60) are
    evaluated, then the best point's two neighboring pieces are searched, where nothing jumps. The minimum is flat:
    quote `flat`.

    Wang et al. 2024, arXiv 2407.19639, Section 5.2 and Algorithm 2.

    Examples
    --------
    Users of the second level may send all their items, those of the first one a little more than half:

    >>> from shuffledp.accounting import segmented_plan
    >>> plan = segmented_plan([300, 700], [1.0, 2.0], 1e-6, 20, 3, accounting="corrected")
    >>> [round(rate, 3) for rate in plan.rates], round(plan.blankets, 2)
    ([0.563, 1.0], 2.18)
    >>> round(plan.expected_sse(), 4), round(plan.error_bound(), 4)
    (0.0033, 0.0063)
    """
    sizes = tuple(check_count("level_sizes", n) for n in level_sizes)
    budgets = tuple(check_positive("eps", e) for e in eps)
    if len(sizes) != len(budgets) or sum(sizes) == 0:
        raise ValueError(
            f"level_sizes and eps must have the same length and hold at least one user, got {level_sizes!r} and "
            f"{eps!r}."
        )
    check_open_unit("delta", delta)
    check_choice("accounting", accounting, SEGMENTED_ACCOUNTINGS)
    check_items(domain_size, set_size)
    if spread is not None:
        spread = checked_spread(spread, domain_size, set_size)
    search = _Search(sizes, budgets, delta, domain_size, set_size, accounting, spread)
    if blankets is not None:
        return search.plan(check_positive("blankets", blankets))
    if interval is not None:
        low, high = (check_positive("interval", end) for end in interval)
        if low > high:
            raise ValueError(f"interval must be given as (smaller, larger), got {interval!r}.")
        interval = (low, high)
    return _best_plan(search, interval)


@dataclass(frozen=True)
class _Search:
    """The setting of a search; plans and errors as a function of m."""

    level_sizes: tuple[int, ...]
    eps: tuple[float, ...]
    delta: float
    domain_size: int
    set_size: int
    accounting: str
    spread: float | None

    def plan(self, blankets: float, flat: tuple[float, float] | None = None) -> SegmentedPlan:
        """Return the plan for a number of blanket messages."""
        n = sum(self.level_sizes)
        setting = (self.domain_size, self.set_size)
        rates = tuple(
            level_rate(n, blankets, *setting, e, self.delta, accounting=self.accounting) for e in self.eps
        )
        return SegmentedPlan(
            self.level_sizes,
            self.eps,
            self.delta,
            rates,
            blankets,
            *setting,
            self.accounting,
            blanket_law_of(self.accounting),
            flat,
        )

    def objective(self, blankets: float) -> float:
        """Return what is minimized."""
        plan = self.plan(blankets)
        return plan.error_bound() if self.spread is None else plan.expected_sse(self.spread)

    def kinks(self) -> list[float]:
        """Return m_k of all levels that somebody chose, increasing."""
        return sorted(
            full_reporting(
                sum(self.level_sizes),
                self.domain_size,
                self.set_size,
                e,
                self.delta,
                accounting=self.accounting,
            )
            for n, e in zip(self.level_sizes, self.eps, strict=True)
            if n > 0
        )


@remember(_REMEMBERED)
def _best_plan(search: _Search, interval: tuple[float, float] | None) -> SegmentedPlan:
    kinks = search.kinks()
    low, high = interval if interval is not None else (kinks[0], kinks[-1])
    if high == 0:  # all hold all items, there is nothing to hide
        return search.plan(0.0, (0.0, 0.0))
    integers: list[float] = []
    if search.accounting == "printed":
        integers = [float(i) for i in range(math.ceil(low), math.floor(high) + 1)][:_MOST_INTEGERS]
    spaced = np.geomspace(low, high, _POINTS[search.accounting]).tolist() if low < high else []
    points = sorted({low, high, *(m for m in [*kinks, *integers, *spaced] if low <= m <= high)})
    values = [search.objective(m) for m in points]
    at = int(np.argmin(values))
    best, value = points[at], values[at]
    for left, right in zip(points[max(at - 1, 0) :][:2], points[max(at - 1, 0) + 1 : at + 2], strict=False):
        m, found = _golden(search.objective, left, right)
        if found < value:
            best, value = m, found
    flat = [
        _end(search.objective, [best, *beyond], _FLAT * value)
        for beyond in ([m for m in reversed(points) if m < best], [m for m in points if m > best])
    ]
    return search.plan(best, (flat[0], flat[1]))


def _golden(function: Callable[[float], float], left: float, right: float) -> tuple[float, float]:
    """Return where a function with one minimum inside (left, right) has it, and its value there."""
    a, b = math.log(left), math.log(right)
    x, y = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
    at_x, at_y = function(math.exp(x)), function(math.exp(y))
    while b - a > _MTOL:
        if at_x <= at_y:
            b, y, at_y = y, x, at_x
            x = b - _GOLDEN * (b - a)
            at_x = function(math.exp(x))
        else:
            a, x, at_x = x, y, at_y
            y = a + _GOLDEN * (b - a)
            at_y = function(math.exp(y))
    return (math.exp(x), at_x) if at_x <= at_y else (math.exp(y), at_y)


def _end(function: Callable[[float], float], points: list[float], most: float) -> float:
    """Return how far one can go along the points without exceeding a value; the first one does not exceed it."""
    inside = points[0]
    for point in points[1:]:
        if function(point) > most:
            outside = point
            break
        inside = point
    else:
        return inside
    while abs(math.log(outside / inside)) > _ETOL:
        middle = math.sqrt(inside * outside)
        if function(middle) > most:
            outside = middle
        else:
            inside = middle
    return inside
