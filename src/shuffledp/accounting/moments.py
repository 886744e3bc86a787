"""Worst case of the exact accounting over all populations with a given mean and at most a given variance.

With delta_n the exact delta for n other users, the worst case is the moment problem: maximise ``E[delta_X]``
over laws of an integer X >= 0 with ``E[X] = mean`` and ``Var[X] <= variance``. Its dual is the smallest
expectation of a quadratic q that lies above delta_n at every n, and *any* such q is a proven upper bound. The
linear programme is solved on a grid of n; then q is checked at every integer, using that delta_n falls with
n, and the grid is refined where it fails. Derived; not in the paper, whose Theorem 3 is far from it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import linprog

from shuffledp.accounting.clones import exact_delta, exact_epsilon, unamplified_budget
from shuffledp.numerics import root_below
from shuffledp.populations import Fixed, MomentBounded

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: Relative width of the gap between the proven upper bound and the value on the grid at which refining stops.
_GAP = 1e-6
#: Relative tolerance of eps in the inverse functions, above the noise that the gap leaves.
_XTOL = 2e-6


class _Quadratic(NamedTuple):
    """``constant + linear z + square z^2`` in standard units ``z = (n - mean) / deviation``; square >= 0."""

    constant: float
    linear: float
    square: float

    def least(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        """Minimum over each interval [low, high]."""
        if self.square <= 0:
            z = low if self.linear >= 0 else high
        else:
            z = np.clip(-self.linear / (2 * self.square), low, high)
        return np.asarray(self.constant + (self.linear + self.square * z) * z)


def _first_grid(mean: float, deviation: float) -> NDArray[np.int64]:
    """Few points near 0 and far out, many around the mean; the last is beyond every support point."""
    most = math.ceil(max(2 * mean + 3 * deviation, mean + 2 * deviation**2 / mean) + 10)
    steps = np.unique(np.round(np.geomspace(1, most, 48)))
    around = np.concatenate((mean - steps, mean + steps, [mean], steps, [0.0]))
    points = np.concatenate((np.floor(around), np.ceil(around), np.linspace(0, most, 33)))
    return np.unique(np.clip(np.round(points), 0, most)).astype(np.int64)


def _dual(z: NDArray[np.float64], values: NDArray[np.float64]) -> _Quadratic:
    """Solve the moment problem on the grid and return the dual quadratic."""
    scale = float(np.max(values / np.maximum(1, z**2)))
    weight = np.maximum(1, z**2)  # columns of size about 1 whatever the distance from the mean
    result = linprog(
        -values / weight / scale,
        A_eq=np.vstack((1 / weight, z / weight)),
        b_eq=[1.0, 0.0],
        A_ub=(z**2 / weight)[None, :],
        b_ub=[1.0],
        method="highs",
    )
    if not result.success:  # pragma: no cover
        raise RuntimeError(f"The moment problem could not be solved: {result.message}")
    constant, linear = result.eqlin.marginals
    return _Quadratic(
        -scale * constant, -scale * linear, max(0.0, -scale * float(result.ineqlin.marginals[0]))
    )


def _certified(delta_of: Callable[[int], float], mean: float, variance: float) -> float:
    """Return a proven upper bound on the moment problem, tight to about 1e-6 relative."""
    fraction = mean - math.floor(mean)
    variance = max(variance, fraction * (1 - fraction))  # no integer law has less
    if variance == 0:
        return delta_of(int(mean))
    deviation = math.sqrt(variance)
    grid = _first_grid(mean, deviation)
    values = np.array([delta_of(int(n)) for n in grid])
    best = math.inf
    for _ in range(60):
        if not np.max(values) > 0:
            return 0.0
        z = ((grid - mean) / deviation).astype(np.float64)
        q = _dual(z, values)
        # Between two grid points delta_n is at most its value at the left one.
        last = np.append(z[1:] - 1 / deviation, math.inf if q.square > 0 else z[-1])
        short = values - q.least(z, last)
        nearest = np.clip(0.0, z, last)
        lift = np.maximum(short, 0) / (1 + nearest**2)  # q + lift (1 + z^2) is above delta_n at all n
        if q.square <= 0 and q.linear < 0:
            lift[-1] = math.inf
        slack = float(np.max(lift))
        best = min(best, q.constant + q.square + 2 * slack)  # E[z] = 0 and E[z^2] <= 1
        wide = np.append(np.diff(grid) > 1, False)
        poor = np.flatnonzero((2 * lift > _GAP * best) & wide)
        if poor.size == 0 or 2 * slack <= _GAP * best:
            break
        new = (grid[poor] + grid[poor + 1]) // 2
        order = np.argsort(np.concatenate((grid, new)))
        values = np.concatenate((values, [delta_of(int(n)) for n in new]))[order]
        grid = np.concatenate((grid, new))[order]
    return best


def worst_delta(
    population: MomentBounded,
    eps_local: float,
    eps_central: float,
    *,
    dummies: int = 0,
    adaptive: bool = False,
    reduction: str = "clones",
) -> float:
    """Return the largest exact delta over all populations with these moments.

    Parameters
    ----------
    population : MomentBounded
        Mean and largest variance of the number of other users. Raised to the least variance of an integer law
        with this mean where it is smaller.
    eps_local, eps_central, dummies, adaptive, reduction
        As in :func:`shuffledp.accounting.clones.exact_delta`.

    Returns
    -------
    float
        Proven upper bound, about 1e-6 relative above the supremum.
    """
    if eps_central >= eps_local:
        return 0.0
    cache: dict[int, float] = {}

    def delta_of(n: int) -> float:
        others = max(n, dummies) if adaptive else n + dummies
        if others not in cache:
            cache[others] = exact_delta(Fixed(others), eps_local, eps_central, reduction=reduction)
        return cache[others]

    if population.mean == 0:
        return delta_of(0)
    return min(_certified(delta_of, population.mean, population.variance), delta_of(0))


def worst_epsilon(
    population: MomentBounded,
    eps_local: float,
    delta: float,
    *,
    dummies: int = 0,
    adaptive: bool = False,
    reduction: str = "clones",
) -> float:
    """Return the smallest eps_central that holds for all populations with these moments.

    Parameters are those of :func:`worst_delta`, and `delta` in (0, 1).

    Returns
    -------
    float
        Nats, in [0, eps_local]; an upper bound, about 1e-5 relative above the true value.
    """

    def excess(minus_log_eps: float) -> float:
        return _log_ratio(
            worst_delta(
                population,
                eps_local,
                min(math.exp(-minus_log_eps), eps_local),
                dummies=dummies,
                adaptive=adaptive,
                reduction=reduction,
            ),
            delta,
        )

    # The population that is never smaller than its mean is a best case.
    least = exact_epsilon(
        Fixed(_typical(population, dummies, adaptive)), eps_local, delta, reduction=reduction
    )
    low = math.log(max(least, 1e-6 * eps_local))
    if excess(-low) <= 0:
        return math.exp(low)
    high = math.log(eps_local)
    return min(math.exp(-root_below(excess, -0.5 * (low + high), -high, -low, xtol=_XTOL)), eps_local)


def worst_local_budget(
    population: MomentBounded,
    eps_central: float,
    delta: float,
    *,
    dummies: int = 0,
    adaptive: bool = False,
    reduction: str = "clones",
) -> float:
    """Return the largest eps_local that is safe for all populations with these moments.

    Parameters are those of :func:`worst_delta`, and `delta` in (0, 1).

    Returns
    -------
    float
        Nats, at least `eps_central`; rounded down by about 1e-5 relative.
    """
    alone = unamplified_budget(eps_central, delta)

    def excess(log_eps_local: float) -> float:
        return _log_ratio(
            worst_delta(
                population,
                math.exp(log_eps_local),
                eps_central,
                dummies=dummies,
                adaptive=adaptive,
                reduction=reduction,
            ),
            delta,
        )

    low = math.log(alone)
    root = root_below(excess, low + 0.1, low, math.inf, xtol=_XTOL)
    return math.exp(root) if root > low else alone


def _typical(population: MomentBounded, dummies: int, adaptive: bool) -> int:
    others = math.ceil(population.mean)
    return max(others, dummies) if adaptive else others + dummies


def _log_ratio(value: float, reference: float) -> float:
    return math.log(value) - math.log(reference) if value > 0 else -math.inf
