r"""Integer noise on counts that one user moves, from a trusted curator or shared in a secure sum: reference lines.

A folder of protocols has what users send; this module has the noise, its calibration and its profile. Noise of the
counts is independent. Discrete Laplace noise of ratio ``e^-rate`` has the loss ``rate * shift`` per count with a large
probability, so that a delta > 0 buys nothing: rate is eps over the change of all counts together. Its variance is ``1 /
(2 sinh(rate / 2)^2)`` (Ghosh, Roughgarden and Sundararajan 2012). Discrete Gaussian noise: Canonne, Kamath and Steinke
2020; Skellam noise: Agarwal, Kairouz and Liu 2021; :mod:`shuffledp.accounting.baselines.noisy_counts` has both.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

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
from shuffledp.protocols._requests import from_request, law_of
from shuffledp.protocols.base import Cost, ProtocolBase
from shuffledp.tasks import Budget, Ints, Neighbours, Task


class IntegerNoise(ProtocolBase):
    """Counts of which one user moves `moving_counts` by at most `shift` each.

    A protocol derives from a noise and from a class that has what users hold, in this order.
    """

    relation: Neighbours

    neighbours = ("replace_one", "add_remove")
    guarantees = under(exact=EXACT)

    @classmethod
    @abstractmethod
    def counted(cls, task: Task) -> Mapping[str, Any]:
        """The fields that a task sets."""

    @property
    @abstractmethod
    def shift(self) -> int:
        """Largest change of a count."""

    @property
    @abstractmethod
    def moving_counts(self) -> int:
        """Released counts that one user moves."""

    @property
    @abstractmethod
    def released_counts(self) -> int:
        """Counts with noise of their own."""

    @property
    @abstractmethod
    def noise_variance(self) -> float:
        """Variance of the noise of a count."""


@dataclass(frozen=True)
class GaussianNoise(IntegerNoise):
    """Discrete Gaussian noise.

    Parameters
    ----------
    sigma : float
        Of the noise.
    relation : {"replace_one", "add_remove"}
        Neighboring relation of the guarantee.
    """

    sigma: float
    relation: Neighbours = "replace_one"

    label = "central discrete Gaussian"
    trust = "central"
    relies_on = "no other user"

    @classmethod
    @from_request
    def calibrate(cls, budget: Budget, population: Population, task: Task, eps: float, delta: float) -> Self:
        """The smallest sigma for the counts that one user moves: two if it is replaced and there are several.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, either relation.
        """
        law_of(population)
        plain = cls(**cls.counted(task), sigma=0.0, relation=budget.neighbours)
        variance = noisy_count_variance(eps, delta, "gaussian", shift=plain.shift, counts=plain.moving_counts)
        return replace(plain, sigma=math.sqrt(variance))

    def noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Ints:
        """Discrete Gaussian variables."""
        return discrete_gaussian(self.sigma, rng, shape)

    @property
    def noise_variance(self) -> float:
        """``sigma^2``, but for tiny sigma."""
        return discrete_gaussian_variance(self.sigma)

    def privacy_profile(self) -> PrivacyProfile:
        """The noise of the counts that move."""
        return noisy_counts_profile("gaussian", self.sigma**2, self.shift, self.moving_counts, self.relation)

    def parameters(self) -> dict[str, float]:
        """sigma, and what the noise does to a count."""
        return {"sigma": self.sigma, **super().parameters()}


@dataclass(frozen=True)
class LaplaceNoise(IntegerNoise):
    """Discrete Laplace noise.

    Parameters
    ----------
    eps : float
        Nats, of all counts together.
    relation : {"replace_one", "add_remove"}
        Neighboring relation of the guarantee.
    """

    eps: float
    relation: Neighbours = "replace_one"

    label = "central discrete Laplace"
    trust = "central"
    relies_on = "no other user"

    @classmethod
    @from_request
    def calibrate(cls, budget: Budget, population: Population, task: Task, eps: float) -> Self:
        """Noise for the counts that one user moves: two if it is replaced and there are several.

        Parameters
        ----------
        budget : Budget
            One eps, either relation; delta is not needed and buys nothing.
        """
        law_of(population)
        return cls(**cls.counted(task), eps=eps, relation=budget.neighbours)

    @property
    def _change(self) -> int:
        return self.shift * self.moving_counts

    def noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Ints:
        """Two-sided geometric variables."""
        return two_sided_geometric(self._change / self.eps, rng, shape)

    @property
    def noise_variance(self) -> float:
        """Of discrete Laplace noise."""
        return discrete_laplace_variance(self.eps / self._change)

    def privacy_profile(self) -> PrivacyProfile:
        """The noise of the counts that move."""
        return laplace_profile(
            self.eps / self._change, self.shift, self.moving_counts, neighbours=self.relation
        )


@dataclass(frozen=True)
class SkellamNoise(IntegerNoise, PlannedUsers):
    """Skellam noise in equal shares of all users, on whom users rely for their shares.

    A message is what nobody sees: only the sum is revealed. Shares of a discrete Gaussian would be 0 for nearly every
    user, see :mod:`shuffledp.accounting.baselines.noisy_counts`.

    Parameters
    ----------
    n_users : int
        Users that the noise is made for, user 1 included.
    variance : float
        mu, of the noise of a count when as many take part.
    relation : {"replace_one", "add_remove"}
        Neighboring relation of the guarantee.
    """

    n_users: int
    variance: float
    relation: Neighbours = "replace_one"

    label = "Skellam, secure aggregation"
    trust = "secure_sum"
    relies_on = "shares of the noise"

    @classmethod
    @from_request
    def calibrate(cls, budget: Budget, task: Task, n: int, eps: float, delta: float) -> Self:
        """The smallest variance for the counts that one user moves: two if it is replaced and there are several.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, either relation. Under add or remove a user who leaves still sends its share of the
            noise: otherwise the noise would change with the input.
        """
        plain = cls(**cls.counted(task), n_users=n, variance=0.0, relation=budget.neighbours)
        variance = noisy_count_variance(eps, delta, "skellam", shift=plain.shift, counts=plain.moving_counts)
        if variance > LARGEST_SCALE:
            raise Infeasible(
                f"Noise of variance {variance:.3g} is beyond {LARGEST_SCALE:g}, up to which it is drawn exactly: "
                "take fewer levels."
            )
        return replace(plain, variance=variance)

    def counted_on(self) -> str:
        """The users who share the noise."""
        return self.all_users()

    def cost(self) -> Cost:
        """An integer per released count, modulo a number that it reaches with a probability far below delta.

        Payload alone: keys that users agree on are not counted.
        """
        users = self.usual_users
        deviation = math.sqrt(self.variance * users / self.n_users)
        each = math.ceil(math.log2(users * self.shift + 20 * deviation))
        return Cost(1.0, float(self.released_counts * each), most_messages=1.0)

    @property
    def noise_variance(self) -> float:
        """Variance of the noise of a count when as many take part as are planned for."""
        return self.variance

    def profile_for(self, users: int) -> PrivacyProfile:
        """The noise of the counts that move, from as many users."""
        noise = self.variance * users / self.n_users
        return noisy_counts_profile("skellam", noise, self.shift, self.moving_counts, self.relation)
