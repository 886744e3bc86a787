"""MM, balls-into-bins: all items as they are, among blanket messages from everybody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.sets import mm_plan
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.accounting.segmented.plans import SegmentedPlan
from shuffledp.accounting.segmented.profile import SegmentedProfile, full_reporting_standing
from shuffledp.accounting.standing import UPPER, Standing
from shuffledp.populations import Population
from shuffledp.protocols._requests import fixed_users, positive_delta
from shuffledp.protocols.base import Cost, Messages
from shuffledp.protocols.sets._set_protocol import (
    SetProtocol,
    blanket_counts,
    blanket_variance,
    blankets_sent,
    holders,
    sets_task,
)
from shuffledp.tasks import Budget, Floats, Participants, Public, Task, Users


@dataclass(frozen=True)
class BallsIntoBins(SetProtocol):
    """One budget for all users; privacy levels are ignored.

    Parameters
    ----------
    plan : SegmentedPlan
        With one level and reporting probability 1.
    calibration : {"variation_ratio", "numeric", "analytic"}
        Where the number of blanket messages comes from.
    """

    plan: SegmentedPlan
    calibration: str = "variation_ratio"

    name = "balls_into_bins"
    task_kind = "sets"
    label = "MM"
    source = "Luo, Wang, Yi 2022, for sets as in Wang et al. 2024 (arXiv 2407.19639), Section 6"
    trust = "shuffler"
    accountings = ("printed", "corrected", "exact")
    guarantees: ClassVar[Mapping[str, Standing]] = {"printed": UPPER, "corrected": UPPER, "exact": UPPER}

    @classmethod
    def calibrate(
        cls,
        budget: Budget,
        population: Population,
        task: Task,
        *,
        accounting: str = "exact",
        calibration: str = "variation_ratio",
    ) -> Self:
        """The smallest number of blanket messages.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, replacement neighbours.
        population : Fixed
            Number of other users.
        task : Sets
        accounting : {"printed", "corrected", "exact"}
            As for the segmented protocol.
        calibration : {"variation_ratio", "numeric", "analytic"}
            See `shuffledp.accounting.mm_plan`.

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If the number of users is random, delta is 0, too many messages would be needed, or the calibration does not
            exist under this accounting.
        """
        cls.check_request(budget, task, accounting)
        sets = sets_task(task)
        n, delta = fixed_users(population), positive_delta(budget)
        plan = mm_plan(
            n,
            sets.domain_size,
            sets.set_size,
            budget.largest_eps,
            delta,
            accounting=accounting,
            calibration=calibration,
        )
        shape = (sets.domain_size, sets.set_size, sets.padding_items)
        return cls(*shape, plan, calibration, calibrated_under=accounting)

    @property
    def standing(self) -> Standing:
        """A proven bound, since all items are sent; a published calibration is one where the divergence confirms it."""
        return full_reporting_standing([self.plan], self.calibration)

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """All items, and blanket messages."""
        blankets = blankets_sent(self.plan, len(users), rng)
        return Messages(np.concatenate((users.values.astype(np.int64).ravel(), blankets)))

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the messages per item, (R, d), at a cost that does not depend on the number of users."""
        held = holders(participants).astype(np.int64).sum(axis=1)
        return np.asarray(held + blanket_counts(self.plan, participants.public.n_users, rng))

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Unbiased shares of holders, (R, d - padding_items)."""
        n = np.asarray(public.n_users, float)[:, None]
        return self.real(np.asarray(aggregate, float) / n - self.plan.blankets / self.domain_size)

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of each share: that of the blanket messages."""
        n = np.asarray(participants.public.n_users, float)
        per_item = np.broadcast_to(
            (blanket_variance(self.plan, n) / n**2)[:, None], (len(n), self.domain_size)
        )
        return self.real(per_item).copy()

    def cost(self) -> Cost:
        """All items and the blanket messages, one item per message."""
        own = float(self.set_size)
        return Cost(own + self.plan.blankets, float((self.domain_size - 1).bit_length()), own)

    def privacy_profile(self) -> PrivacyProfile:
        """The divergence that the accounting evaluates; a proven bound, since all items are sent."""
        return SegmentedProfile(self.plan, 0)

    def parameters(self) -> dict[str, float]:
        """Blanket messages per user, and of one item in all."""
        return {"blankets": self.plan.blankets, "blankets_per_item": self.plan.blankets_per_item}
