"""Integer noise on counts, drawn by a trusted curator or as shares in a secure sum; reference lines of figures.

Noise of different counts is independent, and one user moves each count by at most `shift`. Discrete Laplace noise of
ratio ``e^-rate`` has the loss ``rate * shift`` per count with a large probability, so that delta > 0 does not reduce
the noise: rate is eps over the change of all counts together. The variance is ``1 / (2 sinh(rate / 2)^2)`` (Ghosh,
Roughgarden and Sundararajan 2012). Discrete Gaussian noise is from Canonne, Kamath and Steinke 2020, Skellam noise from
Agarwal, Kairouz and Liu 2021; see :mod:`shuffledp.accounting.baselines.noisy_counts`.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from numpy.random import Generator

from shuffledp.accounting.baselines.noisy_counts import (
    laplace_profile,
    noisy_count_variance,
    noisy_counts_profile,
)
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.sums import discrete_laplace_variance
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import EXACT, under
from shuffledp.numerics.saddlepoint import Term, geometric_noise, normal_term
from shuffledp.numerics.samplers import (
    LARGEST_SCALE,
    discrete_gaussian,
    discrete_gaussian_variance,
    two_sided_geometric,
)
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.messages import Cost
from shuffledp.protocols.request import Request
from shuffledp.tasks import Ints, Neighbours


@dataclass(frozen=True)
class DiscreteGaussian:
    """Discrete Gaussian noise on `counts` counts, 1 or 2, each of which moves by at most `shift`."""

    sigma: float
    shift: int
    counts: int

    def fitted(self, request: Request) -> float:
        """Find the smallest sigma that meets the budget."""
        variance = noisy_count_variance(
            request.eps, request.delta, "gaussian", shift=self.shift, counts=self.counts
        )
        return math.sqrt(variance)

    def draw(self, rng: Generator, shape: tuple[int, ...]) -> Ints:
        """Draw independent noise values of this shape."""
        return discrete_gaussian(self.sigma, rng, shape)

    @property
    def terms(self) -> list[Term]:
        """Terms that add up to the noise, which is nearly normal."""
        return [normal_term(self.variance)]

    @property
    def variance(self) -> float:
        """Exact variance; close to ``sigma^2`` unless sigma is tiny."""
        return discrete_gaussian_variance(self.sigma)

    def profile(self, relation: Neighbours) -> PrivacyProfile:
        """Return the privacy profile of the noise on the counts that one user changes."""
        return noisy_counts_profile("gaussian", self.sigma**2, self.shift, self.counts, relation)


@dataclass(frozen=True)
class DiscreteLaplace:
    """Discrete Laplace noise on `counts` counts, 1 or 2, each of which moves by at most `shift`."""

    eps: float
    shift: int
    counts: int

    def fitted(self, request: Request) -> float:
        """Return the budget's eps; a positive delta does not reduce the noise."""
        return request.eps

    @property
    def change(self) -> int:
        """Change of all counts together by one user."""
        return self.shift * self.counts

    def draw(self, rng: Generator, shape: tuple[int, ...]) -> Ints:
        """Draw independent noise values of this shape."""
        return two_sided_geometric(self.change / self.eps, rng, shape)

    @property
    def terms(self) -> list[Term]:
        """Terms that add up to the noise, two geometric variables."""
        return geometric_noise(self.eps / self.change)

    @property
    def variance(self) -> float:
        """Exact variance, ``1 / (2 sinh(rate / 2)^2)``."""
        return discrete_laplace_variance(self.eps / self.change)

    def profile(self, relation: Neighbours) -> PrivacyProfile:
        """Return the privacy profile of the noise on the counts that one user changes."""
        return laplace_profile(self.eps / self.change, self.shift, self.counts, neighbours=relation)


class CuratorNoise(ProtocolBase):
    """Protocol whose trusted curator adds noise to each count; one field has the scale of the noise."""

    no_client = "A curator draws the noise; users send their data as they are."

    relation: Neighbours

    trust = "central"
    relies_on = "no other user"
    neighbours = ("replace_one", "add_remove")
    guarantees = under(exact=EXACT)
    profile_points = 960
    #: Name of the field.
    scale: ClassVar[str]

    @classmethod
    @abstractmethod
    def derive_fields(cls, request: Request) -> dict[str, Any]:
        """Return the fields of the protocol that depend on task, neighboring relation and population."""

    @property
    @abstractmethod
    def changed_counts(self) -> tuple[int, int]:
        """Largest change of a count by one user, and the number of changed counts with independent noise."""

    @property
    @abstractmethod
    def noise(self) -> DiscreteGaussian | DiscreteLaplace:
        """Law of a count's noise."""

    @classmethod
    def fit(cls, request: Request) -> Self:
        """Find the least noise for the counts that one user changes. Laplace noise does not depend on delta."""
        _ = request.law  # a mere bound is refused
        fields = {
            **cls.derive_fields(request),
            "relation": request.budget.neighbours,
            cls.scale: 1.0,
        }
        return cls(**{**fields, cls.scale: cls(**fields).noise.fitted(request)})

    def privacy_profile(self) -> PrivacyProfile:
        """Return the exact privacy profile of the noise on the counts that one user changes."""
        return self.noise.profile(self.relation)


@dataclass(frozen=True)
class SkellamNoise(PlannedUsers):
    """Skellam noise in equal shares of all users; each user relies on the other users' shares.

    A secure sum reveals only the sum of the messages. ``variance`` is the variance mu of a count's noise from all
    ``n_users`` planned users. Shares of discrete Gaussian noise would be 0 for nearly every user.
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

    @classmethod
    @abstractmethod
    def derive_fields(cls, request: Request) -> dict[str, Any]:
        """Return the fields of the protocol that depend on the task."""

    @property
    @abstractmethod
    def changed_counts(self) -> tuple[int, int]:
        """Largest change of a count by one user, and the number of changed counts with independent noise."""

    @property
    @abstractmethod
    def released_counts(self) -> int:
        """Number of counts with independent noise."""

    @classmethod
    def fit(cls, request: Request) -> Self:
        """Find the smallest variance for the counts that one user changes.

        Under ``add_remove`` a user who leaves still sends a share of the noise, which would otherwise depend on the
        input.
        """
        plain = cls(
            n_users=request.n, variance=0.0, relation=request.budget.neighbours, **cls.derive_fields(request)
        )
        shift, counts = plain.changed_counts
        variance = noisy_count_variance(request.eps, request.delta, "skellam", shift=shift, counts=counts)
        if variance > LARGEST_SCALE:
            raise Infeasible(
                f"Noise of variance {variance:.3g} is beyond {LARGEST_SCALE:g}, up to which it is drawn exactly: "
                "take fewer levels."
            )
        return replace(plain, variance=variance)

    def cost(self) -> Cost:
        """Return the cost of one integer per count, modulo a number that a sum rarely reaches."""
        users = self.usual_users
        deviation = math.sqrt(self.variance * users / self.n_users)
        each = math.ceil(math.log2(users * self.changed_counts[0] + 20 * deviation))
        return Cost(1.0, float(self.released_counts * each), most_messages=1.0)

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the privacy profile of the counts' noise if this number of users send shares."""
        noise = self.variance * users / self.n_users
        return noisy_counts_profile("skellam", noise, *self.changed_counts, self.relation)
