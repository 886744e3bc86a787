"""Parameters of the segmented protocol: what users of each privacy level send, and the errors that follow.

Users of level k (budget eps_k) send each of their s items with probability lambda_k, and everybody adds m blanket
messages in expectation. The server counts messages and estimates ``(count - n m / d) / sum_k n_k lambda_k`` per item.
For given m, lambda_k is the largest probability that level k allows; more blanket messages allow larger ones but add
noise themselves, and the best m is searched. Accountings:

``printed``
    The paper: ceil(m) slots per user, the pair of counts for one item, group composition to s items. Not a proven
    guarantee where lambda_k < 1 (see :mod:`shuffledp.accounting.segmented.items`).
``corrected``
    The same with a Poisson number of blanket messages, which makes it one.
``exact``
    Poisson blanket messages and the divergence of the whole set (:mod:`shuffledp.accounting.segmented.users`).

Conventions: eps in nats; replacement neighbors; n counts all users. Errors are sums over the d items of squared errors
of relative frequencies. Source: arXiv 2407.19639, Section 5.2; the exact errors are derived for this project.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from shuffledp.accounting.segmented.items import (
    BlanketLaw,
    Slots,
    blanket_slots,
    blankets_for_full_reporting,
    item_delta,
    reporting_rate,
)
from shuffledp.accounting.segmented.users import user_level_blankets, user_level_reporting_rate
from shuffledp.numerics.checks import (
    check_choice,
    check_count,
    check_open_unit,
    check_positive,
)
from shuffledp.numerics.remember import remember
from shuffledp.utility.sets import TRUTHS, blanket_sse, checked_spread, segmented_error_bound, segmented_sse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SegmentedAccounting = Literal["printed", "corrected", "exact"]
SEGMENTED_ACCOUNTINGS: tuple[str, ...] = get_args(SegmentedAccounting)

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


@dataclass(frozen=True)
class SegmentedPlan:
    """Parameters of the segmented protocol; with one level and rate 1, of balls-into-bins.

    Parameters
    ----------
    level_sizes : tuple of int
        Users n_k of each level, >= 0, at least one user in all.
    eps : tuple of float
        Budgets of the levels, nats.
    delta : float
        Of every user.
    rates : tuple of float
        Probability lambda_k with which a user of level k sends each item.
    blankets : float
        Expected number of blanket messages per user m.
    domain_size, set_size : int
        Items d, and items per user s.
    accounting : {"printed", "corrected", "exact"}
        How the rates were found; see the module's description.
    blanket_law : {"binomial", "poisson"}
        Law of the number of blanket messages of a user: used slots, or Poisson(m).
    flat : tuple of float, optional
        If m was searched: the range around it where the objective is at most 5 % above its smallest value, cut off at
        the ends of the interval that was searched.

    Notes
    -----
    Wang et al. 2024, arXiv 2407.19639, Algorithm 2.
    """

    level_sizes: tuple[int, ...]
    eps: tuple[float, ...]
    delta: float
    rates: tuple[float, ...]
    blankets: float
    domain_size: int
    set_size: int
    accounting: str
    blanket_law: BlanketLaw
    flat: tuple[float, float] | None = None

    @property
    def n(self) -> int:
        """All users."""
        return sum(self.level_sizes)

    @cached_property
    def reports(self) -> float:
        """Expected number of users whose report of a given item of theirs arrives, ``sum_k n_k lambda_k``."""
        return sum(n * rate for n, rate in zip(self.level_sizes, self.rates, strict=True))

    @property
    def slots(self) -> Slots:
        """Slots per user for binomial blanket messages."""
        return blanket_slots(self.blankets)

    @property
    def blankets_per_item(self) -> float:
        """Expected number of blanket messages per item, ``n m / d``, which the server subtracts."""
        return self.n * self.blankets / self.domain_size

    def blanket_sse(self) -> float:
        """Return the part of the expected error that blanket messages cause; exact."""
        cell_rate = 0.0 if self.blanket_law == "poisson" else self.slots.rate / self.domain_size
        return blanket_sse(self.n * self.blankets, cell_rate, self.reports)

    def error_bound(self) -> float:
        """Return the paper's bound on the expected error, ``(n m + s Lambda) / Lambda^2``; needs no data."""
        return segmented_error_bound(self.n * self.blankets, self.set_size, self.reports)

    def expected_sse(self, spread: float | None = None, *, truth: str = "empirical") -> float:
        """Return the expected error if levels are independent of the data.

        Parameters
        ----------
        spread : float, optional
            ``W = sum_j w_j (1 - w_j)`` of the true frequencies, in [0, s]; ``s (1 - s / d)``, that of uniform
            frequencies and the largest possible, if left out.
        truth : {"empirical", "population"}
            Compared with the frequencies of these n users, assigned to levels at random; or with the frequencies of
            the population that they are drawn from.

        Returns
        -------
        float
            Sum over items of the expected squared error; exact.
        """
        spread = checked_spread(spread, self.domain_size, self.set_size)
        check_choice("truth", truth, TRUTHS)
        return segmented_sse(self.level_sizes, self.rates, self.set_size, self.blanket_sse(), spread, truth)


