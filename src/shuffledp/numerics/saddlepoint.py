"""Intervals around sums of independent variables, by the saddlepoint approximation of their tails.

The variables are scaled binomial variables and their limits: negative binomial, Poisson, gamma and normal variables.
Their log moments have one formula. Tails: Lugannani and Rice 1980, with the second continuity correction of Daniels
1987 for variables on a lattice. In contrast to normal quantiles, the relative error stays small deep in a tail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, log_ndtr, ndtri

Floats = NDArray[np.float64]
Number = NDArray[np.floating[Any]] | float
#: Standard deviation of a normal variable in steps of the Poisson variable that replaces it.
_FINE = 1e6
#: Largest probability of any change below which it is used in place of a saddlepoint approximation.
_RARE = 0.1
#: Largest exponent of a tilted moment; largest numbers of steps of the two searches, and their relative precision.
_LARGE, _STEPS, _PRECISION = 600.0, 60, 1e-6


@dataclass(frozen=True, eq=False)
class Term:
    """Centered variable ``scale (B - mean)``; parameters broadcast, usually (R, V) for repeats and estimates.

    Parameters
    ----------
    mean : array_like
        Mean of B, >= 0.
    rate : float
        B is binomial with this success probability if it is in (0, 1], Poisson if it is 0, and negative binomial with
        odds ``-rate`` of another success if it is negative.
    scale : array_like
        Value of one success, not 0.
    """

    mean: Number
    rate: float
    scale: Number

    @property
    def variance(self) -> Floats:
        """Variance of the scaled variable."""
        return np.asarray(np.square(self.scale) * self.mean * (1 - self.rate), float)

    def times(self, scale: Number) -> Term:
        """Return the variable multiplied by `scale`."""
        return Term(self.mean, self.rate, self.scale * scale)

    def cumulants(self, tilt: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the log moment at `tilt` and its first two derivatives; infinite beyond a pole."""
        exponent = self.scale * tilt
        grown = np.expm1(np.minimum(exponent, _LARGE))
        if self.rate == 0:
            each = np.asarray(self.mean * self.scale, float)
            value = np.asarray(self.mean * (grown - exponent), float)
            return value, each * grown, np.asarray(each * self.scale * (1 + grown), float)
        if self.rate == 1:  # a constant, whose formula has a pole where e^exponent is 0 in double precision
            nothing = np.zeros(np.broadcast_shapes(np.shape(self.mean), exponent.shape))
            return nothing, nothing, nothing
        remaining = 1 + self.rate * grown
        pole = remaining <= 0
        remaining = np.where(pole, 1.0, remaining)
        log = np.log1p(self.rate * np.where(pole, 0.0, grown)) / self.rate
        first = self.mean * (1 - self.rate) / remaining * self.scale
        value = self.mean * (log - exponent)
        slope = first * grown
        curvature = first * self.scale * (1 + grown) / remaining
        return np.where(pole, np.inf, value), np.where(pole, np.inf, slope), np.where(pole, np.inf, curvature)

    def likeliest_end(self) -> tuple[Floats, Floats]:
        """Return the log probability of no success, or of no failure if it is larger, and the variable there."""
        ends = [(self.mean * (np.log1p(-self.rate) / self.rate if self.rate else -1.0), -self.mean)]
        if self.rate > 0:
            trials = self.mean / self.rate
            ends.append((trials * np.log(self.rate), trials - self.mean))
        (log_none, at), (log_all, last) = ends[0], ends[-1]
        likelier = np.greater(log_all, log_none)
        return np.where(likelier, log_all, log_none), np.where(likelier, last, at) * self.scale

    @property
    def largest_tilt(self) -> Floats:
        """Positive tilt up to which moments are finite and computed."""
        scale = np.asarray(self.scale, float)
        pole = np.log1p(-1 / self.rate) if self.rate < 0 else _LARGE
        return np.asarray(np.where(scale > 0, np.minimum(pole, _LARGE), _LARGE) / np.abs(scale))


def poisson_term(variance: Number, step: Number) -> Term:
    """Return a Poisson variable of this variance in steps of size `step`.

    Bennett's inequality: its moments bound those of a sum of independent, centered terms of at most `step`.
    """
    return Term(variance / np.square(step), 0.0, step)


def normal_term(variance: Number) -> Term:
    """Return a normal variable, as a Poisson variable in tiny steps."""
    return poisson_term(variance, np.maximum(np.sqrt(variance), 1e-150) / _FINE)


