"""Clones bound for Gaussian reports with optimal composition, the baseline of Table 1 of arXiv 2206.09569.

A Gaussian report is (eps_0, delta_0)-locally private for all pairs on a curve. For each pair, the clones bound of
Feldman, McMillan and Talwar gives (eps, delta) of n shuffled reports. Rounds compose by the theorem of Kairouz, Oh and
Viswanath. The guarantees do not depend on the pair of data sets in Theorem 1 of the paper. They are proven for
replacement neighbors if the local pairs are proven (see :func:`gaussian_local_epsilon`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.numerics.argument_ranges import (
    Delta,
    EpsAt,
    FromOne,
    Positive,
    check_open_unit,
    check_positive,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.roots import root_below

if TYPE_CHECKING:
    from collections.abc import Callable


Calibration = Literal["classical", "analytic"]
CALIBRATIONS: tuple[str, ...] = get_args(Calibration)
Search = Literal["printed", "fine"]

_XTOL = 1e-13
#: Beyond this eps, e^eps times the smallest positive float is above 1.
_MOST_EPS = 745.0
#: The printed search: the largest of these local deltas that leaves the total within its target.
_PRINTED_GRID = tuple(1e-10 * 2.0**-j for j in range(200))
#: The fine search: local deltas below the largest that can be afforded; the best lies within a few powers of 10.
_FINE_STEPS = 240
_FINE_DECADES = 8.0
#: Largest number of rounds of optimal composition.
_MOST_ROUNDS = 10**8


def closed_form_clones_epsilon(eps_local: EpsAt, n: FromOne, delta: Delta) -> float:
    """Return the central eps of n shuffled reports by the closed form of the clones bound.

    Source: Feldman, McMillan and Talwar (2021), Theorem 3.1, before simplification:
    ``log(1 + tanh(eps_local / 2) (8 sqrt(E log(4/delta) / n) + 8 E / n))`` with ``E = e^eps_local``. Replacement
    neighbors.

    Parameters
    ----------
    eps_local : float
        Budget of each report, nats, >= 0.
    n : int
        Number of reports, >= 1.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Nats; an upper bound, possibly above `eps_local`.

    Raises
    ------
    Infeasible
        If the theorem does not apply: ``eps_local > log(n / (16 log(2 / delta)))``.
    """
    if not clones_apply(eps_local, n, delta):
        raise Infeasible(
            f"The clones theorem holds for eps_local <= log(n / (16 log(2/delta))); {n} reports and "
            f"delta = {delta!r} allow {_most_log_budget(n, delta):.4g}, got {eps_local!r}."
        )
    e = math.exp(eps_local)
    spread = 8 * math.sqrt(e * math.log(4 / delta) / n) + 8 * e / n
    return math.log1p(math.tanh(eps_local / 2) * spread)


def erlingsson_epsilon(eps_local: EpsAt, n: FromOne, delta: Delta) -> float:
    """Return the central eps of n shuffled reports by the first theorem on amplification by shuffling.

    Source: ``12 eps_local sqrt(log(1 / delta) / n)`` of Erlingsson et al. (2019), as quoted in Section II-B of the
    random-population paper, under the conditions of the original. Replacement neighbors.

    Parameters
    ----------
    eps_local : float
        Budget of each report, nats, >= 0.
    n : int
        Number of reports, >= 1.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Nats; an upper bound, possibly above `eps_local`.

    Raises
    ------
    Infeasible
        If the theorem does not apply: it needs ``eps_local < 1/2``, ``n >= 1000`` and ``delta < 1/100``.
    """
    if eps_local >= 0.5 or n < 1000 or delta >= 0.01:
        raise Infeasible(
            "The theorem needs eps_local < 1/2, n >= 1000 and delta < 1/100, got "
            f"eps_local = {eps_local!r}, n = {n}, delta = {delta!r}."
        )
    return 12 * eps_local * math.sqrt(-math.log(delta) / n)


def clones_apply(eps_local: EpsAt, n: FromOne, delta: float) -> bool:
    """Return whether the clones theorem applies: ``eps_local <= log(n / (16 log(2 / delta)))``, exactly.

    Arguments as in :func:`closed_form_clones_epsilon`, eps_local in nats. Source: Feldman, McMillan and Talwar (2021),
    Theorem 3.1.
    """
    return eps_local <= _most_log_budget(n, check_open_unit("delta", delta))


def approximate_clones_delta(
    eps: EpsAt, eps_local: EpsAt, delta_local: Delta, n: FromOne, delta: Delta
) -> float:
    """Return the delta of n shuffled (eps_local, delta_local)-private reports at the eps of the clones bound.

    Source: Feldman, McMillan and Talwar (2021), Theorem 3.8.

    Parameters
    ----------
    eps : float
        Result of :func:`closed_form_clones_epsilon` for `delta`, nats, >= 0.
    eps_local, delta_local : float
        Guarantee of each report: eps_local in nats, >= 0; delta_local in (0, 1).
    n : int
        Number of reports, >= 1.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        ``delta + (e^eps + 1) (1 + e^(-eps_local) / 2) n delta_local``, an upper bound; at most 1.
    """
    if eps > _MOST_EPS:
        return 1.0
    total = delta + (math.exp(eps) + 1) * (1 + math.exp(-eps_local) / 2) * n * delta_local
    return min(total, 1.0)


def gaussian_local_epsilon(
    sigma: Positive, delta: Delta, *, sensitivity: float = 1.0, calibration: Calibration = "analytic"
) -> float:
    """Return the local eps of one Gaussian report at a given delta.

    Source: Dwork and Roth (2014), Theorem A.1; Balle and Wang (2018), Theorem 8.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise, > 0.
    delta : float
        In (0, 1).
    sensitivity : float
        Largest distance of two records, > 0.
    calibration : {"classical", "analytic"}
        ``classical``: ``sensitivity sqrt(2 ln(1.25 / delta)) / sigma``, proven for eps < 1 only and used for larger eps
        as in the paper. ``analytic``: the smallest eps, from the exact curve.

    Returns
    -------
    float
        Nats, >= 0. Analytic: exact, rounded up by at most 1e-12.
    """
    mu = check_positive("sensitivity", sensitivity) / sigma
    classical = mu * math.sqrt(2 * math.log(1.25 / delta))
    if calibration == "classical":
        return classical
    log_delta = math.log(delta)
    if log_gaussian_delta(mu, 0.0) <= log_delta:
        return 0.0
    # Pr[loss > eps] bounds delta, and the loss is normal with mean mu^2 / 2 and variance mu^2.
    high = mu**2 / 2 + mu * math.sqrt(2 * math.log(1 / delta)) + mu

    def excess(minus_eps: float) -> float:
        return log_gaussian_delta(mu, -minus_eps) - log_delta

    return -root_below(excess, -min(classical, high), -high, 0.0, xtol=_XTOL)


def optimal_composition(eps: EpsAt, delta: float, rounds: FromOne, target_delta: Delta) -> float:
    """Return the eps of `rounds` adaptive (eps, delta)-private mechanisms at `target_delta`.

    Source: Kairouz, Oh and Viswanath (2015), Theorem 3.3; the best bound for all (eps, delta)-private mechanisms.

    Parameters
    ----------
    eps : float
        Nats, >= 0.
    delta : float
        In [0, 1).
    rounds : int
        Number of rounds, >= 1.
    target_delta : float
        In (0, 1).

    Returns
    -------
    float
        Nats: ``(rounds - 2 i) eps`` for the largest i that keeps delta within its target; at most ``rounds eps``. An
        upper bound, exact for the worst (eps, delta)-private mechanisms at these multiples of eps.

    Raises
    ------
    Infeasible
        If the sum of the deltas exceeds the target.
    """
    if not 0 <= delta < 1:
        raise ValueError(f"delta must be in [0, 1), got {delta!r}.")
    i = _composition_index(eps, delta, rounds, target_delta)
    if i is None:
        raise Infeasible(
            f"{rounds} rounds with delta = {delta!r} exceed the target {target_delta!r} for every eps."
        )
    return (rounds - 2 * i) * eps


def gaussian_clones_epsilon(
    *,
    n: FromOne,
    sigma: Positive,
    rounds: FromOne,
    delta: Delta,
    sensitivity: Positive = 1.0,
    calibration: Calibration = "classical",
    search: Search = "fine",
) -> float:
    """Return the central eps after `rounds` rounds of n shuffled Gaussian reports, by the clones bound.

    Source: Feldman, McMillan and Talwar (2021), Theorems 3.1 and 3.8; Kairouz, Oh and Viswanath (2015), Theorem 3.3.

    Parameters
    ----------
    n : int
        Number of reports in each round, >= 1.
    sigma : float
        Standard deviation of the noise, > 0.
    rounds : int
        Number of rounds, >= 1.
    delta : float
        In (0, 1), for all rounds together.
    sensitivity : float
        Largest distance of two records, > 0. Table 1 of the paper uses 2 for this bound and 1 for the paper's bound.
    calibration : {"classical", "analytic"}
        As in :func:`gaussian_local_epsilon`.
    search : {"printed", "fine"}
        ``printed``: the largest local delta ``1e-10 2^-j`` within the budget, with basic composition, as in Table 1.
        ``fine``: the best local delta of a fine grid, with optimal composition.

    Returns
    -------
    float
        Nats. An upper bound if the local pairs are proven (``analytic``, or ``classical`` with budgets below 1), else
        an estimate.

    Raises
    ------
    Infeasible
        If the clones theorem does not apply at any local delta of the search.
    """
    return _remembered_epsilon(n, sigma, rounds, delta, sensitivity, calibration, search)


def gaussian_clones_epsilons(
    n: FromOne,
    sigma: Positive,
    rounds: Sequence[FromOne],
    delta: Delta,
    *,
    sensitivity: Positive = 1.0,
    calibration: Calibration = "classical",
    search: Search = "fine",
) -> NDArray[np.float64]:
    """Return :func:`gaussian_clones_epsilon` (nats) for several numbers of rounds, each >= 1, shape of `rounds`.

    Other parameters, source and side (upper bounds or estimates) as in :func:`gaussian_clones_epsilon`.
    """
    return np.array(
        [
            gaussian_clones_epsilon(
                n=n,
                sigma=sigma,
                rounds=r,
                delta=delta,
                sensitivity=sensitivity,
                calibration=calibration,
                search=search,
            )
            for r in rounds
        ]
    )


@remember(1024)
def _remembered_epsilon(
    n: int,
    sigma: float,
    rounds: int,
    delta: float,
    sensitivity: float,
    calibration: Calibration,
    search: Search,
) -> float:
    def round_of(delta_local: float) -> tuple[float, float] | None:
        """Return the guarantee (eps, delta) of one round, or None if the theorem does not apply."""
        eps_local = gaussian_local_epsilon(
            sigma, delta_local, sensitivity=sensitivity, calibration=calibration
        )
        if not clones_apply(eps_local, n, delta_local):
            return None
        eps = closed_form_clones_epsilon(eps_local, n, delta_local)
        return eps, approximate_clones_delta(eps, eps_local, delta_local, n, delta_local)

    if search == "printed":
        for delta_local in _PRINTED_GRID:
            guarantee = round_of(delta_local)
            if guarantee and rounds * guarantee[1] <= delta:
                return rounds * guarantee[0]
        raise _nothing(n, sigma, rounds, delta)
    most = delta / (
        2 * n * rounds
    )  # (e^eps + 1) n delta_local alone is at least twice n delta_local in each round
    grid = np.log(most) - _FINE_DECADES * math.log(10) * np.arange(_FINE_STEPS) / _FINE_STEPS
    places: dict[int, int] = {}  # by i of the composition: the first place on the grid that allows it
    for place, log_delta in enumerate(grid.tolist()):
        guarantee = round_of(math.exp(log_delta))
        i = _composition_index(*guarantee, rounds, delta) if guarantee else None
        if i is not None:
            places.setdefault(i, place)
    if not places:
        raise _nothing(n, sigma, rounds, delta)
    # For a given i eps falls with the local delta, so that the best is the largest that still allows it.
    return min(_largest_allowed(round_of, i, place, grid, rounds, delta) for i, place in places.items())


def _largest_allowed(
    round_of: Callable[[float], tuple[float, float] | None],
    i: int,
    place: int,
    grid: NDArray[np.float64],
    rounds: int,
    target_delta: float,
) -> float:
    """Return ``(rounds - 2 i) eps`` at the largest local delta that allows the index i, searched
    next to a grid point.
    """

    def excess(log_delta: float) -> float:
        guarantee = round_of(math.exp(log_delta))
        if guarantee is None:
            return math.inf
        log_room = _log_room(guarantee[1], rounds, target_delta)
        if i == 0:
            return -1.0 if log_room > -math.inf else 1.0
        return _log_composed_delta(guarantee[0], rounds, i) - log_room

    low = float(grid[place])
    if place > 0:
        low = root_below(excess, low, low, float(grid[place - 1]), xtol=1e-10)
    guarantee = round_of(math.exp(low))
    return math.inf if guarantee is None else (rounds - 2 * i) * guarantee[0]


def _nothing(n: int, sigma: float, rounds: int, delta: float) -> Infeasible:
    return Infeasible(
        f"The clones theorem gives no bound for {rounds} rounds of {n} reports with noise {sigma!r} at "
        f"delta = {delta!r}."
    )


def _most_log_budget(n: int, delta: float) -> float:
    return math.log(n / (16 * math.log(2 / delta)))


def _log_room(delta: float, rounds: int, target_delta: float) -> float:
    """Return the log of the d with ``1 - (1 - delta)^rounds (1 - d) = target_delta``; ``-inf`` if no d exists."""
    if delta >= 1:
        return -math.inf
    log_kept = rounds * math.log1p(-delta)
    room = -math.expm1(math.log1p(-target_delta) - log_kept)
    return math.log(room) if room > 0 else -math.inf


def _composition_index(eps: float, delta: float, rounds: int, target_delta: float) -> int | None:
    """Return the largest i for which optimal composition meets the target delta, or None if i = 0 does not meet it.

    Raises Infeasible for more rounds than `_MOST_ROUNDS`, as the sums have half as many terms.
    """
    if rounds > _MOST_ROUNDS:
        raise Infeasible(
            f"Optimal composition is computed for at most {_MOST_ROUNDS:,} rounds, not {rounds:,}."
        )
    log_room = _log_room(delta, rounds, target_delta)
    if log_room == -math.inf:
        return None
    low, high = 0, rounds // 2 + 1  # i = low fits, i = high does not or does not exist
    while high - low > 1:
        middle = (low + high) // 2
        if _log_composed_delta(eps, rounds, middle) <= log_room:
            low = middle
        else:
            high = middle
    return low


def _log_composed_delta(eps: float, rounds: int, i: int) -> float:
    """Return the log of the delta of `rounds` eps-private mechanisms at ``(rounds - 2 i) eps``, for i >= 1."""
    if eps == 0:
        return -math.inf
    j = np.arange(i)
    log_ways = gammaln(rounds + 1) - gammaln(j + 1) - gammaln(rounds - j + 1)
    terms = log_ways + (rounds - j) * eps + np.log(-np.expm1(-2 * (i - j) * eps))
    top = float(np.max(terms))
    return top + math.log(float(np.sum(np.exp(terms - top)))) - rounds * float(np.logaddexp(0.0, eps))
