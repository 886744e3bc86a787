r"""Bounds on the expected positive part of a sum of many independent copies of a bounded variable.

For X with finitely many values, ``M(s) = E e^(s X)`` and a contour to the right of 0,

.. math:: E (X_1 + \dots + X_n)^+ = \frac{1}{2 \pi i} \int_{\theta - i \infty}^{\theta + i \infty} M(s)^n
\frac{ds}{s^2} .

At the saddle point theta, terms do not cancel, also for tiny results. Three steps turn the integral into a sum with an
error of known sign:

* A centered normal variable of variance tau^2 is added to the sum, a factor ``e^(s^2 tau^2 / 2)`` that ends the
  contour. As ``x^+`` is convex, this increases its mean. The increase at x is at most ``tau^2`` times the normal
  density at x, whose transform has no ``1 / s^2``. Replacing ``1 / s^2`` by ``1 / s^2 - tau^2`` therefore gives a
  lower bound.
* The trapezoidal rule with step ``2 pi / L`` replaces ``x^+ e^(-theta x)`` by the sum of its shifts by multiples of
  L, by Poisson summation. The shifts are not negative, so that the rule errs upwards, by an amount that Chernoff's
  inequality bounds.
* The integral of the normal factor bounds the integral beyond the last point.

Derived for this project.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from shuffledp.numerics.argument_ranges import format_value

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _check_side(name: str, value: object) -> object:
    if value not in ("upper", "lower"):
        raise ValueError(f"{name} must be 'upper' or 'lower', got {format_value(value)}.")
    return value


Side = Annotated[Literal["upper", "lower"], _check_side]

#: Half of the relative gap between the two sides, unless it costs more than this number of products.
_GAP = 1e-7
_PRODUCTS = 4e6
#: Largest relative contributions of shifts and of skipped points to the gap: logarithms. Both are in units of the
#: transform at the saddle point, which exceeds the result; the second is a sum over the contour.
_LOG_SHIFTS, _LOG_SKIPPED = 12.0, 18.0
#: Half of the square of the end of the contour, in units of 1 / tau, beyond the log of the gap.
_LOG_END = 10.0
#: Rounding of M, per copy and in units of its size.
_ROUNDING = 1e-15
#: Ratio from which on the smaller of two numbers is negligible; the ratio may overflow.
_DROWNS = 1e20
#: Terms of a product of matrices up to which a single thread computes it.
_ONE_THREAD = 2**16
#: Exponents above this overflow.
_MOST = 700.0
#: Below this Chernoff's bound is all that is found.
_LEAST_LOG = -680.0
#: Larger exponents overflow.
_MOST_LOG_THETA = math.log(600.0)


def log1p(z: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Return ``log(1 + z)``, exact for tiny complex z, where NumPy's function loses the real part."""
    return np.asarray(
        0.5 * np.log1p(2 * z.real + z.real**2 + z.imag**2) + 1j * np.arctan2(z.imag, 1 + z.real),
        np.complex128,
    )


