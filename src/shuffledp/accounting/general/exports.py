"""Conversions of a privacy profile: loss distributions, Renyi divergence, trade-off functions, Gaussian DP.

The conversions use only delta(eps) for eps >= 0, so that their cost does not grow with the number of users. The profile
holds in both directions; at negative eps, ``delta(-eps) = 1 - e^-eps (1 - delta(eps))``. An exact profile is convex as
a function of e^eps. Hence the largest convex function below an upper bound on a grid is an upper bound too, and so is
the chord between two points. The result of a conversion is therefore a bound on the same side as the profile.

Sources: Doroshenko et al. 2022 ("Connect the dots"); Dong, Roth and Su 2022 (trade-off functions and mu-GDP); Zhu, Dong
and Wang 2022 (profiles of dominating pairs). The formula of the Renyi divergence follows by integration by parts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.accounting.general.privacy_profile import PrivacyProfile, delta_of
from shuffledp.numerics.argument_ranges import OpenUnit, Positive, RealArray, Unit
from shuffledp.numerics.logs import log_sum
from shuffledp.numerics.roots import root_below
from shuffledp.optional_dependencies import needed

#: Largest number of points of a loss distribution on either side.
MOST_POINTS = 200_000
#: Evaluation points of a profile without a given step.
_POINTS = 240
#: Largest eps that is searched for the end of a profile.
MOST_EPS = 300.0
#: Smallest delta in a Renyi divergence; smaller ones count as 0.
_VANISHED = 1e-280
#: Share of the last cell in an integral from which on the rest is not negligible.
_LOG_SHARE = math.log(1e-6)


def profile_end(
    profile: PrivacyProfile,
    negligible: float,
    halvings: int = 6,
    *,
    guess: float = 1e-6,
    steep: float = 0.0,
) -> float:
    """Return an eps (nats) at which the profile is at most `negligible` above its limit, by doubling and halving; at
    most 300. The limit is the mass of infinite losses. `guess` is an eps to begin with. The search ends early if the
    profile there is more than ``steep * negligible`` above its limit; 0 stands for no early end.
    """
    high, limit = guess, 0.0
    while high < MOST_EPS and float(delta_of(profile, high)) > negligible:
        high *= 2
    low = min(1e-6, high / 2) if high >= MOST_EPS or high == guess else high / 2
    if high >= MOST_EPS:
        high, limit = MOST_EPS, float(delta_of(profile, MOST_EPS))
    value = 0.0

    def halve() -> None:
        nonlocal low, high, value
        middle = math.sqrt(low * high)
        if (above := float(delta_of(profile, middle)) - limit) <= negligible:
            high, value = middle, above
        else:
            low = middle

    while high / low > 2:  # delta may be at its limit much earlier
        halve()
    for _ in range(halvings):
        if 0 < steep * negligible < value:
            break
        halve()
    return high


def convex_vertices(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[int]:
    """Return the places of the vertices of the largest convex function below `y` at the increasing points `x`, (m,)."""
    hull: list[int] = []
    for i in range(x.size):
        while len(hull) > 1:
            a, b = hull[-2], hull[-1]
            if (y[b] - y[a]) * (x[i] - x[a]) < (y[i] - y[a]) * (x[b] - x[a]):
                break
            hull.pop()
        hull.append(i)
    return hull


def convex_minorant(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest convex function below `y` at the increasing points `x`, (m,)."""
    hull = convex_vertices(x, y)
    return np.asarray(np.interp(x, x[hull], y[hull]), np.float64)


def _profile_at(profile: PrivacyProfile, eps: NDArray[np.float64]) -> NDArray[np.float64]:
    return _convex(eps, delta_of(profile, eps))


def _convex(eps: NDArray[np.float64], deltas: NDArray[np.float64]) -> NDArray[np.float64]:
    return convex_minorant(np.expm1(eps), np.minimum.accumulate(np.clip(deltas, 0.0, 1.0)))


