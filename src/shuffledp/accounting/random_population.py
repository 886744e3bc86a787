"""Amplification by shuffling when the number of participants is random.

One question in two directions, for any population and any of four ways to evaluate it: which central
guarantee do eps_local-LDP reports have after shuffling, and which eps_local does a central guarantee allow.
The way is called `accounting`:

``printed``
    The closed forms of Wang et al. 2023 (TPDS), Theorems 1 to 4, letter for letter.
``simplified``
    Their simplified Theorem 1.
``corrected``
    The closest closed form with textbook one-sided tails; always valid.
``exact``
    The clones reduction evaluated numerically, to about 1e-10 relative; for :class:`MomentBounded` the worst
    case over all laws with these moments.

Conventions throughout: eps in nats, > 0; delta in (0, 1); populations describe N - 1, the users other than
user 1; the guarantee is for user 1, who takes part for certain, and replacement of user 1's input. Dummies
are eps_local-LDP reports of public inputs. Without dummies `adaptive` has no effect.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from shuffledp.accounting.clones import (
    REDUCTIONS,
    OtherReports,
    exact_delta,
    exact_epsilon,
    exact_excess,
    exact_local_budget,
)
from shuffledp.accounting.closed_forms import corrected_epsilon, printed_epsilon, simplified_epsilon
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.moments import worst_delta, worst_epsilon, worst_local_budget
from shuffledp.accounting.remember import remember
from shuffledp.numerics.checks import (
    check_choice,
    check_count,
    check_nonnegative,
    check_open_unit,
    check_positive,
    check_unit,
)
from shuffledp.numerics.roots import root_below
from shuffledp.populations import Binomial, Fixed, Law, MomentBounded, Population

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

Accounting = Literal["printed", "simplified", "corrected", "exact"]
ACCOUNTINGS: tuple[str, ...] = get_args(Accounting)
Objective = Literal["randomized_response", "laplace"]
OBJECTIVES: tuple[str, ...] = get_args(Objective)

#: Errors this close, relatively, count as equal: the smaller number of dummies wins.
_TIE = 1e-9
#: Candidates, evenly spread over the grid, that the search for the best number of dummies looks at first.
_PROBES = 16
#: Results kept per function; experiments and figures ask for the same ones again.
_REMEMBERED = 4096

_CLOSED_FORMS: dict[str, Callable[[OtherReports, float, float], float]] = {
    "printed": printed_epsilon,
    "simplified": simplified_epsilon,
    "corrected": corrected_epsilon,
}


def clone_delta(
    population: Population,
    eps_local: float,
    eps_central: float,
    *,
    dummies: int = 0,
    adaptive: bool = False,
    reduction: str = "clones",
) -> float:
    """Return the exact delta of the clones reduction.

    Parameters
    ----------
    population : Population
        A law, or :class:`MomentBounded` for the worst case over all laws with its moments.
    eps_local : float
        Local budget, nats, > 0.
    eps_central : float
        Central eps, nats, >= 0.
    dummies : int
        Number of dummy reports, >= 0.
    adaptive : bool
        Fill the other users up to `dummies`: ``max(dummies - (N - 1), 0)`` reports are added.
    reduction : {"clones", "randomized_response"}
        ``clones`` holds for every eps_local-LDP randomizer; ``randomized_response`` counts clones at their
        higher rate ``2 / (e^eps_local + 1)`` and holds for binary randomized response only.

    Returns
    -------
    float
        In [0, 1], rounding error below 1e-10 relative; an upper bound for a concrete randomizer. 0 when
        ``eps_central >= eps_local``.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    Infeasible
        For :class:`SubGaussian` and :class:`SubExponential`, which do not determine delta.

    Notes
    -----
    Wang et al. 2023, Lemma 2; see :mod:`shuffledp.accounting.clones` for the formula.
    """
    eps_local = check_positive("eps_local", eps_local)
    eps_central = check_nonnegative("eps_central", eps_central)
    dummies = check_count("dummies", dummies)
    check_choice("reduction", reduction, REDUCTIONS)
    reports = OtherReports(population, dummies, adaptive, reduction)
    if isinstance(population, Law):
        return exact_delta(reports, eps_local, eps_central)
    return worst_delta(_moments(population), reports, eps_local, eps_central)


def amplified_epsilon(
    population: Population,
    eps_local: float,
    delta: float,
    *,
    dummies: int = 0,
    adaptive: bool = False,
    accounting: str = "exact",
    reduction: str = "clones",
) -> float:
    """Return the central eps that shuffled eps_local-LDP reports satisfy.

    Parameters
    ----------
    population : Population
        Number of other users.
    eps_local : float
        Local budget, nats, > 0.
    delta : float
        In (0, 1).
    dummies, adaptive, reduction
        As in :func:`clone_delta`. The closed forms use the clone rate of `reduction` in place of ``1 / E``.
    accounting : {"printed", "simplified", "corrected", "exact"}
        See the module's description.

    Returns
    -------
    float
        Nats, in [0, eps_local]. `eps_local` itself where the formula shows no amplification.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    Infeasible
        If this accounting says nothing about this population.

    Notes
    -----
    Wang et al. 2023, Theorems 1 to 4, Lemma 2. An n' there is ``trials + 1`` here.
    """
    eps_local = check_positive("eps_local", eps_local)
    delta = check_open_unit("delta", delta)
    dummies = check_count("dummies", dummies)
    check_choice("accounting", accounting, ACCOUNTINGS)
    check_choice("reduction", reduction, REDUCTIONS)
    return _amplified_epsilon(
        OtherReports(population, dummies, adaptive, reduction), eps_local, delta, accounting
    )


@remember(_REMEMBERED)
def _amplified_epsilon(reports: OtherReports, eps_local: float, delta: float, accounting: str) -> float:
    if accounting != "exact":
        return min(_CLOSED_FORMS[accounting](reports, delta, eps_local), eps_local)
    if isinstance(reports.population, Law):
        return exact_epsilon(reports, eps_local, delta)
    return worst_epsilon(_moments(reports.population), reports, eps_local, delta)


def local_budget(
    population: Population,
    eps_central: float,
    delta: float,
    *,
    dummies: int = 0,
    adaptive: bool = False,
    accounting: str = "exact",
    reduction: str = "clones",
) -> float:
    """Return the largest local budget with which shuffling meets (eps_central, delta).

    Parameters
    ----------
    population : Population
        Number of other users.
    eps_central : float
        Central target, nats, > 0.
    delta : float
        In (0, 1).
    dummies, adaptive, accounting, reduction
        As in :func:`amplified_epsilon`, whose inverse this is.

    Returns
    -------
    float
        Nats, at least `eps_central`: without amplification every user spends the central budget, and then
        privacy holds with delta = 0.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    Infeasible
        If this accounting says nothing about this population.

    Notes
    -----
    The paper's A(k). Rounded down by at most 1e-10 relative.
    """
    eps_central = check_positive("eps_central", eps_central)
    delta = check_open_unit("delta", delta)
    dummies = check_count("dummies", dummies)
    check_choice("accounting", accounting, ACCOUNTINGS)
    check_choice("reduction", reduction, REDUCTIONS)
    return _remembered_budget(
        OtherReports(population, dummies, adaptive, reduction), eps_central, delta, accounting
    )


def _local_budget(
    reports: OtherReports, eps_central: float, delta: float, accounting: str, guess: float | None = None
) -> float:
    if accounting != "exact":
        return _closed_budget(reports, eps_central, delta, accounting)
    if isinstance(reports.population, Law):
        return exact_local_budget(reports, eps_central, delta, guess=guess)
    return worst_local_budget(_moments(reports.population), reports, eps_central, delta)


_remembered_budget = remember(_REMEMBERED)(_local_budget)


def _closed_budget(reports: OtherReports, eps_central: float, delta: float, accounting: str) -> float:
    """Invert a closed form: it increases while it applies and is infinite from there on."""
    form = _CLOSED_FORMS[accounting]
    if form(reports, delta, eps_central) > eps_central:
        return eps_central

    def excess(log_eps_local: float) -> float:
        value = form(reports, delta, math.exp(log_eps_local))
        return math.log(value / eps_central) if value > 0 else -math.inf

    low = math.log(eps_central)
    # No form applies once fewer than one clone is expected; the clone rate is at most 2 e^-eps_local.
    most = reports.population.mean + reports.dummies + 2
    high = math.log(eps_central + math.log(2 * most) + 1)
    return max(math.exp(root_below(excess, 0.5 * (low + high), low, high, xtol=1e-12)), eps_central)


def _moments(population: Population) -> MomentBounded:
    if isinstance(population, MomentBounded):
        return population
    name = type(population).__name__
    raise Infeasible(f"{name} bounds a tail only, which does not determine an exact value; use corrected.")


def checkin_epsilon(
    slots: int, eps_local: float, delta: float, *, rate: float = 1.0, accounting: str = "exact"
) -> float:
    """Return the central eps of random check-in with a fixed window.

    Every participant picks one of `slots` slots uniformly; each slot keeps one of its reports at random, an
    empty slot gets a dummy report.

    Parameters
    ----------
    slots : int
        Number of slots m, >= 1.
    eps_local : float
        Local budget, nats, > 0.
    delta : float
        In (0, 1).
    rate : float
        Probability p0 that user 1 checks in at all, in [0, 1]. With the default 1 the guarantee is for a user
        who takes part, as everywhere else in this module; a smaller rate counts user 1's own coin too, which
        is another threat model.
    accounting : {"printed", "exact"}
        ``printed``: the closed form. ``exact``: the slots are shuffled as well, which leaves user 1's slot
        among m - 1 others in the clones reduction; needs ``rate=1``.

    Returns
    -------
    float
        Nats, in [0, eps_local].

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    ``p0 (E - 1) sqrt(2 E log(1/delta) / m) + p0^2 E (E - 1)^2 / (2 m)``: Balle, Kairouz, McMahan, Thakkar and
    Thakurta (2020), re-derived by heterogeneous advanced composition over the slots.
    """
    slots = check_count("slots", slots, 1)
    eps_local = check_positive("eps_local", eps_local)
    delta = check_open_unit("delta", delta)
    rate = check_unit("rate", rate)
    check_choice("accounting", accounting, ("printed", "exact"))
    if accounting == "exact":
        _check_exact_checkin(rate)
        return exact_epsilon(OtherReports(Fixed(slots - 1)), eps_local, delta)
    return min(_checkin_formula(slots, eps_local, delta, rate), eps_local)


def checkin_local_budget(
    slots: int, eps_central: float, delta: float, *, rate: float = 1.0, accounting: str = "exact"
) -> float:
    """Return the largest local budget with which random check-in meets (eps_central, delta).

    Parameters and errors are those of :func:`checkin_epsilon`, whose inverse this is; `eps_central` in nats,
    > 0.

    Returns
    -------
    float
        Nats, at least `eps_central`.
    """
    slots = check_count("slots", slots, 1)
    eps_central = check_positive("eps_central", eps_central)
    delta = check_open_unit("delta", delta)
    rate = check_unit("rate", rate)
    check_choice("accounting", accounting, ("printed", "exact"))
    if accounting == "exact":
        _check_exact_checkin(rate)
        return exact_local_budget(OtherReports(Fixed(slots - 1)), eps_central, delta)
    if rate == 0:
        return math.inf
    if _checkin_formula(slots, eps_central, delta, rate) > eps_central:
        return eps_central

    def excess(log_eps_local: float) -> float:
        return math.log(_checkin_formula(slots, math.exp(log_eps_local), delta, rate) / eps_central)

    low = math.log(eps_central)
    return max(math.exp(root_below(excess, low + 1e-3, low, math.inf, xtol=1e-12)), eps_central)


def _check_exact_checkin(rate: float) -> None:
    if rate != 1:
        raise ValueError(f"rate must be 1 for exact accounting of random check-in, got {rate!r}.")


def _checkin_formula(slots: int, eps_local: float, delta: float, rate: float) -> float:
    if eps_local > 300:  # the square of E overflows; far beyond any amplification
        return math.inf if rate > 0 else 0.0
    e, excess = math.exp(eps_local), math.expm1(eps_local)
    first = rate * excess * math.sqrt(-2 * e * math.log(delta) / slots)
    return first + (rate * excess) ** 2 * e / (2 * slots)


@dataclass(frozen=True)
class DummyPlan:
    """A number of dummies and what it allows.

    Parameters
    ----------
    dummies : int
        Number of dummy reports k.
    eps_local : float
        Local budget A(k) in nats.
    objective : float
        Error at this choice, up to a constant factor: half the expected squared l2 error of a binary
        frequency estimate caused by randomization, or the variance per coordinate of Laplace noise for unit
        scale.
    """

    dummies: int
    eps_local: float
    objective: float


def dummy_grid(population: Population) -> NDArray[np.int64]:
    """Return the numbers of dummies that :func:`optimal_dummies` tries by default.

    Returns
    -------
    (g,) ndarray
        ``0, h, 2h, ..`` up to n', with ``h = floor(sqrt(n'))``. n' is the number of potential users: trials +
        1, or others + 1, and twice the mean for other populations (an assumption; the paper does not say).
    """
    most = math.floor(2 * population.mean)
    if isinstance(population, Fixed):
        most = population.others + 1
    elif isinstance(population, Binomial):
        most = population.trials + 1
    return np.arange(0, most + 1, max(1, math.isqrt(most)), dtype=np.int64)


def inverse_moments(law: Law) -> tuple[float, float]:
    """Return ``(E[1 / N], E[1 / N^2])`` for N = 1 + (N - 1) participants."""
    window = law.window()
    n = window.support + 1.0
    return float(window.pmf @ (1 / n)), float(window.pmf @ (1 / n**2))


def error_factor(law: Law, dummies: int, *, adaptive: bool = False, stray_factor: bool = False) -> float:
    """Return how the number of reports enters the squared error: ``E[(n + D) / n^2]``.

    Parameters
    ----------
    law : Law
        Number of other users; ``n = 1 + (N - 1)``.
    dummies : int
        k: ``D = k``, or if adaptive ``D = max(k - n, 0)`` as in equation (7). The protocol fills the *others* up to k
        and so adds one dummy more where it adds any, which changes the error by at most one part in n.
    adaptive : bool
    stray_factor : bool
        For adaptive dummies, ``E[1 / n] + k E[max(k - n, 0) / n^2]`` as equation (7) is printed: with a factor k
        in front of the expectation (erratum RP-E15).

    Returns
    -------
    float
        The bracket of equation (6) or (7) of Wang et al. 2023.
    """
    return float(_error_factors(law, np.array([dummies]), adaptive, stray_factor)[0])


def _error_factors(
    law: Law, dummies: NDArray[np.int64], adaptive: bool, stray_factor: bool
) -> NDArray[np.float64]:
    """Return :func:`error_factor` for each of several numbers of dummies."""
    window = law.window()
    n = window.support + 1.0
    inverse, square = window.pmf / n, window.pmf / n**2
    if not adaptive:
        return np.asarray(np.sum(inverse) + dummies * np.sum(square))
    # In the first `filled` entries of the window at most k users take part, and n + D = k.
    filled = np.clip(dummies - window.start, 0, n.size)
    below = np.concatenate(([0.0], np.cumsum(inverse)))[filled]
    below_square = np.concatenate(([0.0], np.cumsum(square)))[filled]
    if stray_factor:
        return np.asarray(np.sum(inverse) + dummies * np.maximum(dummies * below_square - below, 0))
    above = np.concatenate((np.cumsum(inverse[::-1])[::-1], [0.0]))[filled]
    return np.asarray(dummies * below_square + above)


def report_variance(eps_local: float, objective: str = "randomized_response") -> float:
    """Return the variance that one report adds.

    Parameters
    ----------
    eps_local : float
        Nats, > 0.
    objective : {"randomized_response", "laplace"}
        ``randomized_response``: ``E / (E - 1)^2``, of the unbiased estimate of one bit (erratum E14).
        ``laplace``: ``1 / eps_local^2``, of Laplace noise up to a constant.
    """
    check_choice("objective", objective, OBJECTIVES)
    if objective == "laplace":
        return 1 / eps_local**2
    return math.exp(-eps_local) / math.expm1(-eps_local) ** 2


def optimal_dummies(
    population: Population,
    eps_central: float,
    delta: float,
    *,
    adaptive: bool = False,
    accounting: str = "exact",
    grid: Sequence[int] | NDArray[np.int64] | None = None,
    objective: str = "randomized_response",
    stray_factor: bool = False,
    reduction: str = "clones",
) -> DummyPlan:
    """Return the number of dummies with the smallest expected error.

    Parameters
    ----------
    population : Law
        Number of other users; a full law, because the error averages over it.
    eps_central, delta, adaptive, accounting, reduction
        As in :func:`local_budget`, which gives A(k).
    grid : sequence of int, optional
        Numbers of dummies to try, each >= 0; :func:`dummy_grid` by default. k = 0 (Theorem 1 or 2, no
        dummies) is always tried as well.
    objective : {"randomized_response", "laplace"}
        Error to minimise; see :func:`report_variance`.
    stray_factor : bool
        For adaptive dummies, minimise equation (7) with the factor k that it has in print (erratum E15): it
        makes k = 0 optimal, as in the paper's figures. The ``objective`` of the result then has the factor
        too.

    Returns
    -------
    DummyPlan
        The smallest k among equals.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    Infeasible
        If `population` is not a law.

    Notes
    -----
    Wang et al. 2023, equations (6) and (7); see :func:`error_factor`. There can be two local minima, so the whole
    grid is searched, by branch and bound: candidates that provably cannot be the best are not evaluated. Results
    are remembered within the process.
    """
    eps_central = check_positive("eps_central", eps_central)
    delta = check_open_unit("delta", delta)
    check_choice("accounting", accounting, ACCOUNTINGS)
    check_choice("objective", objective, OBJECTIVES)
    check_choice("reduction", reduction, REDUCTIONS)
    if not isinstance(population, Law):
        name = type(population).__name__
        raise Infeasible(f"{name} is not a law, and the expected error with dummies needs one.")
    candidates = dummy_grid(population) if grid is None else grid
    ks = tuple(sorted({0, *(check_count("grid", int(k)) for k in candidates)}))
    return _optimum(
        _Search(population, eps_central, delta, adaptive, accounting, objective, stray_factor, reduction), ks
    )


@dataclass(frozen=True)
class _Search:
    """What the error depends on besides the number of dummies; arguments of :func:`optimal_dummies`."""

    law: Law
    eps_central: float
    delta: float
    adaptive: bool
    accounting: str
    objective: str
    stray_factor: bool
    reduction: str

    def reports(self, dummies: int) -> OtherReports:
        """What user 1 hides among with so many dummies."""
        return OtherReports(self.law, dummies, self.adaptive, self.reduction)

    def plan(self, dummies: int, factor: float, guess: float | None) -> DummyPlan:
        """Return the error with so many dummies, given their error factor and a guess at A(k)."""
        reports = self.reports(dummies)
        if guess is None:
            eps_local = _remembered_budget(reports, self.eps_central, self.delta, self.accounting)
        else:
            eps_local = _local_budget(reports, self.eps_central, self.delta, self.accounting, guess)
        return DummyPlan(dummies, eps_local, report_variance(eps_local, self.objective) * factor)

    def affords(self, dummies: int, eps_local: float) -> bool:
        """Whether A(k) is at least `eps_local`: one evaluation, where A(k) itself needs about six."""
        if eps_local <= self.eps_central:
            return True
        reports = self.reports(dummies)
        if self.accounting == "exact":
            return exact_excess(reports, eps_local, self.eps_central, self.delta) <= 0
        return _CLOSED_FORMS[self.accounting](reports, self.delta, eps_local) <= self.eps_central

    def budget_for(self, variance: float) -> float:
        """Return the eps_local with this :func:`report_variance`."""
        if self.objective == "laplace":
            return 1 / math.sqrt(variance)
        return 2 * math.asinh(0.5 / math.sqrt(variance))


@remember(_REMEMBERED)
def _optimum(search: _Search, ks: tuple[int, ...]) -> DummyPlan:
    """Return the best of all candidates, the smallest one of equals; `ks` increases from 0.

    The error is ``variance(A(k)) * factor(k)``. Among k >= 1 neither A nor the factor falls, so from one candidate to
    another no error is smaller than that of A at the last and the factor of the first. Where not even this beats
    the best error known, all of them are left out, otherwise they are halved. The result is that of a full scan.

    A does not fall because the number of clones grows stochastically with k (exact), and because every Omega
    increases with k wherever it is positive, hence wherever a closed form is finite: with mean m and spread
    ``sqrt(S)``, ``Omega = m - sqrt(S) > 0`` bounds the derivative of the spread by that of m. At k = 0 Theorem 2 can
    be better than Theorem 4b at small k (N9), so k = 0 stands alone.
    """
    factors = _error_factors(search.law, np.array(ks), search.adaptive, search.stray_factor)
    best_index, best = 0, search.plan(0, float(factors[0]), None)
    least = best.objective
    enough: list[tuple[int, float]] = []  # (index, eps_local): A is at least this
    too_much: list[tuple[int, float]] = []  # and here it is less

    def may_improve(first: int, last: int) -> bool:
        limit = least * (1 + _TIE if first < best_index else 1 - _TIE)
        needed = search.budget_for(limit / float(factors[first]))
        if any(index >= last and eps <= needed for index, eps in too_much):
            return False
        if any(index <= last and eps >= needed for index, eps in enough):
            return True
        affordable = search.affords(ks[last], needed)
        (enough if affordable else too_much).append((last, needed))
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
