"""Sums and binomial coefficients in natural logarithms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

#: Exponent from which on ``e^-x`` is the smaller term of ``1 - e^-x``.
_LOG_TWO = 0.6931471805599453


def log_binomials(trials: int) -> NDArray[np.float64]:
    """Return the logs of the binomial coefficients C(trials, 0), .., C(trials, trials). They are sums of logs of
    successive ratios from either end, and exact to the last digit near the ends, where the coefficients have the
    largest weight. Differences of log-gamma functions lose three digits at a thousand trials.
    """
    half = trials // 2
    k = np.arange(1, half + 1)
    first_half = np.concatenate(([0.0], np.cumsum(np.log((trials + 1 - k) / k))))
    return np.concatenate((first_half, first_half[trials - half - 1 :: -1]))


def log_sum(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log of the sum of exponentials along the first axis; at least one term must be finite."""
    top = np.max(terms, axis=0)
    return np.asarray(top + np.log(np.sum(np.exp(terms - top), axis=0)))


def log1mexp(x: ArrayLike) -> NDArray[np.float64]:
    """Return ``log(1 - e^-x)`` for each x >= 0, in the shape of `x`; ``-inf`` at 0. The relative error is a few units
    in the last place for small and large x (Maechler 2012).
    """
    x_ = np.asarray(x, np.float64)
    with np.errstate(divide="ignore"):
        return np.where(x_ > _LOG_TWO, np.log1p(-np.exp(-x_)), np.log(-np.expm1(-x_)))
