"""Sums of vectors with a single entry: one correlated-noise sum per coordinate."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.sums import sparse_vector_levels
from shuffledp.numerics.argument_ranges import check_count
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.summation._correlated import CorrelatedNoiseSum, check_alphabet, chosen_design
from shuffledp.protocols.summation._sums import numbers_of
from shuffledp.tasks import Budget, Task


@dataclass(frozen=True)
class SparseSum(CorrelatedNoiseSum):
    """A message names a coordinate; a change of one input touches two of the sums, so each has half of the budget."""

    name = "sparse_sum"
    task_kind = "summation"
    label = "correlated noise per coordinate"
    source = "Ghazi, Kumar, Manurangsi, Pagh and Sinha 2021 (ICML), Corollary 3"

    @classmethod
    @from_request
    def calibrate(
        cls,
        budget: Budget,
        task: Task,
        n: int,
        eps: float,
        delta: float,
        *,
        accounting: str = "exact",
        atoms: str = "halving",
        hubs: Sequence[int] | None = None,
        zeta: float = 0.2,
        levels: int | None = None,
        alphabet: str = "paper",
        law: str = "negative_binomial",
    ) -> Self:
        """Levels, and the noise of each sum.

        Parameters
        ----------
        task : Summation
            Several sums of numbers that are not negative.
        accounting, atoms, hubs, alphabet, law
            As for `CorrelatedSum.calibrate`.
        zeta : float
            The noise of each sum has ``eps_star = (1 - zeta / 2) eps / 2``.
        levels : int, optional
            D, for real numbers. Default: the smallest for which rounding and noise together have at most the error of
            Laplace noise with ``(1 - zeta) eps / 2`` in each sum. Integers are never rounded.

        Raises
        ------
        Infeasible
            If delta is 0, there is one sum only, numbers may be negative, integers are
            to be rounded, or no design is known for so many levels.
        """
        numbers = numbers_of(task, coordinates=True)
        if numbers.coordinates == 1:
            raise Infeasible("One sum alone need not share the budget: see correlated_sum and real_sum.")
        if levels is not None:
            levels = check_count("levels", levels, 1)
        if not numbers.real:
            if levels not in (None, numbers.max_value):
                raise Infeasible("Only real numbers are rounded to levels.")
            levels = numbers.max_value
        design = chosen_design(
            sparse_vector_levels(n, numbers.coordinates, eps, zeta) if levels is None else levels,
            eps / 2,
            delta / 2,
            accounting=accounting,
            atoms=atoms,
            hubs=hubs,
            gamma=zeta / 2,
            law=law,
        )
        return cls(n, numbers, design, check_alphabet(alphabet))
