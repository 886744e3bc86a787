"""Silent users: a value is sent with some probability only, among Poisson dummies of all users."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.silent_users import SilentReport, silent_report
from shuffledp.accounting.expected_errors.most_messages import PoissonMessages, most_sent
from shuffledp.accounting.general.count_pairs import settled_count_delta
from shuffledp.accounting.general.profiles import Kind, PrivacyProfile, Profile
from shuffledp.guarantees import EXACT
from shuffledp.protocols._random_users import PlannedUsers
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.base import Cost, Trust
from shuffledp.protocols.frequency._noisy_counts import NoisyCounts
from shuffledp.protocols.reliance import Reliance
from shuffledp.tasks import Floats, Ints


@dataclass(frozen=True)
class SilentUsers(NoisyCounts, PlannedUsers):
    """The own value with probability p, and of every value ``Poisson(mu / n)`` dummies; a message is a value.

    All users must add their dummies; the shuffler only permutes. A count has the variance ``mu / p^2 + n_j (1 - p) /
    p``: frequent values pay for the silence.

    Parameters
    ----------
    n_users : int
        Users that the protocol is calibrated for, user 1 included.
    rate : float
        p.
    dummy_mean : float
        mu, of `n_users` users together.
    """

    n_users: int
    rate: float
    dummy_mean: float

    name = "silent_users"
    task_kind = "frequency"
    label = "silent users"
    source = "this project; one level of the segmented protocol, for sets of one item"
    trust: ClassVar[Trust] = "shuffler"
    relies_on: ClassVar[Reliance] = "others' dummies"
    accountings = ("exact",)
    guarantees = {"exact": EXACT}  # noqa: RUF012

    @classmethod
    @from_request
    def calibrate(cls, n: int, k: int, eps: float, delta: float, *, report_rate: float | None = None) -> Self:
        """Reports and dummies, see :func:`shuffledp.accounting.baselines.silent_users.silent_report`.

        Parameters
        ----------
        report_rate : float, optional
            p, in (0, 1]; the one with the least error for equally frequent values if left out.
        """
        found = silent_report(n, k, eps, delta, rate=report_rate)
        return cls(k, n, found.rate, found.dummies)

    @property
    def keep(self) -> float:
        """p."""
        return self.rate

    def noise_moments(self, users: NDArray[Any]) -> tuple[Floats, Floats]:
        """Both are the sum of the users' shares of mu."""
        mean = self.dummy_mean * np.asarray(users, float) / self.n_users
        return mean, mean

    def draw_noise(self, users: NDArray[Any], rng: np.random.Generator) -> Ints:
        """Poisson, (R, k)."""
        mean, _ = self.noise_moments(users)
        return rng.poisson(mean[:, None], (len(users), self.domain_size))

    def cost(self) -> Cost:
        """The own value as often as it is sent, and a share of the dummies of all values."""
        mean = self.domain_size * self.dummy_mean / self.n_users
        return self.cost_of(mean, most_sent([PoissonMessages(mean)], 1.0, self.expected_users), certain=False)

    def profile_for(self, users: int) -> PrivacyProfile:
        """The two counts that change, with the dummies of so many users."""
        report = SilentReport(self.rate, self.dummy_mean * users / self.n_users)
        kind: Kind = "upper" if self.others_hide else "exact"
        return Profile(
            partial(settled_count_delta, report.count_at),
            "the two counts that change, each with Poisson dummies",
            kind,
        )
