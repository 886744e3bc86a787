"""Shuffle Gaussian mechanism under shuffled check-in: each user takes part in a round with probability `rate`.

Source: arXiv 2206.09569, equation (11) and Theorem 3. Given their number k, the participants are a uniform k-subset of
the n users, so that the excess is the mean over k of the excesses of
:mod:`shuffledp.accounting.shuffle_gaussian.subsampled`.

Caveats (a) to (d) of :mod:`shuffledp.accounting.shuffle_gaussian.all_users` and (f) of
:mod:`shuffledp.accounting.shuffle_gaussian.subsampled` apply. Further caveats:

(e) Equation (11) has the rate `rate` for every number k of participants; given k, they are a uniform k-subset with
    rate k / n. As the mean of (k/n)^j exceeds rate^j, the printed sum is slightly too small for an upper bound;
    ``conditional`` has the rate k / n.
(g) In the check-in bounds, the number of participants of each round is public.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.general.rdp import (
    Order,
    Sigma,
    check_orders,
    rdp_from_log_excess,
)
from shuffledp.accounting.shuffle_gaussian.checkin_participants import (
    first_blocks,
    log_masses,
    outside,
    split_blocks,
)
from shuffledp.accounting.shuffle_gaussian.subsampled import (
    SubsampledForm,
    epsilon_of_curve,
    log_subsampled_excess,
)
from shuffledp.numerics.argument_ranges import Delta, FromOne, Rate, RealArray, Unit
from shuffledp.numerics.logs import log_sum
from shuffledp.numerics.memoize import remember

CheckinForm = Literal["printed", "conditional", "convex", "pair"]
CHECKIN_FORMS: tuple[str, ...] = get_args(CheckinForm)

_REMEMBERED = 64
#: A block of numbers of participants is split until it contributes less than this part of the sum, at every order.
_NEGLIGIBLE = 1e-15


def checkin_shuffle_gaussian_rdp(
    orders: RealArray, n: FromOne, rate: Rate, sigma: Sigma, *, form: CheckinForm = "convex"
) -> NDArray[np.float64]:
    """Return a bound on the divergence of shuffled check-in with Gaussian reports, by direct summation.

    Parameters
    ----------
    orders : (k,) array_like of int
        Each in [2, 4096].
    n : int
        Number of users, >= 1.
    rate : float
        Probability that a user takes part in the round, in (0, 1].
    sigma : float
        Standard deviation of the noise per unit of replacement distance, > 0.
    form : {"printed", "conditional", "convex", "pair"}
        ``printed``: equation (10) at rate `rate` for every number k of participants. ``conditional``: at rate
        ``k / n``. ``convex`` and ``pair``: the forms of :func:`subsampled_shuffle_gaussian_rdp`, at rate ``k / n``.

    Returns
    -------
    (k,) ndarray
        Nats. Never too small, except for rounding errors of 1e-11 relative. Too large by less than 1e-11 relative if 24
        standard deviations of the number of participants are below 4096 users. Otherwise the number of participants is
        in blocks of 1/4096 of this range, and the excess is too large by up to ``order`` times a block's relative
        width.

    Notes
    -----
    Source: arXiv 2206.09569, equation (11), with the missing term for no participants. Outside a window around the
    mean, a block of numbers has the excess of its smallest number and the rate of its largest number. Blocks are split
    until their contribution is negligible. Replacement neighbors; caveats (a) to (g). If the pair of Theorem 1 is the
    worst, ``conditional`` and ``convex`` are upper bounds. ``pair`` is the value for this pair; ``printed`` is not a
    bound, see (e).

    Examples
    --------
    >>> from shuffledp.accounting import checkin_shuffle_gaussian_rdp
    >>> [f"{r:.4g}" for r in checkin_shuffle_gaussian_rdp([2, 8, 32], n=10_000, rate=0.1, sigma=5.0)]
    ['4.081e-06', '1.633e-05', '6.59e-05']
    """
    orders = check_orders(orders)
    return rdp_from_log_excess(orders, _log_checkin_excess(orders, n, rate, sigma, form))


def checkin_shuffle_gaussian_rdp_theorem3(
    orders: RealArray, n: FromOne, rate: Rate, sigma: Sigma, split: Unit
) -> NDArray[np.float64]:
    """Return the bound of Theorem 3 on the divergence of shuffled check-in with Gaussian reports.

    Source: arXiv 2206.09569, equation (13). Its condition, that the moments fall with n, always holds, because means of
    exchangeable variables are a reverse martingale. An upper bound on the printed sum, and on the divergence only if
    the sum is a bound, see (e).

    Parameters
    ----------
    orders, n, rate, sigma
        As in :func:`checkin_shuffle_gaussian_rdp`.
    split : float
        The paper's Delta, in [0, 1]. Numbers of participants up to ``(1 - split) n rate`` count as 1. All larger
        numbers count as the smallest integer among them. Every value of `split` gives a bound.

    Returns
    -------
    (k,) ndarray
        Nats, relative error below 1e-12, mostly 1e-14.
    """
    orders = check_orders(orders)
    sizes = np.array([1, _size_after(n, rate, split)])
    log_excess = log_subsampled_excess(orders, sizes, np.full(2, rate), sigma, "printed")
    total = _theorem3(log_excess[:, :1], log_excess[:, 1:], np.array([split]), n * rate)
    return rdp_from_log_excess(orders, total[:, 0])


def best_checkin_shuffle_gaussian_rdp_theorem3(
    orders: RealArray, n: FromOne, rate: Rate, sigma: Sigma
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bound of Theorem 3 with the best Delta for each order, and this Delta.

    Source: arXiv 2206.09569, equation (13). An upper bound on the printed sum, as
    :func:`checkin_shuffle_gaussian_rdp_theorem3`.

    Parameters
    ----------
    orders, n, rate, sigma
        As in :func:`checkin_shuffle_gaussian_rdp_theorem3`.

    Returns
    -------
    rdp : (k,) ndarray
        Nats. The smallest bound on two nested grids of Delta; the second has steps of about 1e-4 or of one participant.
    splits : (k,) ndarray
        In [0, 1].
    """
    orders = check_orders(orders)
    alone = log_subsampled_excess(orders, np.ones(1, np.int64), np.array([rate]), sigma, "printed")

    def evaluate(splits: NDArray[np.float64]) -> NDArray[np.float64]:
        sizes = np.array([_size_after(n, rate, float(s)) for s in splits])
        distinct, place = np.unique(sizes, return_inverse=True)
        excess = log_subsampled_excess(orders, distinct, np.full(distinct.size, rate), sigma, "printed")
        return _theorem3(alone, excess[:, place], splits, n * rate)

    splits = np.linspace(0, 1, 101)
    total = evaluate(splits)
    best_splits = splits[np.argmin(total, axis=1)]
    fine = np.unique(np.clip(np.unique(best_splits)[:, None] + np.linspace(-0.01, 0.01, 201), 0, 1))
    # With few participants many values of Delta mean the same number; then the largest Delta is the best.
    steps = 1 - np.arange(math.floor(n * rate) + 1) / (n * rate) if n * rate <= 400 else np.empty(0)
    splits = np.concatenate((splits, fine, np.clip(steps, 0, 1)))
    total = np.concatenate((total, evaluate(splits[total.shape[1] :])), axis=1)
    best = np.argmin(total, axis=1)
    return rdp_from_log_excess(orders, total[np.arange(orders.size), best]), splits[best]


