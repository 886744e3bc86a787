"""Probability mass functions on a window of integers, with a bound on the mass that was left out."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.numerics.tails import log_binomial_pmf, log_poisson_pmf

#: Entries below this are cut off while thinning: denormal numbers make the arithmetic many times slower.
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Window:
    """Probabilities of consecutive integers.

    Parameters
    ----------
    start : int
        The integer that ``pmf[0]`` belongs to.
    pmf : (w,) ndarray
        Probabilities of ``start, start + 1, ..``, accurate in the relative sense.
    omitted : float
        Upper bound on the mass that `pmf` leaves out, wherever it lies.
    """

    start: int
    pmf: NDArray[np.float64]
    omitted: float = 0.0

    @property
    def stop(self) -> int:
        """The first integer behind the window."""
        return self.start + int(self.pmf.size)

    @property
    def support(self) -> NDArray[np.int64]:
        """The integers of the window, shape (w,)."""
        return np.arange(self.start, self.stop, dtype=np.int64)


def _point_mass(x: int) -> Window:
    return Window(x, np.ones(1))


def _reach(variance: float, log_inverse: float) -> float:
    """Distance that a sum of independent variables in [0, 1] exceeds with probability <= exp(-log_inverse).

    Bernstein's inequality; holds for Poisson variables too, as limits of such sums.
    """
    return log_inverse / 3 + math.sqrt(log_inverse**2 / 9 + 2 * variance * log_inverse)


def _ends(mean: float, variance: float, last: float, tail: float) -> tuple[int, int]:
    """First and last integer of a window that misses at most `tail` of the mass on each side."""
    log_inverse = -math.log(tail)
    # The lower tail also obeys Chernoff's exp(-t^2 / (2 mean)), which is better for small rates.
    down = min(_reach(variance, log_inverse), math.sqrt(2 * mean * log_inverse))
    first = max(0, math.floor(mean - down))
    return first, int(min(last, math.ceil(mean + _reach(variance, log_inverse))))


def _from_ratios(
    first: int, log_ratios: NDArray[np.float64], mode: int, log_at_mode: float
) -> NDArray[np.float64]:
    """Probabilities from the logs of successive ratios, anchored at the mode, where accuracy counts."""
    log_pmf = np.concatenate(([0.0], np.cumsum(log_ratios)))
    log_pmf += log_at_mode - log_pmf[mode - first]
    return np.exp(log_pmf)


def binomial_window(trials: int, rate: float, tail: float) -> Window:
    """Return the law of Bin(trials, rate) on a window missing at most `tail` of the mass on either side.

    Parameters
    ----------
    trials : int
        At least 0.
    rate : float
        In [0, 1].
    tail : float
        In (0, 1).

    Returns
    -------
    Window
        Its length is O(sqrt(variance * log(1 / tail))).
    """
    if trials == 0 or rate == 0:
        return _point_mass(0)
    if rate == 1:
        return _point_mass(trials)
    mean = trials * rate
    first, last = _ends(mean, mean * (1 - rate), trials, tail)
    mode = min(max(math.floor(mean), first), last)
    x = np.arange(first, last, dtype=np.float64)
    log_ratios = np.log((trials - x) / (x + 1) * (rate / (1 - rate)))
    pmf = _from_ratios(first, log_ratios, mode, log_binomial_pmf(mode, trials, rate))
    return Window(first, pmf, tail * ((first > 0) + (last < trials)))


def poisson_window(mean: float, tail: float) -> Window:
    """Return the law of Poisson(mean), mean >= 0, on a window missing at most `tail` on either side."""
    if mean == 0:
        return _point_mass(0)
    first, last = _ends(mean, mean, math.inf, tail)
    mode = max(math.floor(mean), first)
    x = np.arange(first, last, dtype=np.float64)
    pmf = _from_ratios(first, np.log(mean / (x + 1)), mode, log_poisson_pmf(mode, mean))
    return Window(first, pmf, tail * ((first > 0) + 1))


def convolve(left: Window, right: Window) -> Window:
    """Return the law of the sum of two independent variables.

    Direct summation, not a Fourier transform, because small probabilities must keep their relative accuracy.
    """
    return Window(left.start + right.start, np.convolve(left.pmf, right.pmf), left.omitted + right.omitted)


def thin(window: Window, rate: float, tail: float) -> Window:
    """Return the law of Bin(X, rate) where X has the law `window`.

    Parameters
    ----------
    window : Window
        Law of X >= 0.
    rate : float
        Probability with which each of the X units is kept, in [0, 1].
    tail : float
        Mass that may be left out on either side, on top of what `window` leaves out.

    Notes
    -----
    With X = start + Y, Bin(X, rate) = Bin(start, rate) + Bin(Y, rate). The second is built by Horner's rule
    in the operator "one more trial": additions of positive terms only, quadratic in the window's length.
    """
    if rate == 0:
        return Window(0, np.array([float(np.sum(window.pmf))]), window.omitted)
    if rate == 1:
        return window
    omitted = window.omitted
    law = window.pmf[-1:].copy()
    for weight in window.pmf[-2::-1]:
        longer = np.empty(law.size + 1)
        longer[:-1] = (1 - rate) * law
        longer[-1] = 0.0
        longer[1:] += rate * law
        longer[0] += weight
        if longer[-1] < _TINY and longer.size > 1:
            omitted += float(longer[-1])
            longer = longer[:-1]
        law = longer
    return convolve(binomial_window(window.start, rate, tail), Window(0, law, omitted))
