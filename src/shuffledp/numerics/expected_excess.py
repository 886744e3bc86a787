r"""Upper bounds on the expected excess of a sum of many independent copies over several thresholds, by one contour.

As in :mod:`shuffledp.numerics.sum_excess`, but with thresholds c: for V the sum of n copies,

.. math:: E (V - c)^+ = \frac{1}{2 \pi i} \int_{\theta - i \infty}^{\theta + i \infty} M(s)^n e^{-s c}
\frac{ds}{s^2} ,

where ``M(s)^n``, the most expensive factor, does not depend on c. Away from the saddle point of a threshold, terms
cancel by a known factor. While this factor is moderate, one theta is sufficient for many thresholds. As in that module,
normal noise ends the contour, the trapezoidal rule errs upwards, and the remaining integral and the skipped terms have
bounds. The result is therefore an upper bound for any theta.

Derived for this project.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.numerics.sum_excess import PositiveSums, Summands, expected_positive_part

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Most by which terms cancel where a theta serves for several thresholds, as a logarithm.
_CANCELED = 6.0
#: Largest factor by which the noise is reduced if it adds more than the gap; the contour grows by the same factor.
_MOST_FINER = 4.0
#: Largest relative contributions of shifts and of skipped points to the gap, and the end of the contour: logarithms.
_LOG_SHIFTS, _LOG_SKIPPED, _LOG_END = 10.0, 16.0, 8.0
#: Distance of the logs of theta in the table, and the largest one.
_APART, _MOST = 0.25, 600.0
#: Rounding of the transform, per copy and in units of its size, and of anything.
_ROUNDING, _LEAST_ROUNDING = 1e-15, 1e-10
#: Below about this a logarithm is not followed.
_LEAST_LOG = -650.0


def chernoff_excess(summands: Summands) -> float:
    """Return Chernoff's bound on the mean of the positive part of a sum, ``x^+ <= e^(theta x) / (e theta)``, for the
    best of several theta.
    """
    unit = float(np.max(summands.values, initial=0.0))
    if unit <= 0:
        return 0.0
    theta = _thetas(summands.copies)
    logs = PositiveSums(summands, unit).log_moments(theta)[0]
    return float(unit * _chernoff((logs - 2 * np.log(theta))[None, :], theta)[0])


def expected_excesses(
    summands: Summands, thresholds: NDArray[np.float64], *, gap: float, floor: float = 0.0
) -> NDArray[np.float64]:
    """Return upper bounds on the expected excess over thresholds that increase from 0; nan for thresholds that need
    another theta. The first threshold always has a bound. Bounds are about `gap` relative above the mean, but larger
    for results below `floor`, and Chernoff's bound far below it.
    """
    bounds = np.full(thresholds.size, math.nan)
    unit = float(np.max(summands.values, initial=0.0))
    if unit <= 0:
        return np.zeros(thresholds.size)
    law = PositiveSums(summands, unit)
    theta, at = _thetas(summands.copies), thresholds / unit
    heights = law.log_moments(theta)[0] - np.outer(at, theta) - 2 * np.log(theta)
    chernoff = _chernoff(heights, theta)
    low = chernoff < max(floor / unit, math.exp(_LEAST_LOG))
    bounds[low] = unit * chernoff[low]
    if low[0]:
        return bounds
    best = np.argmin(heights, axis=1)
    above = heights - np.min(heights, axis=1, keepdims=True)
    rounding = _ROUNDING * summands.copies + _LEAST_ROUNDING
    most = min(max(math.log(0.01 * gap / rounding), 0.0), _CANCELED)
    # Rising thresholds have rising saddle points: no theta beyond the last of them serves for more.
    chosen = min(int(np.flatnonzero(above[0] <= most)[-1]), int(np.max(best)))
    some = int(np.argmin(np.append((above[:, chosen] <= most) & ~low, False)))
    steepest = max(float(np.max(theta[best[:some]])), float(theta[chosen]))
    upper, lower = _contour(law, float(theta[chosen]), steepest, at[:some], gap, most)
    allowed = np.maximum(2 * gap * upper, floor / unit)
    # What the noise adds goes with its variance.
    finer = 1.1 * math.sqrt(max(float(np.max((upper - lower) / allowed)), 0.0))
    if 1.1 < finer <= _MOST_FINER:
        upper, lower = _contour(law, float(theta[chosen]), finer * steepest, at[:some], gap, most)
    close = upper - lower <= np.maximum(2 * gap * upper, floor / unit)
    some = int(np.argmin(np.append(close, False)))
    if some == 0:
        bounds[0] = expected_positive_part(summands, gap=gap, floor=floor)
        return bounds
    bounds[:some] = unit * np.minimum(upper, chernoff[: upper.size])[:some]
    return bounds


def _thetas(copies: float) -> NDArray[np.float64]:
    """Return points theta in units of the largest value; no saddle point is below the first."""
    return np.asarray(np.exp(np.arange(-math.log(copies) - 1, math.log(_MOST), _APART)), np.float64)


def _chernoff(heights: NDArray[np.float64], theta: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        return np.asarray(
            np.exp(np.maximum(np.nanmin(heights + np.log(theta) - 1, axis=1), _LEAST_LOG)), np.float64
        )


def _contour(
    law: PositiveSums,
    theta: float,
    steepest: float,
    thresholds: NDArray[np.float64],
    gap: float,
    canceled: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return upper and lower bounds; the added noise has the scale of the steepest saddle point."""
    log_moment = law.log_moment(theta)
    fineness = canceled - math.log(gap)
    period = _period(law, theta, log_moment, thresholds, fineness + _LOG_SHIFTS)
    step = 2 * math.pi / period
    tau = math.sqrt(gap) / steepest
    points = math.ceil(math.sqrt(2 * (fineness + _LOG_END)) / (tau * step)) + 1
    log_skipped = fineness + _LOG_SKIPPED
    places, values = law.relative(theta, step, points, log_skipped)
    s = theta + 1j * step * places
    with np.errstate(under="ignore"):
        values = values * np.exp(0.5 * tau**2 * s**2)
    values[places == 0] *= 0.5
    terms = step / math.pi * np.stack((values / s**2, tau**2 * values), axis=1)
    total, noise = (np.exp(-1j * np.outer(thresholds, step * places)) @ terms).real.T
    # The kernel is at most 1 / theta^2 + tau^2 in size, the normal factor at most that at theta.
    size = math.exp(0.5 * (tau * theta) ** 2) * (1 / theta**2 + tau**2)
    skipped = 2 * math.exp(-log_skipped) * points * size * step / math.pi
    end = step * (points - 1)
    behind = math.exp(0.5 * tau**2 * (theta**2 - end**2)) * (1 / end**2 + tau**2) / (math.pi * tau**2 * end)
    rounding = (_ROUNDING * (law.copies + points) + _LEAST_ROUNDING) * float(np.sum(np.abs(terms)))
    errors = skipped + behind + rounding
    shifts = 4 * math.exp(-fineness - _LOG_SHIFTS) / theta
    with np.errstate(over="ignore"):
        scale = np.exp(np.maximum(log_moment - theta * thresholds, _LEAST_LOG))
    return (np.maximum(total, 0.0) + errors) * scale, (total - np.abs(noise) - errors - shifts) * scale


def _period(
    law: PositiveSums,
    theta: float,
    log_moment: float,
    thresholds: NDArray[np.float64],
    log_negligible: float,
) -> float:
    """Return the least L with negligible shifts for all thresholds, in units of ``E e^(theta (V - c)) / theta``."""
    # to the right: e^(-theta j L) E (V - c + j L)^+, most for the largest threshold
    right = (log_negligible - log_moment) / theta + float(thresholds[-1])
    right += math.log(max(theta * right, 1.0)) / theta
    # to the left, for any larger exponent: e^((theta - other) j L) E e^(other (V - c)), most for the smallest one, 0
    spread = 1 / math.sqrt(max(law.variance(theta), 1e-300))
    steps = np.concatenate((spread * 2.0 ** np.arange(-4.0, 6.0), theta * 2.0 ** np.arange(-4.0, 6.0)))
    lefts = (law.log_moments(theta + steps)[0] - log_moment + log_negligible) / steps
    return max(right, float(np.min(lefts[np.isfinite(lefts)], initial=math.inf)), 1 / theta)
