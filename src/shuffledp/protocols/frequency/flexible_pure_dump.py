"""Flexible pureDUMP: true values among dummies of some users."""

import math
from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.dump.flexible import RANDOM_SENDERS
from shuffledp.guarantees import EXACT, UPPER, under
from shuffledp.numerics.argument_ranges import Rate
from shuffledp.protocols.frequency._flexible_dummies import Estimator, FlexibleDummies, flexible_plan
from shuffledp.protocols.request import Request


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
    def fit(
        cls,
        request: Request,
        *,
        rate: Rate | None = None,
        estimator: Estimator = "expected",
    ) -> Self:
        """Find the smallest number of dummies per sender.

        ``printed`` is Theorem 5.11, which is not proven, and ``corrected`` the closest proven form, both for eps <= 1.
        ``exact`` is the hockey stick, averaged over the number of senders. The default ``rate`` is `default_rate`;
        ``estimator`` is the number of dummies to subtract. Raises `Infeasible` if too few users send dummies.
        """
        return cls(
            request.n,
            request.k,
            math.inf,
            *flexible_plan(
                request.n,
                request.k,
                request.eps,
                request.delta,
                accounting=request.accounting,
                rate=rate,
                estimator=estimator,
            ),
        )