def level_rate(
    n: int,
    blankets: float,
    domain_size: int,
    set_size: int,
    eps: float,
    delta: float,
    *,
    accounting: str = "exact",
) -> float:
    """Return the largest probability with which a user may send each item.

    Parameters
    ----------
    n : int
        All users, >= 1; the sizes of the levels do not matter.
    blankets : float
        Expected number of blanket messages per user m, >= 0.
    domain_size, set_size : int
        Items d >= 2, and items per user s in [1, d].
    eps, delta : float
        Of the user; nats, > 0, and in (0, 1).
    accounting : {"printed", "corrected", "exact"}
        See the module's description.

    Returns
    -------
    float
        lambda_k, in (0, 1]; rounded down. ``printed`` is not a guarantee below 1.

    Raises
    ------
    Infeasible
        If a sum does not fit into memory.

    Notes
    -----
    Wang et al. 2024, arXiv 2407.19639, Section 5.2, equations 6 and 7; ``exact`` is derived for this project.
    """
    check_choice("accounting", accounting, SEGMENTED_ACCOUNTINGS)
    if accounting == "exact":
        return user_level_reporting_rate(n, blankets, domain_size, set_size, eps, delta)
    _check_items(domain_size, set_size)
    item = item_delta(eps, delta, set_size)
    law = blanket_law_of(accounting)
    return reporting_rate(n, blankets, domain_size, eps / set_size, item, blanket_law=law)


def full_reporting(
    n: int, domain_size: int, set_size: int, eps: float, delta: float, *, accounting: str = "exact"
) -> float:
    """Return m_k, the smallest expected number of blanket messages per user with which all items may be sent.

    Parameters
    ----------
    n : int
        All users, >= 1; the sizes of the levels do not matter.
    domain_size, set_size : int
        Items d >= 2, and items per user s in [1, d].
    eps, delta : float
        Of the user; nats, > 0, and in (0, 1).
    accounting : {"printed", "corrected", "exact"}
        See the module's description.

    Returns
    -------
    float
        m_k, rounded up; 0 if all users hold all items.

    Raises
    ------
    Infeasible
        If more than 1e9 messages per user would be needed, or a sum does not fit into memory.

    Notes
    -----
    Wang et al. 2024, arXiv 2407.19639, Section 5.2; ``exact`` is derived for this project.
    """
    check_choice("accounting", accounting, SEGMENTED_ACCOUNTINGS)
    if accounting == "exact":
        return user_level_blankets(n, domain_size, set_size, eps, delta)
    _check_items(domain_size, set_size)
    law = blanket_law_of(accounting)
    return blankets_for_full_reporting(n, domain_size, set_size, eps, delta, blanket_law=law)


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
        See the module's description.
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
    _check_items(domain_size, set_size)
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


def blanket_law_of(accounting: str) -> BlanketLaw:
    """Return the law of the number of blanket messages that an accounting is for.

    Notes
    -----
    ``printed``: arXiv 2407.19639, Algorithm 2; the others are derived for this project.
    """
    return "binomial" if accounting == "printed" else "poisson"


def _check_items(domain_size: int, set_size: int) -> None:
    check_count("domain_size", domain_size, 2)
    check_count("set_size", set_size, 1)
    if set_size > domain_size:
        raise ValueError(f"set_size must be at most domain_size = {domain_size}, got {set_size}.")
