"""Flexible pureDUMP: values sent as they are, among dummies from some of the users."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from shuffledp.accounting.dump.flexible import RANDOM_SENDERS
from shuffledp.guarantees import EXACT, UPPER, Standing
from shuffledp.populations import Population
from shuffledp.protocols._random_users import any_population
from shuffledp.protocols.frequency._dummy_points import FlexibleDummies, flexible_plan
from shuffledp.protocols.frequency._randomized_response import domain_size_of
from shuffledp.protocols.reliance import Reliance
from shuffledp.tasks import Budget, Task


@dataclass(frozen=True)
class FlexiblePureDump(FlexibleDummies):
    """Every user sends its value and, with some probability, dummies."""

    name = "flexible_pure_dump"
    relies_on: ClassVar[Reliance] = "others' dummies"
    task_kind = "frequency"
    label = "pureDUMP, flexible"
    source = "Li et al. 2020, Theorem 5.11"
    accountings = ("printed", "corrected", "exact")
    guarantees: ClassVar[Mapping[str, Standing]] = {
        "printed": RANDOM_SENDERS,
        "corrected": UPPER,
        "exact": EXACT,
    }

    @classmethod
    @any_population
    def calibrate(
        cls,
        budget: Budget,
        population: Population,
        task: Task,
        *,
        accounting: str = "exact",
        rate: float | None = None,
        estimator: str = "expected",
    ) -> Self:
        """The smallest number of dummies per sending user.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, replacement neighbours.
        population : Population
            Number of other users.
        task : Frequency
            Of any number of values.
        accounting : {"printed", "corrected", "exact"}
            Theorem 5.11, which is not a proof; its closest proven form; or the hockey stick, averaged over the number
            of senders. The first two for eps <= 1.
        rate : float, optional
            Probability of sending dummies, in (0, 1]. By default 0.01, or more where some thousand users or fewer
            could all fail to send, see `shuffledp.accounting.dump.flexible.default_rate`.
        estimator : {"expected", "observed"}
            Which number of dummies the analyzer subtracts.

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If delta is 0, too few users send, or the theorem does not hold here.
        """
        cls.check_request(budget, task, accounting)
        k = domain_size_of(task)
        n, per_sender, share = flexible_plan(
            budget, population, k, accounting=accounting, rate=rate, estimator=estimator
        )
        return cls(n, k, math.inf, per_sender, share, estimator, calibrated_under=accounting)
