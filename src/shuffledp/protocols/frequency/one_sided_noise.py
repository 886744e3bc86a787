"""One-sided noise: dummies of all users that add up to negative binomial noise, without anything that cancels them."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.one_sided_noise import OneSidedNoise, one_sided_noise
from shuffledp.accounting.expected_errors.most_messages import most_sent
from shuffledp.accounting.general.count_pairs import settled_count_delta
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import EXACT
from shuffledp.protocols._noise_shares import NegativeBinomialShare
from shuffledp.protocols._random_users import PlannedUsers
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.base import Cost, Trust
from shuffledp.protocols.frequency._noisy_counts import NoisyCounts
from shuffledp.protocols.reliance import Reliance
from shuffledp.tasks import Floats, Ints


@dataclass(frozen=True)
class OneSidedCounts(NoisyCounts, PlannedUsers):
    """The own value, and of every value a negative binomial number of dummies; a message is a value.

    All users must add their dummies; the shuffler only permutes. Compared with Poisson dummies there are fewer
    messages and more variance.

    Parameters
    ----------
    n_users : int
        Users that the protocol is calibrated for, user 1 included; each sends its share of the noise.
    shape : float
        r, of `n_users` users together.
    decay : float
        ``-ln p``.
    """

    n_users: int
    shape: float
    decay: float

    name = "one_sided_noise"
    task_kind = "frequency"
    label = "one-sided noise"
    source = "this project; what correlated noise is without its correlation"
    trust: ClassVar[Trust] = "shuffler"
    relies_on: ClassVar[Reliance] = "others' dummies"
    accountings = ("exact",)
    guarantees = {"exact": EXACT}  # noqa: RUF012

    @classmethod
    @from_request
    def calibrate(cls, n: int, k: int, eps: float, delta: float, *, shape: float | None = None) -> Self:
        """The noise, see :func:`shuffledp.accounting.baselines.one_sided_noise.one_sided_noise`.

        Parameters
        ----------
        shape : float, optional
            r > 0; the one with the fewest messages if left out.

        Raises
        ------
        Infeasible
            If delta is 0, or the noise is too wide to account for.
        """
        found = one_sided_noise(eps, delta, shape=shape)
        return cls(k, n, found.shape, found.decay)

    @property
    def noise(self) -> OneSidedNoise:
        """The noise of a count when all planned users take part."""
        return OneSidedNoise(self.shape, self.decay)

    def noise_moments(self, users: NDArray[Any]) -> tuple[Floats, Floats]:
        """Those of a negative binomial law, in proportion to the users."""
        part = np.asarray(users, float) / self.n_users
        return part * self.noise.mean, part * self.noise.variance

    def draw_noise(self, users: NDArray[Any], rng: np.random.Generator) -> Ints:
        """Negative binomial, (R, k): laws of real shape add up."""
        shapes = self.shape * np.asarray(users, float)[:, None] / self.n_users
        return rng.negative_binomial(shapes, -np.expm1(-self.decay), (len(users), self.domain_size))

    def cost(self) -> Cost:
        """The own value, and a share of the dummies of all values."""
        part = self.domain_size / self.n_users
        dummies = NegativeBinomialShare(self.shape, -math.expm1(-self.decay))
        most = most_sent([dummies], part, self.expected_users)
        return self.cost_of(part * self.noise.mean, most, certain=False)

    def profile_for(self, users: int) -> PrivacyProfile:
        """The two counts that change, with the dummies of so many users."""
        noise = OneSidedNoise(self.shape * users / self.n_users, self.decay)
        return Profile(
            partial(settled_count_delta, noise.count_at),
            "the two counts that change, each with negative binomial dummies",
            "exact",
        )
