"""LOCAL: randomized response that ignores the shuffler."""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from shuffledp.accounting import CountPair, PrivacyProfile
from shuffledp.populations import Population
from shuffledp.protocols.base import Trust
from shuffledp.protocols.frequency._randomized_response import RandomizedResponse, domain_size_of, law_of
from shuffledp.tasks import Budget, Task


@dataclass(frozen=True)
class Local(RandomizedResponse):
    """The control without amplification: the local budget is the central one."""

    name = "local"
    task_kind = "frequency"
    label = "LOCAL"
    source = "Wang et al. 2023, section VII-A"
    trust: ClassVar[Trust] = "local"
    accountings = ("printed", "exact")
    reduction = "local"
    guarantee = "exact"

    @classmethod
    def calibrate(
        cls, budget: Budget, population: Population, task: Task, *, accounting: str = "printed"
    ) -> Self:
        """``eps_local = eps``; both accountings agree, since the guarantee of the report itself is exact.

        Parameters
        ----------
        budget : Budget
            One eps, replacement neighbours; any delta, as delta = 0 already holds.
        population : Law
            Number of other users.
        task : Frequency
        accounting : {"printed", "exact"}

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If the population is not a law, or for other neighbours.
        """
        cls.check_request(budget, task, accounting)
        return cls(law_of(population), domain_size_of(task), budget.largest_eps)

    def dominating_pair(self) -> PrivacyProfile:
        """One report alone is eps-DP; nobody else's messages are counted on."""
        keep = math.log(self.response.keep)
        lie = keep - self.eps_local  # lie = keep / E, also where E overflows
        rest = [lie] * (self.domain_size - 2)
        return CountPair(np.array([keep, lie, *rest]), np.array([lie, keep, *rest]), source=self.source)
