"""Renyi differential privacy of the shuffle Gaussian mechanism, for all orders at once and without partitions.

n users hold one record each, add Gaussian noise to it, and a shuffler permutes the n reports (arXiv 2206.09569).
Neighbouring data sets differ in one record, which is replaced by another.

Theorem 1 is the divergence of one pair of data sets: all records are equal, or one of them is at another place.
With ``q = e^(1/sigma^2)`` and X log-normal with ``E X^k = q^(k(k-1)/2)``, the likelihood ratio is the mean of n
independent copies of X, and the divergence of order l is ``log(E mean^l) / (l - 1)``. The moments of a mean follow
from the cumulants of X, and these from a recurrence in which every term is positive. Nothing cancels, so that tiny
divergences keep their relative accuracy; and no condition ties the order to n.

What to know before use
-----------------------
(a) The value is exact for one pair. It is conjectured, not proved, to be the worst for records in a ball of
    diameter d, the distance used; it is false for general sets of diameter d: three records at the corners of
    an equilateral triangle exceed it (:mod:`shuffledp.claims.witnesses.shuffle_gaussian`).
(b) One direction is evaluated, that of the mixture against the product. The other was smaller in all tests.
(c) `sigma` is the standard deviation per unit of replacement distance. Records clipped to norm C can be replaced by
    records at distance 2 C: with noise of standard deviation s C, `sigma` is s / 2.
(d) Always valid: ``l / (2 sigma^2)`` in each round (:func:`gaussian_rdp`), and the clones bound for Gaussian
    randomizers (:mod:`shuffledp.accounting.gaussian_clones`).
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.accounting.remember import remember
from shuffledp.numerics.checks import check_count, check_open_unit, check_positive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

#: Largest order: the cost is quadratic in it.
MOST_ORDER = 4096
_REMEMBERED = 64
#: So many sizes are treated at once, that the working array stays in the cache.
_CHUNK = 256


class LastOrderWarning(UserWarning):
    """The best order is the last one: a longer list would probably give a smaller epsilon."""


def shuffle_gaussian_rdp(orders: ArrayLike, n: int, sigma: float) -> NDArray[np.float64]:
    """Return the Renyi divergence of n shuffled Gaussian reports, for the pair of Theorem 1.

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

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Theorem 1 of arXiv 2206.09569. Replacement neighbours; read caveats (a) to (d) of the module before calling it a
    guarantee. The cost is quadratic in the largest order and does not depend on n.
    """
    orders = check_orders(orders)
    n = check_count("n", n, 1)
    sigma = check_sigma(sigma)
    log_excess = log_moment_excess(np.array([n]), sigma, int(orders.max()))[:, 0]
    return rdp_from_log_excess(orders, log_excess[orders])


def gaussian_rdp(orders: ArrayLike, sigma: float) -> NDArray[np.float64]:
    """Return the Renyi divergence of one Gaussian report, ``order / (2 sigma^2)``: Corollary 1.

    Parameters
    ----------
    orders : (k,) array_like of int
        Each in [2, 4096].
    sigma : float
        Standard deviation of the noise per unit of replacement distance, > 0.

    Returns
    -------
    (k,) ndarray
        Nats. An upper bound of the shuffled reports for all neighbours, as shuffling is post-processing.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    return check_orders(orders) / (2 * check_sigma(sigma) ** 2)


