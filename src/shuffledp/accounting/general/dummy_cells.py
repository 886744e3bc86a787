r"""Privacy of a device that reports true messages among fabricated messages of all devices.

The analyzer sees a histogram. A device's true messages increase different cells by one each, and the fabricated
messages of all devices are independent Poisson counts of mean mu in every cell. If the device's input is replaced, some
cells lose a message and others gain one; the true counts of the other devices are known. With X ~ Poisson(mu), the
privacy loss is the sum of

.. math:: \ln \frac{X + 1}{\mu} \text{ over losing cells}, \qquad
          \ln \frac{\mu}{X} \text{ over gaining cells},

infinite if X = 0 in a gaining cell. The other direction exchanges losing and gaining cells. A change on several days is
a change of more cells, as the noise of different days is independent.

Each loss is split between two grid points so that both laws keep their totals, which increases every divergence. The
sum's law is the inverse of a product of Fourier transforms, of masses times ``e^(theta loss)``: at the saddle point
theta small deltas keep their digits. All masses are positive, so that masses that wrap around only increase delta,
except above the grid, where Chernoff's inequality bounds them. Higham (2002), Theorem 24.2, bounds the rounding of the
transforms. Results are rounded up. Replacement neighbors. Derived for this project.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from shuffledp.accounting.general.epsilon_search import LEAST, limit_epsilon
from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.numerics.argument_ranges import Delta, Eps, EpsAt, check_between, check_count
from shuffledp.numerics.relative_sizes import log_ratio, settled
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import poisson_window

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Means of a cell that the sums are tested for.
_LEAST_MEAN, MOST_MEAN = 1e-3, 1e10
#: Relative excess of delta from the grid, and the largest grid: of results, and while a root is approached.
_FINE, _ROUGH = (1e-6, 2**21), (1e-3, 2**17)
#: Omitted mass relative to delta, and its first attempt.
_OMITTED, _FIRST_TAIL = 1e-9, 1e-30
#: Log of the mass of sums beyond the grid, relative to the transform at the saddle point.
_BEYOND = -36.0
#: Deviations of the tilted sum that the grid has at least and at most, and their step.
_REACH, _FURTHER, _MOST_REACH = 8.0, 2.0, 400.0
#: Least variance of a tilted sum, relative to the variance of the untilted sum.
_LEAST_SPREAD = 1e-6
#: Rounding of a transform of M numbers, in units of log2 M; of a product; of a mass, relative; of all else, relative.
_TRANSFORM, _PRODUCT, _MASS, _ROUNDING = 16 * 2.0**-53, 8 * 2.0**-53, 1e-13, 1e-9
#: Tolerance of the logs of the tilt, of eps, and of the mean; approximate distance of a first guess.
_TILT, _XTOL, _NEAR = 1e-2, 1e-8, 1e-2


Mean = Annotated[float, partial(check_between, least=_LEAST_MEAN, most=MOST_MEAN)]
Cells = Annotated[int, partial(check_count, most=10**6)]
Groups = tuple[tuple[float, int, int], ...]
"""Groups of cells, each with the mean of its fabricated counts and its numbers of losing and gaining cells."""


def dummy_cells_delta(eps: EpsAt, mean: Mean, losing: Cells, gaining: Cells) -> float:
    """Return delta of a device whose true messages are among Poisson dummies in every cell.

    Source: derived for this project, see the description of the module; replacement neighbors, the larger delta of both
    directions.

    Parameters
    ----------
    eps : float
        Nats, >= 0.
    mean : float
        Mean number of the dummies of all devices in a cell, in [1e-3, 1e10].
    losing, gaining : int
        Numbers of cells in which the changed device's count falls by one, and in which it rises by one, in [0, 10^6].

    Returns
    -------
    float
        In [0, 1], rounded up; the relative excess is about 1e-6, and larger with more than about 10^4 cells.

    Examples
    --------
    Eighteen messages are replaced, with the dummies of a million devices:

    >>> from shuffledp.accounting import dummy_cells_delta
    >>> f"{dummy_cells_delta(1.0, 1245.12, 18, 18):.2e}"
    '9.36e-11'
    """
    return groups_delta(((mean, losing, gaining),), eps)


def dummy_cells_epsilon(delta: Delta, mean: Mean, losing: Cells, gaining: Cells) -> float:
    """Return eps of a device whose true messages are among Poisson dummies in every cell.

    Source: derived for this project, see the description of the module; replacement neighbors, the larger eps of both
    directions.

    Parameters
    ----------
    delta : float
        In (0, 1).
    mean : float
        Mean number of the dummies of all devices in a cell, in [1e-3, 1e10].
    losing, gaining : int
        Numbers of cells in which the changed device's count falls by one, and in which it rises by one, in [0, 10^6].

    Returns
    -------
    float
        Nats, >= 0, rounded up; ``inf`` if delta is not above the mass of infinite losses.

    Examples
    --------
    >>> from shuffledp.accounting import dummy_cells_epsilon
    >>> round(dummy_cells_epsilon(1e-10, 1245.12, 18, 18), 5)
    0.99815
    """
    return groups_epsilon(((mean, losing, gaining),), delta)


def dummy_cells_mean(eps: Eps, delta: Delta, losing: Cells, gaining: Cells) -> float:
    """Return a mean number of dummies per cell that suffices for a budget.

    Source: derived for this project, see the description of the module; replacement neighbors, both directions.

    Parameters
    ----------
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    losing, gaining : int
        Numbers of cells in which the changed device's count falls by one, and in which it rises by one, in [0, 10^6].

    Returns
    -------
    float
        In [1e-3, 1e10], rounded up.

    Raises
    ------
    ValueError
        If the mean would exceed 1e10.

    Examples
    --------
    >>> from shuffledp.accounting import dummy_cells_mean
    >>> round(dummy_cells_mean(1.0, 1e-10, 18, 18), 1)
    1240.7
    """

    def excess(minus_log_mean: float) -> float:
        groups = ((math.exp(-minus_log_mean), losing, gaining),)
        return log_ratio(groups_delta(groups, eps, precision), delta)

    ends = -math.log(MOST_MEAN), -math.log(_LEAST_MEAN)
    if losing + gaining == 0:
        return _LEAST_MEAN
    apart = root_below(
        lambda log: log_gaussian_delta(math.exp(log), eps) - math.log(delta), 0.0, -30.0, 30.0, xtol=1e-3
    )
    guess = min(max(2 * apart - math.log(losing + gaining), ends[0] + _NEAR), ends[1] - _NEAR)
    precision = _ROUGH
    rough = root_below(excess, guess, *ends, xtol=_NEAR**2, near=_NEAR)
    precision = _FINE
    if rough - ends[0] < _NEAR and excess(ends[0]) > 0:
        raise ValueError(f"eps and delta must allow a mean of at most {MOST_MEAN:g}, got {eps!r}, {delta!r}.")
    return math.exp(-root_below(excess, rough, *ends, xtol=_XTOL, ytol=1e-6, near=_NEAR**2))


def groups_delta(groups: Groups, eps: float, precision: tuple[float, int] = _FINE) -> float:
    """Return delta of groups of cells at eps (nats), the larger delta of the two directions."""

    def found(tail: float) -> float:
        return max(_Losses(way, tail).law(eps, precision).delta(eps) for way in _ways(groups))

    return settled(found, first=_FIRST_TAIL, step=_FIRST_TAIL, omitted=_OMITTED)


def groups_epsilon(groups: Groups, delta: float) -> float:
    """Return eps (nats) of groups of cells, the larger eps of the two directions."""
    return max(_epsilon(_Losses(way, delta * _FIRST_TAIL), delta) for way in _ways(groups))


def _ways(groups: Groups) -> set[Groups]:
    used = tuple(group for group in groups if group[1] + group[2])
    return {used, tuple((mean, gaining, losing) for mean, losing, gaining in used)}


def _epsilon(losses: _Losses, delta: float) -> float:
    if losses.infinite >= delta:
        return math.inf
    if losses.copies == 0:
        return 0.0
    most = math.log(losses.largest)
    log_eps = min(limit_epsilon(math.sqrt(losses.variance), delta)[0], most - _NEAR)
    for precision, xtol, near in ((_ROUGH, 1e-6, _NEAR), (_FINE, _XTOL, 1e-3)):
        law = losses.law(math.exp(log_eps), precision)
        if law.delta(0.0) <= delta:
            return 0.0
        log_eps = -root_below(
            lambda x, law=law: log_ratio(law.delta(math.exp(-x)), delta),  # type: ignore[misc]
            -log_eps,
            -most,
            -math.log(LEAST),
            xtol=xtol,
            near=near,
        )
    return math.exp(log_eps)


@dataclass(frozen=True, eq=False)
class _Part:
    """Independent cells with the same law: their number, finite losses in nats, and logs of masses."""

    copies: int
    losses: Floats
    logs: Floats


class _Losses:
    """Sum of the losses of all cells in one direction; `infinite` is the mass of infinite losses plus omitted mass."""

    def __init__(self, groups: Groups, tail: float) -> None:
        self.parts: list[_Part] = []
        log_finite, omitted = 0.0, 0.0
        for mean, losing, gaining in groups:
            window = poisson_window(mean, tail)
            kept = window.pmf > 0
            x, logs = window.support[kept].astype(np.float64), np.log(window.pmf[kept])
            omitted += (losing + gaining) * window.omitted
            if losing:
                self.parts.append(_Part(losing, np.log1p((x + 1 - mean) / mean), logs))
            if gaining:
                if x[0] == 0:
                    log_finite += gaining * math.log(-math.expm1(-mean))
                    x, logs = x[1:], logs[1:]
                self.parts.append(_Part(gaining, -np.log1p((x - mean) / mean), logs))
        self.infinite = omitted - math.expm1(log_finite)
        self.copies = sum(part.copies for part in self.parts)
        self.least = sum(part.copies * float(np.min(part.losses)) for part in self.parts)
        self.largest = max(sum(part.copies * float(np.max(part.losses)) for part in self.parts), LEAST)
        self.variance = self.moments(0.0)[2]

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
        _, mean, variance = self.moments(0.0)
        if eps <= mean:
            return 0.0
        guess = math.log((eps - mean) / variance)
        return math.exp(
            root_below(
                lambda x: self.moments(math.exp(x))[1] - eps, guess, guess - 9.0, guess + 1.0, xtol=_TILT
            )
        )

    def law(self, eps: float, precision: tuple[float, int]) -> _Law:
        """Return the law of the sum, tilted so that delta is precise close to eps."""
        if self.copies == 0 or eps >= self.largest:
            return _Law(self.infinite, 0.0, 0.0, np.zeros(1), np.zeros(1), 0.0, 0.0)
        excess, most = precision
        _, mean, variance = self.moments(0.0)
        theta = self.tilt(eps)
        low, high = (self._end(theta, sign) for sign in (-1, 1))
        away = max((eps - mean) / math.sqrt(variance), 3.0)
        step = max(
            math.sqrt(12 * excess * variance / self.copies) / away, (high.loss - low.loss) / most, 1e-15
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
        return _Law(self.infinite, theta, scale, losses, masses, error, beyond, self.copies)

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
            tilt, log = min(moments, key=lambda one: one[1] - one[0] * end)
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
class _Law:
    """Law of a sum of losses in nats: masses times ``e^(theta loss - scale)``, with bounds on the errors."""

    infinite: float
    theta: float
    scale: float
    losses: Floats
    masses: Floats
    error: float
    beyond: float
    copies: int = 0

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


def _on_grid(part: _Part, theta: float, step: float, size: int) -> Floats:
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


def _log_moment(part: _Part, theta: float) -> float:
    logs = part.logs + theta * part.losses
    top = float(np.max(logs))
    return top + math.log(float(np.sum(np.exp(logs - top))))


def _power(values: NDArray[np.complex128], exponent: int) -> NDArray[np.complex128]:
    found: NDArray[np.complex128] | None = None
    while True:
        if exponent % 2:
            found = values.copy() if found is None else found * values
        exponent //= 2
        if exponent == 0:
            return found  # type: ignore[return-value]
        values = values * values


def _exp(log: float) -> float:
    return math.exp(min(log, 700.0))
