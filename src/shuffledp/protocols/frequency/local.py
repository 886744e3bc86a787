"""LOCAL: randomized response that ignores the shuffler."""

import math
from typing import ClassVar, Self

import numpy as np

from shuffledp.accounting import CountPair, PrivacyProfile
from shuffledp.populations import Population
from shuffledp.protocols.base import Trust
from shuffledp.protocols.frequency._randomized_response import (
    RandomizedResponse,
    domain_size_of,
    keep_and_lie,
    law_of,
)
from shuffledp.tasks import Budget, Task


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
        """``eps_local = eps``; both accountings agree, since the guarantee of the report itself is exact."""
        return cls(law_of(population), domain_size_of(task), budget.largest_eps)

    def dominating_pair(self) -> PrivacyProfile:
        """One report alone is eps-DP; nobody else's messages are counted on."""
        keep, lie = (math.log(p) for p in keep_and_lie(self.eps_local, self.domain_size))
        rest = [lie] * (self.domain_size - 2)
        return CountPair(np.array([keep, lie, *rest]), np.array([lie, keep, *rest]), source=self.source)
