"""SepMM: a balls-into-bins protocol for the users of each privacy level, and a mean of the estimates."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.baselines.sets import Calibration, GroupWeights, SeparatePlan, sep_mm_plan
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.accounting.segmented.plans import SegmentedPlan
from shuffledp.accounting.segmented.profile import SegmentedProfile
from shuffledp.numerics.saddlepoint import ErrorLaw, poisson_term
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols.messages import Messages
from shuffledp.protocols.sets._full_reporting import FullReporting
from shuffledp.protocols.sets._set_protocol import (
    announced_sizes,
    assignment_error,
    blanket_counts,
    blankets_sent,
    holders,
    levels_of,
    shape_of,
)
from shuffledp.tasks import Array, Budget, Floats, Participants, Public, Sets, Users, even_sizes


@dataclass(frozen=True)
class SeparateLevels(FullReporting):
    """Balls-into-bins protocols, one per privacy level with users; a message carries the level of its sender.

    Until the announcement, all levels have equal numbers of users. Estimates are unbiased over a random assignment of
    levels.
    """

    level_sizes: tuple[int, ...]
    eps: tuple[float, ...]
    delta: float
    accounting: str
    calibration: Calibration
    plan: SeparatePlan

    #: Weights of the estimates of the levels, see `shuffledp.accounting.sep_mm_plan`.
    weights: ClassVar[GroupWeights]

    multi_level = True
    follows_announcement = True

    @classmethod
    def planned(
        cls, budget: Budget, n_users: int, delta: float, task: Sets, accounting: str, calibration: Calibration
    ) -> Self:
        """Return the protocol for levels of equal sizes, for a valid request."""
        sizes = even_sizes(n_users, task.levels)
        plan = sep_mm_plan(
            sizes,
            budget.levels,
            delta,
            task.domain_size,
            task.set_size,
            weights=cls.weights,
            accounting=accounting,
            calibration=calibration,
        )
        return cls(
            *shape_of(task),
            sizes,
            budget.levels,
            delta,
            accounting,
            calibration,
            plan,
        )

    @property
    def alphabet_size(self) -> int:
        """Number of different messages, one per level and item."""
        return len(self.eps) * self.domain_size

    @property
    def inhabited(self) -> list[int]:
        """Levels that have users, in the plan's order."""
        return [level for level, n in enumerate(self.level_sizes) if n > 0]

    @property
    def groups(self) -> tuple[SegmentedPlan, ...]:
        """Plans of the levels that have users."""
        return self.plan.groups

    @property
    def blankets_per_user(self) -> float:
        """Expected number of blanket messages per user, averaged over users of all levels."""
        return sum(group.n * group.blankets for group in self.groups) / self.plan.n

    def refine(self, public: Public) -> Self:
        """Return the protocol with blanket messages and weights for the announced numbers of users."""
        sizes = announced_sizes(public, len(self.eps))
        if sizes == self.level_sizes:
            return self
        plan = sep_mm_plan(
            sizes,
            self.eps,
            self.delta,
            self.domain_size,
            self.set_size,
            weights=self.weights,
            accounting=self.accounting,
            calibration=self.calibration,
        )
        return replace(self, level_sizes=sizes, plan=plan)

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw blanket messages and append all items to them; a message is ``level * d + item``."""
        levels = levels_of(users, len(self.eps))
        parts = [(levels[:, None] * self.domain_size + users.values.astype(np.int64)).ravel()]
        for level, group in zip(self.inhabited, self.groups, strict=True):
            blankets = blankets_sent(group, int(np.count_nonzero(levels == level)), rng)
            parts.append(level * self.domain_size + blankets)
        return Messages(np.concatenate(parts))

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the messages per level and item, (R, levels * d), from their exact law, at a cost independent of n."""
        counts = holders(participants).astype(np.int64)
        for level, group in zip(self.inhabited, self.groups, strict=True):
            counts[:, level] += blanket_counts(group, np.full(len(counts), group.n), rng)
        return counts.reshape(len(counts), -1)

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return the shares of holders, (R, d - padding_items), as weighted means over the levels."""
        counts = aggregate.reshape(len(aggregate), -1, self.domain_size)
        shares = [
            weight * (counts[:, level] - group.blankets_per_item) / group.n
            for level, group, weight in zip(self.inhabited, self.groups, self.plan.weights, strict=True)
        ]
        return self.real(np.sum(shares, axis=0))

    def privacy_profile(self) -> PrivacyProfile | None:
        """Return the divergence bound of the most private group, which is proven and which the accounting evaluates."""
        return SegmentedProfile(self.groups[0], 0)

    @property
    def planned_users(self) -> int:
        """Number of users of all levels."""
        return self.plan.n

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Return the bound for another number of users; None for several levels, whose sizes are then unknown."""
        if len(self.groups) > 1:
            return None
        return SegmentedProfile(replace(self.groups[0], level_sizes=(users,)), 0)

    @property
    def _noise(self) -> float:
        """Variance of each share from the blanket messages."""
        pairs = zip(self.groups, self.plan.weights, strict=True)
        return sum(weight**2 * group.blanket_sse() for group, weight in pairs) / self.domain_size

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return a law with the squared error, in steps of the message with the largest weight."""
        pairs = zip(self.groups, self.plan.weights, strict=True)
        step = max(weight / group.n for group, weight in pairs)
        return ErrorLaw([poisson_term(self.expected_squared_error(participants), step)], step)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each share given the items and levels of all users, (R, d - padding_items)."""
        return self.real(np.full((participants.public.repeats, self.domain_size), self._noise)).copy()

    @checked_inputs
    def expected_squared_error(self, participants: Participants) -> Floats:
        """Return the mean squared error of each share over the noise and a random assignment of levels."""
        squares = sum(w**2 / group.n for group, w in zip(self.groups, self.plan.weights, strict=True))
        return self.real(self._noise + assignment_error(squares, participants))

    def parameters(self) -> dict[str, float]:
        """Return the blanket messages per user and the weight of each level that has users."""
        numbers: dict[str, float] = {}
        for level, group, weight in zip(self.inhabited, self.groups, self.plan.weights, strict=True):
            numbers |= {f"blankets_{level + 1}": group.blankets, f"weight_{level + 1}": weight}
        return numbers
