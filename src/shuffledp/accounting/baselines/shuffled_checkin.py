"""Baselines of Figure 1b of arXiv 2206.09569: shuffled check-in by (eps, delta)-privacy.

Both methods are from Liew, Hasegawa and Takahashi (2022), "Shuffled check-in" (arXiv 2206.03151). The paper gives few
details; the implementation follows this project's reading of the paper. Conventions: Gaussian reports; replacement
neighbors; `sigma` is per unit of replacement distance; `rate` is the probability that a user takes part.

Baseline
    The clones bound of ``n rate`` reports, with subsampling and optimal composition of (eps, delta).
Generic bound
    The privacy profile of ``n rate`` shuffled reports by the clones bound, converted to Renyi divergences, with
    subsampling by Theorem 2.

As the number of participants is replaced by its mean, both methods are guarantees for ``n rate`` users drawn without
replacement, and not for shuffled check-in.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from shuffledp.accounting.baselines.gaussian_clones import (
    Calibration,
    approximate_clones_delta,
    clones_apply,
    closed_form_clones_epsilon,
    gaussian_local_epsilon,
    optimal_composition,
)
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.rdp import (
    Order,
    best_epsilon,
    check_orders,
    gaussian_rdp,
    rdp_from_log_excess,
)
from shuffledp.accounting.shuffle_gaussian.subsampled import subsampled_rdp
from shuffledp.numerics.argument_ranges import (
    Delta,
    FromOne,
    Positive,
    RealArray,
    check_count,
    check_nonnegative,
    check_positive,
    check_unit,
)
from shuffledp.numerics.memoize import remember

#: Local deltas that the two methods try.
_BASELINE_GRID = tuple(1e-7 * 2.0**-j for j in range(60))
_GENERIC_GRID = tuple(np.geomspace(1e-30, 1e-4, 400).tolist())
#: Cells of the integral over eps.
_CELLS = 6000
_CHUNK = 500


def checkin_baseline_epsilon(
    *,
    n: int,
    rate: float,
    sigma: Positive,
    rounds: FromOne,
    delta: Delta,
    calibration: Calibration = "analytic",
) -> float:
    """Return the central eps after `rounds` rounds by the baseline: clones, subsampling and optimal composition.

    One round has eps ``log(1 + rate (e^eps_s - 1))`` and delta ``rate delta_s`` for the clones bound (eps_s, delta_s).
    Source: Liew, Hasegawa and Takahashi (2022), arXiv 2206.03151, as this project reads it.

    Parameters
    ----------
    n : int
        Number of users, >= 1.
    rate : float
        Probability that a user takes part, in (0, 1], with ``n rate >= 1``.
    sigma : float
        Standard deviation of the noise per unit of replacement distance, > 0.
    rounds : int
        Number of rounds, >= 1; users are drawn anew in every round.
    delta : float
        In (0, 1), for all rounds together.
    calibration : {"analytic", "classical"}
        Calibration of the local budget, see
        :func:`shuffledp.accounting.baselines.gaussian_clones.gaussian_local_epsilon`.

    Returns
    -------
    float
        Nats; an upper bound for ``n rate`` users drawn without replacement, an estimate for check-in. The smallest eps
        over the local deltas ``1e-7 2^-j``, j = 0 .. 59. If the clones theorem does not apply, the local budget
        replaces its eps.

    Raises
    ------
    Infeasible
        If the total delta exceeds `delta` for every local delta.
    """
    reports = _reports(n, rate)
    return _remembered_baseline(reports, rate, sigma, rounds, delta, calibration)


def checkin_generic_rdp(
    orders: RealArray, n: int, rate: float, sigma: Positive, *, calibration: Calibration = "analytic"
) -> NDArray[np.float64]:
    """Return the Renyi divergences of one round by the generic bound.

    Source: Liew, Hasegawa and Takahashi (2022), arXiv 2206.03151: Theorem 2, applied to :func:`profile_rdp` of
    ``n rate`` reports.

    Parameters
    ----------
    orders : (k,) array_like of int
        Each in [2, 4096].
    n, rate, sigma, calibration
        As in :func:`checkin_baseline_epsilon`.

    Returns
    -------
    (k,) ndarray
        Nats. An upper bound on the divergence that the profile implies, too large by less than 1e-4 relative in the
        paper's setting.
    """
    orders = check_orders(orders)
    reports = _reports(n, rate)
    rdp = _remembered_profile_rdp(reports, sigma, calibration, int(orders.max()))
    return subsampled_rdp(rdp, rate)[orders - 2]


def checkin_generic_epsilon(
    *,
    n: int,
    rate: float,
    sigma: float,
    rounds: FromOne,
    delta: Delta,
    calibration: Calibration = "analytic",
    most_order: Order = 64,
) -> float:
    """Return the central eps after `rounds` rounds by the generic bound.

    Source: Liew, Hasegawa and Takahashi (2022), arXiv 2206.03151, and the conversion from Renyi divergences.

    Parameters
    ----------
    n, rate, sigma, calibration
        As in :func:`checkin_baseline_epsilon`.
    rounds : int
        Number of rounds, >= 1; users are drawn anew in every round.
    delta : float
        In (0, 1).
    most_order : int
        Largest order, in [2, 4096].

    Returns
    -------
    float
        Nats; an upper bound for ``n rate`` users drawn without replacement, an estimate for check-in.
    """
    orders = np.arange(2, most_order + 1)
    rdp = checkin_generic_rdp(orders, n, rate, sigma, calibration=calibration)
    return best_epsilon(orders, rounds * rdp, delta)[0]


def shuffled_gaussian_profile(
    eps: RealArray, reports: FromOne, sigma: Positive, *, calibration: Calibration = "analytic"
) -> NDArray[np.float64]:
    """Return the smaller of two bounds on delta: the clones bound of shuffled Gaussian reports, and delta of one report
    alone.

    Source: Feldman, McMillan and Talwar (2021), Theorems 3.1 and 3.8; Balle and Wang (2018), Theorem 8.

    Parameters
    ----------
    eps : (k,) array_like
        Nats, each >= 0.
    reports : int
        Number of reports, >= 1.
    sigma : float
        Standard deviation of the noise per unit of replacement distance, > 0.
    calibration : {"analytic", "classical"}
        Calibration of the local budget.

    Returns
    -------
    (k,) ndarray
        In [0, 1], an upper bound if the local pairs are proven (``analytic``): the smallest clones bound over 400 local
        deltas between 1e-30 and 1e-4, or the exact delta of one report without shuffling.
    """
    grid = np.array([check_nonnegative("eps", e) for e in np.asarray(eps, np.float64).ravel()])
    return np.exp(_log_profile(grid, reports, sigma, calibration))


def profile_rdp(
    orders: RealArray, reports: FromOne, sigma: float, *, calibration: Calibration = "analytic"
) -> NDArray[np.float64]:
    """Return the Renyi divergences that :func:`shuffled_gaussian_profile` implies.

    Parameters
    ----------
    orders : (k,) array_like of int
        Each in [2, 4096].
    reports, sigma, calibration
        As in :func:`shuffled_gaussian_profile`.

    Returns
    -------
    (k,) ndarray
        Nats; upper bounds, at most the divergences of one report alone, ``order / (2 sigma^2)``.

    Notes
    -----
    If delta(eps) bounds both directions, ``e^((l-1) divergence)`` is at most ``1 + l (l - 1) int_0^inf (e^((l-1) eps) +
    e^(-l eps)) delta(eps) d eps``. An exact profile is convex in e^eps. Between two points it is therefore below the
    chord of any upper bound at these points. The chords bound the integral from above with an error of second order.
    Beyond the last point, delta of one report bounds the profile. Derived for this project.
    """
    orders = check_orders(orders)
    mu = 1 / check_positive("sigma", sigma)
    most = int(orders.max())
    # The integrand of one report alone is largest near mu^2 (order - 1/2), with standard deviation mu.
    end = mu**2 * (most + 0.5) + 12 * mu
    eps = np.linspace(0.0, end, _CELLS + 1)
    log_profile = _log_profile(eps, reports, sigma, calibration)
    log_integrals = np.array([_log_weighted_integral(int(order), eps, log_profile, mu) for order in orders])
    log_excess = np.log(orders * (orders - 1.0)) + log_integrals
    return np.minimum(rdp_from_log_excess(orders, log_excess), gaussian_rdp(orders, sigma))


@remember(4096)
def _remembered_baseline(
    reports: int, rate: float, sigma: float, rounds: int, delta: float, calibration: Calibration
) -> float:
    best = math.inf
    for delta_local in _BASELINE_GRID:
        eps_local = gaussian_local_epsilon(sigma, delta_local, calibration=calibration)
        eps = eps_local
        if clones_apply(eps_local, reports, delta_local):
            eps = min(eps, closed_form_clones_epsilon(eps_local, reports, delta_local))
        round_delta = rate * approximate_clones_delta(eps, eps_local, delta_local, reports, delta_local)
        if -math.expm1(rounds * math.log1p(-min(round_delta, 0.5))) > delta:
            continue
        best = min(best, optimal_composition(math.log1p(rate * math.expm1(eps)), round_delta, rounds, delta))
    if best == math.inf:
        raise Infeasible(
            f"No local delta down to {_BASELINE_GRID[-1]:.2g} leaves the total within {delta!r}."
        )
    return best


@remember(64)
def _remembered_profile_rdp(
    reports: int, sigma: float, calibration: Calibration, most: int
) -> NDArray[np.float64]:
    return profile_rdp(np.arange(2, most + 1), reports, sigma, calibration=calibration)


def _log_profile(
    eps: NDArray[np.float64], reports: int, sigma: float, calibration: Calibration
) -> NDArray[np.float64]:
    """Return the log of :func:`shuffled_gaussian_profile`, possibly far below the log of the smallest float."""
    local = np.array(_GENERIC_GRID)
    budgets = np.array([gaussian_local_epsilon(sigma, d, calibration=calibration) for d in local])
    result = _log_gaussian_profile(1 / sigma, eps)
    for start in range(0, eps.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        clones = np.log(_clones_profile(eps[part], reports, budgets, local))
        result[part] = np.minimum(result[part], clones)
    return np.minimum(result, 0.0)


def _clones_profile(
    eps: NDArray[np.float64], reports: int, budgets: NDArray[np.float64], local: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return, for each eps, the smallest delta of the clones bound over all pairs of a local eps and a local delta. The
    result is above 1 if no pair is valid. The closed form of the clones bound is solved for delta: ``4 exp(-k a^2 /
    E)``, where ``8 a = (e^eps - 1) / tanh(eps_0 / 2) - 8 E / k``.
    """
    e = np.exp(budgets)
    a = (np.expm1(eps)[:, None] / np.tanh(budgets / 2) - 8 * e / reports) / 8
    with np.errstate(over="ignore", under="ignore"):
        delta = np.where(a > 0, 4 * np.exp(-reports * np.maximum(a, 0.0) ** 2 / e), 2.0)
        # eps_0 <= log(k / (16 log(2 / delta))), solved for delta
        least = 2 * np.exp(-reports / (16 * e))
        failure = (np.exp(eps)[:, None] + 1) * (1 + np.exp(-budgets) / 2) * reports * local
    total = np.where(delta < 1, np.maximum(delta, least), 2.0) + failure
    return np.asarray(np.min(total, axis=1))