def to_pld(profile: PrivacyProfile, *, step: Positive = 1e-3, negligible: OpenUnit = 1e-15) -> Any:
    """Return the privacy loss distribution of a profile for the library dp_accounting, which composes it.

    Source: Doroshenko et al. (2022), Algorithm 1, for the profile instead of a pair of laws. The same distribution
    bounds both directions.

    Parameters
    ----------
    profile : PrivacyProfile
        Privacy profile that holds in both directions.
    step : float
        Distance of losses, nats, > 0.
    negligible : float
        The largest finite loss has a delta of at most `negligible`, in (0, 1); the remaining mass is an infinite loss.

    Returns
    -------
    dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
        Pessimistic: its delta is never below the profile and equals the profile at multiples of `step`, so that it is
        an upper bound if the profile is one. It holds for the profile's neighboring relation, which accountants of
        dp_accounting do not read: they report the relation of their own arguments.

    Raises
    ------
    Infeasible
        If `step` results in more than 200,000 losses.
    MissingExtra
        If dp-accounting is not installed; the extra ``central`` brings it.

    Examples
    --------
    >>> from shuffledp.accounting import ClonesProfile, OtherReports, to_pld
    >>> from shuffledp.populations import Fixed
    >>> loss = to_pld(ClonesProfile(OtherReports(Fixed(9_999)), 1.0))
    >>> round(loss.get_epsilon_for_delta(1e-6), 4), round(loss.self_compose(16).get_epsilon_for_delta(1e-6), 4)
    (0.053, 0.2339)
    """
    end = profile_end(profile, negligible)
    points = math.ceil(end / step) + 1
    if points > MOST_POINTS:
        raise Infeasible(f"step = {step!r} makes {points} losses up to {end:.3g}; choose a larger one.")
    return loss_distribution(step, delta_of(profile, np.arange(points + 1) * step))


def loss_distribution(step: float, deltas: NDArray[np.float64]) -> Any:
    """Return the pessimistic loss distribution of :func:`to_pld` from upper bounds on delta at 0, step, 2 step, ... The
    last delta is the mass of the infinite loss. Algorithm 1 of Doroshenko et al. (2022); it bounds both directions.
    """
    with needed():
        from dp_accounting.pld import (
            pld_pmf,
            privacy_loss_distribution,
        )  # takes seconds, needed for this alone

    above = np.arange(deltas.size)
    delta = _convex(np.asarray(above * step, np.float64), deltas)
    below = -np.expm1(-above * step) + np.exp(-above * step) * delta
    losses = np.concatenate((-above[:0:-1], above))
    both = np.minimum.accumulate(np.concatenate((below[:0:-1], delta)))
    pmf = pld_pmf.create_pmf_pessimistic_connect_dots(step, losses, both)
    return privacy_loss_distribution.PrivacyLossDistribution(pmf)


