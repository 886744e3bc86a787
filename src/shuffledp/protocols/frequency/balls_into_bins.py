"""Balls into bins, direct form: every user adds a dummy to every count with a small probability."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.bin_dummies import BIN_ACCOUNTINGS, bin_dummy_rate
from shuffledp.accounting.baselines.truncation import two_bins_delta
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import EXACT, UPPER, Standing
from shuffledp.protocols._random_users import PlannedUsers
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.base import Cost
from shuffledp.protocols.frequency._noisy_counts import NoisyCounts
from shuffledp.protocols.reliance import Reliance
from shuffledp.tasks import Floats, Ints

TOO_FEW = Standing(
    "violated",
    "the authors' search takes a ratio of counts for the likelihood ratio: with 5,000 users, eps 0.2 and delta 1e-8 it "
    "finds dummies whose delta is 1e-7",
)


@dataclass(frozen=True)
class BallsIntoBins(NoisyCounts, PlannedUsers):
    """The own value, and of every value a dummy with probability rho; a message is a value.

    All users must add their dummies; the shuffler only permutes.

    Parameters
    ----------
    n_users : int
        Users that the protocol is calibrated for, user 1 included.
    rate : float
        rho.
    sufficient : bool
        Whether the exact delta keeps the budget's; the authors' search does not see to it.
    """

    n_users: int
    rate: float
    sufficient: bool = True

    name = "balls_into_bins"
    task_kind = "frequency"
    label = "balls into bins"
    source = "Luo, Wang and Yi, CCS 2022, direct form"
    trust = "shuffler"
    relies_on: ClassVar[Reliance] = "others' dummies"
    accountings = BIN_ACCOUNTINGS
    guarantees: ClassVar[Mapping[str, Standing]] = {"printed": UPPER, "exact": EXACT}

    @classmethod
    @from_request
    def calibrate(
        cls, n: int, k: int, eps: float, delta: float, *, accounting: str = "exact", search: bool = False
    ) -> Self:
        """The rate of the dummies, see :func:`shuffledp.accounting.baselines.bin_dummies.bin_dummy_rate`.

        Parameters
        ----------
        search : bool
            Printed: the authors' numerical search rather than their closed form. It may find too few dummies, and the
            guarantee says where it does.

        Raises
        ------
        Infeasible
            If delta is 0, or the users are too few.
        """
        rate = bin_dummy_rate(n, eps, delta, accounting=accounting, search=search)
        enough = accounting == "exact" or two_bins_delta(eps, n, rate) <= delta
        return cls(k, n, rate, enough)

    @property
    def standing(self) -> Standing:
        """That of the accounting, unless the exact delta is above the budget's."""
        return super().standing if self.sufficient else TOO_FEW

    def noise_moments(self, users: NDArray[Any]) -> tuple[Floats, Floats]:
        """``n rho`` and ``n rho (1 - rho)``."""
        mean = np.asarray(users, float) * self.rate
        return mean, mean * (1 - self.rate)

    def draw_noise(self, users: NDArray[Any], rng: np.random.Generator) -> Ints:
        """Binomial, (R, k)."""
        return rng.binomial(np.asarray(users)[:, None], self.rate, (len(users), self.domain_size))

    def cost(self) -> Cost:
        """The own value, and ``k rho`` dummies, k at most."""
        return self.cost_of(self.domain_size * self.rate, self.domain_size)

    def profile_for(self, users: int) -> PrivacyProfile:
        """The two counts that change."""
        return Profile(
            lambda eps: two_bins_delta(eps, users, self.rate),
            "the two counts that change, each with binomial noise",
            "exact",
        )
