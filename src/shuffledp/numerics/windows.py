"""Probability mass functions on a window of integers, with a bound on the omitted mass."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.numerics.logs import log1mexp
from shuffledp.numerics.tails import log_binomial_pmf, log_poisson_pmf

#: Entries below this are cut off while thinning: denormal numbers make the arithmetic many times slower.
_TINY = 1e-300
#: Largest number of probabilities, 0.13 GB.
_MOST_TERMS = 2**24
#: Number of consecutive values that thinning multiplies by a matrix of binomial rows at once.
_BLOCK = 48
#: Binomial coefficients; those up to C(47, 23) are exact in float64.
_CHOICES = np.array([[math.comb(n, c) for c in range(_BLOCK)] for n in range(_BLOCK)], dtype=np.float64)


class TooManyTermsError(ArithmeticError):
    """Error for a law with too many likely values to be enumerated."""


@dataclass(frozen=True, eq=False)
class Window:
    """Probabilities of consecutive integers from `start` on, (w,), with full relative accuracy. `omitted` is an upper
    bound on the mass that `pmf` omits, inside or outside of the window.
    """

    start: int
    pmf: NDArray[np.float64]
    omitted: float = 0.0

    @property
    def stop(self) -> int:
        """First integer after the window."""
        return self.start + int(self.pmf.size)

    @property
    def support(self) -> NDArray[np.int64]:
        """Integers of the window, shape (w,)."""
        return np.arange(self.start, self.stop, dtype=np.int64)


def _point_mass(x: int) -> Window:
    return Window(x, np.ones(1))


def _reach(variance: float, log_inverse: float) -> float:
    """Return a distance that a sum of independent variables in [0, 1] exceeds with probability <= exp(-log_inverse).
    Bernstein's inequality, for Poisson variables too.
    """
    return log_inverse / 3 + math.sqrt(log_inverse**2 / 9 + 2 * variance * log_inverse)


def _ends(mean: float, variance: float, last: float, tail: float) -> tuple[int, int]:
    """Return the first and last integer of a window that omits at most `tail` on either side."""
    log_inverse = -math.log(max(tail, math.ulp(0.0)))  # the tail may underflow
    # The lower tail also obeys Chernoff's exp(-t^2 / (2 mean)), which is better for small rates.
    down = min(_reach(variance, log_inverse), math.sqrt(2 * mean * log_inverse))
    first = max(0, math.floor(mean - down))
    return first, int(min(last, math.ceil(mean + _reach(variance, log_inverse))))


def binomial_ends(trials: int, rate: float, tail: float) -> tuple[int, int]:
    """Return the first and last integer of :func:`binomial_window`, for a rate in (0, 1)."""
    mean = trials * rate
    return _ends(mean, mean * (1 - rate), trials, tail)


def _support(first: int, last: int) -> NDArray[np.float64]:
    if last - first > _MOST_TERMS:
        raise TooManyTermsError(f"{last - first} probabilities are too many for a window.")
    return np.arange(first, last, dtype=np.float64)


def _from_ratios(
    first: int, log_ratios: NDArray[np.float64], mode: int, log_at_mode: float
) -> NDArray[np.float64]:
    """Return probabilities from the logs of successive ratios and the probability of the mode."""
    log_pmf = np.concatenate(([0.0], np.cumsum(log_ratios)))
    log_pmf += log_at_mode - log_pmf[mode - first]
    return np.exp(log_pmf)


def binomial_window(trials: int, rate: float, tail: float) -> Window:
    """Return the law of Bin(trials, rate) on a window that omits at most `tail` on either side. Its length is
    O(sqrt(variance * log(1 / tail))).
    """
    if trials == 0 or rate == 0:
        return _point_mass(0)
    if rate == 1:
        return _point_mass(trials)
    first, last = binomial_ends(trials, rate, tail)
    mode = min(max(math.floor(trials * rate), first), last)
    x = _support(first, last)
    log_ratios = np.log((trials - x) / (x + 1) * (rate / (1 - rate)))
    pmf = _from_ratios(first, log_ratios, mode, log_binomial_pmf(mode, trials, rate))
    return Window(first, pmf, tail * ((first > 0) + (last < trials)))


def poisson_window(mean: float, tail: float) -> Window:
    """Return the law of Poisson(mean), mean >= 0, on a window that omits at most `tail` on either side."""
    if mean == 0:
        return _point_mass(0)
    first, last = _ends(mean, mean, math.inf, tail)
    mode = max(math.floor(mean), first)
    x = _support(first, last)
    pmf = _from_ratios(first, np.log(mean / (x + 1)), mode, log_poisson_pmf(mode, mean))
    return Window(first, pmf, tail * ((first > 0) + 1))


def negative_binomial_window(shape: float, decay: float, tail: float, most: int) -> Window | None:
    """Return the law ``Pr[z] = C(z + r - 1, z) (1 - p)^r p^z`` on a window that omits at most `tail` on either side.
    `shape` is r > 0 and `decay` is ``-ln p`` > 0. The result is None if there are more than `most` terms before the
    lower end is cut off.
    """
    mean = shape / math.expm1(min(decay, 700.0))
    variance, reach = mean / -math.expm1(-decay), -math.log(tail)
    size = 64 + mean + math.sqrt(2 * variance * reach) + reach / decay
    start = shape * float(log1mexp(decay))
    while size <= most:
        z = np.arange(1, int(size), dtype=np.float64)
        steps = np.log1p((shape - 1) / z) - decay  # log of Pr[z] / Pr[z - 1]
        pmf = np.exp(np.concatenate(([start], start + np.cumsum(steps))))
        # From here on the law falls at least as fast as a geometric one.
        log_fall = max(math.log1p((shape - 1) / int(size)), 0.0) - decay
        beyond = float(pmf[-1]) / math.expm1(-log_fall) if log_fall < 0 else math.inf
        if beyond <= tail:
            first = int(np.searchsorted(np.cumsum(pmf), tail))
            return Window(first, pmf[first:], beyond + tail * (first > 0))
        size *= 1.5
    return None


def convolve(first: Window, second: Window) -> Window:
    """Return the law of the sum of two independent variables, by direct summation. A Fourier transform would lose the
    relative accuracy of small probabilities.
    """
    return Window(
        first.start + second.start, np.convolve(first.pmf, second.pmf), first.omitted + second.omitted
    )


def thin(window: Window, rate: float, tail: float) -> Window:
    """Return the law of Bin(X, rate) for X >= 0 with the law `window`; at most `tail` more is omitted on either side.
    With X = start + Y, Bin(X, rate) = Bin(start, rate) + Bin(Y, rate). For the second term, Y is cut into blocks of
    consecutive values, a matrix of binomial rows thins each block, and adjacent blocks are merged: all values of the
    right block have as many more trials as the left block is long. All terms are positive, so that they do not cancel.
    """
    if rate == 0:
        return Window(0, np.array([float(np.sum(window.pmf))]), window.omitted)
    if rate == 1:
        return window
    length = min(_BLOCK, window.pmf.size)
    weights = np.zeros(-(-window.pmf.size // length) * length)
    weights[: window.pmf.size] = window.pmf
    rows, dropped = _binomial_rows(length, rate)
    blocks = [Window(0, pmf) for pmf in weights.reshape(-1, length) @ rows]
    mergers = math.ceil(math.log2(len(blocks)))
    part = tail / (mergers + 1)
    for _ in range(mergers):
        shift = binomial_window(length, rate, part)
        odd = blocks[len(blocks) & ~1 :]
        blocks = [
            _mixture(lower, convolve(shift, upper))
            for lower, upper in zip(blocks[::2], blocks[1::2], strict=False)
        ]
        blocks += odd
        length *= 2
    omitted = window.omitted + dropped + 2 * tail * mergers / (mergers + 1)
    result = convolve(binomial_window(window.start, rate, part), blocks[0])
    pmf = result.pmf[: window.stop - result.start]  # behind are zeros that filled the last block
    return Window(result.start, pmf, result.omitted + omitted)


def _binomial_rows(length: int, rate: float) -> tuple[NDArray[np.float64], float]:
    """Return the laws of Bin(j, rate), j = 0, .., length - 1, as rows, and a bound on the mass that any row omits."""
    c = np.arange(length)
    powers = c[:, None] - c  # trials that fail
    with np.errstate(under="ignore"):
        rows = np.tril(_CHOICES[:length, :length] * rate**c * (1 - rate) ** np.maximum(powers, 0))
    small = (rows < _TINY) & (powers >= 0)
    if not np.any(small):
        return rows, 0.0
    rows[small] = 0.0
    return rows, length * _TINY


def _mixture(lower: Window, upper: Window) -> Window:
    """Return the sum of the masses of two windows, ``left.start <= right.start``, without their omitted mass."""
    pmf = np.zeros(max(lower.stop, upper.stop) - lower.start)
    pmf[: lower.pmf.size] = lower.pmf
    pmf[upper.start - lower.start : upper.stop - lower.start] += upper.pmf
    return Window(lower.start, pmf)
