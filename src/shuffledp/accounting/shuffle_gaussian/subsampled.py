"""Shuffle Gaussian mechanism on m of n users, drawn anew in each round, without replacement.

Source: arXiv 2206.09569, Theorem 2. Every bound has the form ``log(1 + E) / (order - 1)`` with an excess E. Its forms
for m reports at rate g = m / n, with T_l the excess of m shuffled reports without sampling:

``printed``
    Equation (10), for any mechanism (Wang, Balle and Kasiviswanathan 2019, Theorem 9). For any amount of noise,
    ``E >= 2 g^3 C(order, 3)``.
``convex``
    ``E = g T_l``: ``e^((l - 1) divergence)`` is jointly convex, and E is 0 if the user who differs is not drawn. Never
    above the divergence without sampling. If both hold, the smaller of ``printed`` and ``convex`` holds.
``pair``
    The exact value for the pair of Theorem 1: ``E = E[(1 + g (mean - 1))^l] - 1``, from central moments.

Caveats (a) to (d) of :mod:`shuffledp.accounting.shuffle_gaussian.all_users` apply. Caveats (e) and (g), for users who
choose at random whether they take part, are in :mod:`shuffledp.accounting.shuffle_gaussian.checkin`. A further caveat:

(f) The subset must be drawn anew in each round. Batches of a permutation of all users are another mechanism.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.general.rdp import (
    Order,
    Sigma,
    check_orders,
    epsilons_after,
    gaussian_rdp,
    rdp_from_log_excess,
)
from shuffledp.accounting.shuffle_gaussian.all_users import (
    checked_most_order,
    log_central_moments,
    log_moment_excess,
)
from shuffledp.numerics.argument_ranges import Delta, FromOne, Rate, RealArray, Unit
from shuffledp.numerics.logs import log_binomials, log_sum
from shuffledp.numerics.memoize import remember

if TYPE_CHECKING:
    from collections.abc import Callable


SubsampledForm = Literal["printed", "convex", "pair"]
SUBSAMPLED_FORMS: tuple[str, ...] = get_args(SubsampledForm)

_REMEMBERED = 64
#: Default limit on the orders of the curves.
_MOST_CURVE_ORDER = 512


def subsampled_shuffle_gaussian_rdp(
    orders: RealArray, n: FromOne, m: FromOne, sigma: Sigma, *, form: SubsampledForm = "convex"
) -> NDArray[np.float64]:
    """Return a bound on the divergence of m shuffled Gaussian reports, of users drawn without replacement from n.

    Source: arXiv 2206.09569, Theorem 2, with caveats (a) to (d) and (f). Replacement neighbors. ``printed`` and
    ``convex`` are upper bounds for all neighbors if the pair of Theorem 1 is the worst; ``pair`` is exact for this
    pair.

    Parameters
    ----------
    orders : (k,) array_like of int
        Each in [2, 4096].
    n, m : int
        Number of users, and number of users drawn in each round, ``1 <= m <= n``.
    sigma : float
        Standard deviation of the noise per unit of replacement distance, > 0.
    form : {"printed", "convex", "pair"}
        See the module's description.

    Returns
    -------
    (k,) ndarray
        Nats, relative error below 1e-12, mostly 1e-14.

    Examples
    --------
    >>> from shuffledp.accounting import subsampled_shuffle_gaussian_rdp
    >>> [f"{r:.4g}" for r in subsampled_shuffle_gaussian_rdp([2, 8, 32], n=10_000, m=1_000, sigma=5.0)]
    ['4.081e-06', '1.633e-05', '6.589e-05']
    """
    orders = check_orders(orders)
    if m > n:
        raise ValueError(f"m must be in [1, n] with n = {n}, got {m}.")
    log_excess = log_subsampled_excess(orders, np.array([m]), np.array([m / n]), sigma, form)
    return rdp_from_log_excess(orders, log_excess[:, 0])


def subsampled_rdp(rdp: RealArray, rate: Unit) -> NDArray[np.float64]:
    """Return Renyi divergences of any mechanism after sampling without replacement, by equation (10).

    Source: arXiv 2206.09569, equation (10); Wang, Balle and Kasiviswanathan (2019), Theorem 9, with an infinite
    divergence of infinite order. An upper bound for any mechanism whose divergences are at most `rdp`.

    Parameters
    ----------
    rdp : (k,) array_like
        Divergences of the mechanism on the drawn users at the orders 2, 3, .., k + 1; nats, >= 0.
    rate : float
        Fraction of the users that is drawn, in [0, 1].

    Returns
    -------
    (k,) ndarray
        Divergences at the same orders, nats.
    """
    values = np.asarray(rdp, np.float64)
    if values.ndim != 1 or values.size == 0 or not np.all(values >= 0):
        raise ValueError(f"rdp must be a non-empty list of numbers >= 0, got {rdp!r}.")
    if rate == 0:
        return np.zeros(values.size)
    orders = np.arange(2, values.size + 2)
    log_moments = np.concatenate(([0.0, 0.0], (orders - 1) * values))
    second = float(values[0])
    log_second = second + math.log(-math.expm1(-second)) if second > 0 else -math.inf
    log_excess = _printed_excess(
        orders, log_moments[:, None], np.array([log_second]), np.array([math.log(rate)])
    )
    return rdp_from_log_excess(orders, log_excess[:, 0])


def subsampled_shuffle_gaussian_epsilon(
    *,
    n: FromOne,
    m: FromOne,
    sigma: Sigma,
    rounds: FromOne,
    delta: Delta,
    form: SubsampledForm = "convex",
    most_order: Order | None = None,
) -> float:
    """Return the central eps (nats) after `rounds` >= 1 rounds of :func:`subsampled_shuffle_gaussian_rdp`.

    The batch is drawn anew in every round.

    Source: arXiv 2206.09569, Theorem 2, Lemmas 1 and 2. An upper bound if the divergences are upper bounds.

    Parameters
    ----------
    n, m, sigma, form
        As in :func:`subsampled_shuffle_gaussian_rdp`.
    delta : float
        In (0, 1).
    most_order : int, optional
        Largest order, in [2, 4096]; by default from :func:`enough_orders`, at most 512, with a warning if the last
        order is the best.
    """
    curve = partial(_remembered_subsampled, n, m, sigma, form)
    return epsilon_of_curve(curve, m, sigma, rounds, delta, most_order)


def subsampled_gaussian_epsilon(
    *, rate: Rate, sigma: Sigma, rounds: FromOne, delta: Delta, most_order: Order | None = None
) -> float:
    """Return the central eps (nats) of Gaussian reports under Theorem 2 without shuffling.

    Source: arXiv 2206.09569, Theorem 2 with Corollary 1. The divergence of a report is ``order / (2 sigma^2)``. A
    proven upper bound for all neighbors.

    Parameters
    ----------
    rate : float
        Fraction of the users drawn in each round, in (0, 1].
    sigma : float
        Standard deviation of the noise per unit of replacement distance, > 0.
    rounds, delta, most_order
        As in :func:`subsampled_shuffle_gaussian_epsilon`.
    """
    return epsilon_of_curve(
        lambda last: subsampled_rdp(gaussian_rdp(np.arange(2, last + 1), sigma), rate),
        *(1, sigma, rounds, delta, most_order),
    )


def log_subsampled_excess(
    orders: NDArray[np.int64],
    sizes: NDArray[np.int64],
    rates: NDArray[np.float64],
    sigma: float,
    form: SubsampledForm,
) -> NDArray[np.float64]:
    """Return the log of the excess E for each order and each pair of a size and a rate, shape (k, m). The size is the
    number of reports, the rate the probability that a given user is among them; pairs may belong to different numbers
    of users.
    """
    last = int(orders.max())
    log_rates = np.log(rates)
    if form == "pair":
        terms = log_central_moments(sizes, sigma, last) + np.outer(np.arange(last + 1), log_rates)
        return _binomial_sums(orders, terms)
    excess = log_moment_excess(sizes, sigma, last)
    if form == "convex":
        return excess[orders] + log_rates
    return _printed_excess(orders, np.logaddexp(0.0, excess), excess[2], log_rates)


def _printed_excess(
    orders: NDArray[np.int64],
    log_moments: NDArray[np.float64],
    log_second: NDArray[np.float64],
    log_rates: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return log E of equation (10), from the logs of the moments 0 .. `last`, and from the log of the second moment
    minus 1.
    """
    terms = log_moments + math.log(2) + np.outer(np.arange(log_moments.shape[0]), log_rates)
    terms[2] = np.minimum(math.log(4) + log_second, math.log(2) + log_moments[2]) + 2 * log_rates
    return _binomial_sums(orders, terms)


