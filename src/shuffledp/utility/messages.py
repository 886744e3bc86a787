"""The most messages that any of many users sends, where their number has no bound.

The number is compound Poisson: independently, a user sends j messages at once at the rate ``rates[j]``. Poisson,
negative binomial and the project's own noises with jumps are all of this kind, and so are their sums and multiples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.numerics.checks import check_open_unit, check_positive
from shuffledp.numerics.roots import root_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Probability with which any of the users may send more than what is stated.
RARE = 1e-6
#: Numbers of messages that a law is worked out for, at first and at most; and these over Chernoff's bound.
_FIRST, _LAST, _ROOM = 2**10, 2**20, 4
#: Logs of the tilts that are tried; any tilt gives a bound, the best one the least.
_TILTS = -50.0, 6.5


def most_sent(rates: Callable[[int], NDArray[np.float64]], users: float, *, failure: float = RARE) -> int:
    """Return the smallest number that any of the users exceeds with a probability of at most `failure`.

    Parameters
    ----------
    rates : callable
        ``rates(size)`` has the rates at which one user sends 0, 1, .., size - 1 messages at once, (size,); that of 0
        is not looked at.
    users : float
        All users, or their expected number; positive. They need not be independent.
    failure : float
        In (0, 1).

    Returns
    -------
    int
        By the union bound. Where Chernoff's bound on it is above 262,144 messages, that bound.

    Notes
    -----
    The law is found by one Fourier transform, tilted by half of the tilt of Chernoff's bound: the tail in question is
    then far above rounding, and what passes the end of the transform far below it.
    """
    allowed = math.log(check_open_unit("failure", failure)) - math.log(check_positive("users", users))
    size = _FIRST
    while True:
        jumps = np.arange(1.0, size)
        rate = np.asarray(rates(size), np.float64)[1:]
        some = rate > 0
        if not some.any():
            return 0
        jumps, rate = jumps[some], np.log(rate[some])
        tilt = _tilt(jumps, rate, allowed)
        bound = math.floor((_cumulant(jumps, rate, tilt) - allowed) / tilt)
        if _ROOM * bound <= size:
            break
        if size == _LAST:
            return bound
        size = min(_LAST, 1 << (_ROOM * bound).bit_length())
    tilt /= 2
    table = np.zeros(size)
    table[jumps.astype(np.int64)] = np.exp(rate + tilt * jumps)
    law = np.fft.irfft(np.exp(np.fft.rfft(table) - table.sum()), size)
    untilted = np.exp(np.minimum(_cumulant(jumps, rate, tilt) - allowed - tilt * np.arange(size), 700.0))
    above = np.cumsum((np.maximum(law, 0.0) * untilted)[:0:-1])[
        ::-1
    ]  # Pr[more than 0, 1, ..] over what is allowed
    return int(np.count_nonzero(above > 1))


def single_messages(mean: float) -> Callable[[int], NDArray[np.float64]]:
    """Return the rates of a Poisson number of messages with this mean, for `most_sent`."""

    def rates(size: int) -> NDArray[np.float64]:
        found = np.zeros(size)
        found[1] = mean
        return found

    return rates


def _cumulant(jumps: NDArray[np.float64], log_rates: NDArray[np.float64], tilt: float) -> float:
    return float(np.sum(np.exp(log_rates + tilt * jumps) - np.exp(log_rates)))


def _tilt(jumps: NDArray[np.float64], log_rates: NDArray[np.float64], allowed: float) -> float:
    """The tilt of Chernoff's bound on the number that is exceeded with the log probability `allowed`."""

    def excess(log_tilt: float) -> float:
        power = math.exp(log_tilt) * jumps
        with np.errstate(over="ignore"):
            return float(np.sum(np.exp(log_rates + power) * (power - 1) + np.exp(log_rates))) + allowed

    return math.exp(root_below(excess, 0.0, *_TILTS, xtol=1e-6))
