"""Sizes of probabilities beside each other: what may be left out, and logarithms of ratios."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


#: Mass that a window may omit, relative to delta. Omitted mass is counted as lost privacy, so this is also
#: the relative amount by which the answers are too large.
_OMITTED = 1e-14


#: Smallest mass that is still told from 0 (a denormal number: only its size matters).
_FLOOR = 1e-320


def negligible(delta: float) -> float:
    """Return the mass that a window may omit on either side when delta is about `delta`."""
    return min(max(_OMITTED * delta, _FLOOR), 0.01)


def log_ratio(value: float, reference: float) -> float:
    """Return the natural log of ``value / reference``, -inf for 0."""
    return math.log(value) - math.log(reference) if value > 0 else -math.inf
