"""Correlated-noise Delta-summation: integers among messages that mostly cancel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from shuffledp.protocols._requests import from_request
from shuffledp.protocols.summation._correlated import CorrelatedNoiseSum, chosen_design
from shuffledp.protocols.summation._sums import numbers_of
from shuffledp.tasks import Task


@dataclass(frozen=True)
class CorrelatedSum(CorrelatedNoiseSum):
    """Numbers are sent as they are, D is the largest one."""

    name = "correlated_sum"
    label = "correlated noise"
    source = "Ghazi, Kumar, Manurangsi, Pagh and Sinha 2021 (ICML), Algorithms 1 and 2"

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
        gamma: float = 0.1,
        eps_star: float | None = None,
        alphabet: str = "paper",
        law: str = "negative_binomial",
    ) -> Self:
        """Return the protocol with the noise of :func:`shuffledp.protocols.summation._correlated.chosen_design`.

        Parameters
        ----------
        task : Summation
            One sum of numbers that are not negative.
        atoms : {"halving", "star", "hub", "best"}, optional
            Other atoms than ``halving`` are for ``exact`` only. Default: ``halving`` for small numbers.
        hubs : sequence of int, optional
            For atoms ``hub``.
        gamma : float
            The error is discrete Laplace noise with ``(1 - gamma) eps``.
        eps_star : float, optional
            Nats; instead of ``(1 - gamma) eps``.
        alphabet : {"paper", "used"}
            Messages that count for the bits of one.
        law : {"negative_binomial", "jumps"}
            Law of the numbers of atoms; ``jumps``, derived for this project, needs about a quarter fewer messages and
            is for ``exact`` only.

        Raises
        ------
        Infeasible
            If delta is 0, numbers may be negative, or no design is known.
        """
        numbers = numbers_of(task)
        chosen = chosen_design(
            numbers.max_value,
            eps,
            delta,
            accounting=accounting,
            atoms=atoms,
            hubs=hubs,
            gamma=gamma,
            eps_star=eps_star,
            law=law,
        )
        return cls.with_noise(n, numbers, chosen, alphabet)
