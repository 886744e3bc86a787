"""Sum of numbers with correlated noise, after random rounding to few levels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.sums import real_summation_levels
from shuffledp.numerics.argument_ranges import FromOne, FromTwo, OpenUnit
from shuffledp.protocols.request import Request
from shuffledp.protocols.summation._correlated import (
    Alphabet,
    Atoms,
    CorrelatedNoiseSum,
    NoiseLaw,
    chosen_design,
)
from shuffledp.protocols.summation._sums import Numbers, numbers_of

#: Largest default number of levels under the exact accounting, for which a design takes seconds.
_MOST_LEVELS = 1000


@dataclass(frozen=True)
class RealSum(CorrelatedNoiseSum):
    """Numbers after unbiased rounding to multiples of ``1 / D`` of the largest number, among correlated noise."""

    name = "real_sum"
    label = "correlated noise, rounded"
    source = "Ghazi, Kumar, Manurangsi, Pagh and Sinha 2021 (ICML), Theorem 1"
    #: Number of sums that a change of one input affects, which share the budget.
    touched: ClassVar[int] = 1

    @classmethod
    def fit(
        cls,
        request: Request,
        *,
        atoms: Atoms | None = None,
        hubs: Sequence[FromTwo] | None = None,
        zeta: OpenUnit = 0.2,
        levels: FromOne | None = None,
        alphabet: Alphabet = "paper",
        law: NoiseLaw = "negative_binomial",
    ) -> Self:
        """Choose the levels and the noise design of each sum, with ``eps_star = (1 - zeta / 2) eps``.

        If there are several sums, each has half of this ``eps_star``. By default ``levels`` is the smallest D for which
        rounding and noise together have at most the error of Laplace noise with ``(1 - zeta) eps`` (half in each of
        several sums), and at most 1000 under ``exact``. `CorrelatedSum.calibrate` describes the other options. Raises
        `Infeasible` for negative numbers, integers with no more than the default levels, the wrong number of sums, or
        if no design is known.
        """
        numbers = numbers_of(request.task, coordinates=cls.touched > 1)
        number = cls.levels_for(numbers, request.n, request.eps, zeta, levels)
        if levels is None and request.accounting == "exact" and numbers.real:
            number = min(number, _MOST_LEVELS)
        chosen = chosen_design(
            number,
            request.eps / cls.touched,
            request.delta / cls.touched,
            accounting=request.accounting,
            atoms=atoms,
            hubs=hubs,
            gamma=zeta / 2,
            law=law,
        )
        return cls.with_noise(request.n, numbers, chosen, alphabet)

    @classmethod
    def levels_for(cls, numbers: Numbers, n: int, eps: float, zeta: float, levels: int | None) -> int:
        """Return D, which is `levels` unless None. Raise `Infeasible` for integers with at most D levels."""
        number = levels or real_summation_levels(n, eps, zeta)
        if not numbers.real and number >= numbers.max_value:
            raise Infeasible(
                f"real_sum rounds integers to fewer levels, and {numbers.max_value} is not above the {number} of "
                "this budget. Use correlated_sum."
            )
        return number