def checkin_shuffle_gaussian_epsilon(
    *,
    n: FromOne,
    rate: Rate,
    sigma: Sigma,
    rounds: FromOne,
    delta: Delta,
    form: CheckinForm = "convex",
    most_order: Order | None = None,
) -> float:
    """Return the central eps (nats) after `rounds` >= 1 rounds of :func:`checkin_shuffle_gaussian_rdp`.

    Users check in anew in every round.

    Source: arXiv 2206.09569, equation (11), Lemmas 1 and 2. An upper bound if the divergences are upper bounds.

    Parameters
    ----------
    n, rate, sigma, form
        As in :func:`checkin_shuffle_gaussian_rdp`.
    delta : float
        In (0, 1).
    most_order : int, optional
        Largest order, in [2, 4096]; by default from :func:`enough_orders`, at most 512, with a warning if the last
        order is the best.
    """
    curve = partial(_remembered_checkin, n, rate, sigma, form)
    return epsilon_of_curve(curve, max(1, round(n * rate)), sigma, rounds, delta, most_order)


def checkin_theorem3_epsilon(
    *,
    n: FromOne,
    rate: Rate,
    sigma: Sigma,
    rounds: FromOne,
    delta: Delta,
    split: Unit | None = None,
    most_order: Order | None = None,
) -> float:
    """Return the central eps (nats) after `rounds` rounds of Theorem 3.

    Without `split`, each order has its best Delta.

    Source: arXiv 2206.09569, Theorem 3, Lemmas 1 and 2. An upper bound on the eps of the printed sum; see caveat (e).

    Parameters
    ----------
    n, rate, sigma, split
        As in :func:`checkin_shuffle_gaussian_rdp_theorem3`.
    rounds, delta, most_order
        As in :func:`checkin_shuffle_gaussian_epsilon`.
    """
    curve = partial(_remembered_theorem3, n, rate, sigma, split)
    return epsilon_of_curve(curve, max(1, round(n * rate)), sigma, rounds, delta, most_order)


