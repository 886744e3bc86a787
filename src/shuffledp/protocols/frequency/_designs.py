"""Reports that are points of a finite set, in which every value favors equally many points.

A user's report is a uniform point of the value's set with probability ``1 - lambda``, and a uniform point of all
otherwise. :mod:`shuffledp.accounting.general.design_blanket` has the local budget for the share and the overlap of the
sets. A protocol defines the sets, and its candidates: the best candidate has the least error of the budget.
"""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from shuffledp.accounting.general.design_blanket import design_delta, design_local_budget, rough_local_budget
from shuffledp.accounting.general.matched_blanket import matched_rate
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import UPPER, Enforced, under
from shuffledp.protocols._inputs import checked_inputs
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.frequency._value_counts import checked_values
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.request import Request
from shuffledp.tasks import Ints, Participants, Public, Users

#: Error that the candidates are compared by: the mean over the values, or the error of a value of many users.
Target = Literal["average", "frequent"]

#: Share of the users who hold the frequent value.
_FREQUENT = 0.1


@dataclass(frozen=True)
class DesignReports(PlannedUsers):
    """Point of a finite set as a message, one per user, with a local budget in nats.

    The shuffler permutes. Users rely on all other users' reports, which are uniform with some probability.
    """

    n_users: int
    domain_size: int
    eps_local: float

    task_kind = "frequency"
    trust = "shuffler"
    relies_on = "others' reports"
    poisoning: ClassVar[Enforced] = "one report"
    guarantees = under(exact=UPPER)
    reduction = "blanket"
    few_numbers = True
    no_client = "No client is written for points of a design; subset_selection and solh have one."

    @property
    @abstractmethod
    def share(self) -> float:
        """Part of the points that a value favors."""

    @property
    @abstractmethod
    def overlap(self) -> float:
        """Smallest part of the points that two values favor both."""

    @property
    @abstractmethod
    def alphabet_size(self) -> int:
        """Number of points."""

    @abstractmethod
    def favors(self, points: Ints, values: Ints) -> NDArray[np.bool_]:
        """Return whether values favor points, (points, values)."""

    @abstractmethod
    def favored_points(self, values: Ints, rng: Generator) -> Ints:
        """Draw a uniform point of the set of each value, (n,)."""

    @property
    def certain_rate(self) -> float:
        """Probability ``1 - lambda`` of a point of the value's set."""
        return 1 - matched_rate(self.share, self.eps_local)

    @classmethod
    def best_of(cls, candidates: Iterable[Self], request: Request, target: Target) -> Self:
        """Return the candidate of least error, with the largest local budget under the exact blanket.

        All values have equal shares of the users, or, for a frequent value, one value has a tenth.
        """
        n, k = request.n, request.k
        share = _FREQUENT if target == "frequent" else 1 / k
        true_counts = np.full((1, k), n * (1 - share) / (k - 1))
        true_counts[0, 0] = n * share
        users = Participants(Public(np.array([n])), true_counts, true_counts / n)

        setting = n, request.eps, request.delta

        def error(candidate: Self) -> float:
            eps_local = rough_local_budget(*setting, candidate.share, candidate.overlap)
            variance = replace(candidate, eps_local=eps_local).expected_variance(users)
            assert variance is not None
            return float(variance[0, 0] if target == "frequent" else variance.mean())

        best = min(candidates, key=error)
        return replace(best, eps_local=design_local_budget(*setting, best.share, best.overlap))

    def cost(self) -> Cost:
        """Return the cost of one message, the number of a point."""
        return Cost(1.0, message_bits(self.alphabet_size), most_messages=1.0)

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw each user's point, (n,)."""
        values = checked_values(users.values, self.domain_size)
        certain = rng.random(len(values)) < self.certain_rate
        points = rng.integers(0, self.alphabet_size, len(values))
        points[certain] = self.favored_points(values[certain], rng)
        return Messages(points)

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the profile of one report among the uniform reports of other users."""
        return Profile(
            lambda eps: design_delta(users, self.eps_local, self.share, self.overlap, eps),
            "privacy blanket of Balle et al. 2019, evaluated exactly for the share and overlap of the sets",
        )


@dataclass(frozen=True)
class PairwiseDesign(DesignReports):
    """Design in which all pairs of values have one overlap; use it with `PureReports`."""

    joint_law = False

    @property
    def two_rates(self) -> tuple[float, float, float]:
        """Rates at which a report is in the set of the user's value and of another value, and their difference."""
        certain, both = self.certain_rate, self.overlap / self.share
        stray = (1 - certain) * self.share
        return certain + stray, certain * both + stray, certain * (1 - both)
