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

from shuffledp.accounting.clones import REDUCTIONS, exact_delta, exact_epsilon, exact_local_budget
from shuffledp.accounting.closed_forms import Setting, corrected_epsilon, printed_epsilon, simplified_epsilon
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.moments import worst_delta, worst_epsilon, worst_local_budget
from shuffledp.numerics import root_below
from shuffledp.numerics.checks import (
    check_choice,
    check_count,
    check_nonnegative,
    check_open_unit,
    check_positive,
    check_unit,
)
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

_CLOSED_FORMS: dict[str, Callable[[Setting, float], float]] = {
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
    if isinstance(population, Law):
        return exact_delta(
            population, eps_local, eps_central, dummies=dummies, adaptive=adaptive, reduction=reduction
        )
    return worst_delta(
        _moments(population), eps_local, eps_central, dummies=dummies, adaptive=adaptive, reduction=reduction
    )


def amplified_epsilon(
    population: Population,
    eps_local: float,
    delta: float,
    *,
    dummies: int = 0,
    adaptive: bool = False,
    accounting: str = "printed",
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
    if accounting != "exact":
        setting = Setting(population, delta, dummies, adaptive, reduction)
        return min(_CLOSED_FORMS[accounting](setting, eps_local), eps_local)
    if isinstance(population, Law):
        return exact_epsilon(
            population, eps_local, delta, dummies=dummies, adaptive=adaptive, reduction=reduction
        )
    return worst_epsilon(
        _moments(population), eps_local, delta, dummies=dummies, adaptive=adaptive, reduction=reduction
    )


def local_budget(
    population: Population,
    eps_central: float,
    delta: float,
    *,
    dummies: int = 0,
    adaptive: bool = False,
    accounting: str = "printed",
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
    return _local_budget(population, eps_central, delta, dummies, adaptive, accounting, reduction)


def _local_budget(
    population: Population,
    eps_central: float,
    delta: float,
    dummies: int,
    adaptive: bool,
    accounting: str,
    reduction: str,
    guess: float | None = None,
) -> float:
    if accounting != "exact":
        return _closed_budget(
            Setting(population, delta, dummies, adaptive, reduction), eps_central, accounting
        )
    if isinstance(population, Law):
        return exact_local_budget(
            population,
            eps_central,
            delta,
            dummies=dummies,
            adaptive=adaptive,
            reduction=reduction,
            guess=guess,
        )
    return worst_local_budget(
        _moments(population), eps_central, delta, dummies=dummies, adaptive=adaptive, reduction=reduction
    )


def _closed_budget(setting: Setting, eps_central: float, accounting: str) -> float:
    """Invert a closed form: it increases while it applies and is infinite from there on."""
    form = _CLOSED_FORMS[accounting]
    if form(setting, eps_central) > eps_central:
        return eps_central

    def excess(log_eps_local: float) -> float:
        value = form(setting, math.exp(log_eps_local))
        return math.log(value / eps_central) if value > 0 else -math.inf

    low = math.log(eps_central)
    # No form applies once fewer than one clone is expected; the clone rate is at most 2 e^-eps_local.
    most = setting.population.mean + setting.dummies + 2
    high = math.log(eps_central + math.log(2 * most) + 1)
    return max(math.exp(root_below(excess, 0.5 * (low + high), low, high, xtol=1e-12)), eps_central)


def _moments(population: Population) -> MomentBounded:
    if isinstance(population, MomentBounded):
        return population
    name = type(population).__name__
    raise Infeasible(f"{name} bounds a tail only, which does not determine an exact value; use corrected.")


def checkin_epsilon(
    slots: int, eps_local: float, delta: float, *, rate: float = 1.0, accounting: str = "printed"
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
        return exact_epsilon(Fixed(slots - 1), eps_local, delta)
    return min(_checkin_formula(slots, eps_local, delta, rate), eps_local)


def checkin_local_budget(
    slots: int, eps_central: float, delta: float, *, rate: float = 1.0, accounting: str = "printed"
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
        return exact_local_budget(Fixed(slots - 1), eps_central, delta)
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
        k: ``D = k``, or ``D = max(k - n, 0)`` if adaptive.
    adaptive : bool
    stray_factor : bool
        Multiply the adaptive ``E[max(k - n, 0) / n^2]`` by k, as equation (7) is printed (erratum E15).

    Returns
    -------
    float
        The bracket of equation (6) or (7) of Wang et al. 2023.
    """
    inverse, inverse_square = inverse_moments(law)
    if not adaptive:
        return inverse + dummies * inverse_square
    window = law.window()
    n = window.support + 1.0
    padding = float(window.pmf @ (np.maximum(dummies - n, 0) / n**2))
    return inverse + padding * (dummies if stray_factor else 1)


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
    accounting: str = "printed",
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
    Wang et al. 2023, equations (6) and (7). There can be two local minima, so the whole grid is searched, by branch
    and bound: candidates that provably cannot be the best are not evaluated.
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
    ks = sorted({0, *(check_count("grid", int(k)) for k in candidates)})

    def factor(index: int) -> float:
        return error_factor(population, ks[index], adaptive=adaptive, stray_factor=stray_factor)

    def plan(index: int, guess: float | None) -> DummyPlan:
        eps_local = _local_budget(population, eps_central, delta, ks[index], adaptive, accounting, reduction, guess)
        return DummyPlan(ks[index], eps_local, report_variance(eps_local, objective) * factor(index))

    return _smallest(len(ks), plan, factor, lambda eps_local: report_variance(eps_local, objective))


def _smallest(
    count: int,
    plan: Callable[[int, float | None], DummyPlan],
    factor: Callable[[int], float],
    variance: Callable[[float], float],
) -> DummyPlan:
    """Return the best of all candidates without evaluating every one.

    The error is ``variance(A(k)) * factor(k)``. Among k >= 1 the budget A does not fall and the factor does not fall,
    so between two evaluated candidates no error is below variance(A at the right one) * factor(first one between).
    Intervals that cannot hold an improvement are left out; the rest are halved. The result is that of a full scan.
    """
    best = plan(0, None)  # Theorem 1 or 2 at k = 0 can be better than Theorem 4 at small k, so it stands alone
    if count == 1:
        return best
    ends = [plan(1, best.eps_local), plan(count - 1, best.eps_local)]
    intervals = [(1, count - 1, ends[1])]
    evaluated = [best, *ends]
    best = min(evaluated, key=lambda p: p.objective)
    while intervals:
        left, right, right_plan = intervals.pop()
        if right - left < 2 or variance(right_plan.eps_local) * factor(left + 1) >= best.objective * (1 - _TIE):
            continue
        middle = (left + right) // 2
        middle_plan = plan(middle, right_plan.eps_local)
        evaluated.append(middle_plan)
        best = min(best, middle_plan, key=lambda p: p.objective)
        intervals += [(left, middle, middle_plan), (middle, right, right_plan)]
    ties = [p for p in evaluated if p.objective <= best.objective * (1 + _TIE)]
    return min(ties, key=lambda p: p.dummies)
