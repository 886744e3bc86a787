"""pureDUMP: values sent as they are, among dummies from all users."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from shuffledp.accounting.dump.dummies import dummy_count
from shuffledp.guarantees import EXACT, UPPER, Standing
from shuffledp.populations import Population
from shuffledp.protocols._random_users import any_population
from shuffledp.protocols._requests import fixed_users, positive_delta
from shuffledp.protocols.frequency._dummy_points import FixedDummies
from shuffledp.protocols.frequency._randomized_response import domain_size_of
from shuffledp.protocols.reliance import Reliance
from shuffledp.tasks import Budget, Task


@dataclass(frozen=True)
class PureDump(FixedDummies):
    """Every user sends its value and an even part of the dummies that hide one value."""

    name = "pure_dump"
    relies_on: ClassVar[Reliance] = "others' dummies"
    task_kind = "frequency"
    label = "pureDUMP"
    source = "Li et al. 2020, Theorem 5.2"
    accountings = ("printed", "exact")
    guarantees: ClassVar[Mapping[str, Standing]] = {"printed": UPPER, "exact": EXACT}

    @classmethod
    @any_population
    def calibrate(
        cls, budget: Budget, population: Population, task: Task, *, accounting: str = "exact"
    ) -> Self:
        """The smallest total number of dummies.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, replacement neighbours.
        population : Population
            Number of other users.
        task : Frequency
            Of any number of values.
        accounting : {"printed", "exact"}
            Theorem 5.2, for eps <= 1, or the hockey stick itself.

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If delta is 0, or the theorem does not hold here.
        """
        cls.check_request(budget, task, accounting)
        n, k, delta = fixed_users(population), domain_size_of(task), positive_delta(budget)
        total = dummy_count(k, budget.largest_eps, delta, accounting=accounting)
        return cls(n, k, math.inf, total, calibrated_under=accounting)
