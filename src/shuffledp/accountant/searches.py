"""Searches for the largest local budget and the smallest number of users that one reduction allows."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from shuffledp.accountant.batches import MOST_EPS_LOCAL, BatchSetting
from shuffledp.accountant.reductions import XTOL, Clones, Reduction, has_contour, log_excess
from shuffledp.accounting.general.epsilon_search import COARSE, FINE, ROUGH
from shuffledp.accounting.random_population.amplification import local_budget
from shuffledp.numerics.argument_ranges import MOST
from shuffledp.numerics.roots import root_below

if TYPE_CHECKING:
    from collections.abc import Callable

    from shuffledp.populations.base import Population

#: Relative tolerance of budgets, for composed rounds, and for composed rounds with a shared crowd.
XTOL_ROUNDS, XTOL_SHARED = 1e-4, 1e-3
#: Number of other users from which on there may be too many clones to sum over their number.
_MANY_OTHERS = 1e7
#: Largest relative distance of delta below its target, in place of the first tolerance.
_YTOL = 3e-6
#: Relative distance of the sought eps below its target; eps is rounded up by the same amount.
_BELOW = 3e-6
#: Relative tolerance of a number of users far from a root, the distance for slopes, in logs, and the largest number of
#: users that the gap of delta may add.
_NEAR, _APART, _USER = 1e-5, 1e-3, 0.1
#: Both where the analyzer sees sums: a rough delta is uneven and some percent from a close one.
_NEAR_SUMMED, _APART_SUMMED = 1e-2, 0.02
#: Relative tolerance of budgets and numbers for sums: a fine delta is uneven by about 1e-5, and the bound is some
#: percent from the worst data set. Then the largest distance of delta below its target.
_TOLERANCE_SUMMED, _YTOL_SUMMED = 1e-6, 5e-5
#: Tolerance of numbers above which slopes decide on convergence, and the relative distance of numbers for a slope.
_FEW, _CLOSE = 5e-7, 0.1
#: Step beyond a root, relative to its distance from the nearer end of the bracket.
_PAST = 0.02
#: Distance of the log of the excess of a budget over eps from a first guess, a rough root and a coarse root.
_FROM_GUESS, _FROM_ROUGH, _FROM_COARSE = 0.1, 1e-3, 1e-5
#: Approximate distance between the answers for users drawn once and drawn anew, in logs.
_SHARED = 0.02
#: The least relative excess of a budget over eps that is searched, and the least that is guessed.
_LEAST, _GUESS = 1e-6, 0.1


def largest_budget(setting: BatchSetting, eps: float, honest: Population, reduction: Reduction) -> float:
    """Return the largest local budget that one reduction allows, nats, at most 100.

    The tolerance is larger for several rounds, or if the population is a bound.
    """
    few = honest.mean <= _MANY_OTHERS or not has_contour(honest)
    if setting.rounds == 1 and isinstance(reduction, Clones) and few and not reduction.is_bound(honest):
        eps_local = local_budget(honest, eps, setting.delta, accounting="exact", reduction=reduction.rate)
        return min(eps_local, MOST_EPS_LOCAL)

    def excess(gap: float) -> Callable[[float], float]:
        return lambda log_eps_local: log_excess(setting, math.exp(log_eps_local), eps, honest, reduction, gap)

    low, high = math.log(eps / setting.rounds), math.log(MOST_EPS_LOCAL)
    if setting.rounds == 1:
        eps *= 1 - _BELOW
    # What the analyzer sees of sums is found far sooner if it is far from close.
    summed = reduction.is_summed(setting, 1.0)
    coarse = excess(ROUGH if summed else COARSE)
    if low >= high or coarse(high) <= 0:
        return MOST_EPS_LOCAL
    guess = math.log(min(max(eps / setting.rounds, 1 + 0.4 * math.log1p(honest.mean * eps * eps)), 50.0))
    if setting.rounds > 1:
        xtol, near = XTOL_ROUNDS, math.inf
        if setting.is_shared:  # an evaluation takes seconds
            guess = math.log(largest_budget(replace(setting, crowd="fresh"), eps, honest, reduction))
            xtol, near = XTOL_SHARED, _SHARED
        return math.exp(root_below(excess(FINE), guess, low, high, xtol=xtol, near=near))
    if coarse(low + _LEAST) > 0:
        return math.exp(low)

    # By the log of the relative excess over eps: delta may vanish with it.
    def log_budget(x: float) -> float:
        return low + math.log1p(math.exp(x))

    def by_excess(function: Callable[[float], float]) -> Callable[[float], float]:
        return lambda x: function(log_budget(x))

    ends = math.log(_LEAST), math.log(math.expm1(high - low))
    guess, coarse = math.log(max(math.expm1(guess - low), _GUESS)), by_excess(coarse)
    near = root_below(coarse, guess, *ends, xtol=1e-6, ytol=COARSE, near=_FROM_GUESS)
    apart = _APART_SUMMED if summed else _APART
    before = near - apart
    rise = coarse(near) - coarse(before) if before > ends[0] else math.nan
    slope = rise / apart if 0 < rise < math.inf else None
    loss = 0.0 if slope is None else XTOL * slope * (1 + math.exp(-near))
    fine = by_excess(excess(min(max(FINE, loss), 10 * FINE)))
    ytol = min(max(loss, _YTOL), 2 * FINE)
    if summed:
        ytol = min(max(_TOLERANCE_SUMMED / XTOL * loss, _YTOL), _YTOL_SUMMED)
    away = _FROM_ROUGH if summed else _FROM_COARSE
    root = root_below(fine, near, *ends, xtol=XTOL, ytol=ytol, slope=slope, near=away)
    # The same float as in the search: its cached results serve the later request for its eps.
    return math.exp(log_budget(root))


def smallest_number(
    setting: BatchSetting,
    eps_local: float,
    eps: float,
    people: Callable[[int], tuple[float, Population]],
    reduction: Reduction,
) -> float:
    """Return the smallest number of users that one reduction allows, ``inf`` above 2^53.

    `people` maps a number to the number of all users and the population of the honest other users.
    """

    def excess(gap: float) -> Callable[[int], float]:
        return cache(lambda number: log_excess(setting, eps_local, eps, people(number)[1], reduction, gap))

    if setting.is_shared:  # an evaluation takes seconds
        fresh = smallest_number(replace(setting, crowd="fresh"), eps_local, eps, people, reduction)
        if math.isinf(fresh):
            return fresh
        fine, larger = excess(FINE), math.ceil((1 + _SHARED) * fresh)
        slope = _or_else((fine(int(fresh)) - fine(larger)) / (larger - fresh), 1.0)
        return _from(fine, larger, slope, XTOL_SHARED)
    # As for budgets: what the analyzer sees of sums is found far sooner if it is far from close.
    summed = reduction.is_summed(setting, eps_local)
    coarse = excess(ROUGH if summed else COARSE)
    if coarse(1) <= 0:
        return 1
    low, high = 1, 1024
    while coarse(high) > 0:
        low, high = high, 8 * high
        if high > MOST:
            return math.inf
    # The root of a coarse delta is close to that of a fine one, and its slope is that of the fine one.
    low, high, root = _bracket(coarse, low, high, _NEAR_SUMMED if summed else _NEAR)
    apart = max(1, round((_APART_SUMMED if summed else _APART) * high))
    smaller = low if high - low >= 0.25 * apart else max(high - apart, 1)
    slope = (coarse(smaller) - coarse(high)) / (high - smaller)  # per user
    slope = _or_else(slope, 1.0)
    tolerance = _TOLERANCE_SUMMED if summed else reduction.number_tolerance
    return _from(excess(min(max(_USER * slope, FINE), 10 * FINE)), math.ceil(root), slope, tolerance)


def _from(excess: Callable[[int], float], guess: int, slope: float, tolerance: float) -> int:
    """Return the smallest number at which a decreasing function is not positive, from a guess and a slope there."""
    # Half a tolerance too many, or else far enough that the root is mostly between two numbers.
    factor, beyond = (1.0, 0.5 * tolerance * guess) if tolerance > _FEW else (1.1, 0.0)
    low = high = guess
    value, step = excess(guess), 1
    while value <= 0 and low > 1:
        if 0 < -value <= slope * tolerance * low and tolerance > _FEW:
            return low
        high = low
        fewer = math.ceil(-factor * value / slope - beyond) if value > -math.inf else 1
        low = max(1, high - max(step, fewer))
        last, value, step = value, excess(low), 4 * step
        slope = _or_else((value - last) / (high - low), slope)
    if value <= 0:
        return low
    if low < high:
        return _narrowed(excess, low, high, tolerance)
    while value > 0:
        low = high
        high = low + max(step, math.ceil(factor * value / slope + beyond) if value < math.inf else 1)
        last, value, step = value, excess(high), 4 * step
        slope = _or_else((last - value) / (high - low), slope)
    return _narrowed(excess, low, high, tolerance)


def _or_else(slope: float, default: float) -> float:
    return slope if 0 < slope < math.inf else default


def _narrowed(excess: Callable[[int], float], low: int, high: int, tolerance: float = 0.0) -> int:
    """Return the upper end of the final bracket of `_bracket`."""
    return _bracket(excess, low, high, tolerance)[1]


def _bracket(excess: Callable[[int], float], low: int, high: int, tolerance: float) -> tuple[int, int, float]:
    """Return two numbers around the root of a decreasing function, at most `tolerance` or 1 apart, and the root."""
    at_low, at_high = excess(low), excess(high)
    last_point: tuple[float, float] | None = None
    before = [math.inf, math.inf]
    while True:
        width, apart = math.log(high) - math.log(low), max(1, tolerance * high)
        root = _crossing((math.log(low), at_low), (math.log(high), at_high), last_point)
        x = high if root is None else math.exp(root)
        close = root is not None and tolerance > _FEW and high - low <= _CLOSE * high
        if high - low <= apart or (close and high - x <= apart):
            return low, high, x
        if root is None or width > 0.5 * before[0]:
            number = round(math.exp(0.5 * (math.log(low) + math.log(high))))
        else:
            # A little past the root as seen from the nearer end: then both ends are close to it.
            past = (0.5 * apart if apart > 1 else 0.0) + _PAST * min(x - low, high - x)
            number = math.ceil(x + past) if x - low < high - x else math.floor(x - past)
        before = [before[1], width]
        number = min(max(number, low + 1), high - 1)
        value = excess(number)
        if value <= 0:
            last_point, high, at_high = (math.log(high), at_high), number, value
        else:
            last_point, low, at_low = (math.log(low), at_low), number, value


def _crossing(
    low: tuple[float, float], high: tuple[float, float], third: tuple[float, float] | None
) -> float | None:
    """Return the root of a decreasing function by inverse quadratic interpolation or a chord; None if infinite."""
    (a, at_a), (b, at_b) = low, high
    if not (math.isfinite(at_a) and math.isfinite(at_b) and at_a > 0 > at_b):
        return None
    chord = (a * -at_b + b * at_a) / (at_a - at_b)
    if third is None or not math.isfinite(third[1]) or third[1] in (at_a, at_b):
        return chord
    c, at_c = third
    curved = chord + at_a * at_b * ((c - a) / (at_c - at_a) - (b - a) / (at_b - at_a)) / (at_c - at_b)
    return curved if a < curved < b else chord
