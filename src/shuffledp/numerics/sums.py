r"""Expected positive part of a sum of many independent copies of a bounded variable, from above and from below.

For X with finitely many values, ``M(s) = E e^(s X)`` and a contour to the right of 0,

.. math:: E (X_1 + \dots + X_n)^+ = \frac{1}{2 \pi i} \int_{\theta - i \infty}^{\theta + i \infty} M(s)^n
\frac{ds}{s^2} .

At the saddle point theta nothing cancels, however small the result is. Three steps make a sum of it whose error has a
known side:

* A centered normal variable of variance tau^2 is added to the sum, a factor ``e^(s^2 tau^2 / 2)`` that ends the
  contour. As ``x^+`` is convex, that can only increase its mean. It increases it at x by at most ``tau^2`` times the
  normal density at x, whose transform has no ``1 / s^2``: with ``1 / s^2 - tau^2`` in its place the value is a lower
  bound.
* The trapezoidal rule with step ``2 pi / L`` replaces ``x^+ e^(-theta x)`` by the sum of its shifts by multiples of
  L, by Poisson summation. Those are not negative: the rule errs upwards, by an amount that Chernoff's inequality
  bounds.
* What lies behind the last point is bounded by the integral of the normal factor.

Derived for this project.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.optimize import brentq

if TYPE_CHECKING:
    from numpy.typing import NDArray

Side = Literal["upper", "lower"]

#: Half of the gap between the two sides, relative, unless it costs more than so many products.
_GAP = 1e-7
_PRODUCTS = 4e6
#: What shifts and the end of the contour may add, relative: logarithms.
_LOG_NEGLIGIBLE = 31.0
#: The contour ends so many 1 / tau away from the real line.
_END = 8.0
#: Rounding of M, per copy and in units of its size.
_ROUNDING = 1e-15
#: Exponents above this overflow.
_MOST = 700.0
#: Below this Chernoff's bound is all that is found.
_LEAST_LOG = -680.0


@dataclass(frozen=True, eq=False)
class Summands:
    """The law of one summand, and how many there are.

    Parameters
    ----------
    values : (m,) ndarray
        Finite.
    masses : (m,) ndarray
        Probabilities, >= 0; what is missing to 1 lies at 0.
    copies : float
        Number of summands, > 0: an integer, or the mean of a Poisson number.
    poisson : bool
        Whether the number of summands is a Poisson variable.
    """

    values: NDArray[np.float64]
    masses: NDArray[np.float64]
    copies: float
    poisson: bool = False

    @property
    def log_all_zero(self) -> float:
        """The log of the probability that no summand differs from 0."""
        informative = float(np.sum(self.masses))
        if self.poisson:
            return -self.copies * informative
        return self.copies * math.log1p(-informative) if informative < 1 else -math.inf

    def log_moment(self, theta: float) -> float:
        """Return the log of ``E e^(theta sum)``; ``inf`` where it overflows."""
        reach = theta * float(np.max(self.values))
        if reach > _MOST:
            if self.poisson:
                return math.inf
            with np.errstate(under="ignore"):
                total = float(self.masses @ np.exp(theta * self.values - reach))
                total += max(1 - float(np.sum(self.masses)), 0.0) * math.exp(-reach)
            return self.copies * (reach + math.log(total))
        with np.errstate(under="ignore"):
            excess = float(self.masses @ np.expm1(theta * self.values))
        return self.copies * (excess if self.poisson else math.log1p(max(excess, -1 + 1e-300)))


def expected_positive_part(
    summands: Summands, side: Side = "upper", *, gap: float = _GAP, floor: float = 0.0
) -> float:
    """Return a bound on the mean of the positive part of the sum.

    Parameters
    ----------
    summands : Summands
    side : {"upper", "lower"}
        On which side of the truth the result is.
    gap : float
        Half of the distance of the two sides, relative, in (0, 1); more where there are so many values that it costs
        too much.
    floor : float
        Of results below it only the side is right: Chernoff's bound for the upper one, 0 for the lower one. So it is
        below about 1e-295, where floats end.

    Returns
    -------
    float
        At least 0. Rounding, about 1e-15 times the number of summands, is added on the chosen side.
    """
    keep = (summands.masses > 0) & (summands.values != 0)
    values, masses = summands.values[keep], summands.masses[keep]
    if values.size == 0 or not np.max(values) > 0:
        return 0.0
    unit = float(np.max(values))
    # No number of summands makes up for one of -1e60 units, whose square is still a float.
    law = Summands(np.maximum(values / unit, -1e60), masses, summands.copies, summands.poisson)
    return float(unit * _contour(law, side, gap, floor / unit))


def _saddle(law: Summands) -> float:
    """Minimum of ``log E e^(theta S) - 2 log theta``, which is convex in theta."""

    def slope(log_theta: float) -> float:
        theta = math.exp(log_theta)
        return theta * _mean(law, theta) - 2

    low = math.log(1 / law.copies) - 1  # the largest value is 1: below this the slope is negative
    high = low + 1
    while slope(high) < 0:
        high += 1 if high < 4 else 0.25
    return math.exp(float(brentq(slope, max(low, high - 1), high, xtol=1e-3)))


def _mean(law: Summands, theta: float) -> float:
    """Mean of the sum under weights ``e^(theta sum)``, up to a factor that is 1 unless it is Poisson."""
    shift = min(theta, 600.0)
    with np.errstate(under="ignore"):
        weights = law.masses * np.exp(theta * law.values - shift)
        total = float(np.sum(weights)) + max(1 - float(np.sum(law.masses)), 0.0) * math.exp(-shift)
    mean = float(weights @ law.values)
    if law.poisson:
        return law.copies * mean * math.exp(shift)
    return law.copies * mean / total


def _period(law: Summands, theta: float, log_moment: float) -> tuple[float, float]:
    """Shortest L whose shifts are negligible, and a bound on what they add in units of ``E e^(theta S) / theta``."""
    # Shifts to the right: e^(-theta j L) E (S + j L)^+; E S^+ <= E e^(theta S) / (e theta).
    right = (_LOG_NEGLIGIBLE - log_moment) / theta
    right += math.log(max(theta * right, 1.0)) / theta
    # Shifts to the left, for any larger exponent: e^(theta j L) E (S - j L)^+ <= e^((theta - other) j L) E e^(other
    # S).
    spread = 1 / math.sqrt(max(_variance(law, theta), 1e-300))
    left = math.inf
    for step in spread * 2.0 ** np.arange(-4.0, 6.0):
        rise = law.log_moment(theta + step) - log_moment
        left = min(left, (rise + _LOG_NEGLIGIBLE) / step)
    return max(right, left, 1 / theta), 4 * math.exp(-_LOG_NEGLIGIBLE)


def _variance(law: Summands, theta: float) -> float:
    shift = min(theta, 600.0)
    with np.errstate(under="ignore"):
        weights = law.masses * np.exp(theta * law.values - shift)
    if law.poisson:
        return law.copies * float(weights @ law.values**2) * math.exp(shift)
    total = float(np.sum(weights)) + max(1 - float(np.sum(law.masses)), 0.0) * math.exp(-shift)
    mean = float(weights @ law.values) / total
    return law.copies * (float(weights @ law.values**2) / total - mean**2)


def _contour(law: Summands, side: Side, gap: float, floor: float) -> float:
    theta = _saddle(law)
    log_moment = law.log_moment(theta)
    chernoff = math.exp(max(log_moment, _LEAST_LOG)) / (math.e * theta)
    if log_moment <= _LEAST_LOG or chernoff < floor:
        return chernoff if side == "upper" else 0.0
    period, shifts = _period(law, theta, log_moment)
    step = 2 * math.pi / period
    per_point = _END * period * theta / (2 * math.pi)  # points, times theta tau
    smooth = max(math.sqrt(gap), per_point * law.values.size / _PRODUCTS)
    tau = smooth / theta
    points = math.ceil(_END / (tau * step)) + 1
    log_power = _log_powers(law, theta, step, points)
    all_zero = math.exp(law.log_all_zero - log_moment)  # known, and noise would count half of it
    s = theta + 1j * step * np.arange(points)
    kernel = 1 / s**2 - (tau**2 if side == "lower" else 0.0)
    with np.errstate(under="ignore"):
        terms = (np.exp(log_power) - all_zero) * np.exp(0.5 * tau**2 * s**2) * kernel
    total = step / math.pi * (float(np.sum(terms.real)) - 0.5 * float(terms[0].real))
    # behind the last point u: at most the integral of e^((theta^2 - u^2) tau^2 / 2) (1 / u^2 + tau^2) / pi
    end = step * (points - 1)
    behind = math.exp(0.5 * tau**2 * (theta**2 - end**2)) * (1 / end**2 + tau**2) / (math.pi * tau**2 * end)
    rounding = _ROUNDING * (law.copies + points) + 1e-12
    behind_and_shifts = behind if side == "upper" else -(behind + shifts / theta)
    total = total * (1 + math.copysign(rounding, behind_and_shifts)) + behind_and_shifts
    return max(total, 0.0) * math.exp(log_moment)


def _log_powers(law: Summands, theta: float, step: float, points: int) -> NDArray[np.complex128]:
    """Return the logs of ``E e^(s S) / E e^(theta S)`` at ``s = theta + i step k``, k = 0, .., points - 1.

    The k are cut into rows: ``e^(i step (a + b J) v)`` is a product, so that the means over v are a product of
    matrices.
    """
    shift = min(theta, 600.0)
    with np.errstate(under="ignore"):
        weights = law.masses * np.exp(theta * law.values - shift)
    rest = max(1 - float(np.sum(law.masses)), 0.0) * math.exp(-shift)
    total = float(np.sum(weights)) + rest
    width = math.ceil(math.sqrt(points))
    rows = math.ceil(points / width)
    fine = np.exp(1j * step * np.outer(np.arange(width), law.values))
    coarse = np.exp(1j * step * width * np.outer(law.values, np.arange(rows))) * (weights / total)[:, None]
    ratio = (fine @ coarse).T.ravel()[:points] + rest / total
    if law.poisson:
        scale = law.copies * total * math.exp(shift)
        return np.asarray(scale * (ratio - 1))
    with np.errstate(divide="ignore"):
        return np.asarray(law.copies * np.log(ratio))
