"""AMPLIFIED: randomized response with the local budget that amplification by shuffling allows."""

from dataclasses import dataclass
from typing import ClassVar, Self

from shuffledp.accounting import local_budget
from shuffledp.populations import Population
from shuffledp.protocols.base import Trust
from shuffledp.protocols.frequency._randomized_response import (
    RandomizedResponse,
    amplifying_delta,
    domain_size_of,
    law_of,
)
from shuffledp.tasks import Budget, Task


@dataclass(frozen=True)
class Amplified(RandomizedResponse):
    """Randomized response, amplified by a random number of other users, without dummies."""

    name = "amplified"
    task_kind = "frequency"
    label = "AMPLIFIED"
    source = "Wang et al. 2023, Theorems 1 and 2"
    trust: ClassVar[Trust] = "shuffler"
    accountings = ("printed", "simplified", "corrected", "exact")
    reduction = "clones"

    @classmethod
    def calibrate(
        cls, budget: Budget, population: Population, task: Task, *, accounting: str = "printed"
    ) -> Self:
        """The largest local budget whose central guarantee meets (eps, delta); never below eps.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, replacement neighbours.
        population : Law
            Number of other users.
        task : Frequency
        accounting : {"printed", "simplified", "corrected", "exact"}
            How the clones reduction is evaluated.

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If the population is not a law, delta is 0, or the accounting says nothing about this population.
        """
        cls.check_request(budget, task, accounting)
        law, delta = law_of(population), amplifying_delta(budget)
        eps_local = local_budget(law, budget.largest_eps, delta, accounting=accounting)
        return cls(law, domain_size_of(task), eps_local)
