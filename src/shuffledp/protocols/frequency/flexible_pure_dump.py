"""Flexible pureDUMP: values sent as they are, among dummies from some of the users."""

import math
from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.dump.flexible import RANDOM_SENDERS
from shuffledp.guarantees import EXACT, UPPER, under
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.frequency._flexible_dummies import FlexibleDummies, flexible_plan


@dataclass(frozen=True)
class FlexiblePureDump(FlexibleDummies):
    """Values as they are and, with some probability per user, dummies."""

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
        rate: float | None = None,
        estimator: str = "expected",
    ) -> Self:
        """Find the smallest number of dummies per sender.

        Parameters
        ----------
        accounting : {"printed", "corrected", "exact"}
            Theorem 5.11, which is not a proof; its closest proven form; or the hockey stick, averaged over the number
            of senders. The first two for eps <= 1.
        rate : float, optional
            Probability of sending dummies, in (0, 1]. By default 0.01, or more for up to some thousand users, all of
            whom could fail to send.
        estimator : {"expected", "observed"}
            Number of dummies that the analyzer subtracts.

        Raises
        ------
        Infeasible
            If too few users send, or the theorem does not hold here.
        """
        return cls(
            n,
            k,
            math.inf,
            *flexible_plan(n, k, eps, delta, accounting=accounting, rate=rate, estimator=estimator),
        )
