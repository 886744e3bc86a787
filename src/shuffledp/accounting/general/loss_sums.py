r"""Sums of independent losses, by Fourier transforms of tilted masses, with bounds on all errors.

Each loss is split between two grid points so that both laws keep their totals, which increases every divergence. The
sum's law is the inverse of a product of Fourier transforms, of masses times ``e^(theta loss)``: at the saddle point
theta small deltas keep their digits. All masses are positive, so that masses that wrap around only increase delta,
except above the grid, where Chernoff's inequality bounds them. Higham (2002), Theorem 24.2, bounds the rounding of the
transforms. Results are rounded up. Derived for this project.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from shuffledp.accounting.general.epsilon_search import LEAST
from shuffledp.numerics.roots import root_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Log of the mass of sums beyond the grid, relative to the transform at the saddle point.
_BEYOND = -36.0
#: Deviations of the tilted sum that the grid has at least and at most, and their step.
_REACH, _FURTHER, _MOST_REACH = 8.0, 2.0, 400.0
#: Least variance of a tilted sum, relative to the variance of the untilted sum.
_LEAST_SPREAD = 1e-6
#: Rounding of a transform of M numbers, in units of log2 M; of a product; of a mass, relative; of all else, relative.
_TRANSFORM, _PRODUCT, _MASS, _ROUNDING = 16 * 2.0**-53, 8 * 2.0**-53, 1e-13, 1e-9
#: Mass of sums whose losses the grid raises by more than is stated, relative to delta.
_RARELY = 1e-4
#: Tolerance of the log of the tilt, and its range around a guess.
_TILT, _BELOW, _ABOVE = 1e-2, 9.0, 4.0


@dataclass(frozen=True, eq=False)
class LossPart:
    """Independent losses with the same law: their number, finite values in nats, and logs of masses."""

    copies: int
    losses: Floats
    logs: Floats


class LossSum:
    """Sum of independent losses; `infinite` is a bound on the mass of infinite sums, with all omitted mass."""

    def __init__(self, parts: Sequence[LossPart], infinite: float) -> None:
        self.parts, self.infinite = parts, infinite * (1 + _MASS)
        self.copies = sum(part.copies for part in self.parts)
        self.least = sum(part.copies * float(np.min(part.losses)) for part in self.parts)
        self.largest = max(sum(part.copies * float(np.max(part.losses)) for part in self.parts), LEAST)
        _, self.mean, self.variance = self.moments(0.0)

    def moments(self, theta: float) -> tuple[float, float, float]:
        """Return the log of ``E e^(theta loss)`` and its first two derivatives."""
        log, slope, curvature = 0.0, 0.0, 0.0
        for part in self.parts:
            logs = part.logs + theta * part.losses
            top = float(np.max(logs))
            weights = np.exp(logs - top)
            total = float(np.sum(weights))
            mean = float(weights @ part.losses) / total
            log += part.copies * (top + math.log(total))
            slope += part.copies * mean
            curvature += part.copies * float(weights @ (part.losses - mean) ** 2) / total
        return log, slope, curvature

    def tilt(self, eps: float) -> float:
        """Return the approximate saddle point theta, where the tilted mean is eps; 0 if the mean is at least eps."""
        if eps <= self.mean:
            return 0.0
        guess = math.log((eps - self.mean) / self.variance)
        return math.exp(
            root_below(
                lambda x: self.moments(math.exp(x))[1] - eps,
                guess,
                guess - _BELOW,
                guess + _ABOVE,
                xtol=_TILT,
            )
        )

    def law(self, eps: float, precision: tuple[float, int]) -> SumLaw:
        """Return the law of the sum, tilted so that delta is precise close to eps."""
        if self.copies == 0 or eps >= self.largest:
            return SumLaw(self.infinite, 0.0, 0.0, np.zeros(1), np.zeros(1), 0.0, 0.0)
        excess, most = precision
        theta = self.tilt(eps)
        low, high = (self._end(theta, sign) for sign in (-1, 1))
        away = max((eps - self.mean) / math.sqrt(self.variance), 3.0)
        step = max(
            math.sqrt(12 * excess * self.variance / self.copies) / away, (high.loss - low.loss) / most, 1e-15
        )
        size = next_fast_len(math.ceil((high.loss - low.loss) / step) + self.copies + 2, real=True)
        first = math.floor(low.loss / step)
        product, error, least = np.ones(size // 2 + 1, np.complex128), 0.0, math.inf
        transform = _TRANSFORM * math.log2(max(size, 2))
        for part in self.parts:
            cells = _on_grid(part, theta, step, size)
            norm = float(np.sqrt(np.sum(cells**2)))
            error += part.copies * (transform + _PRODUCT) * norm
            least = min(least, norm)
            product *= _power(rfft(cells), part.copies)
        scale = sum(part.copies * _log_moment(part, theta) for part in self.parts)
        masses = np.roll(irfft(product, size), -first % size)
        losses = np.asarray(step * (first + np.arange(size)), np.float64)
        # A split loss moves by h^2 / 8 on average at most, and is Hoeffding's bounded variable around that.
        split = self.copies * high.theta * (high.theta + 1) * step**2 / 8
        beyond = _exp(high.log_moment + split - high.theta * high.loss)
        error += transform * least
        return SumLaw(self.infinite, theta, scale, losses, masses, error, beyond, self.copies, step)

    def _end(self, theta: float, sign: int) -> _End:
        """Return an end of the sum tilted by theta, beyond which its mass is negligible."""
        scale, at, spread = self.moments(theta)
        spread = max(spread, _LEAST_SPREAD * self.variance)  # the largest sum alone has none
        tilts = [theta + sign * far / math.sqrt(spread) for far in (2.0, 4.0, 8.0, 16.0, 32.0)]
        moments = [(tilt, self.moments(tilt)[0]) for tilt in tilts]
        last = self.largest if sign > 0 else self.least
        reach = _REACH
        while reach < _MOST_REACH:
            end = at + sign * reach * math.sqrt(spread)
            if (end - last) * sign >= 0:
                break
            tilt, log = min(moments, key=lambda moment: moment[1] - moment[0] * end)
            if log - scale - (tilt - theta) * end <= _BEYOND:
                return _End(end, tilt, log)
            reach += _FURTHER
        return _End(last, 0.0, -math.inf)


@dataclass(frozen=True)
class _End:
    """End of a grid of losses, in nats; the mass beyond it is at most ``e^(log_moment - theta loss)``."""

    loss: float
    theta: float
    log_moment: float


@dataclass(frozen=True, eq=False)
class SumLaw:
    """Law of a sum of losses in nats: masses times ``e^(theta loss - scale)``, with bounds on the errors."""

    infinite: float
    theta: float
    scale: float
    losses: Floats
    masses: Floats
    error: float
    beyond: float
    copies: int = 0
    step: float = 0.0

    def delta(self, eps: float) -> float:
        """Return delta at eps (nats), rounded up."""
        above = int(np.searchsorted(self.losses, eps, side="right"))
        over = self.losses[above:] - eps
        if over.size == 0:
            return min(self.infinite, 1.0)
        gains = -np.expm1(-over) * np.exp(-self.theta * over)
        value = float(gains @ self.masses[above:])
        margin = self.error * float(np.sqrt(np.sum(gains**2)))
        rounding = _ROUNDING + self.copies * _MASS
        finite = max(value + margin, 0.0) * _exp(self.scale - self.theta * eps) * (1 + rounding)
        return min(finite + (self.beyond + self.infinite) * (1 + rounding), 1.0)

    def least_delta(self, eps: float, near: float) -> float:
        """Return delta at eps (nats), rounded down; `near` is the approximate result.

        The grid raises each loss by at most `step`, and by at most ``step^2 / 8`` on average. By Hoeffding's inequality
        it raises the sum by more than this shift with a small probability, which is subtracted.
        """
        rarely = _RARELY * near
        shift = self.step * (math.sqrt(-self.copies * math.log(rarely) / 2) + self.copies * self.step / 8)
        above = int(np.searchsorted(self.losses, eps + shift, side="right"))
        over = self.losses[above:] - eps - shift
        gains = -np.expm1(-over) * np.exp(-self.theta * over)
        value = float(gains @ self.masses[above:]) - self.error * float(np.sqrt(np.sum(gains**2)))
        rounding = _ROUNDING + self.copies * _MASS
        finite = max(value - math.exp(_BEYOND), 0.0) * _exp(self.scale - self.theta * (eps + shift))
        return max(finite * (1 - rounding) + self.infinite * (1 - _RARELY) - rarely, 0.0)


def _on_grid(part: LossPart, theta: float, step: float, size: int) -> Floats:
    """Return the tilted masses of a part at multiples of the step, modulo the size. The split of losses between grid
    points keeps the totals of both laws.
    """
    places = np.floor(part.losses / step)
    raised = np.expm1(places * step - part.losses) / math.expm1(-step)
    low = np.exp(part.logs + theta * step * places - _log_moment(part, theta))
    index = places.astype(np.int64) % size
    cells = np.bincount(index, low * (1 - raised), size)
    cells += np.bincount((index + 1) % size, low * math.exp(theta * step) * raised, size)
    return np.asarray(cells, np.float64)


def _log_moment(part: LossPart, theta: float) -> float:
    logs = part.logs + theta * part.losses
    top = float(np.max(logs))
    return top + math.log(float(np.sum(np.exp(logs - top))))


def _power(values: NDArray[np.complex128], exponent: int) -> NDArray[np.complex128]:
    product: NDArray[np.complex128] | None = None
    while True:
        if exponent % 2:
            product = values.copy() if product is None else product * values
        exponent //= 2
        if exponent == 0:
            return product  # type: ignore[return-value]
        values = values * values


def _exp(log: float) -> float:
    return math.exp(min(log, 700.0))