def enough_orders(n: int, sigma: float, delta: float, rounds: int = 1) -> int:
    """Return an order beyond which no order is better, for n shuffled reports in each round.

    Parameters
    ----------
    n : int
        Number of reports, >= 1.
    sigma : float
        Per unit of replacement distance, > 0.
    delta : float
        In (0, 1).
    rounds : int
        Number of compositions, >= 1.

    Returns
    -------
    int
        In [22, 4096]. Near ``2 sigma^2 ln n`` the divergence jumps by orders of magnitude; the best order is never
        far above that. With few reports or noise it is that of a single Gaussian report. A rule found by numerical
        experiment; any list of orders gives a valid epsilon.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    n = check_count("n", n, 1)
    sigma = check_sigma(sigma)
    delta = check_open_unit("delta", delta)
    rounds = check_count("rounds", rounds, 1)
    jump = 2 * sigma**2 * math.log(n)
    alone = 1 + sigma * math.sqrt(2 * math.log(1 / delta) / rounds)
    return 20 + math.ceil(min(max(jump, alone), MOST_ORDER - 20))


def compose_rdp(rdps: ArrayLike, rounds: Sequence[int]) -> NDArray[np.float64]:
    """Return the Renyi divergence of a sequence of mechanisms, chosen adaptively or not.

    Parameters
    ----------
    rdps : (m, k) array_like
        Divergences of m mechanisms at the same k orders, nats, >= 0.
    rounds : (m,) sequence of int
        How often each of them is used, >= 0.

    Returns
    -------
    (k,) ndarray
        The sum per order: Lemma 1.

    Raises
    ------
    ValueError
        If the shapes differ or a value is outside its range.
    """
    values = np.asarray(rdps, np.float64)
    counts = np.array([check_count("rounds", r) for r in rounds], np.float64)
    if values.ndim != 2 or values.shape[0] != counts.size:
        raise ValueError(
            f"rdps must be (m, k) with one row per entry of rounds, got {values.shape} for {counts.size} entries."
        )
    if not np.all(values >= 0):
        raise ValueError(f"rdps must be >= 0, got {rdps!r}.")
    return np.asarray(counts @ values)


def rdp_to_epsilon(orders: ArrayLike, rdp: ArrayLike, delta: float) -> tuple[float, float]:
    """Return the eps that divergences imply, and the order that gives it.

    Parameters
    ----------
    orders : (k,) array_like
        Each above 1, finite; not necessarily integers.
    rdp : (k,) array_like
        Divergences at these orders, nats, >= 0; ``inf`` where there is none.
    delta : float
        In (0, 1).

    Returns
    -------
    epsilon : float
        Nats, >= 0; the minimum over the orders. ``inf`` if no order has a finite divergence.
    order : float
        The first order that attains the minimum.

    Raises
    ------
    ValueError
        If the shapes differ or a value is outside its range.

    Warns
    -----
    LastOrderWarning
        If the largest order is the best one and eps is positive. Then eps says more about the list of orders than
        about the mechanism.

    Notes
    -----
    Lemma 2 of arXiv 2206.09569, from Balle et al. (2020) and Canonne, Kamath and Steinke (2020).
    """
    epsilon, order = best_epsilon(orders, rdp, delta)
    if 0 < epsilon < math.inf and order == np.max(np.asarray(orders, np.float64)):
        warnings.warn(
            f"The best order is the last one, {order:g}; more orders would give a smaller eps than {epsilon:.4g}.",
            LastOrderWarning,
            stacklevel=2,
        )
    return epsilon, order


def best_epsilon(orders: ArrayLike, rdp: ArrayLike, delta: float) -> tuple[float, float]:
    """Do what :func:`rdp_to_epsilon` does, without a warning: for lists that are short on purpose."""
    orders_ = np.asarray(orders, np.float64)
    values = np.asarray(rdp, np.float64)
    delta = check_open_unit("delta", delta)
    if orders_.ndim != 1 or orders_.size == 0 or values.shape != orders_.shape:
        raise ValueError(
            "orders and rdp must be (k,) with k >= 1 and the same shape, "
            f"got {orders_.shape} and {values.shape}."
        )
    if not (np.all(orders_ > 1) and np.all(orders_ < math.inf)):
        raise ValueError(f"orders must be finite numbers above 1, got {orders!r}.")
    if not np.all(values >= 0):
        raise ValueError(f"rdp must be >= 0, got {rdp!r}.")
    epsilons = values + conversion_term(orders_, delta)
    best = int(np.argmin(epsilons))
    return max(0.0, float(epsilons[best])), float(orders_[best])


def conversion_term(orders: NDArray[np.float64], delta: float) -> NDArray[np.float64]:
    """Return what Lemma 2 adds to the divergence at each order; negative for large orders and delta."""
    return (-math.log(delta) - np.log(orders)) / (orders - 1) + np.log1p(-1 / orders)


def shuffle_gaussian_epsilons(
    n: int, sigma: float, rounds: Sequence[int], delta: float, most_order: int | None = None
) -> NDArray[np.float64]:
    """Return eps after several numbers of rounds of n shuffled Gaussian reports: one row of a table.

    Parameters
    ----------
    n, sigma
        As in :func:`shuffle_gaussian_rdp`.
    rounds : (m,) sequence of int
        Each >= 1.
    delta : float
        In (0, 1).
    most_order : int, optional
        Largest order, in [2, 4096]; as many as make sense, if not given (:func:`enough_orders`). Table 1 of the
        paper stops at 30, where the last order is the best; no warning is given for a choice of the caller.

    Returns
    -------
    (m,) ndarray
        Nats.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Theorem 1, Lemmas 1 and 2. Caveats (a) to (d) of the module.
    """
    last = checked_most_order(most_order, n, sigma, delta)
    rdp = _remembered_rdp(n, sigma, last)
    return epsilons_after(np.arange(2, last + 1), rdp, rounds, delta, warn=most_order is None)


def shuffle_gaussian_epsilon(
    *, n: int, sigma: float, rounds: int, delta: float, most_order: int | None = None
) -> float:
    """Return eps after `rounds` rounds of n shuffled Gaussian reports; see :func:`shuffle_gaussian_epsilons`."""
    return float(shuffle_gaussian_epsilons(n, sigma, [rounds], delta, most_order)[0])


def epsilons_after(
    orders: NDArray[np.int64],
    rdp: NDArray[np.float64],
    rounds: Sequence[int],
    delta: float,
    *,
    warn: bool = True,
) -> NDArray[np.float64]:
    """Return eps after each number of rounds with the same divergences `rdp` per round, shape of `rounds`."""
    convert = rdp_to_epsilon if warn else best_epsilon
    counts = [check_count("rounds", r, 1) for r in rounds]
    return np.array([convert(orders, r * rdp, delta)[0] for r in counts])


def checked_most_order(most_order: int | None, n: int, sigma: float, delta: float) -> int:
    """Return the largest order to evaluate: the one asked for, or enough of them for one round."""
    if most_order is None:
        return enough_orders(n, sigma, delta)
    return int(check_orders([most_order])[0])


def check_orders(orders: ArrayLike) -> NDArray[np.int64]:
    """Return `orders` as integers if it is a non-empty list of integers in [2, 4096], else raise ValueError."""
    allowed = f"a non-empty one-dimensional list of integers in [2, {MOST_ORDER}]"
    try:
        values = np.asarray(orders)
        if values.dtype.kind not in "iuf" or values.ndim != 1 or values.size == 0:
            raise TypeError
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"orders must be {allowed}, got {orders!r}.") from None
    if not (np.all((numbers >= 2) & (numbers <= MOST_ORDER)) and np.all(numbers == np.floor(numbers))):
        raise ValueError(f"orders must be {allowed}, got {orders!r}.")
    return numbers.astype(np.int64)


def check_sigma(sigma: float) -> float:
    """Return `sigma` as a float if it is in [1e-100, 1e100], where its square is a float, else raise ValueError."""
    number = check_positive("sigma", sigma)
    if not 1e-100 <= number <= 1e100:
        raise ValueError(f"sigma must be in [1e-100, 1e100], got {sigma!r}.")
    return number


def rdp_from_log_excess(orders: NDArray[np.int64], log_excess: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the divergence for the log of ``e^((order - 1) divergence) - 1`` at each order."""
    return np.asarray(np.logaddexp(0.0, log_excess) / (orders - 1))


