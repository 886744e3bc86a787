"""Blocks of the number of participants of a round of shuffled check-in, Bin(n, rate), for sums over this number.

The window within twelve standard deviations of the mean has many short blocks. The numbers below and above it are one
block each, which is split while it contributes. Masses of blocks are exact or upper bounds, so that a sum over them is
never too small.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.numerics.tails import binomial_upper_tail, log_binomial_pmf

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Standard deviations within which the numbers of participants are summed one by one, unless they are too many.
_REACH = 12.0
_MOST_SINGLE = 4096
_SPLIT = 8


def first_blocks(n: int, rate: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and last numbers of blocks that cover 1 .. n: a window of short blocks, and the rest."""
    low, high, step = _window(n, rate)
    first = np.arange(low, high + 1, step, dtype=np.int64)
    last = np.minimum(first + step - 1, high)
    if low > 1:
        first, last = np.append(first, 1), np.append(last, low - 1)
    if high < n:
        first, last = np.append(first, high + 1), np.append(last, n)
    return first, last


def split_blocks(
    first: NDArray[np.int64], last: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the blocks after each is split into up to eight blocks of about the same length."""
    starts: list[int] = []
    ends: list[int] = []
    for a, b in zip(first.tolist(), last.tolist(), strict=True):
        step = -(-(b - a + 1) // _SPLIT)
        starts += range(a, b + 1, step)
        ends += [min(c + step - 1, b) for c in range(a, b + 1, step)]
    return np.array(starts, np.int64), np.array(ends, np.int64)


def outside(n: int, rate: float, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each block lies outside the window; such blocks are split while they contribute."""
    low, high, _ = _window(n, rate)
    return (last < low) | (first > high)


def log_masses(n: int, rate: float, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return log probabilities of blocks of participant numbers. For several numbers outside the window, the result is
    the log of an upper bound. Blocks inside the window are short, so that a difference of tails on their side of the
    mean is accurate.
    """
    low, high, step = _window(n, rate)
    result = np.empty(first.size)
    for i, (a, b) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        if a == b or b < low or a > high:
            result[i] = log_mass(n, rate, a, b)
    inside = (first < last) & (first >= low) & (last <= high)
    if step > 1 and np.any(inside):
        a, b = first[inside].astype(np.float64), last[inside].astype(np.float64)
        above = binomial_upper_tail(a, n, rate) - binomial_upper_tail(b + 1, n, rate)
        below = binomial_upper_tail(n - b, n, 1 - rate) - binomial_upper_tail(n - a + 1, n, 1 - rate)
        result[inside] = np.log(np.where(a > n * rate, above, below))
    return result


def log_mass(n: int, rate: float, first: int, last: int) -> float:
    """Return the log of an upper bound on the probability of first .. last participants; exact for one number. Away
    from the mode, successive probabilities fall at least geometrically. A block that contains the mode has at most its
    length times the largest probability.
    """
    count = last - first + 1
    mode = math.floor((n + 1) * rate)
    nearest = min(max(mode, first), last)
    log_pmf = log_binomial_pmf(nearest, n, rate)
    if count == 1 or nearest == mode:
        return log_pmf + math.log(count)
    if nearest == last:  # below the mode
        ratio = nearest * (1 - rate) / ((n - nearest + 1) * rate)
    else:
        ratio = (n - nearest) * rate / ((nearest + 1) * (1 - rate))
    geometric = -math.log1p(-ratio) if ratio < 1 else math.inf
    return log_pmf + min(math.log(count), geometric)


def _window(n: int, rate: float) -> tuple[int, int, int]:
    """Return the ends of the window around the mean, and the length of its blocks."""
    mean, reach = n * rate, _REACH * math.sqrt(n * rate * (1 - rate)) + 1
    low, high = max(1, math.floor(mean - reach)), min(n, math.ceil(mean + reach))
    return low, high, -(-(high - low + 1) // _MOST_SINGLE)
