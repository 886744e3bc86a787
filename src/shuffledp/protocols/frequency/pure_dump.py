"""pureDUMP: true values among dummies from all users."""

import math
from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.dump.dummies import dummy_count
from shuffledp.guarantees import EXACT, UPPER, under
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.frequency._dummy_points import FixedDummies


@dataclass(frozen=True)
class PureDump(FixedDummies):
    """True values, and dummies in equal numbers from all users."""

    name = "pure_dump"
    relies_on = "others' dummies"
    task_kind = "frequency"
    label = "pureDUMP"
    source = "Li et al. 2020, Theorem 5.2"
    guarantees = under(printed=UPPER, exact=EXACT)

    @classmethod
    @from_request
    def calibrate(cls, n: int, k: int, eps: float, delta: float, *, accounting: str = "exact") -> Self:
        """Find the smallest total number of dummies, by the hockey stick or, ``printed``, Theorem 5.2 for eps <= 1."""
        total = dummy_count(k, eps, delta, accounting=accounting)
        return cls(n, k, math.inf, total)
