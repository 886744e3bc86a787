"""Renyi differential privacy of the shuffle Gaussian mechanism, without sums over partitions.

n users add Gaussian noise to one record each, and a shuffler permutes the n reports (arXiv 2206.09569). Neighboring
data sets differ in one record, which is replaced by another.

Theorem 1 is the divergence of one pair of data sets: all records are equal, or all but one. With ``q = e^(1/sigma^2)``
and X log-normal with ``E X^k = q^(k(k-1)/2)``, the likelihood ratio is the mean of n independent copies of X, and the
divergence of order l is ``log(E mean^l) / (l - 1)``. The cumulants of X give the moments of a mean, and follow from a
recurrence of positive terms. Without cancellation, tiny divergences keep their relative accuracy. The order may be
above n.

Properties and caveats
----------------------
(a) The value is exact for one pair at distance d. It is a conjecture, not proven, that this pair is the worst for
    records in a ball of diameter d. For other sets of diameter d it is not: three records at the corners of an
    equilateral triangle have a larger divergence (:mod:`shuffledp.pipeline.papers.shuffle_gaussian.witnesses`).
(b) One direction is evaluated, the mixture against the product. The other direction was smaller in all tests.
(c) `sigma` is the standard deviation per unit of replacement distance. Records clipped to norm C can be replaced by
    records at distance 2 C: with noise of standard deviation s C, `sigma` is s / 2.
(d) Two bounds are always valid: ``l / (2 sigma^2)`` in each round (:func:`gaussian_rdp`), and the clones bound for
    Gaussian randomizers (:mod:`shuffledp.accounting.baselines.gaussian_clones`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.general.rdp import (
    MOST_ORDER,
    Order,
    Sigma,
    check_orders,
    epsilons_after,
    rdp_from_log_excess,
)
from shuffledp.numerics.argument_ranges import Delta, FromOne, RealArray
from shuffledp.numerics.logs import log_binomials, log_sum
from shuffledp.numerics.memoize import remember

_REMEMBERED = 64
#: Number of sizes per pass, for which the working array fits into the cache.
_CHUNK = 256


def shuffle_gaussian_rdp(orders: RealArray, n: FromOne, sigma: Sigma) -> NDArray[np.float64]:
    """Return the Renyi divergence of n shuffled Gaussian reports, for the pair of Theorem 1.

    Source: arXiv 2206.09569, Theorem 1, with caveats (a) to (d) of the module. Exact for this pair, up to rounding. It
    is an upper bound for all replacement neighbors if the pair is the worst, a conjecture. The cost is quadratic in the
    largest order.

    Parameters
    ----------
    orders : (k,) array_like of int
        Each in [2, 4096].
    n : int
        Number of reports, >= 1.
    sigma : float
        Standard deviation of the noise per unit of replacement distance, > 0.

    Returns
    -------
    (k,) ndarray
        Nats, relative error below 1e-12, mostly 1e-14. At most ``order / (2 sigma^2)``, with equality for n = 1.

    Examples
    --------
    >>> from shuffledp.accounting import shuffle_gaussian_rdp
    >>> [f"{r:.4g}" for r in shuffle_gaussian_rdp([2, 8, 32], n=10_000, sigma=5.0)]
    ['4.081e-06', '1.632e-05', '6.53e-05']
    """
    orders = check_orders(orders)
    log_excess = log_moment_excess(np.array([n]), sigma, int(orders.max()))[:, 0]
    return rdp_from_log_excess(orders, log_excess[orders])


def enough_orders(n: FromOne, sigma: Sigma, delta: Delta, rounds: FromOne = 1) -> int:
    """Return an order beyond which no order improves eps, for n shuffled reports in each round.

    Source: experiments with the divergence of arXiv 2206.09569, Theorem 1. An estimate, not part of the guarantee: eps
    is valid for any list of orders.

    Parameters
    ----------
    n : int
        Number of reports, >= 1.
    sigma : float
        Standard deviation of the noise per unit of replacement distance, > 0.
    delta : float
        In (0, 1).
    rounds : int
        Number of rounds, >= 1.

    Returns
    -------
    int
        In [22, 4096]. Near ``2 sigma^2 ln n`` the divergence grows by orders of magnitude; the best order is never far
        above this value. With few reports or little noise, the result is the best order of a single Gaussian report.
    """
    jump = 2 * sigma**2 * math.log(n)
    alone = 1 + sigma * math.sqrt(2 * math.log(1 / delta) / rounds)
    return 20 + math.ceil(min(max(jump, alone), MOST_ORDER - 20))


def shuffle_gaussian_epsilons(
    n: FromOne, sigma: Sigma, rounds: Sequence[FromOne], delta: Delta, most_order: Order | None = None
) -> NDArray[np.float64]:
    """Return the central eps of n shuffled Gaussian reports after each of several numbers of rounds.

    Source: arXiv 2206.09569, Theorem 1, Lemmas 1 and 2, with caveats (a) to (d) of the module. An upper bound for the
    pair of Theorem 1, and for all neighbors if this pair is the worst.

    Parameters
    ----------
    n, sigma
        As in :func:`shuffle_gaussian_rdp`.
    rounds : (m,) sequence of int
        Each >= 1.
    delta : float
        In (0, 1).
    most_order : int, optional
        Largest order, in [2, 4096]; by default the result of :func:`enough_orders`. Table 1 of the paper uses orders up
        to 30, of which the last is the best. An explicit order raises no warning.

    Returns
    -------
    (m,) ndarray
        Nats.
    """
    last = checked_most_order(most_order, n, sigma, delta)
    rdp = _remembered_rdp(n, sigma, last)
    return epsilons_after(np.arange(2, last + 1), rdp, rounds, delta, warn=most_order is None)


def shuffle_gaussian_epsilon(
    *, n: FromOne, sigma: Sigma, rounds: FromOne, delta: Delta, most_order: Order | None = None
) -> float:
    """Return the central eps (nats) of n shuffled Gaussian reports after `rounds` >= 1 rounds.

    Other parameters, source and caveats as in :func:`shuffle_gaussian_epsilons`. An upper bound for the pair of
    Theorem 1, and for all neighbors if this pair is the worst.

    Examples
    --------
    >>> from shuffledp.accounting import shuffle_gaussian_epsilon
    >>> round(shuffle_gaussian_epsilon(n=10_000, sigma=5.0, rounds=10, delta=1e-6), 4)
    0.024
    """
    return float(shuffle_gaussian_epsilons(n, sigma, [rounds], delta, most_order)[0])


def checked_most_order(most_order: int | None, n: int, sigma: float, delta: float) -> int:
    """Return the largest order to evaluate: the given order, or :func:`enough_orders` for one round."""
    if most_order is None:
        return enough_orders(n, sigma, delta)
    return most_order


@remember(_REMEMBERED)
def log_cumulants(sigma: float, last: int) -> NDArray[np.float64]:
    """Return the logs of the cumulants 0 to `last` of X, shape (last + 1,); the first is a placeholder. The cumulants
    count connected graphs on labeled vertices with weight ``(q - 1)^edges``; hence they are positive. ``kappa_{m+2} =
    sum_k C(m, k) (q^(k+1) - 1) kappa_{k+1} kappa_{m-k+1}`` follows from ``G'(x) = G(q x)`` for ``G(x) = sum
    q^(k(k-1)/2) x^k / k!``. With cumulants divided by factorials, no binomials are needed.
    """
    exponent = np.arange(1, last + 1) / sigma**2
    weight = exponent + np.log(-np.expm1(-exponent))  # log(q^k - 1) without overflow
    scaled = np.zeros(last)  # log(kappa_{k+1} / k!)
    for m in range(last - 1):
        scaled[m + 1] = log_sum(weight[: m + 1] + scaled[: m + 1] + scaled[m::-1]) - math.log(m + 1)
    log_factorial = np.cumsum(np.log(np.maximum(np.arange(last), 1)))
    result = np.concatenate(([-math.inf], scaled + log_factorial))
    result.flags.writeable = False
    return result


def log_moment_excess(sizes: NDArray[np.int64], sigma: float, last: int) -> NDArray[np.float64]:
    """Return the logs of ``E mean^l - 1`` for l = 0 .. `last` and means of `sizes` copies, shape (last + 1, m)."""
    return _log_moments(sizes, sigma, last, central=False)


def log_central_moments(sizes: NDArray[np.int64], sigma: float, last: int) -> NDArray[np.float64]:
    """Return the logs of ``E (mean - 1)^l`` for l = 0 .. `last` and means of `sizes` copies, shape (last + 1, m)."""
    return _log_moments(sizes, sigma, last, central=True)


def _log_moments(sizes: NDArray[np.int64], sigma: float, last: int, *, central: bool) -> NDArray[np.float64]:
    """Return logs of moments from cumulants: ``M_l = sum_j C(l-1, j-1) kappa_j n^(1-j) M_{l-j}``; For central moments
    the sum starts at j = 2. For moments about 0, the recurrence computes ``M_l - 1`` without its term j = 1.
    """
    cumulants = log_cumulants(sigma, last)
    log_sizes = np.log(sizes.astype(np.float64))
    result = np.empty((last + 1, sizes.size))
    binomials = (
        [log_binomials(order - 1)[1:, None] for order in range(2, last + 1)] if sizes.size > _CHUNK else []
    )
    for start in range(0, sizes.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        count = log_sizes[part].size
        weights = cumulants[:, None] + np.outer(1.0 - np.arange(last + 1), log_sizes[part])
        excess = np.full((last + 1, count), -math.inf)
        moments = np.zeros((last + 1, count))
        if central:
            moments[1:2] = -math.inf
        for order in range(2, last + 1):
            choices = binomials[order - 2] if binomials else log_binomials(order - 1)[1:, None]
            terms = weights[2 : order + 1] + moments[order - 2 :: -1]
            terms += choices
            summed = log_sum(terms)
            if central:
                moments[order] = summed
                continue
            excess[order] = np.logaddexp(excess[order - 1], summed)
            moments[order] = np.logaddexp(0.0, excess[order])
        result[:, part] = moments if central else excess
    return result


@remember(_REMEMBERED)
def _remembered_rdp(n: int, sigma: float, last: int) -> NDArray[np.float64]:
    return shuffle_gaussian_rdp(np.arange(2, last + 1), n, sigma)
