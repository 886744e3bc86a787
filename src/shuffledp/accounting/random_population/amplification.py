"""Amplification by shuffling when the number of participants is random.

One question in two directions, for any population and any of four ways to evaluate it: which central
guarantee do eps_local-LDP reports have after shuffling, and which eps_local does a central guarantee allow.
The way is called `accounting`:

``printed``
    The closed forms of Wang et al. 2023 (TPDS), Theorems 1 to 4, as printed.
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
from shuffledp.populations import Law, MomentBounded, Population

if TYPE_CHECKING:
    from collections.abc import Callable


Accounting = Literal["printed", "simplified", "corrected", "exact"]
ACCOUNTINGS: tuple[str, ...] = get_args(Accounting)

#: Results kept per function; experiments and figures ask for the same ones again.
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
        In [0, 1]; an upper bound for a concrete randomizer, never below the value of the reduction: at most 1e-10
        relative above it, for :class:`MomentBounded` about 1e-6. 0 when ``eps_central >= eps_local``.

    Raises
    ------
    Infeasible
        For :class:`SubGaussian` and :class:`SubExponential`, which do not determine delta.

    Notes
    -----
    Wang et al. 2023, Lemma 2; see :mod:`shuffledp.accounting.general.clones` for the formula. For user 1, who takes
    part for certain, and replacement neighbors.

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
    Infeasible
        If this accounting does not apply to this population.

    Notes
    -----
    Wang et al. 2023, Theorems 1 to 4, Lemma 2. An n' there is ``trials + 1`` here. ``exact`` is the value of the
    reduction, rounded up by at most 1e-10 relative (about 1e-5 for :class:`MomentBounded`), ``corrected`` a closed form
    above it: both are an upper bound for every eps_local-LDP randomizer. So is ``printed``, but for
    :class:`SubGaussian` (reading note RP-N10) and, where the tail is stated below the mean only,
    :class:`SubExponential`. ``simplified`` is proven from ``14 log(4/delta)`` expected clones on (erratum RP-E4).

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
    Infeasible
        If this accounting does not apply to this population.

    Notes
    -----
    Wang et al. 2023, equations (6) and (7): A(k). Rounded down by at most 1e-10 relative, for :class:`MomentBounded`
    about 1e-5; a lower bound on the budget of a concrete randomizer, wherever :func:`amplified_epsilon` is an upper
    bound.

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
