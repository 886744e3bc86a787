"""Correlated-noise Delta-summation: integers among noise messages that mostly cancel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from shuffledp.numerics.argument_ranges import Eps, FromTwo, OpenUnit
from shuffledp.protocols.request import Request
from shuffledp.protocols.summation._correlated import (
    Alphabet,
    Atoms,
    CorrelatedNoiseSum,
    NoiseLaw,
    chosen_design,
)
from shuffledp.protocols.summation._sums import numbers_of


@dataclass(frozen=True)
class CorrelatedSum(CorrelatedNoiseSum):
    """Integers as messages without rounding, among correlated noise from all users; D is the largest number."""

    name = "correlated_sum"
    label = "correlated noise"
    source = "Ghazi, Kumar, Manurangsi, Pagh and Sinha 2021 (ICML), Algorithms 1 and 2"

    @classmethod
    def fit(
        cls,
        request: Request,
        *,
        atoms: Atoms | None = None,
        hubs: Sequence[FromTwo] | None = None,
        gamma: OpenUnit = 0.1,
        eps_star: Eps | None = None,
        alphabet: Alphabet = "paper",
        law: NoiseLaw = "negative_binomial",
    ) -> Self:
        """Choose the noise design that meets the budget, see `shuffledp.protocols.summation._correlated.chosen_design`.

        The set of messages ``alphabet``, ``paper`` or ``used``, determines the bits of a message. Law ``jumps`` needs
        about a quarter fewer messages. Raises `Infeasible` for negative numbers or if no design is known.
        """
        numbers = numbers_of(request.task)
        chosen = chosen_design(
            numbers.max_value,
            request.eps,
            request.delta,
            accounting=request.accounting,
            atoms=atoms,
            hubs=hubs,
            gamma=gamma,
            eps_star=eps_star,
            law=law,
        )
        return cls.with_noise(request.n, numbers, chosen, alphabet)
