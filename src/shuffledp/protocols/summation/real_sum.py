"""Sum of numbers that are rounded at random to few levels, then correlated noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.sums import real_summation_levels
from shuffledp.numerics.argument_ranges import check_count
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.summation._correlated import CorrelatedNoiseSum, chosen_design
from shuffledp.protocols.summation._sums import Numbers, numbers_of
from shuffledp.tasks import Task

#: Largest default number of levels under the exact accounting, for which a design takes seconds.
_MOST_LEVELS = 1000


@dataclass(frozen=True)
class RealSum(CorrelatedNoiseSum):
    """Numbers become multiples of ``1 / D`` of the largest number with the right mean."""

    name = "real_sum"
    label = "correlated noise, rounded"
    source = "Ghazi, Kumar, Manurangsi, Pagh and Sinha 2021 (ICML), Theorem 1"
    touched: ClassVar[int] = 1
    """Sums that a change of one input touches, which share the budget."""

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
        atoms: str | None = None,
        hubs: Sequence[int] | None = None,
        zeta: float = 0.2,
        levels: int | None = None,
        alphabet: str = "paper",
        law: str = "negative_binomial",
    ) -> Self:
        """Return the protocol with the levels and the noise of each sum that meet the budget.

        Parameters
        ----------
        task : Summation
            One sum of numbers that are not negative; for `SparseSum` several.
        accounting, atoms, hubs, alphabet, law
            As for `CorrelatedSum.calibrate`.
        zeta : float
            The noise has ``eps_star = (1 - zeta / 2) eps``, and half of that in each of several sums.
        levels : int, optional
            D. Default: the smallest for which rounding and noise together have at most the error of Laplace noise with
            ``(1 - zeta) eps``, half of that in each of several sums; with fewer levels rounding adds more. At most 1000
            under the exact accounting. Integers are never rounded in several sums.

        Raises
        ------
        Infeasible
            If delta is 0, the numbers may be negative or are integers with no more than the default levels, there are
            several sums instead of one or one instead of several, or no design is known for this number of levels.
        """
        numbers = numbers_of(task, coordinates=cls.touched > 1)
        if levels is not None:
            levels = check_count("levels", levels, 1)
        wanted = cls.levels_for(numbers, n, eps, zeta, levels)
        if levels is None and accounting == "exact" and numbers.real:
            wanted = min(wanted, _MOST_LEVELS)
        chosen = chosen_design(
            wanted,
            eps / cls.touched,
            delta / cls.touched,
            accounting=accounting,
            atoms=atoms,
            hubs=hubs,
            gamma=zeta / 2,
            law=law,
        )
        return cls.with_noise(n, numbers, chosen, alphabet)

    @classmethod
    def levels_for(cls, numbers: Numbers, n: int, eps: float, zeta: float, levels: int | None) -> int:
        """Return D: the given number of levels, or the default; raise Infeasible for integers that have fewer."""
        found = levels or real_summation_levels(n, eps, zeta)
        if not numbers.real and found >= numbers.max_value:
            raise Infeasible(
                f"real_sum rounds integers to fewer levels, and {numbers.max_value} is not above the {found} of "
                "this budget. Use correlated_sum."
            )
        return found
