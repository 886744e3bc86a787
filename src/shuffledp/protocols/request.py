"""Request to a calibration: a budget, a population and a task, and the numbers that a calibration reads from them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from shuffledp.accounting.errors import Infeasible
from shuffledp.populations.base import Fixed, Law, Population
from shuffledp.tasks import Budget, Frequency, Task


@dataclass(frozen=True)
class Request:
    """Budget, population, task and accounting of a calibration.

    A property raises an error if the request does not determine its number.
    """

    budget: Budget
    population: Population
    task: Task
    accounting: str = "exact"

    @property
    def n(self) -> int:
        """Number of users, user 1 included. Raises `Infeasible` if it is random or only bounded."""
        if not isinstance(self.population, Fixed):
            kind = type(self.population).__name__
            raise Infeasible(f"The guarantee needs a fixed number of users (population Fixed), got {kind}.")
        return self.population.others + 1

    @property
    def planned_users(self) -> int | None:
        """Number of users if users are added or removed; None under replacement.

        Under replacement the number who take part is public. Otherwise it is not, and a share needs a fixed plan.
        """
        return None if self.budget.neighbours == "replace_one" else self.n

    @property
    def usual_users(self) -> int:
        """Fixed or mean number of users, for parameters that are set before the announcement."""
        return usual_number(self.population)

    @property
    def law(self) -> Law:
        """Law of the number of other users. Raises `Infeasible` if the population only bounds the number."""
        if not isinstance(self.population, Law):
            kind = type(self.population).__name__
            raise Infeasible(f"{kind} bounds the number of users but is not a law that can be sampled.")
        return self.population

    @property
    def k(self) -> int:
        """Number of values of a frequency task. Raises ValueError for any other task."""
        if not isinstance(self.task, Frequency):
            raise ValueError(f"This protocol estimates frequencies, but the task is {self.task.kind!r}.")
        return self.task.domain_size

    @property
    def eps(self) -> float:
        """Largest eps of the budget, nats."""
        return self.budget.largest_eps

    @property
    def delta(self) -> float:
        """Delta of the budget. Raises `Infeasible` for 0, as hiding among messages needs a positive delta."""
        if self.budget.delta == 0:
            raise Infeasible("Hiding among shuffled messages needs delta > 0.")
        return self.budget.delta


def usual_number(population: Population) -> int:
    """Return the fixed or mean number of users, user 1 included, rounded down."""
    return 1 + math.floor(population.mean)
