"""Search for the eps at which delta equals its target, with few evaluations of accurate deltas.

Each delta is a bound within some relative gap. The search finds the root of a coarse bound, after the root of a rough
bound if the first guess is far off. The result is the root of a fine bound, evaluated a few times near the root of the
coarse bound. The gap of the fine bound follows from the accuracy of eps: the error of eps is the gap over the slope.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.numerics.roots import root_below

if TYPE_CHECKING:
    from collections.abc import Callable

    from shuffledp.numerics.sum_excess import Side

#: Relative gap of delta in results, and while a root is approached.
FINE, COARSE = 1e-5, 1e-3
#: Relative gap of delta at the ends of the range, where only the sign matters.
ROUGH = 0.05
#: Largest relative excess of eps from the gap of delta.
_LOSS = 1e-6
#: Relative tolerance of eps, below the excess from the gap of delta.
_XTOL = 1e-7
#: Relative tolerance of eps while a root is approached. Slopes are measured over much larger distances.
_XTOL_COARSE = 1e-6
#: Slope below which delta hardly changes with eps.
_FLAT_SLOPE = 1e-4
#: Approximate distance of the root from a guess, in logs: from the limit, a rough delta, a hint, a coarse delta.
_FROM_LIMIT, _FROM_ROUGH, FROM_HINT, _FROM_COARSE = 0.3, 0.01, 1e-3, 1e-5
#: Distance of a rough delta from its target at which the search ends, as a logarithm.
_ROUGH_NEAR = 0.2
#: Distance, in logs, over which slopes are measured.
_NEAR, _FAR = 2e-3, 0.1
#: Largest log ratio of delta at the guess to its target; beyond it there may be no root.
_DOUBTFUL = 8.0
#: The least eps, nats, that is searched.
LEAST = 1e-12


def search_epsilon(
    excess: Callable[[float], Callable[[float], float]],
    most: float,
    mu: float,
    delta: float,
    side: Side,
    *,
    sometimes_shown: bool,
    hint: float | None = None,
) -> float:
    """Return the eps (nats, in [0, most]) at which delta equals its target, rounded up (upper) or down (lower).

    `excess` maps a relative gap to a decreasing function from the log of eps to the log of (delta / target). `mu` is
    the approximate distance of the two views in standard deviations; the first guess uses it, or `hint`, an eps close
    to the result. `sometimes_shown` means that some outputs show the report, so that delta may exceed its target even
    at `most`. If an upper bound then exceeds `delta` at every eps, `Infeasible` is raised.
    """
    low, high = math.log(min(LEAST, most / 2)), math.log(most)
    last = high if sometimes_shown else high + math.log1p(-_XTOL)
    rough = excess(ROUGH)
    evaluations: dict[float, float] = {}

    def coarse(log_eps: float) -> float:
        if log_eps not in evaluations:
            evaluations[log_eps] = evaluate(log_eps)
        return evaluations[log_eps]

    evaluate = excess(COARSE)

    def at_an_end() -> float | None:
        """Return the result if delta does not cross its target between the ends, else None."""
        if rough(low) <= 0:
            return math.exp(low) if side == "upper" else 0.0
        if rough(last) <= 0:
            return None
        if sometimes_shown and side == "upper":
            raise Infeasible(
                f"delta exceeds {delta!r} at every eps up to {most:g}: some outputs show the report."
            )
        return math.exp(high if side == "upper" else last)  # hardly any amplification

    # The logit of eps / most: the log of eps, as a rule; and where delta vanishes with most - eps, the log of that.
    def log_eps(logit: float) -> float:
        return logit if sometimes_shown else high - (math.log1p(math.exp(-logit)) if logit > -700 else -logit)

    def logit(log_eps: float) -> float:
        return log_eps if sometimes_shown else log_eps - high - math.log(-math.expm1(log_eps - high))

    sign = -1.0 if side == "upper" else 1.0  # `root_below` wants the safe side below

    def turned(function: Callable[[float], float]) -> Callable[[float], float]:
        # increasing; not positive where the answer is safe: delta <= target (upper), delta >= target (lower)
        return lambda x: -sign * function(log_eps(sign * x))

    ends = (logit(low), logit(last)) if side == "lower" else (-logit(last), -logit(low))
    guess, slope = limit_epsilon(mu, delta)
    if hint:
        guess = math.log(hint)
    first = sign * logit(min(max(guess, low), last))
    first = min(max(first, ends[0] + _NEAR), ends[1] - _NEAR)
    # Where the guess is good there is a root; else the ends are looked at, before or after it is searched.
    doubtful = not abs(turned(coarse)(first)) < _DOUBTFUL
    if doubtful and (end_value := at_an_end()) is not None:
        return end_value
    near = FROM_HINT if hint else _FROM_LIMIT
    if doubtful:  # laws that are nearly lattices: delta falls in steps
        first = root_below(turned(rough), first, *ends, xtol=_NEAR, ytol=_ROUGH_NEAR, slope=slope, near=near)
        near = _FROM_ROUGH
    start = root_below(turned(coarse), first, *ends, xtol=_XTOL_COARSE, ytol=COARSE, slope=slope, near=near)
    if (
        not doubtful
        and min(start - ends[0], ends[1] - start) < _NEAR
        and (end_value := at_an_end()) is not None
    ):
        return end_value
    # The coarse root is close, and its slope is that of the fine function.
    slope = _slope(turned(coarse), start, [sign * logit(at) for at in evaluations], ends[0])
    # What eps loses to the gap of delta is that over the slope, by the logit less where there is hardly any
    # amplification.
    sensitivity = 1.0 if sometimes_shown else max(-math.expm1(log_eps(sign * start) - high), 1e-3)
    loss = 0.0 if math.isnan(slope) else _LOSS * slope / sensitivity
    fine, slope_ = turned(excess(min(max(FINE, loss), 10 * FINE))), slope if slope > 0 else None
    # Where delta hardly changes with eps, its gap leaves eps open, and to go on would not tell it.
    ytol = 2 * FINE if slope < _FLAT_SLOPE else loss
    root = root_below(
        fine,
        start,
        *ends,
        xtol=_XTOL,
        ytol=min(ytol, 5 * FINE),
        slope=slope_,
        near=_FROM_COARSE,
    )
    return math.exp(log_eps(sign * root))


def _slope(function: Callable[[float], float], at: float, points: list[float], low: float) -> float:
    """Return the slope of a function between `at` and one of the `points` nearby; nan if it is not finite."""
    apart = [x for x in points if _NEAR / 2 <= abs(x - at) <= _FAR and math.isfinite(function(x))]
    if not apart and at - _NEAR <= low:
        return math.nan
    other = min(apart, key=lambda x: abs(x - at)) if apart else at - _NEAR
    rise = function(at) - function(other)
    return max(rise / (at - other), 0.0) if math.isfinite(rise) else math.nan


def limit_epsilon(mu: float, delta: float) -> tuple[float, float]:
    """Return the log of the eps at which two normal laws at distance `mu` have the given delta, and the slope of log
    delta.
    """
    mu = max(mu, 1e-100)  # the square of a smaller one is none

    def excess(minus_log_eps: float) -> float:
        return log_gaussian_delta(mu, math.exp(-minus_log_eps)) - math.log(delta)

    most = mu * (mu / 2 + math.sqrt(-2 * math.log(delta)))  # delta is at most the mass of larger losses
    root = root_below(excess, 0.0, -max(6.0, math.log(most) + 0.1), 40.0, xtol=1e-4)
    return -root, (excess(root + 1e-4) - excess(root - 1e-4)) / 2e-4
