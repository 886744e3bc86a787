r"""Integer noise on counts that one user moves, from a trusted curator or shared in a secure sum: reference lines.

The protocols define the messages; this module has the noise, its calibration and its profile. Noise of the counts is
independent; each moves by at most `shift`. Discrete Laplace noise of ratio ``e^-rate`` has the loss ``rate * shift``
per count with a large probability, so that a delta > 0 allows no less noise: rate is eps over the change of all counts
together. Its variance is ``1 / (2 sinh(rate / 2)^2)`` (Ghosh, Roughgarden and Sundararajan 2012). Discrete Gaussian
noise: Canonne, Kamath and Steinke 2020; Skellam noise: Agarwal, Kairouz and Liu 2021;
:mod:`shuffledp.accounting.baselines.noisy_counts` has both.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from shuffledp.accounting.baselines.noisy_counts import (
    laplace_profile,
    noisy_count_variance,
    noisy_counts_profile,
)
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.sums import discrete_laplace_variance
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import EXACT, under
from shuffledp.numerics.samplers import (
    LARGEST_SCALE,
    discrete_gaussian,
    discrete_gaussian_variance,
    two_sided_geometric,
)
from shuffledp.populations import Population
from shuffledp.protocols._random_users import PlannedUsers
from shuffledp.protocols._requests import from_request, law_of, positive_delta
from shuffledp.protocols.base import Cost, ProtocolBase
from shuffledp.tasks import Budget, Ints, Neighbours, Task


@dataclass(frozen=True)
class DiscreteGaussian:
    """Discrete Gaussian noise of `counts` counts, 1 or 2, that move by at most `shift` each."""

    sigma: float
    shift: int
    counts: int

    def fitted(self, budget: Budget) -> float:
        """Find the smallest sigma."""
        eps, delta = budget.largest_eps, positive_delta(budget)
        return math.sqrt(noisy_count_variance(eps, delta, "gaussian", shift=self.shift, counts=self.counts))

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Ints:
        """Draw independent noises."""
        return discrete_gaussian(self.sigma, rng, shape)

    @property
    def variance(self) -> float:
        """``sigma^2``, but for tiny sigma."""
        return discrete_gaussian_variance(self.sigma)

    def profile(self, relation: Neighbours) -> PrivacyProfile:
        """Return the profile of the noise of the counts that move."""
        return noisy_counts_profile("gaussian", self.sigma**2, self.shift, self.counts, relation)


@dataclass(frozen=True)
class DiscreteLaplace:
    """Discrete Laplace noise of `counts` counts, 1 or 2, that move by at most `shift` each."""

    eps: float
    shift: int
    counts: int

    def fitted(self, budget: Budget) -> float:
        """Return all of eps; delta is not needed."""
        return budget.largest_eps

    @property
    def change(self) -> int:
        """Change of all counts together."""
        return self.shift * self.counts

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Ints:
        """Draw independent noises."""
        return two_sided_geometric(self.change / self.eps, rng, shape)

    @property
    def variance(self) -> float:
        """``1 / (2 sinh(rate / 2)^2)``."""
        return discrete_laplace_variance(self.eps / self.change)

    def profile(self, relation: Neighbours) -> PrivacyProfile:
        """Return the profile of the noise of the counts that move."""
        return laplace_profile(self.eps / self.change, self.shift, self.counts, neighbours=relation)


class CuratorNoise(ProtocolBase):
    """Noise that a trusted curator adds to each count; its scale is a field of the protocol."""

    no_client = "A curator draws the noise; users send their data as they are."

    relation: Neighbours

    trust = "central"
    relies_on = "no other user"
    neighbours = ("replace_one", "add_remove")
    guarantees = under(exact=EXACT)
    scale: ClassVar[str]
    """Name of the field."""

    @classmethod
    @abstractmethod
    def counted(cls, task: Task) -> dict[str, Any]:
        """Return the fields that a task sets."""

    @property
    @abstractmethod
    def moved(self) -> tuple[int, int]:
        """Change of a count by one user, and the number of changed counts with noise of their own."""

    @property
    @abstractmethod
    def noise(self) -> DiscreteGaussian | DiscreteLaplace:
        """Noise of a count."""

    @classmethod
    @from_request
    def calibrate(cls, budget: Budget, population: Population, task: Task) -> Self:
        """Find the least noise for the counts that one user moves: two under replacement if there are several.

        Parameters
        ----------
        budget : Budget
            One eps, either relation; delta > 0 for Gaussian noise, for Laplace noise it allows no less noise.
        """
        law_of(population)
        fields = {**cls.counted(task), "relation": budget.neighbours, cls.scale: 1.0}
        return cls(**{**fields, cls.scale: cls(**fields).noise.fitted(budget)})

    def privacy_profile(self) -> PrivacyProfile:
        """Return the profile of the noise of the counts that move."""
        return self.noise.profile(self.relation)


@dataclass(frozen=True)
class SkellamNoise(PlannedUsers):
    """Skellam noise in equal shares of all users; each user relies on the shares of the others.

    No party sees a single message: only the sum is revealed. Shares of a discrete Gaussian would be 0 for nearly every
    user, see :mod:`shuffledp.accounting.baselines.noisy_counts`.

    Parameters
    ----------
    n_users : int
        Planned number of users, user 1 included.
    variance : float
        mu, of the noise of a count when the planned number of users take part.
    relation : {"replace_one", "add_remove"}
        Neighboring relation of the guarantee.
    """

    no_client = "Messages are added up in a secure sum, which a client in the shuffle model does not have."

    n_users: int
    variance: float
    relation: Neighbours

    neighbours = ("replace_one", "add_remove")
    guarantees = under(exact=EXACT)
    label = "Skellam, secure aggregation"
    trust = "secure_sum"
    relies_on = "shares of the noise"
    poisoning = "range of shares"

    def gain_per_fake(self, most: float) -> float:
        """Infinite: a user may add anything to a sum."""
        return math.inf

    @classmethod
    @abstractmethod
    def counted(cls, task: Task) -> dict[str, Any]:
        """Return the fields that a task sets."""

    @property
    @abstractmethod
    def moved(self) -> tuple[int, int]:
        """Change of a count by one user, and the number of changed counts with noise of their own."""

    @property
    @abstractmethod
    def released_counts(self) -> int:
        """Number of counts with noise of their own."""

    @classmethod
    @from_request
    def calibrate(cls, budget: Budget, task: Task, n: int, eps: float, delta: float) -> Self:
        """Find the smallest variance for the counts that one user moves: two under replacement if there are several.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, either relation. Under add or remove a user who leaves still sends its share of the
            noise: otherwise the noise would change with the input.
        """
        plain = cls(n_users=n, variance=0.0, relation=budget.neighbours, **cls.counted(task))
        shift, counts = plain.moved
        variance = noisy_count_variance(eps, delta, "skellam", shift=shift, counts=counts)
        if variance > LARGEST_SCALE:
            raise Infeasible(
                f"Noise of variance {variance:.3g} is beyond {LARGEST_SCALE:g}, up to which it is drawn exactly: "
                "take fewer levels."
            )
        return replace(plain, variance=variance)

    def counted_on(self) -> str:
        """Name the users who share the noise."""
        return self.all_users()

    def cost(self) -> Cost:
        """Return the cost of an integer per released count.

        It is taken modulo a number that it reaches with a probability far below delta. Payload alone: keys that users
        agree on are not counted.
        """
        users = self.usual_users
        deviation = math.sqrt(self.variance * users / self.n_users)
        each = math.ceil(math.log2(users * self.moved[0] + 20 * deviation))
        return Cost(1.0, float(self.released_counts * each), most_messages=1.0)

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the profile of the noise of the counts that move, from this number of users."""
        noise = self.variance * users / self.n_users
        return noisy_counts_profile("skellam", noise, *self.moved, self.relation)
