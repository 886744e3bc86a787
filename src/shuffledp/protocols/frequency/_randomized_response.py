"""What all single-message protocols with generalized randomized response share.

A participant keeps its value with probability ``E / (E + k - 1)``, ``E = exp(eps_local)``, and sends each other value
with probability ``1 / (E + k - 1)``. The server may add reports of the fixed public input 0. Protocols differ in how
``calibrate`` chooses ``eps_local`` and the dummies; for k = 2 this is the randomized response of Wang et al. 2023.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting import ClonesProfile, Infeasible, PrivacyProfile
from shuffledp.populations import Law, Population
from shuffledp.protocols.base import Cost, Messages, ProtocolBase
from shuffledp.tasks import Floats, Frequency, Ints, Participants, Public, Task, Users


def keep_and_lie(eps_local: float, domain_size: int) -> tuple[float, float]:
    """Probability of sending the true value, and of sending one particular other value."""
    lie = 1.0 / (math.exp(eps_local) + domain_size - 1)
    return math.exp(eps_local) * lie, lie


def law_of(population: Population) -> Law:
    """The population, if it is a law; a mere bound on its tail cannot be simulated."""
    if not isinstance(population, Law):
        raise Infeasible(
            f"{type(population).__name__} bounds the number of users but is not a law that can be sampled."
        )
    return population


def domain_size_of(task: Task) -> int:
    """The k of a frequency task; any other task is a mistake in the configuration."""
    if not isinstance(task, Frequency):
        raise ValueError(f"This protocol estimates frequencies, but the task is {task.kind!r}.")
    return task.domain_size


@dataclass(frozen=True)
class RandomizedResponse(ProtocolBase):
    """Generalized randomized response with dummies of input 0.

    Parameters
    ----------
    population : Population
        Law of the number of *other* users.
    domain_size : int
        Values are 0..domain_size-1.
    eps_local : float
        Local budget in nats.
    dummy_count : int
        Dummies: added in full, or, if ``adaptive``, only as many as fill the other users up to this number.
    """

    population: Law
    domain_size: int
    eps_local: float
    dummy_count: int = 0
    adaptive: bool = False

    @property
    def alphabet_size(self) -> int:
        """One kind of message per value."""
        return self.domain_size

    def dummies_added(self, n_users: Ints) -> Ints:
        """Dummies that the server adds when N users take part, (R,)."""
        if self.adaptive:
            return np.maximum(self.dummy_count - (n_users - 1), 0)
        return np.full_like(n_users, self.dummy_count)

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """Each user sends its value with probability e^eps_local/(e^eps_local+k-1), else another one uniformly."""
        values = np.asarray(users.values, dtype=np.int64)
        keep, _ = keep_and_lie(self.eps_local, self.domain_size)
        lies = rng.random(len(values)) >= keep
        steps = rng.integers(1, self.domain_size, size=len(values))  # a uniform value other than the true one
        return Messages(np.where(lies, (values + steps) % self.domain_size, values))

    def dummies(self, public: Public, rng: np.random.Generator) -> Messages | None:
        """Randomized reports of input 0."""
        added = int(self.dummies_added(public.n_users)[0])
        return self.encode(Users(np.zeros(added, dtype=np.int64)), rng) if added else None

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the reports per value, (R, k), at a cost that does not depend on the number of users.

        Randomized response tells the truth with probability ``keep - lie`` and otherwise sends a uniform value.
        """
        held = participants.counts.astype(np.int64)
        held[:, 0] += self.dummies_added(participants.public.n_users)
        keep, lie = keep_and_lie(self.eps_local, self.domain_size)
        truthful = rng.binomial(held, keep - lie)
        uniform = (held - truthful).sum(axis=1)
        return truthful + rng.multinomial(uniform, np.full(self.domain_size, 1 / self.domain_size))

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Unbiased relative frequencies, (R, k) (corrected, see errata RP-E14)."""
        keep, lie = keep_and_lie(self.eps_local, self.domain_size)
        n = public.n_users[:, None]
        added = self.dummies_added(public.n_users)
        estimate: Floats = (np.asarray(aggregate, float) - lie * (n + added[:, None])) / (keep - lie)
        estimate[:, 0] -= added
        estimate /= n
        return estimate

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of each frequency given the participants' values, (R, k)."""
        keep, lie = keep_and_lie(self.eps_local, self.domain_size)
        n = np.asarray(participants.public.n_users, float)[:, None]
        added = self.dummies_added(participants.public.n_users)[:, None]
        held = np.asarray(participants.counts, float).copy()
        held[:, :1] += added
        variance = held * keep * (1 - keep) + (n + added - held) * lie * (1 - lie)
        result: Floats = variance / ((keep - lie) * n) ** 2
        return result

    def cost(self) -> Cost:
        """One message of log2(k) bits per user; the server's dummies in expectation over the population."""
        return Cost(1.0, math.log2(self.domain_size), shuffler_messages=self._expected_dummies())

    def _expected_dummies(self) -> float:
        if not self.adaptive or self.dummy_count == 0:
            return float(self.dummy_count)
        window = self.population.window()
        return float(window.pmf @ np.maximum(self.dummy_count - window.support, 0))

    def dominating_pair(self) -> PrivacyProfile:
        """Clones: an upper bound for every local randomizer with this budget (Wang et al. 2023, Lemmas 1 and 2)."""
        return ClonesProfile(
            self.population, self.eps_local, dummies=self.dummy_count, adaptive=self.adaptive
        )

    def parameters(self) -> dict[str, float]:
        """Local budget and dummies."""
        return {"eps_local": self.eps_local, "dummies": float(self.dummy_count)}
