"""Sums of vectors with a single nonzero entry: one sum with correlated noise per coordinate."""

from dataclasses import dataclass

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.sums import sparse_vector_levels
from shuffledp.protocols.summation._sums import Numbers
from shuffledp.protocols.summation.real_sum import RealSum


@dataclass(frozen=True)
class SparseSum(RealSum):
    """Numbers with their coordinates as messages; a changed input moves two sums, each with half of the budget."""

    name = "sparse_sum"
    label = "correlated noise per coordinate"
    source = "Ghazi, Kumar, Manurangsi, Pagh and Sinha 2021 (ICML), Corollary 3"
    touched = 2

    @classmethod
    def levels_for(cls, numbers: Numbers, n: int, eps: float, zeta: float, levels: int | None) -> int:
        """Return D, which is `levels` unless None; integers are never rounded."""
        if numbers.coordinates == 1:
            raise Infeasible(
                "sparse_sum needs several coordinates, got 1. For one sum use correlated_sum or real_sum."
            )
        if numbers.real:
            return levels or sparse_vector_levels(n, numbers.coordinates, eps, zeta)
        if levels not in (None, numbers.max_value):
            raise Infeasible(f"levels must be left out for integers, got {levels!r}.")
        return numbers.max_value