def _log_checkin_excess(
    orders: NDArray[np.int64], n: int, rate: float, sigma: float, form: CheckinForm
) -> NDArray[np.float64]:
    """Return the log of the mean excess over the number of participants, shape (k,)."""
    if rate == 1:
        whole_mass = np.array([1.0])
        return log_subsampled_excess(orders, np.array([n]), whole_mass, sigma, _form_of_sum(form))[:, 0]
    first, last = first_blocks(n, rate)
    terms: list[NDArray[np.float64]] = []
    while first.size:
        rates = np.full(first.size, rate) if form == "printed" else last / n
        mass = log_masses(n, rate, first, last)
        parts = mass + log_subsampled_excess(orders, first, rates, sigma, _form_of_sum(form))
        terms.append(parts)
        total = log_sum(np.concatenate(terms, axis=1).T)
        share = np.max(parts - total[:, None], axis=0)
        split = (last > first) & (share > math.log(_NEGLIGIBLE)) & outside(n, rate, first, last)
        terms[-1] = parts[:, ~split]
        first, last = split_blocks(first[split], last[split])
    return log_sum(np.concatenate(terms, axis=1).T)


def _form_of_sum(form: CheckinForm) -> SubsampledForm:
    return "printed" if form == "conditional" else form


def _theorem3(
    alone: NDArray[np.float64], rest: NDArray[np.float64], splits: NDArray[np.float64], mean: float
) -> NDArray[np.float64]:
    """Return the log of the right side of equation (13) minus 1."""
    return np.asarray(np.logaddexp(np.logaddexp(0.0, alone) - splits**2 * mean / 2, rest))


def _size_after(n: int, rate: float, split: float) -> int:
    """Return the number of participants, at most n, that replaces all larger numbers in the bound."""
    return min(n, math.floor((1 - split) * n * rate) + 1)


@remember(_REMEMBERED)
def _remembered_checkin(
    n: int, rate: float, sigma: float, form: CheckinForm, last: int
) -> NDArray[np.float64]:
    return checkin_shuffle_gaussian_rdp(np.arange(2, last + 1), n, rate, sigma, form=form)


@remember(_REMEMBERED)
def _remembered_theorem3(
    n: int, rate: float, sigma: float, split: float | None, last: int
) -> NDArray[np.float64]:
    orders = np.arange(2, last + 1)
    if split is None:
        return best_checkin_shuffle_gaussian_rdp_theorem3(orders, n, rate, sigma)[0]
    return checkin_shuffle_gaussian_rdp_theorem3(orders, n, rate, sigma, split)
