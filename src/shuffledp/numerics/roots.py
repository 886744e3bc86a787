"""Root finding for increasing functions that are expensive, steep, or infinite on part of the range; flat minima."""

import math
from collections.abc import Callable

#: Beyond this many evaluations the secant is not converging and every step halves the bracket instead.
_PATIENCE = 25
_GOLDEN = (math.sqrt(5) - 1) / 2
#: Number of nearly equal values in a row after which the bracket is halved: the function is flat there.
_FLAT = 2


class NoConvergence(ArithmeticError):  # noqa: N818  (names what is wrong)
    """Error of a search that does not converge because floating point cannot evaluate its function."""


def _between(lower: float, upper: float) -> float:
    """Return a point well inside (lower, upper); either end may be infinite."""
    if math.isinf(lower) and math.isinf(upper):
        return 0.0
    if math.isinf(upper):
        return lower + max(1.0, abs(lower))
    if math.isinf(lower):
        return upper - max(1.0, abs(upper))
    return 0.5 * (lower + upper)


def _hardly_differs(y: float, before: float) -> bool:
    """Return True for a value on the same side as the previous one and at least half as large."""
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
    """Find the root of an increasing function, approached from the side where it is not positive.

    Safeguarded secant: the bracket is kept at every step, and a step that leaves it is replaced by bisection.

    Parameters
    ----------
    function : callable
        Increasing; may return ``-inf`` and ``inf``.
    guess : float
        First point to try; ignored when outside (lower, upper).
    lower, upper : float
        Bracket, assumed and not evaluated: the function is <= 0 at `lower` and > 0 at `upper`. Either may be infinite.
    xtol : float
        Absolute tolerance of the answer.
    ytol : float
        A value in ``[-ytol, 0]`` ends the search as well: then nothing is evaluated on the other side of the root.
    slope : float, optional
        Estimate of the derivative at the guess, for the first step.
    near : float
        Approximate distance of the root from the guess. Where no secant step is possible and no point on the other side
        of the root is known, it is the length of the next step, then four times that length, and so on.

    Returns
    -------
    float
        A point x with ``function(x) <= 0`` within `xtol` of one where it is positive, or ``function(x) >= -ytol``;
        `lower` itself if nothing above it qualifies.
    """
    low, high = lower, upper
    x = guess if low < guess < high else _between(low, high)
    previous: tuple[float, float] | None = None
    flat = 0
    reach, seen = near, [False, False]  # whether there was a point on the left of the root, on the right

    def inside() -> float:
        nonlocal reach
        if all(seen) or not any(seen) or math.isinf(reach):
            return _between(low, high)
        point = low + reach if seen[0] else high - reach
        reach *= 4
        return point if low < point < high else _between(low, high)

    for evaluations in range(1, 400):
        y = function(x)
        seen[int(y > 0)] = True
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
    raise NoConvergence(f"No convergence between {low} and {high}.")


def walk_to_minimum(
    function: Callable[[float], float], start: float, low: float, high: float, *, step: float, gain: float
) -> None:
    """Evaluate a function around a flat minimum, at few points; the caller keeps the values.

    The search takes steps while they decrease the function by `gain`, and then evaluates the vertex of a parabola
    through the last three points.

    Parameters
    ----------
    function : callable
        Positive, or ``inf`` on part of the range; caches its values, as points are evaluated repeatedly.
    start : float
        In ``[low, high]``.
    low, high : float
        Ends of the walk; the neighbors of an end are evaluated too.
    step : float
        > 0.
    gain : float
        Least relative decrease for another step.
    """
    middle = start
    for move in (step, -step):
        while low <= middle + move <= high and function(middle + move) < function(middle) * (1 - gain):
            middle += move
    a, b, c = function(middle - step), function(middle), function(middle + step)
    if b <= min(a, c) and max(a, c) < math.inf and a + c > 2 * b:
        function(middle + step * (a - c) / (2 * (a - 2 * b + c)))


def golden_section(function: Callable[[float], float], low: float, high: float, width: float) -> None:
    """Evaluate a function around its minimum until the bracket is narrow; the caller keeps the values."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    while high - low > width:
        if function(left) <= function(right):
            high, right = right, left
            left = high - _GOLDEN * (high - low)
        else:
            low, left = left, right
            right = low + _GOLDEN * (high - low)


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
