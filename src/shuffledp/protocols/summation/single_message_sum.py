"""Single-message sum: a number rounded to few levels, then generalized randomized response under the blanket."""

from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.general.grr_blanket import blanket_local_budget
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import check_count
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.summation._levels import LevelReports, best_levels
from shuffledp.protocols.summation._sums import numbers_of
from shuffledp.tasks import Task


@dataclass(frozen=True)
class SingleMessageSum(LevelReports):
    """A message is one of g + 1 levels; the shuffler permutes, and all other users are relied on for the blanket."""

    name = "single_message_sum"
    task_kind = "summation"
    label = "single message, levels"
    source = "Balle, Bell, Gascon and Nissim 2019, with Theorem 3.1"
    guarantees = under(printed=UPPER, exact=UPPER)

    @classmethod
    @from_request
    def calibrate(
        cls,
        task: Task,
        n: int,
        eps: float,
        delta: float,
        *,
        accounting: str = "exact",
        levels: int | None = None,
    ) -> Self:
        """Levels, and the largest local budget for them.

        Parameters
        ----------
        task : Summation
            One sum of numbers that are not negative.
        accounting : {"printed", "exact"}
            The theorem for generalized randomized response over the levels, for eps <= 1, or the hockey stick, averaged
            over the number of uniform levels.
        levels : int, optional
            g >= 1. Default: the g with the least error, under this accounting, for users who are spread evenly over
            all numbers; how the paper chooses it is not known.

        Raises
        ------
        Infeasible
            If delta is 0, numbers may be negative, there are several sums, or the theorem does not hold here.
        """
        numbers = numbers_of(task)

        def budget_of(g: int) -> float:
            return blanket_local_budget(n, g + 1, eps, delta, accounting=accounting)

        if levels is None:
            chosen, eps_local = best_levels(numbers, n, eps, delta, budget_of)
        else:
            chosen = check_count("levels", levels, 1)
            eps_local = budget_of(chosen)
        return cls(n, numbers, chosen, eps_local)
