"""AMPLIFIED: randomized response with the local budget that amplification by shuffling allows."""

from typing import ClassVar, Self

from shuffledp.accounting import local_budget
from shuffledp.populations import Population
from shuffledp.protocols.base import Trust
from shuffledp.protocols.frequency._randomized_response import RandomizedResponse, domain_size_of, law_of
from shuffledp.tasks import Budget, Task


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
        """The largest local budget whose central guarantee meets (eps, delta); never below eps."""
        domain_size = domain_size_of(task)
        eps_local = local_budget(population, budget.largest_eps, budget.delta, accounting=accounting)
        return cls(law_of(population), domain_size, eps_local)