def log_binomials(trials: int) -> NDArray[np.float64]:
    """Return the logs of the binomial coefficients C(trials, 0), .., C(trials, trials).

    Sums of the logs of successive ratios from either end: next to the ends, where the coefficients weigh most, they
    are good to the last place, while differences of log-gamma functions lose three digits at a thousand trials.
    """
    half = trials // 2
    k = np.arange(1, half + 1)
    left = np.concatenate(([0.0], np.cumsum(np.log((trials + 1 - k) / k))))
    return np.concatenate((left, left[trials - half - 1 :: -1]))


def log_sum(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log of the sum of exponentials along the first axis; at least one term must be finite."""
    top = np.max(terms, axis=0)
    return np.asarray(top + np.log(np.sum(np.exp(terms - top), axis=0)))


@remember(_REMEMBERED)
def log_cumulants(sigma: float, last: int) -> NDArray[np.float64]:
    """Return the logs of the cumulants 0 to `last` of X, shape (last + 1,); the first stands for none.

    Notes
    -----
    The cumulants count connected graphs on labelled vertices with weight ``(q - 1)^edges``; hence they are
    positive. ``kappa_{m+2} = sum_k C(m, k) (q^(k+1) - 1) kappa_{k+1} kappa_{m-k+1}``, which follows from
    ``G'(x) = G(q x)`` for ``G(x) = sum q^(k(k-1)/2) x^k / k!``. Divided by factorials no binomials are needed.
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
    """Moments from cumulants: ``M_l = sum_j C(l-1, j-1) kappa_j n^(1-j) M_{l-j}``, without j = 1 if central.

    For moments about 0 the sum is kept without its j = 1 term and without the 1 that all moments exceed.
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
