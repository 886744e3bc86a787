"""pureDUMP: true values among dummies from all users."""

import math
from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.dump.dummies import dummy_count
from shuffledp.guarantees import EXACT, UPPER, under
from shuffledp.protocols.frequency._dummy_points import FixedDummies
from shuffledp.protocols.request import Request


@dataclass(frozen=True)
class PureDump(FixedDummies):
    """True values, and dummies in equal numbers from all users."""

    name = "pure_dump"
    relies_on = "others' dummies"
    task_kind = "frequency"
    label = "pureDUMP"
    source = "Li et al. 2020, Theorem 5.2"
    guarantees = under(printed=UPPER, exact=EXACT)
    profile_points = 960

    @classmethod
    def fit(cls, request: Request) -> Self:
        """Find the smallest total number of dummies, by the hockey stick or, ``printed``, Theorem 5.2 for eps <= 1."""
        total = dummy_count(request.k, request.eps, request.delta, accounting=request.accounting)
        return cls(request.n, request.k, math.inf, total)
