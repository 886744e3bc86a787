"""What all single-message protocols with generalized randomized response share.

A participant keeps its value with probability ``E / (E + k - 1)``, ``E = exp(eps_local)``, and sends each other value
with probability ``1 / (E + k - 1)``. The server may add reports of the fixed public input 0. Protocols differ in their
schedule (`shuffledp.protocols._schedules`), which fixes ``eps_local`` and the dummies; for k = 2 this is the randomized
response of Wang et al. 2023.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.populations import Law
from shuffledp.protocols._requests import domain_size_of
from shuffledp.protocols._schedules import OneReport
from shuffledp.protocols.base import message_bits
from shuffledp.tasks import Floats, Ints, Participants, Public, Task


def checked_values(values: NDArray[Any], domain_size: int) -> Ints:
    """Values of users, (n,).

    Raises
    ------
    ValueError
        If one of them is not in 0..domain_size-1.
    """
    checked = np.asarray(values, np.int64)
    if checked.size and not 0 <= checked.min() <= checked.max() < domain_size:
        raise ValueError(f"Values must lie in 0..{domain_size - 1}, got {checked.min()}..{checked.max()}.")
    return checked


@dataclass(frozen=True)
class GeneralizedResponse:
    """The local randomizer and what follows from it, for k values and a local budget in nats.

    Everything is written in ``1/E``, which neither overflows for large budgets nor cancels for small ones.
    """

    eps_local: float
    domain_size: int

    @property
    def keep(self) -> float:
        """Probability of sending the true value, ``E / (E + k - 1)``."""
        return 1 / (1 + (self.domain_size - 1) * math.exp(-self.eps_local))

    @property
    def lie(self) -> float:
        """Probability of sending one particular other value, ``1 / (E + k - 1)``."""
        return math.exp(-self.eps_local) * self.keep

    @property
    def gap(self) -> float:
        """``keep - lie``: the probability of answering truthfully rather than uniformly at random."""
        return -math.expm1(-self.eps_local) * self.keep

    def randomize(self, values: NDArray[np.generic], rng: np.random.Generator) -> Ints:
        """One report per value.

        Raises
        ------
        ValueError
            If a value is not in 0..k-1.
        """
        true = checked_values(values, self.domain_size)
        lies = rng.random(len(true)) >= self.keep
        steps = rng.integers(1, self.domain_size, size=len(true))  # a uniform value other than the true one
        return np.where(lies, (true + steps) % self.domain_size, true)

    def sample_counts(self, held: Ints, rng: np.random.Generator) -> Ints:
        """Exact law of the reports per value, (R, k), when ``held`` (R, k) reporters hold each value."""
        truthful = rng.binomial(held, self.gap)
        uniform = (held - truthful).sum(axis=1)
        shares = np.full(self.domain_size, 1 / self.domain_size)
        return np.asarray(truthful + rng.multinomial(uniform, shares))

    def debiased(self, reports: NDArray[Any], n_reports: NDArray[Any]) -> Floats:
        """Unbiased numbers of holders, (R, k), from reports per value (R, k) and their totals (R,)."""
        return np.asarray((np.asarray(reports, float) - self.lie * n_reports[:, None]) / self.gap)

    def variance(self, held: NDArray[Any]) -> Floats:
        """Variance of `debiased`, (R, k), when ``held`` (R, k) reporters hold each value."""
        held = np.asarray(held, float)
        others = held.sum(axis=1, keepdims=True) - held
        return np.asarray(
            (held * self.keep * (1 - self.keep) + others * self.lie * (1 - self.lie)) / self.gap**2
        )


def held_counts(participants: Participants, domain_size: int) -> NDArray[Any]:
    """Users per value, (R, k); refuses data of another domain, which would broadcast into nonsense."""
    counts = participants.counts
    if counts.shape != (participants.public.repeats, domain_size):
        expected = (participants.public.repeats, domain_size)
        raise ValueError(f"Expected counts of shape {expected} (repeats, values), got {counts.shape}.")
    return counts


@dataclass(frozen=True)
class ValueReports(OneReport):
    """Every report is the generalized randomized response of one value; the fixed public input is 0.

    Parameters
    ----------
    population : Law
        Law of the number of *other* users.
    domain_size : int
        Values are 0..domain_size-1.
    eps_local : float
        Local budget in nats.
    """

    population: Law
    domain_size: int
    eps_local: float

    @classmethod
    def scheduled(cls, task: Task, population: Law, eps_local: float, **schedule: Any) -> Self:
        """The protocol for a task once its schedule is known."""
        return cls(population, domain_size_of(task), eps_local, **schedule)

    @property
    def response(self) -> GeneralizedResponse:
        """The local randomizer."""
        return GeneralizedResponse(self.eps_local, self.domain_size)

    def fixed_inputs(self, count: int) -> NDArray[Any]:
        """Input 0."""
        return np.zeros(count, dtype=np.int64)

    def reports(self, values: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Randomized values, (n,): the true one with probability ``E / (E + k - 1)``, else another one uniformly."""
        return self.response.randomize(values, rng)

    def report_bits(self) -> float:
        """One of k values."""
        return message_bits(self.domain_size)


@dataclass(frozen=True)
class RandomizedResponse(ValueReports):
    """Generalized randomized response with dummies of input 0.

    Parameters
    ----------
    dummy_count, adaptive : int, bool
        As for `shuffledp.protocols._schedules.OneReport`.
    """

    dummy_count: int = 0
    adaptive: bool = False

    @property
    def alphabet_size(self) -> int:
        """One kind of message per value."""
        return self.domain_size

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the reports per value, (R, k), at a cost that does not depend on the number of users."""
        return self.response.sample_counts(self._reporters(participants).astype(np.int64), rng)

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Unbiased relative frequencies, (R, k) (corrected, see errata RP-E14)."""
        added = self.dummies_added(public.n_users)
        held = self.response.debiased(aggregate, public.n_users + added)
        held[:, 0] -= added
        return np.asarray(held / public.n_users[:, None])

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of each frequency given the participants' values, (R, k)."""
        n = participants.public.users_column
        return np.asarray(self.response.variance(self._reporters(participants)) / n**2)

    def _reporters(self, participants: Participants) -> NDArray[Any]:
        """Users and dummies per value, (R, k), as a new array."""
        held = held_counts(participants, self.domain_size).copy()
        held[:, 0] += self.dummies_added(participants.public.n_users)
        return held
