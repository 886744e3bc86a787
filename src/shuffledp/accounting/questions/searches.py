"""The largest local budget and the smallest number of users that one reduction allows."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

from shuffledp.accounting.general.blanket import OwnDelta
from shuffledp.accounting.general.epsilon_search import COARSE, FINE, ROUGH
from shuffledp.accounting.questions.batches import MOST_EPS_LOCAL, Setting
from shuffledp.accounting.questions.reductions import clone_reduction, has_contour, is_bound, log_excess
from shuffledp.accounting.random_population.amplification import local_budget
from shuffledp.numerics.checks import MOST
from shuffledp.numerics.roots import root_below

if TYPE_CHECKING:
    from collections.abc import Callable

    from shuffledp.populations import Population

#: Relative tolerance of budgets; and of them where rounds are composed.
XTOL, XTOL_ROUNDS = 1e-7, 1e-4
#: Of so many others there may be too many clones to sum over their number.
_MANY_OTHERS = 1e7
#: How far below its target delta may end, relative, in place of the first.
_YTOL = 3e-6
#: What eps is asked to be below its target, relative: as much as it is rounded up when it is asked for.
_BELOW = 3e-6
#: Relative tolerance of a number of users while a root is approached, the distance over which slopes are measured, in
#: logs, and how many users the gap of delta may cost.
_NEAR, _APART, _USER = 1e-3, 1e-3, 0.1
#: How far the log of the excess of a budget over eps is from a first guess, and from the root of a coarse delta.
_FROM_GUESS, _FROM_ROUGH, _FROM_COARSE = 0.1, 1e-3, 1e-5
#: The least relative excess of a budget over eps that is searched, and the least that is guessed.
_LEAST, _GUESS = 1e-6, 0.1


def largest_budget(setting: Setting, eps: float, honest: Population, name: str) -> float:
    """Return the largest local budget that one reduction allows, nats, at most 100; with several rounds or a bound for
    the population less closely."""
    few = honest.mean <= _MANY_OTHERS or not has_contour(honest)
    if setting.rounds == 1 and name != "blanket" and few and not is_bound(honest, name):
        found = local_budget(honest, eps, setting.delta, accounting="exact", reduction=clone_reduction(name))
        return min(found, MOST_EPS_LOCAL)

    def excess(gap: float) -> Callable[[float], float]:
        return lambda log_eps_local: log_excess(setting, math.exp(log_eps_local), eps, honest, name, gap)

    low, high = math.log(eps / setting.rounds), math.log(MOST_EPS_LOCAL)
    if setting.rounds == 1:
        eps *= 1 - _BELOW
    # What the analyzer sees of sums is found far sooner if it is far from close.
    summed = name == "blanket" and isinstance(setting.at(1.0), OwnDelta)
    coarse = excess(ROUGH if summed else COARSE)
    if low >= high or coarse(high) <= 0:
        return MOST_EPS_LOCAL
    guess = math.log(min(max(eps / setting.rounds, 1 + 0.4 * math.log1p(honest.mean * eps * eps)), 50.0))
    if setting.rounds > 1:
        return math.exp(root_below(excess(FINE), guess, low, high, xtol=XTOL_ROUNDS))
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
    before = near - _APART
    rise = coarse(near) - coarse(before) if before > ends[0] else math.nan
    slope = rise / _APART if 0 < rise < math.inf else None
    loss = 0.0 if slope is None else XTOL * slope * (1 + math.exp(-near))
    fine = by_excess(excess(min(max(FINE, loss), 10 * FINE)))
    ytol = min(max(loss, _YTOL), 2 * FINE)
    away = _FROM_ROUGH if summed else _FROM_COARSE
    found = root_below(fine, near, *ends, xtol=XTOL, ytol=ytol, slope=slope, near=away)
    # The very float that was tried: what is known of it is remembered when its eps is asked for.
    return math.exp(log_budget(found))


def smallest_number(
    setting: Setting,
    eps_local: float,
    eps: float,
    people: Callable[[int], tuple[float, Population]],
    name: str,
) -> float:
    """Return the smallest number of users that one reduction allows, ``inf`` above 2^53; `people` gives the law of the
    others for a number."""

    def excess(gap: float) -> Callable[[int], float]:
        return cache(lambda number: log_excess(setting, eps_local, eps, people(number)[1], name, gap))

    # As for budgets: what the analyzer sees of sums is found far sooner if it is far from close.
    summed = name == "blanket" and isinstance(setting.at(eps_local), OwnDelta)
    coarse = excess(ROUGH if summed else COARSE)
    if coarse(1) <= 0:
        return 1
    low, high = 1, 1024
    while coarse(high) > 0:
        low, high = high, 8 * high
        if high > MOST:
            return math.inf
    # The root of a coarse delta is close to that of a fine one, and its slope is that of the fine one.
    high = _narrowed(coarse, low, high, _NEAR)
    apart = max(1, round(_APART * high))
    slope = (coarse(max(high - apart, 1)) - coarse(high)) / apart  # per user
    slope = slope if 0 < slope < math.inf else 1.0
    return _from(
        excess(min(max(_USER * slope, FINE), 10 * FINE)), high, slope, XTOL if name == "blanket" else 0.0
    )


def _from(excess: Callable[[int], float], guess: int, slope: float, tolerance: float) -> int:
    """The smallest number at which a falling function is not positive, near a guess; `slope` is about that there."""
    low = high = guess
    value, step = excess(guess), 1
    while value <= 0 and low > 1:
        high = low
        low = max(1, high - max(step, math.ceil(-1.1 * value / slope) if value > -math.inf else 1))
        value, step = excess(low), 4 * step
    if value <= 0:
        return low
    if low < high:
        return _narrowed(excess, low, high, tolerance)
    while value > 0:
        low = high
        high = low + max(step, math.ceil(1.1 * value / slope) if value < math.inf else 1)
        value, step = excess(high), 4 * step
    return _narrowed(excess, low, high, tolerance)


def _narrowed(excess: Callable[[int], float], low: int, high: int, tolerance: float = 0.0) -> int:
    """Return a number at which a falling function is not positive, at most 1 above one where it is, or `tolerance`
    relative: between one where it is positive and one where it is not."""
    # The log of the excess is close to a power of the number: steps along the chord in logs, halving now and then.
    at_low, at_high = excess(low), excess(high)
    turn = 0
    while high - low > max(1, tolerance * high):
        turn += 1
        middle = math.exp(0.5 * (math.log(low) + math.log(high)))
        if turn % 3 and math.isfinite(at_low) and math.isfinite(at_high) and at_low > 0 > at_high:
            share = at_low / (at_low - at_high)
            middle = math.exp((1 - share) * math.log(low) + share * math.log(high))
        number = min(max(round(middle), low + 1), high - 1)
        value = excess(number)
        if value <= 0:
            high, at_high = number, value
        else:
            low, at_low = number, value
    return high
