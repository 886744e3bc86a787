"""Relative sizes of probabilities: negligible masses, and logarithms of ratios."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


#: Mass that a window may omit, relative to delta. Omitted mass is counted as lost privacy, so this is also
#: the relative amount by which the answers are too large.
_OMITTED = 1e-14


#: Smallest mass that differs from 0 (a denormal number: only its size matters).
_FLOOR = 1e-320


def negligible(delta: float) -> float:
    """Return the mass that a window may omit on either side for a delta of about `delta`."""
    return min(max(_OMITTED * delta, _FLOOR), 0.01)


#: Relative increase of sums per nat of a small sum: two terms of a divergence cancel up to about one in ln(1 / delta).
#: Rounding errors found against 50 digits (`make -C tools numerical-errors`) are a tenth of it.
_ROUNDING = 3e-13


#: The same for a closed form without cancellation.
LAST_DIGITS = 1 + 1e-15


def raised(delta: float, most: float = 1.0) -> float:
    """Return an upper bound, at most `most`, on a sum of possibly canceling terms, from its rounded value `delta`."""
    return min(delta * (1 + _ROUNDING * (1 - math.log(min(delta, 1.0)))), most) if delta > 0 else 0.0


def log_ratio(value: float, reference: float) -> float:
    """Return the natural log of ``value / reference``, -inf for 0."""
    return math.log(value) - math.log(reference) if value > 0 else -math.inf


def settled(
    value_without: Callable[[float], float],
    *,
    first: float = 1e-30,
    step: float = 1e-30,
    floor: float = _FLOOR,
    omitted: float = 1e-13,
) -> float:
    """Return a positive value computed with negligible omitted mass: at most `omitted` relative to the value.
    `value_without` maps the mass that windows may omit to the value. The attempts begin with the mass `first`, are
    `step` times smaller each, and end at `floor`.
    """
    tail = first
    while True:
        value = value_without(tail)
        if tail <= max(omitted * value, floor):
            return value
        tail = max(tail * step, floor)
