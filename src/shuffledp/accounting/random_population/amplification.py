"""Amplification by shuffling for a random number of participants.

:func:`amplified_epsilon` returns the central guarantee of shuffled eps_local-LDP reports; :func:`local_budget` returns
the eps_local that a central guarantee allows. Both accept any population and four values of `accounting`:

``printed``
    The closed forms of Wang et al. 2023 (TPDS), Theorems 1 to 4, as printed.
``simplified``
    Their simplified Theorem 1.
``corrected``
    The closest closed form with textbook one-sided tails; always valid.
``exact``
    The clones reduction, evaluated numerically to about 1e-10 relative. For :class:`MomentBounded`, the largest value
    over all laws with these moments.

Conventions: eps in nats, > 0; delta in (0, 1); populations describe N - 1, the users other than user 1. The guarantee
is for user 1, who always takes part, and for replacement of user 1's input. Dummies are eps_local-LDP reports of public
inputs. Without dummies, `adaptive` has no effect.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.clones import (
    REDUCTIONS,
    OtherReports,
    exact_delta,
    exact_epsilon,
    exact_local_budget,
)
from shuffledp.accounting.random_population.closed_forms import (
    corrected_epsilon,
    printed_epsilon,
    simplified_epsilon,
)
from shuffledp.numerics.argument_ranges import Count, Delta, Eps, EpsAt, one_of
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.roots import root_below
from shuffledp.populations.base import Law, Population
from shuffledp.populations.bounds import MomentBounded

if TYPE_CHECKING:
    from collections.abc import Callable


Accounting = Literal["printed", "simplified", "corrected", "exact"]
ACCOUNTINGS: tuple[str, ...] = get_args(Accounting)

#: Results kept per function; experiments and figures need the same results repeatedly.
_REMEMBERED = 4096

_CLOSED_FORMS: dict[str, Callable[[OtherReports, float, float], float]] = {
    "printed": printed_epsilon,
    "simplified": simplified_epsilon,
    "corrected": corrected_epsilon,
}


def clone_delta(
    population: Population,
    eps_local: Eps,
    eps_central: EpsAt,
    *,
    dummies: Count = 0,
    adaptive: bool = False,
    reduction: Annotated[str, one_of(REDUCTIONS)] = "clones",
) -> float:
    """Return the exact delta of the clones reduction.

    Source: Wang et al. 2023, Lemma 2; :mod:`shuffledp.accounting.general.clones` has the formula. For user 1, who
    always takes part, and replacement neighbors.

    Parameters
    ----------
    population : Population
        Number of other users: a law, or :class:`MomentBounded` for the largest delta over all laws with its moments.
        Other populations raise `Infeasible`.
    eps_local : float
        Local budget, nats, > 0.
    eps_central : float
        Central eps, nats, >= 0.
    dummies : int
        Number of dummy reports, >= 0.
    adaptive : bool
        If True, ``max(dummies - (N - 1), 0)`` dummies bring the other users up to `dummies`.
    reduction : {"clones", "randomized_response"}
        ``clones`` holds for every eps_local-LDP randomizer; ``randomized_response`` has the higher clone rate
        ``2 / (e^eps_local + 1)`` and holds for binary randomized response only.

    Returns
    -------
    float
        In [0, 1]; 0 for ``eps_central >= eps_local``. An upper bound for a randomizer, above the reduction's value by
        at most 1e-10 relative, for :class:`MomentBounded` by about 1e-6.

    Examples
    --------
    >>> from shuffledp.accounting import clone_delta
    >>> from shuffledp.populations import Fixed
    >>> delta = clone_delta(Fixed(9_999), eps_local=1.0, eps_central=0.05)
    >>> f"{delta:.4g}"
    '2.141e-06'
    """
    reports = _reports(population, dummies, adaptive, reduction)
    if isinstance(population, Law):
        return exact_delta(reports, eps_local, eps_central)
    from shuffledp.accounting.general.worst_population import worst_delta

    return worst_delta(_moments(population), reports, eps_local, eps_central)


def amplified_epsilon(
    population: Population,
    eps_local: Eps,
    delta: Delta,
    *,
    dummies: Count = 0,
    adaptive: bool = False,
    accounting: Annotated[str, one_of(ACCOUNTINGS)] = "exact",
    reduction: Annotated[str, one_of(REDUCTIONS)] = "clones",
) -> float:
    """Return the central eps of shuffled eps_local-LDP reports.

    Parameters
    ----------
    population : Population
        Number of other users; `Infeasible` if `accounting` does not apply to it.
    eps_local : float
        Local budget, nats, > 0.
    delta : float
        In (0, 1).
    dummies, adaptive, reduction
        As in :func:`clone_delta`. The closed forms use the clone rate of `reduction` instead of ``1 / E``.
    accounting : {"printed", "simplified", "corrected", "exact"}
        See the module's description.

    Returns
    -------
    float
        Nats, in [0, eps_local]; `eps_local` if the formula gives no amplification.

    Notes
    -----
    Source: Wang et al. 2023, Theorems 1 to 4, Lemma 2; their n' is ``trials + 1``. ``exact`` is the value of the
    reduction, rounded up by at most 1e-10 relative (about 1e-5 for :class:`MomentBounded`), and ``corrected`` a closed
    form above it. Both are upper bounds for every eps_local-LDP randomizer. ``printed`` is an upper bound too, except
    for :class:`SubGaussian` (reading note RP-N10) and for :class:`SubExponential` with a tail that is stated below the
    mean only. ``simplified`` is proven for at least ``14 log(4/delta)`` expected clones (erratum RP-E4).

    Examples
    --------
    >>> from shuffledp.accounting import amplified_epsilon
    >>> from shuffledp.populations import Binomial, Fixed
    >>> round(amplified_epsilon(Fixed(9_999), eps_local=1.0, delta=1e-6), 4)
    0.053
    >>> round(amplified_epsilon(Binomial(9_999, 0.5), eps_local=1.0, delta=1e-6), 4)
    0.0769
    """
    reports = _reports(population, dummies, adaptive, reduction)
    return _amplified_epsilon(reports, eps_local, delta, accounting)


def _reports(population: Population, dummies: int, adaptive: bool, reduction: str) -> OtherReports:
    return OtherReports(population, dummies, adaptive, reduction)


@remember(_REMEMBERED)
def _amplified_epsilon(reports: OtherReports, eps_local: float, delta: float, accounting: str) -> float:
    if accounting != "exact":
        return min(_CLOSED_FORMS[accounting](reports, delta, eps_local), eps_local)
    if isinstance(reports.population, Law):
        return exact_epsilon(reports, eps_local, delta)
    from shuffledp.accounting.general.worst_population import worst_epsilon

    return worst_epsilon(_moments(reports.population), reports, eps_local, delta)


def local_budget(
    population: Population,
    eps_central: Eps,
    delta: Delta,
    *,
    dummies: Count = 0,
    adaptive: bool = False,
    accounting: Annotated[str, one_of(ACCOUNTINGS)] = "exact",
    reduction: Annotated[str, one_of(REDUCTIONS)] = "clones",
) -> float:
    """Return the largest local budget whose shuffled reports meet (eps_central, delta).

    Source: Wang et al. 2023, A(k) in equations (6) and (7). Rounded down by at most 1e-10 relative, for
    :class:`MomentBounded` by about 1e-5. A lower bound on the budget of a randomizer if :func:`amplified_epsilon` is an
    upper bound.

    Parameters
    ----------
    population : Population
        Number of other users; `Infeasible` if `accounting` does not apply to it.
    eps_central : float
        Central target, nats, > 0.
    delta : float
        In (0, 1).
    dummies, adaptive, accounting, reduction
        As in :func:`amplified_epsilon`.

    Returns
    -------
    float
        Nats, at least `eps_central`: with this local budget, reports meet the guarantee without shuffling.

    Examples
    --------
    >>> from shuffledp.accounting import local_budget
    >>> from shuffledp.populations import Binomial
    >>> round(local_budget(Binomial(9_999, 0.5), eps_central=0.5, delta=1e-6), 4)
    3.0919
    """
    reports = _reports(population, dummies, adaptive, reduction)
    return _remembered_budget(reports, eps_central, delta, accounting)


def _local_budget(
    reports: OtherReports, eps_central: float, delta: float, accounting: str, guess: float | None = None
) -> float:
    if accounting != "exact":
        return _closed_budget(reports, eps_central, delta, accounting)
    if isinstance(reports.population, Law):
        return exact_local_budget(reports, eps_central, delta, guess=guess)
    from shuffledp.accounting.general.worst_population import worst_local_budget

    return worst_local_budget(_moments(reports.population), reports, eps_central, delta)


_remembered_budget = remember(_REMEMBERED)(_local_budget)


def _closed_budget(reports: OtherReports, eps_central: float, delta: float, accounting: str) -> float:
    """Return the inverse of a closed form, which increases in eps_local and is infinite beyond its range."""
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