def two_sided(mean: Number, rate: float, scale: Number = 1.0) -> list[Term]:
    """Return the terms of the difference of two independent variables of one law."""
    return [Term(mean, rate, scale), Term(mean, rate, -scale)]


def geometric_noise(decay: float, shape: Number = 1.0) -> list[Term]:
    """Return the difference of two negative binomial variables of ratio ``e^-decay`` and this shape."""
    odds = 1 / np.expm1(decay)
    return two_sided(shape * odds, -float(odds))


def report_law(
    true_counts: Floats, own_rate: float, others: Floats, other_rate: float, scale: Floats
) -> ErrorLaw:
    """Return the law of a number of reports over `scale`, of `true_counts` and `others` at their rates."""
    return ErrorLaw(
        [Term(true_counts * own_rate, own_rate, 1 / scale), Term(others * other_rate, other_rate, 1 / scale)],
        1 / scale,
    )


@dataclass(frozen=True, eq=False)
class ErrorLaw:
    """Law of a sum of independent terms, (R, V), on a lattice with a distance of `step` >= 0 between points.

    An error is at most the larger of the sum and `least`, a half-width that no interval is below.
    """

    terms: Sequence[Term]
    step: Number = 0.0
    least: Number = 0.0

    @cached_property
    def variance(self) -> Floats:
        """Variance of the sum."""
        return np.asarray(sum(term.variance for term in self.terms), float)

    @property
    def third_moment(self) -> Floats:
        """Third central moment of the sum."""
        return np.asarray(sum(t.variance * t.scale * (1 - 2 * t.rate) for t in self.terms), float)

    def of_estimates(self, which: NDArray[np.int64]) -> ErrorLaw:
        """Return the law of the estimates with these indices, (R, len(which))."""

        def some(number: Number) -> Number:
            return (
                number[..., which] if isinstance(number, np.ndarray) and number.shape[-1:] > (1,) else number
            )

        terms = [Term(some(t.mean), t.rate, some(t.scale)) for t in self.terms]
        return ErrorLaw(terms, some(self.step), some(self.least))

    @cached_property
    def _largest_tilt(self) -> Floats:
        return np.asarray(
            np.min(np.broadcast_arrays(*(term.largest_tilt for term in self.terms)), axis=0), float
        )

    @cached_property
    def _in_both_directions(self) -> ErrorLaw:
        """Law of the sum and of its negative, along a new first axis."""
        signs = np.array([1.0, -1.0]).reshape(2, 1, 1)
        return ErrorLaw([term.times(signs) for term in self.terms], self.step)

    def log_tail(self, distance: Floats, guess: Floats | float = 0.0) -> tuple[Floats, Floats]:
        """Return the log probability of a sum of at least `distance` > 0, and the tilt there, which is its slope."""
        most = self._largest_tilt
        shape = np.broadcast_shapes(np.shape(distance), np.shape(most), self.variance.shape)
        low, high = np.zeros(shape), np.broadcast_to(most, shape).copy()
        with np.errstate(all="ignore"):
            tilt = np.where(
                (guess > low) & (guess < high), guess, np.minimum(distance / self.variance, high / 2)
            )
            for _ in range(_STEPS):
                value, slope, curvature = self._cumulants(tilt)
                above = ~(slope < distance)
                low, high = np.where(above, low, tilt), np.where(above, tilt, high)
                # In logs, as the slope grows exponentially where few successes are expected.
                step = tilt - np.log(slope / distance) * slope / curvature
                inside = (step > low) & (step < high)
                previous, tilt = tilt, np.where(inside, step, (low + high) / 2)
                if np.all(np.abs(tilt - previous) <= _PRECISION * tilt):
                    break
            value, slope, curvature = self._cumulants(tilt)
            reached = slope > distance * (1 - 1e-3)  # otherwise the sum is below the distance
            root = np.sqrt(2 * np.maximum(tilt * distance - value, 0))
            half = np.minimum(tilt * self.step / 2, _LARGE)
            wide = (
                tilt
                * np.where(half > 1e-4, np.sinh(half) / np.maximum(half, 1e-300), 1.0)
                * np.sqrt(curvature)
            )
            density = np.sqrt(np.pi / 2) * erfcx(root / np.sqrt(2)) + 1 / wide - 1 / root
            log = -(root**2) / 2 - np.log(2 * np.pi) / 2 + np.log(density)
            log = np.where(density > 0, log, -(root**2) / 2)
            log = np.where(root > 1e-4, log, log_ndtr(-root))
            return np.where(reached, np.minimum(log, 0.0), -np.inf), tilt

    def change(self) -> tuple[Floats, Floats]:
        """Return a bound on the probability that any term is not at its likeliest end, and the error at these ends."""
        logs, errors = map(sum, zip(*(term.likeliest_end() for term in self.terms), strict=True))
        return -np.expm1(logs), np.abs(errors)

    def _cumulants(self, tilt: Floats) -> tuple[Floats, Floats, Floats]:
        value, slope, curvature = map(sum, zip(*(term.cumulants(tilt) for term in self.terms), strict=True))
        return value, slope, curvature  # type: ignore[return-value]

    def outside(self, distance: Floats, guess: Floats | float = 0.0) -> tuple[Floats, Floats, Floats]:
        """Return the probability of at least `distance` > 0 from 0 in either direction, its rate of decrease, and the
        tilts.
        """
        logs, tilts = self._in_both_directions.log_tail(distance, guess)
        return np.exp(logs).sum(axis=0), (np.exp(logs) * tilts).sum(axis=0), tilts