def profile_grid(
    profile: PrivacyProfile, negligible: float = 1e-15, points: int = _POINTS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a grid of eps that is finer near 0, and its deltas, convex in e^eps, (points + 1,) each. The profile is at
    most `negligible` at the end of the grid.
    """
    eps = profile_end(profile, negligible) * np.linspace(0.0, 1.0, points + 1) ** 1.5
    return eps, _profile_at(profile, eps)


def renyi_from_profile(profile: PrivacyProfile, orders: RealArray) -> NDArray[np.float64]:
    """Return the Renyi divergence that a profile implies.

    ``e^((order - 1) divergence) = 1 + order (order - 1) int_0^inf (e^((order - 1) eps) + e^(-order eps)) delta(eps) d
    eps``: derived for this project, by integrating by parts twice. If the profile is the larger delta of two
    directions, the result may exceed both Renyi divergences.

    Parameters
    ----------
    profile : PrivacyProfile
        Privacy profile that holds in both directions. Its delta at 300 nats must be below 1e-280.
    orders : (k,) array_like
        Each above 1, finite.

    Returns
    -------
    (k,) ndarray
        Nats. An upper bound if the profile is one, by chords between 481 points up to the eps at which delta is 1e-280.
        Orders for which smaller deltas could change the result have ``inf``.

    Raises
    ------
    Infeasible
        If delta does not vanish, so that no order has a finite divergence.
    """
    orders_ = np.asarray(orders, np.float64)
    if orders_.ndim != 1 or orders_.size == 0 or not (np.all(orders_ > 1) and np.all(np.isfinite(orders_))):
        raise ValueError(f"orders must be finite numbers above 1, got {orders!r}.")
    eps, delta = profile_grid(profile, _VANISHED, 2 * _POINTS)
    if delta[-1] > _VANISHED:
        raise Infeasible(
            f"delta is {delta[-1]:.3g} at eps = {eps[-1]:.3g}; no order has a finite divergence."
        )
    goes_on = bool(delta[-1] > 0)
    delta[-1] = 0.0
    return np.array([_renyi(float(order), eps, delta, goes_on) for order in orders_])


def _renyi(order: float, eps: NDArray[np.float64], delta: NDArray[np.float64], goes_on: bool) -> float:
    """Return the divergence of one order, with delta replaced by its chords in e^eps. Logs avoid overflow. On a cell
    from a to b of width w the chord is ``(d_a (e^w - e^t) + d_b (e^t - 1)) / (e^w - 1)`` at a + t. Both weights lead to
    two integrals of positive functions. If delta `goes_on` beyond the last cell, and this cell has a share of the
    integral, the result is infinite.
    """
    a, b = eps[:-1], eps[1:]
    width = b - a
    log_falling, log_between = _chord_integrals(order - 1, width)
    with np.errstate(divide="ignore"):  # delta may be 0
        log_a, log_b = np.log(delta[:-1]), np.log(delta[1:])
    up = (order - 1) * b + np.logaddexp(log_a + log_falling, log_b + log_between)
    down = -order * a + np.logaddexp(log_a + log_between, log_b - width + log_falling)
    cells = np.logaddexp(up, down) - np.log(-np.expm1(-width))
    if np.max(cells) == -math.inf:
        return 0.0
    total = float(log_sum(cells[:, None])[0])
    if goes_on and cells[-1] - total > _LOG_SHARE:
        return math.inf
    return float(np.logaddexp(0.0, math.log(order * (order - 1)) + total)) / (order - 1)


@cache
def _gauss() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Gauss-Legendre nodes and weights on [0, 1], without the slow import of NumPy's polynomials."""
    nodes, weights = np.polynomial.legendre.leggauss(10)
    return np.asarray((nodes + 1) / 2, np.float64), np.asarray(weights / 2, np.float64)


def _chord_integrals(
    power: float, width: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return logs of the integrals of ``e^(-power s)`` times ``1 - e^-s`` and ``e^-s - e^-width``, from 0 to width."""
    is_wide = power * width > 1  # there the closed forms do not cancel
    first, last = -np.expm1(-power * width) / power, -np.expm1(-(power + 1) * width) / (power + 1)
    nodes, weights = _gauss()
    s = width[:, None] * nodes
    weight = weights * np.exp(-power * np.where(is_wide[:, None], 0.0, s))
    short = width * np.sum(weight * -np.expm1(-s), axis=1)
    long = width * np.sum(weight * np.exp(-s) * -np.expm1(s - width[:, None]), axis=1)
    return (
        np.log(np.where(is_wide, first - last, short)),
        np.log(np.where(is_wide, last - np.exp(-width) * first, long)),
    )


def trade_off(profile: PrivacyProfile, false_positive_rates: RealArray) -> NDArray[np.float64]:
    """Return a lower bound on the false negative rate of tests that distinguish two neighboring data sets.

    Dong, Roth and Su (2022), Proposition 6: ``max(0, 1 - delta - e^eps fpr, e^-eps (1 - delta - fpr))``.

    Parameters
    ----------
    profile : PrivacyProfile
        Privacy profile that holds in both directions.
    false_positive_rates : scalar or (k,) array_like
        Each in [0, 1].

    Returns
    -------
    () or (k,) ndarray
        In [0, 1], shape of the argument. A lower bound for every attack if the profile is an upper bound: the largest
        rate that a pair (eps, delta) implies, over 241 eps.
    """
    rates = np.asarray(false_positive_rates, np.float64)
    if not (np.all(rates >= 0) and np.all(rates <= 1)):
        raise ValueError(f"false_positive_rates must be in [0, 1], got {false_positive_rates!r}.")
    eps, delta = profile_grid(profile)
    at = rates[..., None]
    steep = 1 - delta - np.exp(eps) * at
    flat = np.exp(-eps) * (1 - delta - at)
    return np.asarray(np.max(np.maximum(np.maximum(steep, flat), 0.0), axis=-1), np.float64)


def true_positive_rate(profile: PrivacyProfile, false_positive_rate: Unit) -> float:
    """Return an upper bound on the true positive rate of attacks with a given false positive rate.

    Source: Dong, Roth and Su (2022); 1 minus :func:`trade_off`.

    Parameters
    ----------
    profile : PrivacyProfile
        Privacy profile that holds in both directions.
    false_positive_rate : float
        In [0, 1], for example 1e-3.

    Returns
    -------
    float
        In [0, 1]; an upper bound for every attack if the profile is an upper bound.
    """
    return 1 - float(trade_off(profile, false_positive_rate))


@dataclass(frozen=True)
class GaussianFit:
    """Gaussian differential privacy implied by a profile.

    Parameters
    ----------
    mu : float
        The mechanism is mu-GDP for all eps with delta above the argument `negligible`.
    regret : float
        Largest difference between the trade-off functions of the profile and of mu-GDP, in [0, 1]; 0 if both are equal.
    """

    mu: float
    regret: float


def gaussian_fit(profile: PrivacyProfile, *, negligible: OpenUnit = 1e-15) -> GaussianFit:
    """Return the smallest mu for which a profile implies mu-Gaussian differential privacy.

    Dong, Roth and Su (2022), Corollary 1: mu-GDP means ``delta(eps) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)``
    for all eps.

    Parameters
    ----------
    profile : PrivacyProfile
        Privacy profile that holds in both directions.
    negligible : float
        In (0, 1); deltas below it are not evaluated.

    Returns
    -------
    GaussianFit
        Its mu is an upper bound, by chords between 241 points; about 1e-3 too large.
    """
    eps, delta = profile_grid(profile, negligible)
    keep = delta > negligible
    mu = max(
        (_gaussian_mu(float(e), float(d)) for e, d in zip(eps[keep], delta[keep], strict=True)), default=0.0
    )
    step = 1e-5
    while 0 < mu < math.inf and not _above_chords(mu, eps, delta, keep[:-1]):
        mu *= 1 + step
        step *= 1.5
    rates = np.concatenate((np.geomspace(1e-6, 0.5, 60), 1 - np.geomspace(0.5, 1e-6, 60)))
    gaussian = ndtr(-ndtri(rates) - mu)
    return GaussianFit(mu, float(np.max(trade_off(profile, rates) - gaussian)))


def _above_chords(
    mu: float, eps: NDArray[np.float64], delta: NDArray[np.float64], keep: NDArray[np.bool_]
) -> bool:
    """Return whether the delta of mu-Gaussian differential privacy is above every chord. As this delta is convex in
    e^eps, its tangents are compared with the chords.
    """
    a, b = eps[:-1][keep], eps[1:][keep]
    c = 0.5 * (a + b)
    slope = -ndtr(-mu / 2 - c / mu)
    middle = ndtr(mu / 2 - c / mu) + np.exp(c) * slope
    at_a = middle + slope * np.exp(c) * np.expm1(a - c)
    at_b = middle + slope * np.exp(c) * np.expm1(b - c)
    return bool(np.all(at_a >= delta[:-1][keep]) and np.all(at_b >= delta[1:][keep]))


def _gaussian_mu(eps: float, delta: float) -> float:
    """Return the mu of Gaussian differential privacy with a given delta at eps."""
    if delta >= 1:
        return math.inf
    log_delta = math.log(delta)
    return math.exp(
        -root_below(
            lambda minus_log_mu: log_delta - log_gaussian_delta(math.exp(-minus_log_mu), eps),
            0.0,
            -math.log(2 * math.sqrt(2 * eps) + 80.0),
            60.0,
            xtol=1e-9,
        )
    )
