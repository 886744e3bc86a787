"""Renyi differential privacy: the Gaussian mechanism, composition, and the conversion to eps."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from shuffledp.numerics.argument_ranges import Delta, RealArray, check_between, check_count

#: Largest order: the cost is quadratic in it.
MOST_ORDER = 4096


class LastOrderWarning(UserWarning):
    """Warning that the best order is the last one; a longer list of orders would probably give a smaller eps."""


def gaussian_rdp(orders: RealArray, sigma: Sigma) -> NDArray[np.float64]:
    """Return the Renyi divergence of one Gaussian report, ``order / (2 sigma^2)``.

    Source: arXiv 2206.09569, Corollary 1; Mironov (2017), Proposition 7. Exact for two records at distance 1.

    Parameters
    ----------
    orders : (k,) array_like of int
        Each in [2, 4096].
    sigma : float
        Standard deviation of the noise per unit of replacement distance, > 0.

    Returns
    -------
    (k,) ndarray
        Nats. An upper bound for shuffled reports and all neighbors, because shuffling is post-processing.
    """
    return check_orders(orders) / (2 * sigma**2)


def compose_rdp(rdps: RealArray, rounds: Sequence[int]) -> NDArray[np.float64]:
    """Return the Renyi divergence of a sequence of mechanisms, chosen adaptively or not.

    Source: arXiv 2206.09569, Lemma 1; Mironov (2017), Proposition 1. An upper bound on the divergence of the sequence,
    exact up to rounding.

    Parameters
    ----------
    rdps : (m, k) array_like
        Divergences of m mechanisms at the same k orders, nats, >= 0.
    rounds : (m,) sequence of int
        Number of uses of each mechanism, >= 0.

    Returns
    -------
    (k,) ndarray
        Sum per order, nats.
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


def rdp_to_epsilon(orders: RealArray, rdp: RealArray, delta: Delta) -> tuple[float, float]:
    """Return the central eps implied by Renyi divergences, and the order with the smallest eps.

    Source: arXiv 2206.09569, Lemma 2, from Balle et al. (2020) and Canonne, Kamath and Steinke (2020). An upper bound
    for any list of orders if the divergences are upper bounds.

    Parameters
    ----------
    orders : (k,) array_like
        Each above 1, finite; integers or not.
    rdp : (k,) array_like
        Divergences at these orders, nats, >= 0; ``inf`` if no finite divergence is known.
    delta : float
        In (0, 1).

    Returns
    -------
    epsilon : float
        Nats, >= 0; the minimum over the orders. ``inf`` if no order has a finite divergence.
    order : float
        First order with this minimum.

    Warns
    -----
    LastOrderWarning
        If the last order is the best and eps is positive, so that a longer list would probably give a smaller eps.

    Examples
    --------
    >>> from shuffledp.accounting import gaussian_rdp, rdp_to_epsilon
    >>> orders = range(2, 65)
    >>> eps, order = rdp_to_epsilon(orders, gaussian_rdp(orders, 5.0), 1e-6)
    >>> round(eps, 4), order
    (0.8999, 24.0)
    """
    epsilon, order = best_epsilon(orders, rdp, delta)
    if 0 < epsilon < math.inf and order == np.max(np.asarray(orders, np.float64)):
        warnings.warn(
            f"The best order is the last one, {order:g}; more orders would give a smaller eps than {epsilon:.4g}.",
            LastOrderWarning,
            stacklevel=2,
        )
    return epsilon, order


def best_epsilon(orders: RealArray, rdp: RealArray, delta: Delta) -> tuple[float, float]:
    """Return the result of :func:`rdp_to_epsilon` without a warning, for lists that are short on purpose.

    Parameters, results and source as in :func:`rdp_to_epsilon`; eps in nats. An upper bound for any list of orders.
    """
    orders_ = np.asarray(orders, np.float64)
    values = np.asarray(rdp, np.float64)
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
    """Return the term that Lemma 2 adds to the divergence at each order; it is negative for large orders and delta."""
    return (-math.log(delta) - np.log(orders)) / (orders - 1) + np.log1p(-1 / orders)


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


def check_orders(orders: RealArray) -> NDArray[np.int64]:
    """Return `orders` as integers; raise ValueError unless it is a non-empty list of integers in [2, 4096]."""
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


#: Noise whose square is a float.
Sigma = Annotated[float, partial(check_between, least=1e-100, most=1e100)]
Order = Annotated[int, partial(check_count, least=2, most=MOST_ORDER)]


def rdp_from_log_excess(orders: NDArray[np.int64], log_excess: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the divergence at each order from the log of ``e^((order - 1) divergence) - 1``."""
    return np.asarray(np.logaddexp(0.0, log_excess) / (orders - 1))
