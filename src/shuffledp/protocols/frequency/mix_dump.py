"""mixDUMP: randomized values among dummies from all users."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from shuffledp.accounting.dump.best_mix import best_mix_plan
from shuffledp.accounting.dump.dummies import mix_dummy_count
from shuffledp.guarantees import UPPER, Standing
from shuffledp.numerics.argument_ranges import check_choice, check_positive
from shuffledp.populations import Population
from shuffledp.protocols._random_users import any_population
from shuffledp.protocols._requests import fixed_users, positive_delta
from shuffledp.protocols.frequency._dummy_points import FixedDummies
from shuffledp.protocols.frequency._randomized_response import domain_size_of
from shuffledp.tasks import Budget, Task


@dataclass(frozen=True)
class MixDump(FixedDummies):
    """Every user sends a report of generalized randomized response and an even part of the dummies."""

    name = "mix_dump"
    task_kind = "frequency"
    label = "mixDUMP"
    source = "Li et al. 2020, Theorem 5.6"
    accountings = ("printed", "exact")
    guarantees: ClassVar[Mapping[str, Standing]] = {"printed": UPPER, "exact": UPPER}

    @classmethod
    @any_population
    def calibrate(
        cls,
        budget: Budget,
        population: Population,
        task: Task,
        *,
        accounting: str = "exact",
        eps_local: float | str = 8.0,
    ) -> Self:
        """The smallest total number of dummies besides the reports that are uniform anyway.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0 unless ``eps_local <= eps``, replacement neighbours.
        population : Population
            Number of other users.
        task : Frequency
            Of any number of values.
        accounting : {"printed", "exact"}
            Theorem 5.6, for eps <= 1, or the hockey stick, averaged over the number of uniform reports.
        eps_local : float or "best"
            Budget of a report, nats. No dummies are needed where it is at most eps. ``best`` is the one of least error,
            see :func:`shuffledp.accounting.dump.best_mix.best_mix_plan`; the paper has 8.

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If delta is 0, or the theorem does not hold here.
        """
        cls.check_request(budget, task, accounting)
        n, k = fixed_users(population), domain_size_of(task)
        if isinstance(eps_local, str):
            check_choice(f"{cls.name}: eps_local", eps_local, ("best",))
            plan = best_mix_plan(n, k, budget.largest_eps, positive_delta(budget), accounting=accounting)
            return cls(n, k, plan.eps_local, plan.dummies, calibrated_under=accounting)
        eps_local = check_positive(f"{cls.name}: eps_local", eps_local)
        if eps_local <= budget.largest_eps:
            return cls(n, k, eps_local, 0, calibrated_under=accounting)
        total = mix_dummy_count(
            n, k, budget.largest_eps, positive_delta(budget), eps_local, accounting=accounting
        )
        return cls(n, k, eps_local, total, calibrated_under=accounting)
