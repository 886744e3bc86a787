"""Flexible pureDUMP: true values among dummies of some users."""

import math
from dataclasses import dataclass
from typing import Annotated, Self

from shuffledp.accounting.dump.flexible import RANDOM_SENDERS
from shuffledp.guarantees import EXACT, UPPER, under
from shuffledp.numerics.argument_ranges import Rate, one_of
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.frequency._flexible_dummies import ESTIMATORS, FlexibleDummies, flexible_plan


@dataclass(frozen=True)
class FlexiblePureDump(FlexibleDummies):
    """True values, and dummies that each user sends with some probability."""

    name = "flexible_pure_dump"
    relies_on = "others' dummies"
    task_kind = "frequency"
    label = "pureDUMP, flexible"
    source = "Li et al. 2020, Theorem 5.11"
    guarantees = under(printed=RANDOM_SENDERS, corrected=UPPER, exact=EXACT)

    @classmethod
    @from_request
    def calibrate(
        cls,
        n: int,
        k: int,
        eps: float,
        delta: float,
        *,
        accounting: str = "exact",
        rate: Rate | None = None,
        estimator: Annotated[str, one_of(ESTIMATORS)] = "expected",
    ) -> Self:
        """Find the smallest number of dummies per sender.

        ``printed`` is Theorem 5.11, which is not proven, and ``corrected`` the closest proven form, both for eps <= 1.
        ``exact`` is the hockey stick, averaged over the number of senders. The default ``rate`` is `default_rate`;
        ``estimator`` is the number of dummies to subtract. Raises `Infeasible` if too few users send dummies.
        """
        return cls(
            n,
            k,
            math.inf,
            *flexible_plan(n, k, eps, delta, accounting=accounting, rate=rate, estimator=estimator),
        )
