"""MM, balls-into-bins: all items without noise, among blanket messages from all users."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.baselines.sets import Calibration, mm_plan
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.accounting.segmented.plans import SegmentedPlan
from shuffledp.accounting.segmented.profile import SegmentedProfile
from shuffledp.numerics.saddlepoint import ErrorLaw, poisson_term
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols.messages import Messages
from shuffledp.protocols.sets._full_reporting import FullReporting
from shuffledp.protocols.sets._set_protocol import (
    blanket_counts,
    blanket_variance,
    blankets_sent,
    holders,
    shape_of,
)
from shuffledp.tasks import Array, Budget, Floats, Participants, Public, Sets, Users


@dataclass(frozen=True)
class BallsIntoBins(FullReporting):
    """All items without noise, among blanket messages from all users, with one budget; privacy levels are ignored."""

    plan: SegmentedPlan
    calibration: Calibration = "variation_ratio"

    name = "balls_into_bins"
    label = "MM"
    source = "Luo, Wang, Yi 2022, for sets as in Wang et al. 2024 (arXiv 2407.19639), Section 6"
    reported = ("plan.blankets", "plan.blankets_per_item")

    @classmethod
    def planned(
        cls, budget: Budget, n_users: int, delta: float, task: Sets, accounting: str, calibration: Calibration
    ) -> Self:
        """Return the protocol with the smallest number of blanket messages, for a valid request."""
        plan = mm_plan(
            n_users,
            task.domain_size,
            task.set_size,
            budget.largest_eps,
            delta,
            accounting=accounting,
            calibration=calibration,
        )
        return cls(*shape_of(task), plan, calibration)

    @property
    def groups(self) -> tuple[SegmentedPlan, ...]:
        """Plan of the only group, which contains all users."""
        return (self.plan,)

    @property
    def blankets_per_user(self) -> float:
        """Expected number of blanket messages per user."""
        return self.plan.blankets

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw blanket messages and append all items to them."""
        blankets = blankets_sent(self.plan, len(users), rng)
        return Messages(np.concatenate((users.values.astype(np.int64).ravel(), blankets)))

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the messages per item, (R, d), from their exact law, at a cost independent of n."""
        item_holders = holders(participants).astype(np.int64).sum(axis=1)
        return np.asarray(item_holders + blanket_counts(self.plan, participants.public.n_users, rng))

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased shares of holders, (R, d - padding_items)."""
        n = public.users_column
        return self.real(aggregate / n - self.plan.blankets / self.domain_size)

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the law of the blanket messages of an item."""
        step = 1 / participants.public.users_column
        return ErrorLaw([poisson_term(self.expected_variance(participants), step)], step)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each share, which comes from the blanket messages only."""
        n = participants.public.n
        per_item = np.broadcast_to(
            (blanket_variance(self.plan, n) / n**2)[:, None], (len(n), self.domain_size)
        )
        return self.real(per_item).copy()

    @property
    def planned_users(self) -> int:
        """Number of users of the plan."""
        return self.plan.n

    @property
    def averages(self) -> bool:
        """True if delta can be averaged; published calibrations are formulas for one number of users."""
        return super().averages and self.calibration == "variation_ratio"

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the proven divergence bound of the accounting for this number of users."""
        return SegmentedProfile(replace(self.plan, level_sizes=(users,)), 0)