def _binomial_sums(orders: NDArray[np.int64], terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``log sum_{j=2}^{l} C(l, j) e^{terms_j}`` for each order l, shape (k, m)."""
    result = np.empty((orders.size, terms.shape[1]))
    chunk = 256  # the working array stays in the cache
    for i, order in enumerate(orders):
        choices = log_binomials(int(order))[2:, None]
        for start in range(0, terms.shape[1], chunk):
            part = slice(start, start + chunk)
            with np.errstate(invalid="ignore"):  # all terms may be 0, and their sum too
                result[i, part] = log_sum(choices + terms[2 : order + 1, part])
    return np.where(np.isnan(result), -math.inf, result)


def epsilon_of_curve(
    curve: Callable[[int], NDArray[np.float64]],
    reports: int,
    sigma: float,
    rounds: int,
    delta: float,
    most_order: int | None,
) -> float:
    """Return eps (nats) after `rounds` rounds; `curve` maps the largest order to the divergences from order 2 on.
    Without `most_order`, the largest order is :func:`enough_orders` for one round of `reports` reports, at most 512.
    """
    last = checked_most_order(most_order, reports, sigma, delta)
    if most_order is None:
        last = min(last, _MOST_CURVE_ORDER)
    orders = np.arange(2, last + 1)
    return float(epsilons_after(orders, curve(last), [rounds], delta, warn=most_order is None)[0])


@remember(_REMEMBERED)
def _remembered_subsampled(
    n: int, m: int, sigma: float, form: SubsampledForm, last: int
) -> NDArray[np.float64]:
    return subsampled_shuffle_gaussian_rdp(np.arange(2, last + 1), n, m, sigma, form=form)
