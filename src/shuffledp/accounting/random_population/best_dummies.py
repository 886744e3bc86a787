"""Number of dummies with the smallest expected error (Wang et al. 2023, equations 6 and 7)."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.clones import (
    REDUCTIONS,
    OtherReports,
    exact_excess,
)
from shuffledp.accounting.random_population.amplification import (
    _CLOSED_FORMS,
    _REMEMBERED,
    ACCOUNTINGS,
    _local_budget,
    _remembered_budget,
)
from shuffledp.accounting.random_population.report_errors import OBJECTIVES, _error_factors, report_variance
from shuffledp.numerics.argument_ranges import (
    Count,
    Delta,
    Eps,
    one_of,
)
from shuffledp.numerics.memoize import remember
from shuffledp.populations.base import Fixed, Law, Population
from shuffledp.populations.laws import Binomial

#: Errors this close, relatively, count as equal: the smaller number of dummies wins.
_TIE = 1e-9


#: Candidates, evenly spread over the grid, in the first pass of the search for the best number of dummies.
_PROBES = 16
#: Candidates of the default grid, at most, besides 0.
_MOST_CANDIDATES = 10_000


@dataclass(frozen=True)
class DummyPlan:
    """Number of dummies with its local budget and expected error.

    Parameters
    ----------
    dummies : int
        Number k of dummies.
    eps_local : float
        Local budget A(k), nats.
    objective : float
        Error, up to a constant factor. For randomized response, half the expected squared l2 error that randomization
        adds to a binary frequency estimate; for Laplace noise, the variance per coordinate for unit scale.
    """

    dummies: int
    eps_local: float
    objective: float


def dummy_grid(population: Population) -> NDArray[np.int64]:
    """Return the numbers of dummies that :func:`optimal_dummies` tries by default.

    Source: Wang et al. 2023, the text after equation (6). Exact integers. A coarser grid increases the error and does
    not change the guarantee.

    Returns
    -------
    (g,) ndarray
        ``0, h, 2h, ..`` up to n', with ``h = floor(sqrt(n'))``, or ``h = ceil(n' / 10^4)`` above 1e8 users. n' is the
        number of potential users: trials + 1, or others + 1. For other populations the paper does not define n'; twice
        the mean is an assumption.
    """
    most = math.floor(2 * population.mean)
    if isinstance(population, Fixed):
        most = population.others + 1
    elif isinstance(population, Binomial):
        most = population.trials + 1
    step = max(1, math.isqrt(most), -(-most // _MOST_CANDIDATES))
    return np.arange(0, most + 1, step, dtype=np.int64)


def optimal_dummies(
    population: Population,
    eps_central: Eps,
    delta: Delta,
    *,
    adaptive: bool = False,
    accounting: Annotated[str, one_of(ACCOUNTINGS)] = "exact",
    grid: Sequence[Count] | None = None,
    objective: Annotated[str, one_of(OBJECTIVES)] = "randomized_response",
    stray_factor: bool = False,
    reduction: Annotated[str, one_of(REDUCTIONS)] = "clones",
) -> DummyPlan:
    """Return the number of dummies with the smallest expected error.

    Source: Wang et al. 2023, equations (6) and (7); see :func:`error_factor`. As there can be two local minima, branch
    and bound searches the whole grid. Results are cached. The plan's budget is rounded down as in :func:`local_budget`,
    and its error is exact for this budget.

    Parameters
    ----------
    population : Law
        Number of other users. Other populations raise `Infeasible`, as the error is a mean over this law.
    eps_central, delta, adaptive, accounting, reduction
        As in :func:`local_budget`, which returns A(k).
    grid : sequence of int, optional
        Numbers of dummies to try, each >= 0; :func:`dummy_grid` by default. k = 0 (Theorem 1 or 2) is always tried.
    objective : {"randomized_response", "laplace"}
        Error to minimize; see :func:`report_variance`.
    stray_factor : bool
        For adaptive dummies, minimize equation (7) with the printed factor k (erratum E15), with which k = 0 is
        optimal, as in the paper's figures. The ``objective`` of the result then has the factor too.

    Returns
    -------
    DummyPlan
        The smallest optimal k, and A(k) in nats.

    Examples
    --------
    >>> from shuffledp.accounting import optimal_dummies
    >>> from shuffledp.populations import Binomial
    >>> plan = optimal_dummies(Binomial(299, 0.1), eps_central=0.5, delta=1e-6, adaptive=True)
    >>> plan.dummies, round(plan.eps_local, 4)
    (34, 0.5784)
    """
    if not isinstance(population, Law):
        name = type(population).__name__
        raise Infeasible(f"population must be a law for the expected error with dummies, got a {name}.")
    candidates = dummy_grid(population).tolist() if grid is None else grid
    ks = tuple(sorted({0, *map(int, candidates)}))
    return _optimum(
        _DummySearch(
            population, eps_central, delta, adaptive, accounting, objective, stray_factor, reduction
        ),
        ks,
    )


@dataclass(frozen=True)
class _DummySearch:
    """Setting of a search: the arguments of :func:`optimal_dummies` other than the numbers of dummies."""

    law: Law
    eps_central: float
    delta: float
    adaptive: bool
    accounting: str
    objective: str
    stray_factor: bool
    reduction: str

    def reports(self, dummies: int) -> OtherReports:
        return OtherReports(self.law, dummies, self.adaptive, self.reduction)

    def plan(self, dummies: int, factor: float, guess: float | None) -> DummyPlan:
        reports = self.reports(dummies)
        if guess is None:
            eps_local = _remembered_budget(reports, self.eps_central, self.delta, self.accounting)
        else:
            eps_local = _local_budget(reports, self.eps_central, self.delta, self.accounting, guess)
        return DummyPlan(dummies, eps_local, report_variance(eps_local, self.objective) * factor)

    def affords(self, dummies: int, eps_local: float) -> bool:
        """Return whether the largest budget A(k) is at least `eps_local`. One evaluation is enough, while A(k) itself
        needs about six.
        """
        if eps_local <= self.eps_central:
            return True
        reports = self.reports(dummies)
        if self.accounting == "exact":
            return exact_excess(reports, eps_local, self.eps_central, self.delta) <= 0
        return _CLOSED_FORMS[self.accounting](reports, self.delta, eps_local) <= self.eps_central

    def budget_for(self, variance: float) -> float:
        if self.objective == "laplace":
            return 1 / math.sqrt(variance)
        return 2 * math.asinh(0.5 / math.sqrt(variance))


@dataclass(frozen=True)
class _KnownBudgets:
    """Bounds on the largest budgets A as two step functions, searched by bisection. A does not fall with the index. If
    A of one index is at least a budget, so is A of every later index. If A is below the budget, so is A of every
    earlier index. Both lists keep only indices that improve the bounds, so that the budgets increase along them.
    """

    enough: tuple[list[int], list[float]] = field(default_factory=lambda: ([], []))
    too_much: tuple[list[int], list[float]] = field(default_factory=lambda: ([], []))

    def affords(self, index: int, eps_local: float) -> bool | None:
        """Return whether A(index) is at least `eps_local`, or None if the stored bounds do not determine this."""
        indices, least = self.too_much
        at = bisect_left(indices, index)
        if at < len(indices) and least[at] <= eps_local:
            return False
        indices, most = self.enough
        at = bisect_right(indices, index)
        return True if at > 0 and most[at - 1] >= eps_local else None

    def add(self, index: int, eps_local: float, affordable: bool) -> None:
        """Record whether A(index) is at least `eps_local`. Call this method only if :meth:`affords` returns None."""
        indices, budgets = self.enough if affordable else self.too_much
        if affordable:  # later indices with no larger budget are redundant
            first = bisect_left(indices, index)
            last = max(first, bisect_right(budgets, eps_local))
        else:  # earlier indices with no smaller budget are redundant
            last = bisect_right(indices, index)
            first = min(last, bisect_left(budgets, eps_local))
        indices[first:last] = [index]
        budgets[first:last] = [eps_local]


@remember(_REMEMBERED)
def _optimum(search: _DummySearch, ks: tuple[int, ...]) -> DummyPlan:
    """Return the plan with the smallest error over the candidates `ks`, which increase from 0. Of several best k, the
    smallest is chosen.

    The error is ``variance(A(k)) * factor(k)``. Among k >= 1 neither A nor the factor falls. On an interval of
    candidates, the error is therefore at least the error with A of the last and the factor of the first candidate. If
    this bound is not below the best known error, the interval is skipped, else halved. The result equals the result of
    a full scan.

    A does not fall because the number of clones grows stochastically with k (exact), and because every Omega increases
    with k if it is positive, hence if a closed form is finite: with mean m and spread ``sqrt(S)``,
    ``Omega = m - sqrt(S) > 0`` bounds the derivative of the spread by the derivative of m. At k = 0 Theorem 2 can be
    better than Theorem 4b at small k (N9), so that k = 0 is evaluated separately.
    """
    factors = _error_factors(search.law, np.array(ks), search.adaptive, search.stray_factor)
    best_index, best = 0, search.plan(0, float(factors[0]), None)
    least = best.objective
    budgets = _KnownBudgets()

    def may_improve(first: int, last: int) -> bool:
        limit = least * (1 + _TIE if first < best_index else 1 - _TIE)
        needed = search.budget_for(limit / float(factors[first]))
        affordable = budgets.affords(last, needed)
        if affordable is None:
            affordable = search.affords(ks[last], needed)
            budgets.add(last, needed, affordable)
        return affordable

    def evaluate(index: int) -> None:
        nonlocal best_index, best, least
        guess = search.budget_for(least / float(factors[index]))
        plan = search.plan(ks[index], float(factors[index]), guess)
        limit = least * (1 + _TIE if index < best_index else 1 - _TIE)
        if plan.objective <= limit:
            best_index, best = index, plan
        least = min(least, plan.objective)

    final = len(ks) - 1
    for index in sorted({round(part / _PROBES * final) for part in range(1, _PROBES + 1)} - {0}):
        if least > 0 and may_improve(index, index):
            evaluate(index)
    intervals = [(1, final)] if final > 0 else []
    while intervals and least > 0:
        first, last = intervals.pop()
        if not may_improve(first, last):
            continue
        if first == last:
            evaluate(first)
            continue
        middle = (first + last) // 2
        intervals += [(middle + 1, last), (first, middle)]
    return best
