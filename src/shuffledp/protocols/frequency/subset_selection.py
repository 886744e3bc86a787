"""Subset selection: every user reports a random subset of the values that tends to hold its own."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.subset_selection import SubsetReport, subset_delta, subset_report
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import UPPER, Standing
from shuffledp.protocols._coins import coin_blocks
from shuffledp.protocols._random_users import PlannedUsers
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.base import Cost, Messages, message_bits
from shuffledp.protocols.frequency._randomized_response import (
    GeneralizedResponse,
    held_counts,
)
from shuffledp.protocols.reliance import Reliance
from shuffledp.tasks import Floats, Participants, Public, Users

#: Subsets up to which all of them are listed.
_FEW_SUBSETS = 200


@dataclass(frozen=True)
class SubsetSelection(PlannedUsers):
    """A message is a subset of d values; every user sends one.

    The shuffler permutes. Users rely on the reports of all others, which are uniform now and then.

    Parameters
    ----------
    n_users : int
        Users that the protocol is calibrated for, user 1 included.
    report : SubsetReport
        Values, size of the subsets and local budget.
    """

    n_users: int
    report: SubsetReport

    name = "subset_selection"
    task_kind = "frequency"
    label = "subset selection"
    source = "Ye and Barg 2018; Wang et al. 2016"
    trust = "shuffler"
    relies_on: ClassVar[Reliance] = "others' reports"
    accountings = ("exact",)
    guarantees: ClassVar[Mapping[str, Standing]] = {"exact": UPPER}
    reduction = "blanket"
    few_numbers = True

    @classmethod
    @from_request
    def calibrate(cls, n: int, k: int, eps: float, delta: float, *, size: int | None = None) -> Self:
        """Size and local budget, see :func:`shuffledp.accounting.baselines.subset_selection.subset_report`.

        Parameters
        ----------
        size : int, optional
            d, in 1..k-1; chosen for the least error when left out.
        """
        return cls(n, subset_report(n, k, eps, delta, size=size))

    @property
    def domain_size(self) -> int:
        """Values are 0..domain_size-1."""
        return self.report.domain_size

    def cost(self) -> Cost:
        """One of all subsets of this size."""
        subsets = math.comb(self.domain_size, self.report.size)
        return Cost(1.0, message_bits(subsets), most_messages=1.0)

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """(n, d): each user's subset, in increasing order."""
        values, size = np.asarray(users.values, np.int64), self.report.size
        if values.size and not (values.min() >= 0 and values.max() < self.domain_size):
            raise ValueError(
                f"Values must lie in 0..{self.domain_size - 1}, got {values.min()}..{values.max()}."
            )
        holds = rng.random(len(values)) < self.report.own_rate
        subsets = np.empty((len(values), size), np.int64)
        for block, keys in coin_blocks(len(values), self.domain_size, rng):
            keys[np.arange(len(keys)), values[block]] = np.where(holds[block], -1.0, 2.0)
            subsets[block] = np.argpartition(keys, size - 1, axis=1)[:, :size]
        return Messages(np.sort(subsets, axis=1))

    def aggregate(self, messages: Messages) -> NDArray[Any]:
        """(k,): subsets that hold each value."""
        return np.bincount(np.asarray(messages.payload, np.int64).ravel(), minlength=self.domain_size)

    @property
    def joint_law(self) -> bool:
        """Whether subsets are of one value, or there are few different ones."""
        return self.report.size == 1 or math.comb(self.domain_size, self.report.size) <= _FEW_SUBSETS

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Subsets that hold each value, (R, k), at a cost that does not depend on the number of users.

        The joint law is exact for subsets of one value, and where there are few different subsets. Elsewhere the law of
        every single count is exact, and counts are drawn independently: that the counts add up to d for each user is
        left out, which concerns no error of a value, nor their mean.
        """
        held = held_counts(participants, self.domain_size).astype(np.int64)
        report, k = self.report, self.domain_size
        if report.size == 1:
            return GeneralizedResponse(report.eps_local, k).sample_counts(held, rng)
        if self.joint_law:
            return self._sampled_subsets(held, rng)
        others = participants.public.n_users[:, None] - held
        return np.asarray(rng.binomial(held, report.own_rate) + rng.binomial(others, report.other_rate))

    def _sampled_subsets(self, held: NDArray[np.int64], rng: np.random.Generator) -> NDArray[Any]:
        """The joint law, by how many users report each subset."""
        subsets = list(itertools.combinations(range(self.domain_size), self.report.size))
        holds = np.array([[v in subset for v in range(self.domain_size)] for subset in subsets])
        weights = np.where(holds, 1.0, math.exp(-self.report.eps_local)).T  # (values, subsets)
        counts = np.zeros(held.shape, np.int64)
        for value, law in enumerate(weights / weights.sum(axis=1, keepdims=True)):
            counts += rng.multinomial(held[:, value], law) @ holds
        return counts

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Unbiased relative frequencies, (R, k)."""
        share = np.asarray(aggregate, float) / np.asarray(public.n_users, float)[:, None]
        p, q = self.report.own_rate, self.report.other_rate
        return np.asarray((share - q) / (p - q))

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of each frequency given the participants' values, (R, k)."""
        n = np.asarray(participants.public.n_users, float)[:, None]
        held = np.asarray(held_counts(participants, self.domain_size), float)
        p, q = self.report.own_rate, self.report.other_rate
        return np.asarray((held * p * (1 - p) + (n - held) * q * (1 - q)) / (n * (p - q)) ** 2)

    def profile_for(self, users: int) -> PrivacyProfile:
        """The subset among the uniform ones of the others."""
        return Profile(
            lambda eps: subset_delta(eps, users, self.report),
            "privacy blanket of Balle et al. 2019, evaluated exactly for subset selection",
        )

    def parameters(self) -> dict[str, float]:
        """Size of the subsets, and the local budget."""
        return {"subset_size": float(self.report.size), "eps_local": self.report.eps_local}
