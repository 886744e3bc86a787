"""Result of a search: the extreme value of a quantity over many settings, and the number of settings beyond a limit."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

#: Ratio above which a setting violates a statement; numbers are accurate to a tenth of the excess.
LIMIT = 1 + 1e-6
#: Smallest delta of a setting in a search.
LEAST_DELTA = 1e-12
#: Values of eps in a search over data sets of a few users, as shares of the local budget.
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
#: Values of a search with the settings as text.
Values = Iterator[tuple[float, str]]


@dataclass(frozen=True)
class Found:
    """Largest value of a search, and the number of values beyond the limit."""

    settings: int
    extreme: float
    where: str
    beyond: int


def largest(values: Iterable[tuple[float, str]], limit: float, floor: float = -math.inf) -> Found:
    """Return the largest value with its setting, the first one if tied, and the number of values beyond a limit."""
    count, beyond, best, where = 0, 0, -np.inf, ""
    for value, setting in values:
        if np.isnan(value):
            raise ValueError(f"The value at {setting} is not a number.")
        count, beyond = count + 1, beyond + (not floor <= value <= limit)
        if value > best:
            best, where = value, setting
    if not count:
        raise ValueError("A search needs a setting at least.")
    return Found(count, float(best), where, int(beyond))


def named_rng(name: str) -> np.random.Generator:
    """Return the random generator of a search, seeded by the name of the search."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"))
