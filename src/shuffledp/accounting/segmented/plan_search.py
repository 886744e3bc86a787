"""Plans of the segmented protocol, for a given number of blanket messages or for the number with the least error.

Source: arXiv 2407.19639, Section 5.2. Conventions and accountings as in :mod:`shuffledp.accounting.segmented.plans`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from shuffledp.accounting.segmented.items import blanket_slots
from shuffledp.accounting.segmented.plans import (
    SEGMENTED_ACCOUNTINGS,
    SegmentedPlan,
    blanket_law_of,
    check_items,
    full_reporting,
    level_rate,
)
from shuffledp.accounting.segmented.set_errors import (
    blanket_sse,
    checked_spread,
    segmented_error_bound,
    segmented_sse,
)
from shuffledp.numerics.argument_ranges import (
    Count,
    Delta,
    Eps,
    FromOne,
    FromTwo,
    Positive,
    RealArray,
    check_choice,
    check_open_unit,
    one_of,
)
from shuffledp.numerics.memoize import remember

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_REMEMBERED = 1024
#: Points of the logarithmic grid over m, fewer where one costs much; and integers that are tried besides, where the
#: number of slots jumps.
_POINTS = {"printed": 200, "corrected": 200, "exact": 60}
_MOST_INTEGERS = 2000
#: Relative precision of the best m within its piece, where the objective is flat, and of the ends of the flat range.
_MTOL = 1e-4
_ETOL = 1e-3
#: Points between the kinks whose rates are computed before all others; logarithms closer than this are one point.
_KNOTS, _APART = 12, 1e-6
#: Relative differences above which estimates decide: between a point and the best one, and between two points of a
#: piece. Estimates have errors of up to 2e-6, and of 1e-4 where slots jump.
_ROUGH = 1e-3
_CLOSE = {"printed": 1e-3, "corrected": 1e-5, "exact": 1e-5}
#: Ratio of errors up to which the error counts as flat.
_FLAT = 1.05
_GOLDEN = (math.sqrt(5) - 1) / 2


def segmented_plan(
    level_sizes: Sequence[Count],
    eps: Sequence[Eps],
    delta: Delta,
    domain_size: FromTwo,
    set_size: FromOne,
    *,
    blankets: Positive | None = None,
    accounting: Annotated[str, one_of(SEGMENTED_ACCOUNTINGS)] = "exact",
    spread: float | None = None,
    interval: tuple[Positive, Positive] | None = None,
) -> SegmentedPlan:
    """Return the parameters of the segmented protocol, for a given or the best number of blanket messages.

    Parameters
    ----------
    level_sizes : sequence of int
        Numbers n_k of users of each level, >= 0, at least one user in total. They are public, or estimates rounded to
        integers.
    eps : sequence of float
        Budgets of the levels, nats, > 0, in any order.
    delta : float
        Delta of every user, in (0, 1).
    domain_size, set_size : int
        Items d >= 2, and items per user s in [1, d].
    blankets : float, optional
        Expected number of blanket messages per user m, > 0. Searched if not given.
    accounting : {"printed", "corrected", "exact"}
        See :mod:`shuffledp.accounting.segmented.plans`.
    spread : float, optional
        ``sum_j w_j (1 - w_j)`` of the frequencies. If given, the search minimizes the exact expected error against the
        frequencies of the n users. Otherwise it minimizes the paper's bound, which does not depend on the data.
    interval : tuple of float, optional
        Interval of the search, by default from the smallest to the largest m_k. Below this interval all rates are below
        1. Above it all rates are 1, and a larger m only adds noise. (The paper exchanges the ends.)

    Returns
    -------
    SegmentedPlan
        Rates are rounded down. ``exact`` and ``corrected`` are guarantees; ``printed`` is a guarantee only if all rates
        are 1.

    Raises
    ------
    Infeasible
        If the search needs more than 1e9 blanket messages per user, or a sum does not fit into memory.

    Notes
    -----
    The objective has kinks at every m_k, where the best m often is. It jumps by up to 1e-4 relative above every
    integer, where a slot is added, and may have several minima. The search evaluates all m_k, all integers and 200
    points in between (60 for ``exact``). It then searches the two pieces next to the best point, in which the objective
    has no jumps. The minimum is flat, so the range `flat` should be reported with m.

    Wang et al. 2024, arXiv 2407.19639, Section 5.2 and Algorithm 2.

    Examples
    --------
    Users of the second level may send all their items, users of the first level a little more than half:

    >>> from shuffledp.accounting import segmented_plan
    >>> plan = segmented_plan([300, 700], [1.0, 2.0], 1e-6, 20, 3, accounting="corrected")
    >>> [round(rate, 3) for rate in plan.rates], round(plan.blankets, 2)
    ([0.563, 1.0], 2.18)
    >>> round(plan.expected_sse(), 4), round(plan.error_bound(), 4)
    (0.0033, 0.0063)
    """
    sizes, budgets = tuple(level_sizes), tuple(eps)
    if len(sizes) != len(budgets) or sum(sizes) == 0:
        raise ValueError(
            f"level_sizes and eps must have the same length and hold at least one user, got {level_sizes!r} and "
            f"{eps!r}."
        )
    check_items(domain_size, set_size)
    if spread is not None:
        spread = checked_spread(spread, domain_size, set_size)
    search = _PlanSearch(sizes, budgets, delta, domain_size, set_size, accounting, spread)
    if blankets is not None:
        return search.plan(blankets)
    if interval is not None:
        low, high = interval
        if low > high:
            raise ValueError(f"interval must be given as (smaller, larger), got {interval!r}.")
        interval = (low, high)
    return _best_plan(search, interval)


@dataclass(frozen=True)
class SegmentedChoices:
    """Choices of the server for M announcements of K level sizes, as in :class:`SegmentedPlan` for one announcement.

    `blankets`, (M,), and `rates`, (M, K), are m and lambda_k. `blanket_variances`, (M,), is the variance of the blanket
    messages of one item over the number of users.
    """

    blankets: NDArray[np.float64]
    rates: NDArray[np.float64]
    blanket_variances: NDArray[np.float64]


def segmented_choices(
    level_sizes: RealArray,
    eps: Sequence[float],
    delta: float,
    domain_size: int,
    set_size: int,
    *,
    blankets: float | None = None,
    accounting: str = "exact",
    spread: float | None = None,
) -> SegmentedChoices:
    """Return the best evaluated choices of :func:`segmented_plan` for M announcements of level sizes, (M, K).

    The choices are the best of the points that the search evaluates, without the search between them. The objective is
    larger by a few thousandths at most. The rates of every m meet the budgets for all announcements. Rows with
    different numbers of users raise ValueError. Rates depend on this number and on m only, so that one table of them
    serves all announcements. Source: arXiv 2407.19639, Section 5.2 and Algorithm 2.

    Examples
    --------
    >>> from shuffledp.accounting.segmented.plan_search import segmented_choices
    >>> found = segmented_choices([[300, 700], [0, 1000]], [1.0, 2.0], 1e-6, 20, 3, accounting="corrected")
    >>> found.blankets.round(2).tolist(), found.rates[:, 1].tolist()
    ([2.18, 2.18], [1.0, 1.0])
    """
    sizes = np.atleast_2d(np.asarray(level_sizes, np.float64))
    n = int(sizes[0].sum())
    if n < 1 or np.any(sizes < 0) or np.any(sizes.sum(axis=1) != n):
        raise ValueError(
            "level_sizes must have rows of numbers >= 0 with one sum, the number of users, >= 1."
        )
    check_open_unit("delta", delta)
    check_choice("accounting", accounting, SEGMENTED_ACCOUNTINGS)
    check_items(domain_size, set_size)
    search = _PlanSearch(
        (n,) + (0,) * (len(eps) - 1), tuple(eps), delta, domain_size, set_size, accounting, spread
    )
    table = _rate_table(search, blankets)
    chosen = np.concatenate(
        [
            np.argmin(_objectives(part, table, search), axis=1)
            for part in np.array_split(sizes, -(-len(sizes) // 4096))
        ]
    )
    return SegmentedChoices(table.blankets[chosen], table.rates[chosen], table.blanket_variances[chosen])


@dataclass(frozen=True)
class _RateTable:
    """Points of the search over m, (P,), with the rates of the levels, (P, K), and the m_k of the levels, (K,)."""

    blankets: NDArray[np.float64]
    rates: NDArray[np.float64]
    blanket_variances: NDArray[np.float64]
    kinks: NDArray[np.float64] | None


@remember(64)
def _rate_table(search: _PlanSearch, blankets: float | None) -> _RateTable:
    setting = (search.domain_size, search.set_size)
    n = sum(search.level_sizes)
    kinks, points = None, [0.0 if blankets is None else blankets]
    if blankets is None:
        kinks = np.array(
            [full_reporting(n, *setting, e, search.delta, accounting=search.accounting) for e in search.eps]
        )
        points = points if kinks.max() == 0 else _points(sorted(kinks.tolist()), search.accounting)
    plans = [search.plan(m) for m in points]
    return _RateTable(
        np.array(points),
        np.array([plan.rates for plan in plans]),
        np.array([plan.blanket_sse() * plan.reports**2 / n / search.domain_size for plan in plans]),
        kinks,
    )


def _objectives(sizes: NDArray[np.float64], table: _RateTable, search: _PlanSearch) -> NDArray[np.float64]:
    """Return the objectives of the search, (M, P), for sizes (M, K). They are infinite outside of the range of m_k of
    the nonempty levels.
    """
    n, m = sizes[0].sum(), table.blankets
    reports = sizes @ table.rates.T
    if search.spread is None:
        values = (n * m + search.set_size * reports) / reports**2
    else:
        squares = sizes @ (table.rates**2).T / reports**2
        coins = search.set_size * (sizes @ (table.rates * (1 - table.rates)).T)
        noise = (coins + n * search.domain_size * table.blanket_variances) / reports**2
        values = noise + search.spread * n / max(n - 1, 1) * np.maximum(squares - 1 / n, 0)
    if table.kinks is None:
        return np.asarray(values)
    low = np.where(sizes > 0, table.kinks, np.inf).min(axis=1)[:, None]
    high = np.where(sizes > 0, table.kinks, -np.inf).max(axis=1)[:, None]
    return np.where((m >= low) & (m <= high), values, np.inf)


@dataclass(frozen=True)
class _PlanSearch:
    """Setting of a search, with plans and errors as functions of m."""

    level_sizes: tuple[int, ...]
    eps: tuple[float, ...]
    delta: float
    domain_size: int
    set_size: int
    accounting: str
    spread: float | None

    def rates(self, blankets: float) -> tuple[float, ...]:
        """Return the rates of all levels at a number of blanket messages."""
        setting = (self.domain_size, self.set_size, self.eps, self.delta, self.accounting)
        return _rates(sum(self.level_sizes), blankets, *setting)

    def plan(self, blankets: float, flat: tuple[float, float] | None = None) -> SegmentedPlan:
        """Return the plan at a number of blanket messages."""
        return SegmentedPlan(
            self.level_sizes,
            self.eps,
            self.delta,
            self.rates(blankets),
            blankets,
            self.domain_size,
            self.set_size,
            self.accounting,
            blanket_law_of(self.accounting),
            flat,
        )

    def objective(self, blankets: float) -> float:
        """Return the error of the plan that the search minimizes, without checks of arguments."""
        return self.objective_of(blankets, self.rates(blankets))

    def objective_of(self, blankets: float, rates: Sequence[float]) -> float:
        """Return the objective at given rates."""
        messages = sum(self.level_sizes) * blankets
        reports = sum(n * rate for n, rate in zip(self.level_sizes, rates, strict=True))
        if self.spread is None:
            return segmented_error_bound(messages, self.set_size, reports)
        binomial = blanket_law_of(self.accounting) == "binomial"
        cell_rate = blanket_slots(blankets).rate / self.domain_size if binomial else 0.0
        noise = blanket_sse(messages, cell_rate, reports)
        return segmented_sse(self.level_sizes, rates, self.set_size, noise, self.spread, "empirical")

    def kinks(self) -> list[float]:
        """Return m_k of all levels with at least one user, increasing."""
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


@remember(1 << 15)
def _rates(
    n: int,
    blankets: float,
    domain_size: int,
    set_size: int,
    eps: tuple[float, ...],
    delta: float,
    accounting: str,
) -> tuple[float, ...]:
    setting = (n, blankets, domain_size, set_size)
    return tuple(level_rate(*setting, e, delta, accounting=accounting) for e in eps)


@remember(_REMEMBERED)
def _best_plan(search: _PlanSearch, interval: tuple[float, float] | None) -> SegmentedPlan:
    kinks = search.kinks()
    low, high = interval if interval is not None else (kinks[0], kinks[-1])
    if high == 0:  # all hold all items, there is nothing to hide
        return search.plan(0.0, (0.0, 0.0))
    pieces = [low, *(m for m in kinks if low <= m <= high), high]
    points = _points(pieces, search.accounting)
    estimate = _estimates(search, points, pieces)
    rough = [estimate(m) for m in points]
    likely = [e <= (1 + _ROUGH) * min(rough) for e in rough]
    values = [search.objective(m) if near else math.inf for m, near in zip(points, likely, strict=True)]
    at = int(np.argmin(values))
    best, value = points[at], values[at]

    def first_is_less(x: float, y: float) -> bool:
        x_estimate, y_estimate = estimate(x), estimate(y)
        if abs(x_estimate - y_estimate) > _CLOSE[search.accounting] * x_estimate:
            return x_estimate < y_estimate
        return search.objective(x) <= search.objective(y)

    def exceeds(m: float, most: float) -> bool:
        about = estimate(m)
        return about > most if abs(about - most) > _ROUGH * most else search.objective(m) > most

    for lower, upper in zip(points[max(at - 1, 0) :][:2], points[max(at - 1, 0) + 1 : at + 2], strict=False):
        m = _golden(first_is_less, lower, upper)
        objective = search.objective(m)
        if objective < value:
            best, value = m, objective
    flat = [
        _end(exceeds, [best, *beyond], _FLAT * value)
        for beyond in ([m for m in reversed(points) if m < best], [m for m in points if m > best])
    ]
    return search.plan(best, (flat[0], flat[1]))


def _estimates(search: _PlanSearch, points: list[float], kinks: list[float]) -> Callable[[float], float]:
    """Return a function that estimates the objective, from splines through the rates at the kinks and a few other
    points.
    """
    knots: list[float] = []
    for m in [*kinks, *points[:: max(1, len(points) // _KNOTS)]]:
        if all(abs(math.log(m / knot)) > _APART for knot in knots):
            knots.append(m)
    from scipy.interpolate import CubicSpline  # slow to import, and seldom needed

    knots.sort()
    x, rates = np.log(knots), np.array([search.rates(m) for m in knots])
    curves = []  # of each level with users: the spline up to its kink, and the kink
    for size, level in zip(search.level_sizes, rates.T, strict=True):
        whole = np.flatnonzero(level > 1 - _APART)
        end = int(whole[0]) + 1 if whole.size else x.size
        curve = CubicSpline(x[:end], np.log(level[:end])) if size > 0 and end > 1 else None
        curves.append((curve, float(x[end - 1]) if whole.size else math.inf))

    def estimate(m: float) -> float:
        at = math.log(m)
        rates_at = [
            1.0 if curve is None or at >= end else min(math.exp(curve(at)), 1.0) for curve, end in curves
        ]
        return search.objective_of(m, rates_at)

    return estimate


def _points(kinks: list[float], accounting: str) -> list[float]:
    """Return the first points of evaluation: the kinks (increasing), and points between the first and the last kink."""
    low, high = kinks[0], kinks[-1]
    integers: list[float] = []
    if accounting == "printed":
        integers = [float(i) for i in range(math.ceil(low), math.floor(high) + 1)][:_MOST_INTEGERS]
    spaced = np.geomspace(low, high, _POINTS[accounting]).tolist() if low < high else []
    return sorted({*kinks, *(m for m in [*integers, *spaced] if low <= m <= high)})


def _golden(first_is_less: Callable[[float, float], bool], lower: float, upper: float) -> float:
    """Return the minimizer of a unimodal function in (left, right), by golden-section search on a log scale."""
    a, b = math.log(lower), math.log(upper)
    x, y = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
    while b - a > _MTOL:
        if first_is_less(math.exp(x), math.exp(y)):
            b, y = y, x
            x = b - _GOLDEN * (b - a)
        else:
            a, x = x, y
            y = a + _GOLDEN * (b - a)
    return math.exp(x if first_is_less(math.exp(x), math.exp(y)) else y)


def _end(exceeds: Callable[[float, float], bool], points: list[float], most: float) -> float:
    """Return the end of the interval in which a function is at most `most`, by bisection. The interval begins at the
    first point.
    """
    inside = points[0]
    for point in points[1:]:
        if exceeds(point, most):
            outside = point
            break
        inside = point
    else:
        return inside
    while abs(math.log(outside / inside)) > _ETOL:
        middle = math.sqrt(inside * outside)
        if exceeds(middle, most):
            outside = middle
        else:
            inside = middle
    return inside
