"""NON-ADAPTIVE: a fixed number of dummy reports buys a larger local budget."""

from dataclasses import dataclass
from typing import ClassVar, Self

from shuffledp.accounting import local_budget, optimal_dummies
from shuffledp.numerics.checks import check_count
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
class NonAdaptive(RandomizedResponse):
    """Randomized response with k dummies of input 0, however many users take part.

    The shuffler adds the dummies: whoever knew their reports could subtract them. They amplify like reports of
    users, but each of them adds the variance of a report, so that there is a best number of them.
    """

    name = "non_adaptive"
    task_kind = "frequency"
    label = "NON-ADAPTIVE"
    source = "Wang et al. 2023, Theorem 4 and equation (6)"
    trust: ClassVar[Trust] = "shuffler_adds"
    accountings = ("printed", "simplified", "corrected", "exact")
    reduction = "clones"

    @classmethod
    def calibrate(
        cls,
        budget: Budget,
        population: Population,
        task: Task,
        *,
        accounting: str = "printed",
        dummies: int | None = None,
    ) -> Self:
        """The number of dummies with the smallest expected error, and the local budget it allows.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, replacement neighbours.
        population : Law
            Number of other users.
        task : Frequency
            The error that is minimised is that of binary frequencies; with more values the guarantee is the
            same and the number of dummies only nearly the best.
        accounting : {"printed", "simplified", "corrected", "exact"}
            How the clones reduction is evaluated.
        dummies : int, optional
            Use this number instead, at least 0.

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If the population is not a law, delta is 0, or the accounting says nothing about this population.

        Notes
        -----
        Tried are ``k = 0, h, 2h, ..`` up to the number of potential users, ``h`` its square root; 0 stands for
        Theorems 1 and 2 (errata RP-E9). Where dummies help, with the printed constants, the curve is flat.
        """
        cls.check_request(budget, task, accounting)
        law, delta, eps = law_of(population), amplifying_delta(budget), budget.largest_eps
        if dummies is None:
            plan = optimal_dummies(law, eps, delta, accounting=accounting)
            return cls(law, domain_size_of(task), plan.eps_local, plan.dummies)
        count = check_count("dummies", dummies)
        eps_local = local_budget(law, eps, delta, dummies=count, accounting=accounting)
        return cls(law, domain_size_of(task), eps_local, count)
