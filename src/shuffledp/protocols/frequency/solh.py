"""SOLH: every user reports the randomized hash of its value, and the hash function."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.solh import solh_report
from shuffledp.accounting.general.matched_blanket import blanketed_delta
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import UPPER, under
from shuffledp.protocols._random_users import PlannedUsers
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.base import Cost, Messages, message_bits
from shuffledp.protocols.frequency._hashing import SEED_BITS, draw_seeds, hash_values
from shuffledp.protocols.frequency._randomized_response import (
    GeneralizedResponse,
    held_counts,
)
from shuffledp.tasks import Floats, Participants, Public, Users

#: Pairs of a report and a value that are compared at once: they fit into the cache.
_PAIRS = 2**16


@dataclass(frozen=True)
class Solh(PlannedUsers):
    """Shuffled optimal local hashing.

    Parameters
    ----------
    n_users : int
        Users that the protocol is calibrated for, user 1 included.
    domain_size : int
        Values are 0..domain_size-1.
    eps_local : float
        Budget of the randomized response over the cells, nats.
    cells : int
        Range of the hash functions, d'.
    """

    n_users: int
    domain_size: int
    eps_local: float
    cells: int

    name = "solh"
    task_kind = "frequency"
    label = "SOLH"
    source = "Wang et al. 2020; as a baseline in arXiv 2009.13738"
    trust = "shuffler"
    relies_on = "others' reports"
    guarantees = under(printed=UPPER, exact=UPPER)
    reduction = "blanket"

    @classmethod
    @from_request
    def calibrate(
        cls, n: int, k: int, eps: float, delta: float, *, accounting: str = "exact", cells: int | None = None
    ) -> Self:
        """Number of cells and local budget, see :func:`shuffledp.accounting.baselines.solh.solh_report`.

        Parameters
        ----------
        cells : int, optional
            At least 2; chosen for the least error when left out.

        Raises
        ------
        Infeasible
            If delta is 0, or the printed theorem does not apply.
        """
        report = solh_report(n, k, eps, delta, accounting=accounting, cells=cells)
        return cls(n, k, report.eps_local, report.cells)

    @property
    def response(self) -> GeneralizedResponse:
        """The randomizer of the hashed value."""
        return GeneralizedResponse(self.eps_local, self.cells)

    def cost(self) -> Cost:
        """One message: a seed and a cell."""
        return Cost(1.0, SEED_BITS + message_bits(self.cells), most_messages=1.0)

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """(n, 2): each user's seed, and its hashed value after randomized response."""
        values = np.asarray(users.values, np.int64)
        if values.size and not (values.min() >= 0 and values.max() < self.domain_size):
            raise ValueError(
                f"Values must lie in 0..{self.domain_size - 1}, got {values.min()}..{values.max()}."
            )
        seeds = draw_seeds(len(values), rng)
        hashed = hash_values(seeds, values, self.cells).view(np.int64)
        payload = np.empty((len(values), 2), np.int64)
        payload[:, 0] = seeds
        payload[:, 1] = self.response.randomize(hashed, rng)
        return Messages(payload)

    def aggregate(self, messages: Messages) -> NDArray[Any]:
        """(k,): for each value, how many reports its hash agrees with."""
        payload = messages.payload.astype(np.uint64)
        values = np.arange(self.domain_size, dtype=np.uint64)
        support = np.zeros(self.domain_size, np.int64)
        step = max(1, _PAIRS // self.domain_size)
        for begin in range(0, len(payload), step):
            part = payload[begin : begin + step]
            agrees = hash_values(part[:, :1], values, self.cells) == part[:, 1:]
            support += np.count_nonzero(agrees, axis=0)
        return support

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the support counts, (R, k), for fully random hashes: binomials, independent over values."""
        held = held_counts(participants, self.domain_size).astype(np.int64)
        others = participants.public.n_users[:, None] - held
        return rng.binomial(held, self.response.keep) + rng.binomial(others, 1 / self.cells)

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Unbiased relative frequencies, (R, k)."""
        share = np.asarray(aggregate, float) / np.asarray(public.n_users, float)[:, None]
        return np.asarray((share - 1 / self.cells) / self._gap)

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of each frequency given the participants' values, (R, k)."""
        n = np.asarray(participants.public.n_users, float)[:, None]
        held = np.asarray(held_counts(participants, self.domain_size), float)
        keep, chance = self.response.keep, 1 / self.cells
        return np.asarray(
            (held * keep * (1 - keep) + (n - held) * chance * (1 - chance)) / (n * self._gap) ** 2
        )

    @property
    def _gap(self) -> float:
        """How much likelier a report agrees with the own value than with another one."""
        return self.response.gap * (1 - 1 / self.cells)

    def profile_for(self, users: int) -> PrivacyProfile:
        """The report among the uniform reports of the others."""
        return Profile(
            lambda eps: blanketed_delta(eps, users - 1, 1 / self.cells, self.eps_local),
            "privacy blanket of Balle et al. 2019, evaluated exactly for local hashing",
        )
