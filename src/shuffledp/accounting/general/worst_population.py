"""Largest exact delta over all populations with a given mean and at most a given variance.

With delta_n the exact delta for n other users, the moment problem is to maximize ``E[delta_X]`` over laws of an integer
X >= 0 with ``E[X] = mean`` and ``Var[X] <= variance``. The dual problem is to minimize the expectation of a quadratic q
that lies above delta_n at every n, and *any* such q gives a proven upper bound. The linear program is solved on a grid
of n. Then q is checked at every integer, using that delta_n falls with n, and the grid is refined or extended where the
check fails. Derived for this project; the bound of Theorem 3 of the paper is far above this value.

The program has three constraints, so that its optimum is a law on three points at most, and the simplex method needs 3
x 3 systems only. Grid, optimal points and laws of the clones are kept for the next eps_central.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shuffledp.accounting.general.clones import (
    OtherReports,
    clone_divergences,
    exact_delta,
    exact_epsilon,
    exact_local_budget,
    smallest_delta,
    unamplified_budget,
    unamplified_delta,
)
from shuffledp.numerics.relative_sizes import log_ratio, negligible
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import Window, binomial_window
from shuffledp.populations.base import Fixed
from shuffledp.populations.bounds import MomentBounded
from shuffledp.populations.laws import Empirical

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: Relative width of the gap between the proven upper bound and the value on the grid at which refining stops.
_GAP = 1e-6
#: Relative tolerance of eps in the inverse functions, above the noise that the gap leaves.
_XTOL = 2e-6
#: The simplex method stops where no point is missing more than this, relative to the value.
_OPTIMAL = 1e-9
_PIVOTS = 200
_SLACK = -1
#: The grid of n is not extended beyond.
_FARTHEST = 2**40
#: Longest window, in entries, that is kept.
_KEPT = 20000


class _Quadratic(NamedTuple):
    """Quadratic ``constant + linear z + square z^2`` in standard units ``z = (n - mean) / deviation``; square >= 0."""

    constant: float
    linear: float
    square: float

    def least(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.square <= 0:
            z = low if self.linear >= 0 else high
        else:
            z = np.clip(-self.linear / (2 * self.square), low, high)
        return np.asarray(self.constant + (self.linear + self.square * z) * z)


def _first_grid(mean: float, deviation: float) -> NDArray[np.int64]:
    """Return a grid that is fine around the mean, and coarse near 0 and far above the mean. It ends beyond every
    support point.
    """
    most = math.ceil(max(2 * mean + 3 * deviation, mean + 2 * deviation**2 / mean) + 10)
    steps = np.unique(np.round(np.geomspace(1, most, 48)))
    around = np.concatenate((mean - steps, mean + steps, [mean], steps, [0.0]))
    points = np.concatenate((np.floor(around), np.ceil(around), np.linspace(0, most, 33)))
    return np.unique(np.clip(np.round(points), 0, most)).astype(np.int64)


class _FixedPopulations:
    """Exact deltas for fixed numbers of other users and one eps_local, with cached laws of the clones."""

    def __init__(self, eps_local: float, rate: float, tail: float) -> None:
        self._eps_local = eps_local
        self._rate = rate
        self._tail = tail
        self._windows: dict[int, Window] = {}

    def _window(self, others: int) -> Window:
        window = self._windows.get(others)
        if window is None:
            window = binomial_window(others, self._rate, self._tail)
            if window.pmf.size <= _KEPT:
                self._windows[others] = window
        return window

    def deltas(self, others: NDArray[np.int64], eps_central: float) -> NDArray[np.float64]:
        """Return an upper bound on delta for each of `others` (m,), tight up to the mass that windows omit."""
        windows = [self._window(int(n)) for n in others]
        runs: list[list[int]] = []  # ranges of the number of clones, disjoint and increasing
        for start, stop in sorted((w.start, w.stop) for w in windows):
            if runs and start <= runs[-1][1]:
                runs[-1][1] = max(runs[-1][1], stop)
            else:
                runs.append([start, stop])
        starts = [start for start, _ in runs]
        tables = [clone_divergences(start, stop, self._eps_local, eps_central) for start, stop in runs]
        worst = unamplified_delta(self._eps_local, eps_central)
        values = np.empty(len(windows))
        for i, window in enumerate(windows):
            run = bisect_right(starts, window.start) - 1
            at = window.start - starts[run]
            values[i] = window.pmf @ tables[run][at : at + window.pmf.size] + window.omitted * worst
        return np.minimum(values, worst)


class _MomentProblem:
    """Moment problem of one population for several eps_central; the grid of n and the optimal basis are kept for the
    next eps_central. `variance` is above the least variance of an integer law with this mean. `deltas` maps increasing
    numbers of other users, (m,), and eps_central to upper bounds on delta_n, (m,).
    """

    def __init__(
        self,
        mean: float,
        variance: float,
        deltas: Callable[[NDArray[np.int64], float], NDArray[np.float64]],
    ) -> None:
        self._mean, self._deviation = mean, math.sqrt(variance)
        self._deltas = deltas
        self._grid = _first_grid(mean, self._deviation)
        # A basis: three of the points n, or two and _SLACK. These two carry the law with the least variance.
        below = math.floor(mean)
        self._basis = [below, below + 1, _SLACK]

    def _dual(self, z: NDArray[np.float64], values: NDArray[np.float64]) -> _Quadratic:
        """Return the dual quadratic on the grid, by the simplex method from the last basis. The program maximizes
        ``sum w_i values_i`` with ``sum w_i (1, z_i, z_i^2) + (0, 0, slack) = (1, 0, 1)``. The caller makes every result
        an upper bound, so that rounding affects tightness only.
        """
        weight = np.maximum(1, z**2)  # columns of size about 1 whatever the distance from the mean
        columns = np.vstack((1 / weight, z / weight, z**2 / weight))
        columns = np.hstack((columns, [[0.0], [0.0], [1.0]]))
        gain = np.append(values / weight, 0.0)
        scale = float(np.max(gain))
        gain /= scale
        right = np.array([1.0, 0.0, 1.0])
        basis = [z.size if n == _SLACK else int(np.searchsorted(self._grid, n)) for n in self._basis]
        dual = np.zeros(3)
        for pivots in range(_PIVOTS):
            matrix = columns[:, basis]
            dual = np.linalg.solve(matrix.T, gain[basis])
            missing = gain - dual @ columns
            missing[basis] = 0
            better = missing > _OPTIMAL * max(float(dual @ right), 0.0)
            if not np.any(better):
                break
            # The first instead of the best after a while: that cannot cycle.
            entering = int(np.argmax(better if pivots > _PIVOTS // 2 else missing))
            level, direction = np.linalg.solve(matrix, np.column_stack((right, columns[:, entering]))).T
            falls = direction > 1e-12 * np.max(np.abs(direction))
            ratios = np.where(falls, np.maximum(level, 0) / np.where(falls, direction, 1), math.inf)
            basis[int(np.argmin(ratios))] = entering
        self._basis = [_SLACK if i == z.size else int(self._grid[i]) for i in basis]
        constant, linear, square = (scale * dual).tolist()
        return _Quadratic(constant, linear, max(0.0, square))

    def bound(self, eps_central: float) -> float:
        """Return a proven upper bound on the largest delta, tight to about 1e-6 relative."""
        deviation = self._deviation
        values = self._deltas(self._grid, eps_central)
        best = float(values[0])  # no other users: delta_n is largest at n = 0
        for _ in range(60):
            if not np.max(values) > 0:
                return 0.0
            grid = self._grid
            z = ((grid - self._mean) / deviation).astype(np.float64)
            q = self._dual(z, values)
            # Between two grid points delta_n is at most its value at the left one.
            last = np.append(z[1:] - 1 / deviation, math.inf if q.square > 0 else z[-1])
            short = values - q.least(z, last)
            nearest = np.clip(0.0, z, last)
            lift = np.maximum(short, 0) / (1 + nearest**2)  # q + lift (1 + z^2) is above delta_n at all n
            if q.square <= 0 and q.linear < 0:  # no minimum behind the last point, z >= 1 there
                lift[-1] = max(values[-1] - q.constant, 0) / (1 + z[-1] ** 2) - q.linear / z[-1]
            slack = float(np.max(lift))
            best = min(best, q.constant + q.square + 2 * slack)  # E[z] = 0 and E[z^2] <= 1
            following = np.append(grid[1:], min(3 * grid[-1], _FARTHEST))
            poor = (2 * lift > _GAP * best) & (following > grid + 1)
            if not np.any(poor) or 2 * slack <= _GAP * best:
                break
            new = (grid[poor] + following[poor]) // 2
            order = np.argsort(np.concatenate((grid, new)))
            values = np.concatenate((values, self._deltas(new, eps_central)))[order]
            self._grid = np.concatenate((grid, new))[order]
        return best


def _only_law(population: MomentBounded) -> Fixed | Empirical | None:
    """Return the only integer law with these moments, or None if there are several."""
    below = math.floor(population.mean)
    fraction = population.mean - below
    if population.mean > 0 and population.variance > fraction * (1 - fraction):
        return None
    return Fixed(below) if fraction == 0 else Empirical((1 - fraction, fraction), below)


def _problem(
    population: MomentBounded, reports: OtherReports, eps_local: float, tail: float
) -> _MomentProblem:
    fixed = _FixedPopulations(eps_local, reports.rate(eps_local), tail)

    def deltas(n: NDArray[np.int64], eps_central: float) -> NDArray[np.float64]:
        others, where = np.unique(reports.after(n), return_inverse=True)
        return fixed.deltas(others, eps_central)[where]

    return _MomentProblem(population.mean, population.variance, deltas)


def worst_delta(
    population: MomentBounded, reports: OtherReports, eps_local: float, eps_central: float
) -> float:
    """Return a proven upper bound on the exact delta over all populations with these moments, about 1e-6 relative too
    large. A variance below the least variance of an integer law with this mean is replaced by the least variance. The
    population of `reports` is not used.
    """
    if eps_central >= eps_local:
        return 0.0
    only = _only_law(population)
    if only is not None:
        return exact_delta(replace(reports, population=only), eps_local, eps_central)
    least = smallest_delta(_best_case(population, reports), eps_local, eps_central)
    return _problem(population, reports, eps_local, negligible(least)).bound(eps_central)


def worst_epsilon(population: MomentBounded, reports: OtherReports, eps_local: float, delta: float) -> float:
    """Return the smallest eps_central (nats) for all laws of `population`, rounded up by about 1e-5 relative."""
    only = _only_law(population)
    if only is not None:
        return exact_epsilon(replace(reports, population=only), eps_local, delta)
    least = exact_epsilon(_best_case(population, reports), eps_local, delta)
    problem = _problem(population, reports, eps_local, negligible(delta))

    def excess(minus_log_eps: float) -> float:
        eps_central = math.exp(-minus_log_eps)
        return log_ratio(problem.bound(eps_central), delta) if eps_central < eps_local else -math.inf

    low = math.log(max(least, 1e-6 * eps_local))
    if excess(-low) <= 0:
        return math.exp(low)
    high = math.log(eps_local)
    return min(math.exp(-root_below(excess, -0.5 * (low + high), -high, -low, xtol=_XTOL)), eps_local)


def worst_local_budget(
    population: MomentBounded, reports: OtherReports, eps_central: float, delta: float
) -> float:
    """Return the largest eps_local (nats) for all laws of `population`, rounded down by about 1e-5 relative."""
    only = _only_law(population)
    if only is not None:
        return exact_local_budget(replace(reports, population=only), eps_central, delta)
    alone = unamplified_budget(eps_central, delta)

    def excess(log_eps_local: float) -> float:
        return log_ratio(worst_delta(population, reports, math.exp(log_eps_local), eps_central), delta)

    low = math.log(alone)
    root = root_below(excess, low + 0.1, low, math.inf, xtol=_XTOL)
    return math.exp(root) if root > low else alone


def _best_case(population: MomentBounded, reports: OtherReports) -> OtherReports:
    """Return the reports of a population fixed at its mean, rounded up, with the dummies added to the users."""
    others = reports.after(np.array([math.ceil(population.mean)]))
    return OtherReports(Fixed(int(others[0])), reduction=reports.reduction)
