"""Protocols that send every item as it is: their calibration, its guarantee and its profile."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Self

from shuffledp.accounting.segmented.plans import SegmentedPlan
from shuffledp.accounting.segmented.profile import full_reporting_standing
from shuffledp.guarantees import UPPER, Standing, under
from shuffledp.protocols._random_users import PlannedUsers
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.base import Cost, message_bits
from shuffledp.protocols.sets._set_protocol import SetProtocol, check_levels, most_blankets, sets_task
from shuffledp.tasks import Budget, Sets, Task


class FullReporting(SetProtocol, PlannedUsers):
    """All items as they are, among blanket messages from all users, in one group of users or in several.

    A protocol of this kind is a dataclass with this field among its own, and defines ``planned``, ``groups`` and
    ``blankets_per_user`` besides ``encode``, ``sample_aggregate`` and ``estimate``.

    Parameters
    ----------
    calibration : {"variation_ratio", "numeric", "analytic"}
        Method that determines the numbers of blanket messages.
    """

    calibration: str

    task_kind = "sets"
    trust = "shuffler"
    relies_on = "others' dummies"
    guarantees = under(printed=UPPER, corrected=UPPER, exact=UPPER)

    @classmethod
    @abstractmethod
    def planned(
        cls, budget: Budget, n_users: int, delta: float, task: Sets, accounting: str, calibration: str
    ) -> Self:
        """Return the protocol with the smallest numbers of blanket messages, for a checked request."""

    @property
    @abstractmethod
    def groups(self) -> Sequence[SegmentedPlan]:
        """Plans of the groups of users that hide among each other, the most private one first."""

    @property
    @abstractmethod
    def blankets_per_user(self) -> float:
        """Expected number of blanket messages per user, averaged over users."""

    @classmethod
    @from_request
    def calibrate(
        cls,
        budget: Budget,
        task: Task,
        usual_users: int,
        delta: float,
        *,
        accounting: str = "exact",
        calibration: str = "variation_ratio",
    ) -> Self:
        """Find the smallest numbers of blanket messages.

        Parameters
        ----------
        budget : Budget
            One eps, or, if ``multi_level``, one per privacy level of the task; delta > 0, replacement neighbours.
        population : Population
            Number of other users; with privacy levels it is announced, and parameters follow it.
        accounting : {"printed", "corrected", "exact"}
            As for the segmented protocol.
        calibration : {"variation_ratio", "numeric", "analytic"}
            See `shuffledp.accounting.mm_plan`.

        Raises
        ------
        Infeasible
            If too many messages would be needed, or the calibration does not exist under this accounting.
        """
        sets = sets_task(task)
        if cls.multi_level:
            check_levels(cls.name, budget, sets)
        return cls.planned(budget, usual_users, delta, sets, accounting, calibration)

    @property
    def standing(self) -> Standing:
        """Proven bound, since all items are sent; for a published calibration only if the divergence confirms it."""
        return full_reporting_standing(self.groups, self.calibration)

    def counted_on(self) -> str:
        """Name the users who send dummies."""
        return f"all other users, of {sum(plan.n for plan in self.groups):,} in all"

    def cost(self) -> Cost:
        """Return the cost of all items and the blanket messages, one item of the alphabet per message."""
        own = float(self.set_size)
        most, certain = most_blankets(self.groups, self.population)
        bits = message_bits(self.alphabet_size)
        return Cost(own + self.blankets_per_user, bits, own, most_messages=own + most, most_certain=certain)
