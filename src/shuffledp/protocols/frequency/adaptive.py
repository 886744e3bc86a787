"""ADAPTIVE: dummy reports fill the participants up to a fixed number."""

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
class Adaptive(RandomizedResponse):
    """Randomized response with ``max(k - (N - 1), 0)`` dummies of input 0, added by the shuffler.

    User 1 always hides among at least k others, and no dummies are spent when enough users take part.
    """

    name = "adaptive"
    task_kind = "frequency"
    label = "ADAPTIVE"
    source = "Wang et al. 2023, equation (7); clone bound derived, its Appendix C being unavailable"
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
        stray_factor: bool = False,
    ) -> Self:
        """The number k with the smallest expected error, and the local budget it allows.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, replacement neighbours.
        population : Law
            Number of other users.
        task : Frequency
            The error that is minimised is that of binary frequencies; with more values the guarantee is the
            same and k only nearly the best.
        accounting : {"printed", "simplified", "corrected", "exact"}
            How the clones reduction is evaluated.
        dummies : int, optional
            Use this k instead, at least 0.
        stray_factor : bool
            Minimise equation (7) as printed, with a factor k in front of the expectation (corrected by default,
            see errata RP-E15). It makes k = 0 the best choice, which is what the paper's figures show.

        Raises
        ------
        ValueError
            If the request does not fit this protocol, or both `dummies` and `stray_factor` are given.
        Infeasible
            If the population is not a law, delta is 0, or the accounting says nothing about this population.
        """
        cls.check_request(budget, task, accounting)
        law, delta, eps = law_of(population), amplifying_delta(budget), budget.largest_eps
        if dummies is None:
            plan = optimal_dummies(
                law, eps, delta, adaptive=True, accounting=accounting, stray_factor=stray_factor
            )
            return cls(law, domain_size_of(task), plan.eps_local, plan.dummies, adaptive=True)
        if stray_factor:
            raise ValueError("adaptive: stray_factor only matters when dummies is left out, got both.")
        count = check_count("dummies", dummies)
        eps_local = local_budget(law, eps, delta, dummies=count, adaptive=True, accounting=accounting)
        return cls(law, domain_size_of(task), eps_local, count, adaptive=True)
