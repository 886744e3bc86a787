"""Errors of sums whose numbers are rounded at random to few levels and then reported with some probability only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shuffledp.numerics.argument_ranges import check_count, check_unit

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def rounding_variance(numbers: ArrayLike, max_value: int, levels: int) -> NDArray[np.float64]:
    """Return the variance of rounding ``numbers / max_value`` to a multiple of ``1 / levels`` with the right mean.

    Parameters
    ----------
    numbers : (V,) array_like of int
        In 0..max_value.
    max_value, levels : int
        At least 1.

    Returns
    -------
    (V,) ndarray
        Exact, ``f (1 - f) / levels^2``, where f is the part of ``levels * number / max_value`` behind the point.

    Notes
    -----
    Derived for this project: the variance of a coin.
    """
    size, steps = check_count("max_value", max_value, 1), check_count("levels", levels, 1)
    part = np.mod(_numbers(numbers, size) * steps, size) / size
    return np.asarray(part * (1 - part) / steps**2)


def level_sum_variance(
    numbers: ArrayLike, max_value: int, levels: int, uniform_rate: float
) -> NDArray[np.float64]:
    """Return what one user adds to the squared error of a sum of ``numbers / max_value``: a level, or a uniform one.

    Parameters
    ----------
    numbers, max_value, levels
        As in :func:`rounding_variance`; a message is one of ``levels + 1`` levels 0, 1 / levels, .., 1.
    uniform_rate : float
        lambda in [0, 1), the probability that a message is a uniform level.

    Returns
    -------
    (V,) ndarray
        Exact, rounding included.

    Notes
    -----
    Derived for this project, for the single-message protocol of Balle et al. (2019): with x the rounded number the
    message has mean ``(1 - lambda) x + lambda / 2`` and second moment ``(1 - lambda) x^2 + lambda (2 g + 1) / (6 g)``.
    """
    rate = check_unit("uniform_rate", uniform_rate)
    rounding = rounding_variance(numbers, max_value, levels)
    x = _numbers(numbers, max_value) / max_value
    square = x * x + rounding  # of the rounded number
    second = (1 - rate) * square + rate * (2 * levels + 1) / (6 * levels)
    # The mean of (mean of the message)^2 over the two roundings.
    first = (1 - rate) ** 2 * square + (1 - rate) * rate * x + rate * rate / 4
    return np.asarray((second - first) / (1 - rate) ** 2 + rounding)


def unary_bits_variance(
    numbers: ArrayLike, max_value: int, bits: int, uniform_rate: float
) -> NDArray[np.float64]:
    """Return what one user adds to the squared error of a sum of ``numbers / max_value``: so many randomized bits.

    Parameters
    ----------
    numbers, max_value
        As in :func:`rounding_variance`, rounded to ``bits`` levels.
    bits : int
        r >= 1, of which as many are ones as the level says.
    uniform_rate : float
        lambda in [0, 1), the probability that a bit is replaced by a fair coin.

    Returns
    -------
    (V,) ndarray
        Exact, rounding included.

    Notes
    -----
    Derived for this project, for the protocol of Cheu et al. (2019): every bit has the variance of a coin with
    ``lambda / 2``.
    """
    half = check_unit("uniform_rate", uniform_rate) / 2
    noise = half * (1 - half) / (bits * (1 - 2 * half) ** 2)
    return np.asarray(noise + rounding_variance(numbers, max_value, bits))


def _numbers(numbers: ArrayLike, max_value: int) -> NDArray[np.int64]:
    given = np.asarray(numbers)
    if not np.issubdtype(given.dtype, np.integer) or (
        given.size and not 0 <= given.min() <= given.max() <= max_value
    ):
        raise ValueError(f"numbers must be integers in 0..{max_value}, got {numbers!r}.")
    return given.astype(np.int64)
