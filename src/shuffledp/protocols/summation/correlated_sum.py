"""Correlated-noise Delta-summation: integers among messages that mostly cancel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from shuffledp.populations import Population
from shuffledp.protocols._random_users import any_population
from shuffledp.protocols._requests import fixed_users, positive_delta
from shuffledp.protocols.summation._correlated import CorrelatedNoiseSum, check_alphabet, chosen_design
from shuffledp.protocols.summation._sums import numbers_of
from shuffledp.tasks import Budget, Task


@dataclass(frozen=True)
class CorrelatedSum(CorrelatedNoiseSum):
    """Numbers are sent as they are, D is the largest one."""

    name = "correlated_sum"
    task_kind = "summation"
    label = "correlated noise"
    source = "Ghazi, Kumar, Manurangsi, Pagh and Sinha 2021 (ICML), Algorithms 1 and 2"

    @classmethod
    @any_population
    def calibrate(
        cls,
        budget: Budget,
        population: Population,
        task: Task,
        *,
        accounting: str = "exact",
        atoms: str = "halving",
        hubs: Sequence[int] | None = None,
        gamma: float = 0.1,
        eps_star: float | None = None,
        alphabet: str = "paper",
        law: str = "negative_binomial",
    ) -> Self:
        """The noise of the sum, see :func:`shuffledp.protocols.summation._correlated.chosen_design`.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, replacement neighbours.
        population : Population
            Number of other users.
        task : Summation
            One sum of numbers that are not negative.
        accounting : {"printed", "corrected", "exact"}
        atoms : {"halving", "star", "hub", "best"}
            Other atoms than ``halving`` are for ``exact`` only.
        hubs : sequence of int, optional
            For atoms ``hub``.
        gamma : float
            The error is that of discrete Laplace noise with ``(1 - gamma) eps``.
        eps_star : float, optional
            Nats; instead of ``(1 - gamma) eps``.
        alphabet : {"paper", "used"}
            How messages are counted in bits.
        law : {"negative_binomial", "jumps"}
            Of the numbers of atoms; ``jumps``, ours, needs about a quarter fewer messages and is for ``exact`` only.

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If delta is 0, numbers may be negative, or no design is known.
        """
        cls.check_request(budget, task, accounting)
        n, numbers, delta = fixed_users(population), numbers_of(task), positive_delta(budget)
        design = chosen_design(
            numbers.max_value,
            budget.largest_eps,
            delta,
            accounting=accounting,
            atoms=atoms,
            hubs=hubs,
            gamma=gamma,
            eps_star=eps_star,
            law=law,
        )
        return cls(n, numbers, design, check_alphabet(alphabet), calibrated_under=accounting)