def expm1(z: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Return ``e^z - 1``, exact for tiny complex z, where NumPy's function loses the real part."""
    real = np.expm1(z.real) * np.cos(z.imag) - 2 * np.sin(0.5 * z.imag) ** 2
    return np.asarray(real + 1j * np.exp(z.real) * np.sin(z.imag), np.complex128)


@dataclass(frozen=True, eq=False)
class Summands:
    """Law of one summand, by finite values and their masses, (m,) each, and the number of summands (`copies` > 0). The
    rest of the mass is at 0. With `poisson`, the number of summands is a Poisson variable of mean `copies`.
    """

    values: NDArray[np.float64]
    masses: NDArray[np.float64]
    copies: float
    poisson: bool = False


class PositiveSums:
    """Law of the sums with at least one positive summand, by its transform.

    All other sums have the positive part 0 and are left out, because the added noise would increase it. Let Q(s) be the
    sum of ``mass e^(s value)`` over positive values, and N(s) the sum over all others. The transform is
    ``(N + Q)^copies - N^copies``, or ``e^(copies (N - 1)) (e^(copies Q) - 1)`` for a Poisson number.
    """

    def __init__(self, summands: Summands, unit: float) -> None:
        positive = summands.values > 0
        self.copies, self.poisson = summands.copies, summands.poisson
        self.up, self.up_masses = summands.values[positive] / unit, summands.masses[positive]
        # No number of summands makes up for one of -1e60 units, whose square is still a float.
        self.down = np.maximum(summands.values[~positive] / unit, -1e60)
        self.down_masses = summands.masses[~positive]
        self.rest = max(1 - float(np.sum(summands.masses)), 0.0)
        if self.rest < _ROUNDING:
            self.rest = 0.0
        self.size = self.up.size + self.down.size

    def parts(self, theta: float) -> tuple[float, float, float]:
        """Return N, its log, and Q, at a real point; ``inf`` if Q overflows."""
        with np.errstate(under="ignore", over="ignore"):
            positive = float(self.up_masses @ np.exp(theta * self.up))
            alone = float(self.down_masses @ np.exp(theta * self.down)) + self.rest
            distance = float(self.down_masses @ np.expm1(theta * self.down)) - float(np.sum(self.up_masses))
        if alone > 0.5:  # close to 1, where its distance from 1 is the exact one
            return alone, math.log1p(distance), positive
        return alone, math.log(alone) if alone > 0 else -math.inf, positive

    def log_moment(self, theta: float) -> float:
        """Return the log of the transform at a real point."""
        alone, log_alone, positive = self.parts(theta)
        if math.isinf(positive):
            return math.inf
        if self.poisson:
            return self.copies * (alone - 1) + _log_expm1(self.copies * positive)
        if positive >= _DROWNS * alone:
            return self.copies * math.log(positive)
        return self.copies * log_alone + _log_expm1(self.copies * math.log1p(positive / alone))

    def log_moments(self, theta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the log of the transform at real points, (m,), and its derivative, for choosing points only."""
        with np.errstate(all="ignore"):
            up, down = np.exp(np.outer(theta, self.up)), np.exp(np.outer(theta, self.down))
            positive, rise = up @ self.up_masses, up @ (self.up_masses * self.up)
            alone, fall = down @ self.down_masses + self.rest, down @ (self.down_masses * self.down)
            if self.poisson:
                chance = self.copies * positive
                logs = self.copies * (alone - 1) + chance + np.log(-np.expm1(-chance))
                return logs, self.copies * (fall + rise / -np.expm1(-chance))
            ratio, slope = positive / alone, fall / alone
            chance = self.copies * np.log1p(ratio)
            logs = self.copies * np.log(alone) + chance + np.log(-np.expm1(-chance))
            means = (rise - positive * slope) / ((alone + positive) * -np.expm1(-chance)) + slope
            drowned = ratio >= _DROWNS
            logs = np.where(drowned, self.copies * np.log(positive), logs)
            return logs, self.copies * np.where(drowned, rise / positive, means)

    def variance(self, theta: float) -> float:
        """Return an approximation to the second derivative of `log_moment`."""
        alone, _, positive = self.parts(theta)
        with np.errstate(under="ignore"):
            square = float((self.up_masses * self.up**2) @ np.exp(theta * self.up))
            square += float((self.down_masses * self.down**2) @ np.exp(theta * self.down))
        return self.copies * square / (1.0 if self.poisson else alone + positive)

    def relative(
        self, theta: float, step: float, points: int, log_skipped: float
    ) -> tuple[NDArray[np.int64], NDArray[np.complex128]]:
        """Return k and the ratio of the transform at ``theta + i step k`` to its value at theta, for 0 <= k < points.
        Ratios below ``2 e^-log_skipped`` are omitted: for many copies these are most of the contour, and the test needs
        no logarithm. N^copies is omitted if it is below ``e^-log_skipped`` everywhere.
        """
        positive = _transform(self.up, self.up_masses, theta, step, points)
        alone = _transform(self.down, self.down_masses, theta, step, points) + self.rest
        scale = self.log_moment(theta)
        least = (scale - log_skipped) / self.copies
        both = alone + positive
        at, log_at, _ = self.parts(theta)
        likely = self.copies * ((at - 1) if self.poisson else log_at) > scale - log_skipped
        if self.poisson:
            is_large = both.real - 1 >= least
            if likely:
                is_large |= alone.real - 1 >= least
        else:
            square = math.exp(min(2 * least, _MOST))
            is_large = _square(both) >= square
            if likely:
                is_large |= _square(alone) >= square
        places = np.flatnonzero(is_large)
        alone, positive, both = alone[places], positive[places], both[places]
        with np.errstate(under="ignore", divide="ignore", invalid="ignore", over="ignore"):
            if not likely:
                return places, np.exp(self.copies * (both - 1 if self.poisson else np.log(both)) - scale)
            none = np.exp(self.copies * (alone - 1 if self.poisson else np.log(alone)) - scale)
            few = self.copies * (positive if self.poisson else positive / alone)
            close = np.abs(few) < 0.5
            apart = ~close
            near = few[close] if self.poisson else self.copies * log1p(positive[close] / alone[close])
            logs = both[apart] - 1 if self.poisson else np.log(both[apart])
            values = np.empty_like(none)
            values[close] = none[close] * expm1(near)
            values[apart] = np.exp(self.copies * logs - scale) - none[apart]
        return places, values


def _square(z: NDArray[np.complex128]) -> NDArray[np.float64]:
    return np.asarray(z.real**2 + z.imag**2)


def _log_expm1(x: float) -> float:
    if x > 40:
        return x
    return math.log(math.expm1(x)) if x > 0 else -math.inf


def _transform(
    values: NDArray[np.float64], masses: NDArray[np.float64], theta: float, step: float, points: int
) -> NDArray[np.complex128]:
    """Return the sums of ``mass e^(s value)`` at ``s = theta + i step k``, (points,) for k from 0. The k are cut into
    rows. As ``e^(i step (a + b J) v)`` is a product, the sums over v are a product of matrices.
    """
    with np.errstate(under="ignore"):
        weights = masses * np.exp(theta * values)
    width = math.ceil(math.sqrt(points))
    rows = math.ceil(points / width)
    fine = _powers(step * values, width)
    coarse = (_powers(step * width * values, rows) * weights).T
    return np.asarray(_product(fine, coarse).T.ravel()[:points])


def _powers(angles: NDArray[np.float64], count: int) -> NDArray[np.complex128]:
    """Return ``e^(i k angle)`` for k from 0, (count, m), as products of two factors, with fewer exponentials."""
    inner = math.ceil(math.sqrt(count))
    first = np.exp(1j * np.outer(np.arange(inner), angles))
    second = np.exp(1j * np.outer(inner * np.arange(math.ceil(count / inner)), angles))
    both = (second[:, None, :] * first[None, :, :]).reshape(-1, angles.size)
    return np.asarray(both[:count], np.complex128)


def _product(matrix: NDArray[np.complex128], right: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Return a product of matrices, computed in parts that are too small for several threads."""
    rows, inner = matrix.shape
    columns = max(1, min(right.shape[1], _ONE_THREAD // (8 * rows)))
    step = max(1, _ONE_THREAD // (rows * columns))
    total = np.zeros((rows, right.shape[1]), np.complex128)
    for first in range(0, right.shape[1], columns):
        some = slice(first, first + columns)
        for begin in range(0, inner, step):
            total[:, some] += matrix[:, begin : begin + step] @ right[begin : begin + step, some]
    return total


def expected_positive_part(
    summands: Summands, side: Side = "upper", *, gap: float = _GAP, floor: float = 0.0
) -> float:
    """Return an upper or lower bound on the mean of the positive part of a sum. The distance of the two bounds is
    ``2 gap`` relative, larger for many values, where this gap is too expensive. Below `floor`, and below about 1e-295,
    the upper bound is Chernoff's and the lower bound is 0. Rounding errors, about 1e-15 times the number of summands,
    are added on the chosen side.
    """
    keep = (summands.masses > 0) & (summands.values != 0)
    values, masses = summands.values[keep], summands.masses[keep]
    if values.size == 0 or not np.max(values) > 0:
        return 0.0
    unit = float(np.max(values))
    law = PositiveSums(Summands(values, masses, summands.copies, summands.poisson), unit)
    return float(unit * _contour(law, side, gap, floor / unit))


def _saddle(law: PositiveSums) -> float:
    """Return a point near the minimum of ``log E e^(theta S) - 2 log theta``, convex in theta; any point is valid."""
    first = math.log(1 / law.copies) - 1  # the largest value is 1: below this the slope is negative
    logs = np.append(np.arange(first, _MOST_LOG_THETA, 1.0), _MOST_LOG_THETA)
    for _ in range(2):
        theta = np.exp(logs)
        slopes = theta * law.log_moments(theta)[1] - 2
        rising = np.flatnonzero(slopes >= 0)
        if rising.size == 0:
            return float(theta[-1])
        after = max(int(rising[0]), 1)
        low, high = logs[after - 1], logs[after]
        logs = np.linspace(low, high, 9)
    share = slopes[after - 1] / (slopes[after - 1] - slopes[after])
    return math.exp(low + (high - low) * (share if 0 < share < 1 else 0.5))


def _period(law: PositiveSums, theta: float, log_moment: float, log_negligible: float) -> float:
    """Return the least L whose shifts add at most ``4 e^-log_negligible``, in units of ``E e^(theta S) / theta``."""
    # Shifts to the right: e^(-theta j L) E (S + j L)^+; E S^+ <= E e^(theta S) / (e theta).
    right = (log_negligible - log_moment) / theta
    right += math.log(max(theta * right, 1.0)) / theta
    # Shifts to the left, for any larger exponent: e^(theta j L) E (S - j L)^+ <= e^((theta - other) j L) E e^(other
    # S).
    spread = 1 / math.sqrt(max(law.variance(theta), 1e-300))
    steps = np.concatenate((spread * 2.0 ** np.arange(-4.0, 6.0), theta * 2.0 ** np.arange(-4.0, 6.0)))
    rises = law.log_moments(theta + steps)[0] - log_moment
    lefts = (rises + log_negligible) / steps
    return max(right, float(np.min(lefts[np.isfinite(lefts)], initial=math.inf)), 1 / theta)


def _contour(law: PositiveSums, side: Side, gap: float, floor: float) -> float:
    theta = _saddle(law)
    log_moment = law.log_moment(theta)
    chernoff = math.exp(max(log_moment, _LEAST_LOG)) / (math.e * theta)
    if log_moment <= _LEAST_LOG or chernoff < floor:
        return chernoff if side == "upper" else 0.0
    fineness = -math.log(gap)
    period = _period(law, theta, log_moment, fineness + _LOG_SHIFTS)
    step = 2 * math.pi / period
    reach = math.sqrt(2 * (fineness + _LOG_END))
    per_point = reach * period * theta / (2 * math.pi)  # points, times theta tau
    smooth = max(math.sqrt(gap), per_point * law.size / _PRODUCTS)
    tau = smooth / theta
    points = math.ceil(reach / (tau * step)) + 1
    log_skipped = fineness + _LOG_SKIPPED
    places, values = law.relative(theta, step, points, log_skipped)
    s = theta + 1j * step * places
    kernel = 1 / s**2 - (tau**2 if side == "lower" else 0.0)
    with np.errstate(under="ignore"):
        terms = values * np.exp(0.5 * tau**2 * s**2) * kernel
    first = float(terms[0].real) if places.size and places[0] == 0 else 0.0
    total = step / math.pi * (float(np.sum(terms.real)) - 0.5 * first)
    # The kernel is at most 1 / theta^2 + tau^2 in size, the normal factor at most e^(smooth^2 / 2).
    skipped = 2 * math.exp(0.5 * smooth**2 - log_skipped) * points * (1 / theta**2 + tau**2) * step / math.pi
    # behind the last point u: at most the integral of e^((theta^2 - u^2) tau^2 / 2) (1 / u^2 + tau^2) / pi
    end = step * (points - 1)
    behind = math.exp(0.5 * tau**2 * (theta**2 - end**2)) * (1 / end**2 + tau**2) / (math.pi * tau**2 * end)
    rounding = _ROUNDING * (law.copies + points) + 1e-12
    if side == "lower":
        shifts = 4 * math.exp(-fineness - _LOG_SHIFTS) / theta
        return max(total * (1 - rounding) - behind - skipped - shifts, 0.0) * math.exp(log_moment)
    return (total * (1 + rounding) + behind + skipped) * math.exp(log_moment)
