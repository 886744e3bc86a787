"""Roots of increasing functions that are expensive, steep, or infinite on a part of the range, and flat minima."""

import math
from collections.abc import Callable

#: Beyond this many evaluations the secant is not converging and every step halves the bracket instead.
_PATIENCE = 25
_GOLDEN = (math.sqrt(5) - 1) / 2
#: Number of nearly equal values in a row after which the bracket is halved: the function is flat there.
_FLAT = 2


class ConvergenceError(ArithmeticError):
    """Error of a search for a root of a function that is too inaccurate in floating point."""


def _between(lower: float, upper: float) -> float:
    """Return a point well inside (lower, upper); an end may be infinite."""
    if math.isinf(lower) and math.isinf(upper):
        return 0.0
    if math.isinf(upper):
        return lower + max(1.0, abs(lower))
    if math.isinf(lower):
        return upper - max(1.0, abs(upper))
    return 0.5 * (lower + upper)


def _hardly_differs(y: float, before: float) -> bool:
    """Return True if a value has the sign of the previous value and at least half its size."""
    return (y > 0) == (before > 0) and 0.5 * abs(before) < abs(y) <= abs(before) < math.inf


def root_below(
    function: Callable[[float], float],
    guess: float,
    lower: float,
    upper: float,
    *,
    xtol: float,
    ytol: float = 0.0,
    slope: float | None = None,
    near: float = math.inf,
) -> float:
    """Return a root of an increasing function, approached from below: a point x at which the function is not positive.

    The function is positive within `xtol` of x, or at least ``-ytol`` at x; x is `lower` if no larger point qualifies.
    The method is a safeguarded secant: a step outside of the bracket is replaced by bisection. The function may be
    infinite; it is assumed and not evaluated to be <= 0 at `lower` and > 0 at `upper`, which may be infinite. A `guess`
    outside of the bracket is ignored, and `slope` is an estimate of the derivative there. `near` is the approximate
    distance of the root from the guess. If no secant step is possible, and no point is known where the function is
    positive, the next steps have the lengths `near`, ``4 near``, and so on.
    """
    low, high = lower, upper
    x = guess if low < guess < high else _between(low, high)
    previous: tuple[float, float] | None = None
    flat = 0
    # whether there was a point on the left of the root, on the right
    reach = near
    seen_sides = [False, False]

    def inside() -> float:
        nonlocal reach
        if all(seen_sides) or not any(seen_sides) or math.isinf(reach):
            return _between(low, high)
        point = low + reach if seen_sides[0] else high - reach
        reach *= 4
        return point if low < point < high else _between(low, high)

    for evaluations in range(1, 400):
        y = function(x)
        seen_sides[int(y > 0)] = True
        if y <= 0:
            low = x
        else:
            high = x
        if high - low <= xtol or (ytol > 0 and -ytol <= y <= 0):
            return low
        flat = flat + 1 if previous is not None and _hardly_differs(y, previous[1]) else 0
        # Two points closer than this only show rounding noise: keep the slope found before.
        rise = math.nan if previous is None else y - previous[1]
        if previous is not None and (abs(x - previous[0]) > 100 * xtol or abs(rise) > 100 * ytol > 0):
            slope = rise / (x - previous[0]) if math.isfinite(rise) else None
        previous = (x, y)
        proposal = math.nan
        if slope is not None and slope > 0 and math.isfinite(y):
            step = y / slope
            if y <= 0 and -step <= xtol:
                # Seemingly there. Try the other side of the root: that closes the bracket, or it shows that
                # the slope was measured too far away to be trusted.
                proposal, slope = x + 0.9 * xtol, None
            else:
                # half a tolerance short, to land on the safe side
                proposal = x - step - 0.5 * max(xtol, ytol / slope)
        if evaluations > _PATIENCE or flat >= _FLAT or not low < proposal < high:
            proposal = inside()
        if not low < proposal < high:  # the bracket has shrunk to neighboring floats
            return low
        x = proposal
    raise ConvergenceError(f"No convergence between {low} and {high}.")


def walk_to_minimum(
    function: Callable[[float], float], start: float, low: float, high: float, *, step: float, gain: float
) -> None:
    """Evaluate a positive function around a flat minimum, at few points; the function caches its values for the caller.
    The search takes steps of length `step` from `start` while they decrease the function by `gain` relative. Then it
    evaluates the vertex of a parabola through the last three points. The function may be ``inf`` on a part of [low,
    high].
    """
    middle = start
    for move in (step, -step):
        while low <= middle + move <= high and function(middle + move) < function(middle) * (1 - gain):
            middle += move
    a, b, c = function(middle - step), function(middle), function(middle + step)
    if b <= min(a, c) and max(a, c) < math.inf and a + c > 2 * b:
        function(middle + step * (a - c) / (2 * (a - 2 * b + c)))


def golden_section(function: Callable[[float], float], low: float, high: float, width: float) -> None:
    """Evaluate a function around its minimum until the bracket has the given width; the caller records the values."""
    lower, upper = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    while high - low > width:
        if function(lower) <= function(upper):
            high, upper = upper, lower
            lower = high - _GOLDEN * (high - low)
        else:
            low, lower = lower, upper
            upper = low + _GOLDEN * (high - low)


def smallest_integer(holds: Callable[[int], bool], guess: int, most: float) -> int | None:
    """Return the smallest integer >= 0 from which on a condition holds; None if the search exceeds `most`."""
    if holds(0):
        return 0
    low, high = 0, guess
    while not holds(high):
        low, high = high, 2 * high
        if high > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