def half_widths(laws: Sequence[tuple[ErrorLaw, Floats]], level: float, *, together: bool = False) -> Floats:
    """Return half-widths of intervals around estimates with these errors.

    Parameters
    ----------
    laws : sequence of (ErrorLaw, (R, V) ndarray)
        Laws of the errors of V estimates in R cases, and their weights: the probability of a case, times a number of
        estimates with this law if `together`.
    level : float
        Probability of an error beyond the half-width, in (0, 1).
    together : bool
        True for one number that bounds all errors with probability ``1 - level``, by the union bound.

    Returns
    -------
    (V,) or () ndarray
        Half-widths, to a relative 1e-4 from above, and half a step of the lattice beyond the continuous law.
    """

    with np.errstate(divide="ignore", invalid="ignore"):
        changes = [law.change() for law, _ in laws]
    tilts: list[Floats | float] = [0.0 for _ in laws]  # of the width before, a guess for the next one

    def chance(width: Floats) -> tuple[Floats, Floats]:
        total, slope = np.zeros(np.shape(width)), np.zeros(np.shape(width))
        for place, ((law, weights), (change, least)) in enumerate(zip(laws, changes, strict=True)):
            distance = np.maximum(width - np.asarray(law.step) / 2, 1e-9 * width)
            outside, decrease, tilts[place] = law.outside(distance, tilts[place])
            # Any change is at least a step, and is so rare that the approximation is not precise.
            rare = (change < _RARE) & (width > least) & ((width <= law.step) | (outside > change))
            outside, decrease = np.where(rare, change, outside), np.where(rare, 0.0, decrease)
            weighted = [weights * part for part in (outside, decrease)]
            chances, slopes = (part.sum() if together else part.sum(axis=0) for part in weighted)
            total, slope = total + chances, slope + slopes
        return total, slope

    spread = [np.sqrt(law.variance) * np.ones_like(weights) + np.asarray(law.step) for law, weights in laws]
    most = [part.max() if together else part.max(axis=0) for part in spread]
    size = max(1.0, max(float(weights.sum(axis=None if together else 0).max()) for _, weights in laws))
    width = np.asarray(-ndtri(level / (2 * size)) * np.max(most, axis=0), float)
    low, high = np.zeros(width.shape), np.full(width.shape, np.inf)
    with np.errstate(all="ignore"):
        for _ in range(_STEPS):
            outside, slope = chance(width)
            short = outside > level
            low, high = np.where(short, width, low), np.where(short, high, width)
            move = width + np.log(outside / level) * outside / slope
            inside = (move > low) & (move < high)
            middle = np.where(np.isinf(high), 2 * width, (low + high) / 2)
            previous, width = width, np.where(inside, move, middle)
            if np.all(np.abs(width - previous) <= 1e-5 * width):
                break
    least = [np.broadcast_to(law.least, np.shape(weights)) for law, weights in laws]
    ends = [part.max() if together else part.max(axis=0) for part in least]
    return np.asarray(np.maximum(width * (1 + 1e-5), np.max(ends, axis=0)), float)
