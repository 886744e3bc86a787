"""mixDUMP: randomized values among dummies from all users."""

from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.dump.best_mix import best_mix_plan
from shuffledp.accounting.dump.dummies import mix_dummy_count
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import check_choice, check_positive
from shuffledp.protocols._requests import from_request, positive_delta
from shuffledp.protocols.frequency._dummy_points import FixedDummies
from shuffledp.tasks import Budget


@dataclass(frozen=True)
class MixDump(FixedDummies):
    """Every user sends a report of generalized randomized response and an even part of the dummies."""

    name = "mix_dump"
    task_kind = "frequency"
    label = "mixDUMP"
    source = "Li et al. 2020, Theorem 5.6"
    guarantees = under(printed=UPPER, exact=UPPER)

    @classmethod
    @from_request
    def calibrate(
        cls,
        budget: Budget,
        n: int,
        k: int,
        eps: float,
        *,
        accounting: str = "exact",
        eps_local: float | str = 8.0,
    ) -> Self:
        """The smallest total number of dummies besides the reports that are uniform anyway.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0 unless ``eps_local <= eps``, replacement neighbours.
        accounting : {"printed", "exact"}
            Theorem 5.6, for eps <= 1, or the hockey stick, averaged over the number of uniform reports.
        eps_local : float or "best"
            Budget of a report, nats. No dummies are needed where it is at most eps. ``best`` is the one of least error,
            see :func:`shuffledp.accounting.dump.best_mix.best_mix_plan`; the paper has 8.

        Raises
        ------
        Infeasible
            If delta is 0, or the theorem does not hold here.
        """
        if isinstance(eps_local, str):
            check_choice(f"{cls.name}: eps_local", eps_local, ("best",))
            plan = best_mix_plan(n, k, eps, positive_delta(budget), accounting=accounting)
            return cls(n, k, plan.eps_local, plan.dummies)
        eps_local = check_positive(f"{cls.name}: eps_local", eps_local)
        if eps_local <= eps:
            return cls(n, k, eps_local, 0)
        total = mix_dummy_count(n, k, eps, positive_delta(budget), eps_local, accounting=accounting)
        return cls(n, k, eps_local, total)