def _log_gaussian_profile(mu: float, eps: NDArray[np.float64]) -> NDArray[np.float64]:
    first = log_ndtr(mu / 2 - eps / mu)
    gap = eps + log_ndtr(-mu / 2 - eps / mu) - first
    with np.errstate(divide="ignore"):
        return np.asarray(first + np.log(-np.expm1(np.minimum(gap, 0.0))))


def _log_weighted_integral(
    order: int, eps: NDArray[np.float64], log_profile: NDArray[np.float64], mu: float
) -> float:
    """Return the log of an upper bound on ``int (e^((l-1) eps) + e^(-l eps)) delta(eps) d eps``."""
    log_weight = np.logaddexp((order - 1) * eps, -order * eps)
    top = float(np.max(log_weight + log_profile))
    step = float(eps[1] - eps[0])
    w0, w1, f0, f1 = log_weight[:-1], log_weight[1:], log_profile[:-1] - top, log_profile[1:] - top
    # The product of two chords; the weight is convex, and the profile is below its chord in e^eps, which exceeds
    # the chord in eps by at most step^2 / 8 times the curvature.
    cells = step / 6 * (2 * np.exp(f0 + w0) + np.exp(f0 + w1) + np.exp(f1 + w0) + 2 * np.exp(f1 + w1))
    fall = np.exp(f0 + np.maximum(w0, w1)) * -np.expm1(np.minimum(f1 - f0, 0.0))
    inside = float(np.sum(cells + step**2 / 8 * step / -math.expm1(-step) * fall))
    # delta <= exp(-(eps - mu^2/2)^2 / (2 mu^2)) beyond the end, where the logarithm of the integrand is concave.
    gap = float(eps[-1]) - mu**2 / 2
    slope = gap / mu**2 - (order - 1)
    log_beyond = math.log(2) + (order - 1) * float(eps[-1]) - gap**2 / (2 * mu**2) - math.log(slope)
    return top + float(np.logaddexp(math.log(inside), log_beyond - top))


def _reports(n: int, rate: float) -> int:
    """Return the mean number of participants, rounded down, as fewer reports have a larger delta."""
    n = check_count("n", n, 1)
    rate = check_unit("rate", rate)
    reports = math.floor(n * rate * (1 + 1e-12))
    if reports < 1:
        raise ValueError(f"rate must be in [1/n, 1] with n = {n}, got {rate!r}.")
    return reports
