"""RandomCheckin: every participant picks one of m slots, and each slot keeps one report."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting import ClonesProfile, Infeasible, PrivacyProfile, checkin_local_budget
from shuffledp.numerics.checks import check_choice
from shuffledp.populations import Binomial, Fixed, Population
from shuffledp.protocols.base import Cost, Messages, ProtocolBase, Trust
from shuffledp.protocols.frequency._occupancy import inverse_filled
from shuffledp.protocols.frequency._randomized_response import (
    GeneralizedResponse,
    amplifying_delta,
    domain_size_of,
    held_counts,
)
from shuffledp.tasks import Budget, Floats, Participants, Public, Task, Users

Threat = Literal["conditional", "own_coin"]


@dataclass(frozen=True)
class RandomCheckin(ProtocolBase):
    """Random check-in with a fixed window, for frequencies.

    Every participant sends a slot and a randomized report. Each slot keeps one of its reports, uniformly at random;
    an empty slot gets a randomized report of input 0. The analyzer sees the m reports, shuffled, and how many
    slots were filled, but not which.

    Parameters
    ----------
    population : Binomial
        Law of the number of *other* users.
    domain_size : int
        Values are 0..domain_size-1.
    eps_local : float
        Local budget in nats.
    slots : int
        m, at least 1.
    threat : {"conditional", "own_coin"}
        Whether user 1 is known to take part, or its own coin counts as protection.
    """

    population: Binomial
    domain_size: int
    eps_local: float
    slots: int
    threat: Threat = "conditional"

    name = "random_checkin"
    task_kind = "frequency"
    label = "RandomCheckin"
    source = "Balle, Kairouz, McMahan, Thakkar and Thakurta 2020, fixed window; constants re-derived"
    trust: ClassVar[Trust] = "shuffler_adds"
    accountings = ("printed", "exact")
    reduction = "clones"
    streamable = False  # a slot keeps one report of all chunks

    @classmethod
    def calibrate(
        cls,
        budget: Budget,
        population: Population,
        task: Task,
        *,
        accounting: str = "printed",
        threat: Threat = "conditional",
    ) -> Self:
        """As many slots as other users are expected, rounded down, and the local budget that they allow.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, replacement neighbours.
        population : Binomial
            Number of other users.
        task : Frequency
        accounting : {"printed", "exact"}
            ``printed``: the closed form. ``exact``: the slots are shuffled, hence clones among m - 1 others.
        threat : {"conditional", "own_coin"}
            ``conditional`` (the default): the guarantee is for a user who takes part, as for all other protocols
            here. ``own_coin``: user 1's coin counts too, and the closed form gets its participation rate; a
            weaker promise with far larger local budgets, not comparable with the others. It presumes that the
            analyzer does not learn from the number of filled slots who takes part; no proven exact value is
            known, so ``exact`` is infeasible and there is no dominating pair.

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If the population is not binomial, there is no slot, delta is 0, or nothing is proven.
        """
        cls.check_request(budget, task, accounting)
        check_choice("random_checkin: threat", threat, get_args(Threat))
        domain_size, delta = domain_size_of(task), amplifying_delta(budget)
        if not isinstance(population, Binomial):
            kind = type(population).__name__
            raise Infeasible(f"Random check-in needs users who each decide by a coin (Binomial), not {kind}.")
        # 100 * 0.29 is 28.999..: the product is rounded at the scale of its own error first.
        slots = math.floor(population.mean * (1 + 1e-12))
        if slots < 1:
            raise Infeasible(
                f"Fewer than one other user is expected ({population.mean:g}): there is no slot."
            )
        if threat == "own_coin" and accounting == "exact":
            raise Infeasible("No exact value is proven when user 1's own coin counts as protection.")
        rate = population.rate if threat == "own_coin" else 1.0
        eps_local = checkin_local_budget(slots, budget.largest_eps, delta, rate=rate, accounting=accounting)
        return cls(population, domain_size, eps_local, slots, threat)

    @property
    def response(self) -> GeneralizedResponse:
        """The local randomizer."""
        return GeneralizedResponse(self.eps_local, self.domain_size)

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """(n, 2): a uniform slot and a randomized report."""
        slots = rng.integers(0, self.slots, size=len(users))
        return Messages(np.column_stack((slots, self.response.randomize(users.values, rng))))

    def shuffle(self, messages: Messages, public: Public, rng: np.random.Generator) -> Messages:
        """Keep one report per slot and fill the empty slots, (m, 2): report, and a tally of filled slots.

        The two columns are not linked: the second one only carries how many slots were filled.
        """
        payload = messages.payload.astype(np.int64)
        mixed = payload[rng.permutation(len(payload))]
        slots, first = np.unique(mixed[:, 0], return_index=True)  # the first after mixing is a uniform one
        fillers = self.response.randomize(np.zeros(self.slots - len(slots), np.int64), rng)
        reports = rng.permutation(np.concatenate((mixed[first, 1], fillers)))
        return Messages(np.column_stack((reports, np.arange(self.slots) < len(slots))))

    def aggregate(self, messages: Messages) -> NDArray[Any]:
        """(k + 1,): reports per value, then the number of filled slots."""
        reports = np.bincount(messages.payload[:, 0].astype(np.int64), minlength=self.domain_size)
        return np.append(reports, messages.payload[:, 1].sum(dtype=np.int64))

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the aggregate, (R, k + 1); time grows with N + m, as every user draws a slot.

        Which users are kept does not depend on what they hold: given their number K, a uniform K-subset.
        """
        left = held_counts(participants, self.domain_size).astype(np.int64)
        filled = np.array(
            [
                np.count_nonzero(np.bincount(rng.integers(0, self.slots, size=n)))
                for n in participants.public.n_users
            ]
        )
        kept = np.empty_like(left)
        open_places = filled.copy()
        for value in range(self.domain_size - 1):
            others = left[:, value + 1 :].sum(axis=1)
            kept[:, value] = rng.hypergeometric(left[:, value], others, open_places)
            open_places -= kept[:, value]
        kept[:, -1] = open_places
        kept[:, 0] += self.slots - filled
        return np.column_stack((self.response.sample_counts(kept, rng), filled))

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Unbiased relative frequencies, (R, k): of the kept users, who are a random sample of all."""
        table = np.asarray(aggregate, float)
        filled = table[:, -1]
        held = self.response.debiased(table[:, :-1], np.full(len(table), float(self.slots)))
        held[:, 0] -= self.slots - filled
        return np.asarray(held / filled[:, None])

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of each frequency given the participants' values, (R, k).

        Randomization of all m reports over K^2, plus the sampling of K users out of N. The mean of ``1/K`` and
        ``1/K^2`` is exact up to 512 slots or users and within 1e-5 relative beyond (see `inverse_filled`).
        """
        n = np.asarray(participants.public.n_users, float)[:, None]
        share = np.asarray(held_counts(participants, self.domain_size), float) / n
        inverse, inverse_square = (
            x[:, None] for x in inverse_filled(participants.public.n_users, self.slots)
        )
        one_kept, one_filler = np.eye(self.domain_size), np.zeros((1, self.domain_size))
        one_filler[:, 0] = 1
        per_user = share @ self.response.variance(one_kept)  # one report of a user with the average input
        per_filler = self.response.variance(one_filler)
        # (K per_user + (m - K) per_filler) / K^2
        randomization = (per_user - per_filler) * inverse + self.slots * per_filler * inverse_square
        sampling = share * (1 - share) * (n * inverse - 1) / np.maximum(n - 1, 1)
        return np.asarray(randomization + sampling)

    def cost(self) -> Cost:
        """One message of log2(m k) bits per user: slot and report. Fillers in expectation over the population."""
        missed = 1 - 1 / self.slots
        # User 1 misses a given slot, and so does every other user who takes part.
        empty = missed * (1 - self.population.rate / self.slots) ** self.population.trials
        return Cost(1.0, math.log2(self.slots * self.domain_size), shuffler_messages=self.slots * empty)

    def dominating_pair(self) -> PrivacyProfile | None:
        """Clones among the other m - 1 slots: user 1's report is in one slot or was dropped. None for own_coin."""
        return ClonesProfile(Fixed(self.slots - 1), self.eps_local) if self.threat == "conditional" else None
