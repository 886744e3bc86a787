"""Protocols that send every item without noise: calibration, guarantee and profile."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Self

from shuffledp.accounting.baselines.sets import Calibration
from shuffledp.accounting.segmented.plans import SegmentedPlan
from shuffledp.accounting.segmented.profile import full_reporting_standing
from shuffledp.guarantees import UPPER, Standing, under
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.messages import Cost, message_bits
from shuffledp.protocols.request import Request
from shuffledp.protocols.sets._set_protocol import SetProtocol, check_levels, most_blankets, sets_task
from shuffledp.tasks import Budget, Sets


class FullReporting(SetProtocol, PlannedUsers):
    """All items without noise, among blanket messages from all users; users form one group or several.

    ``calibration`` is the rule for the numbers of blanket messages.
    """

    calibration: Calibration

    task_kind = "sets"
    trust = "shuffler"
    relies_on = "others' dummies"
    guarantees = under(printed=UPPER, corrected=UPPER, exact=UPPER)

    @classmethod
    @abstractmethod
    def planned(
        cls, budget: Budget, n_users: int, delta: float, task: Sets, accounting: str, calibration: Calibration
    ) -> Self:
        """Return the protocol with the smallest numbers of blanket messages, for a valid request."""

    @property
    @abstractmethod
    def groups(self) -> Sequence[SegmentedPlan]:
        """Plans of the groups, the most private group first; each group hides its own users."""

    @property
    @abstractmethod
    def blankets_per_user(self) -> float:
        """Expected number of blanket messages per user, averaged over users."""

    @classmethod
    def fit(
        cls,
        request: Request,
        *,
        calibration: Calibration = "variation_ratio",
    ) -> Self:
        """Find the smallest numbers of blanket messages, by a ``calibration`` of `shuffledp.accounting.mm_plan`.

        With privacy levels, parameters follow the announced numbers of users. Raises `Infeasible` if too many messages
        would be needed, or the accounting lacks the calibration.
        """
        sets = sets_task(request.task)
        if cls.multi_level:
            check_levels(cls.name, request.budget, sets)
        return cls.planned(
            request.budget, request.usual_users, request.delta, sets, request.accounting, calibration
        )

    @property
    def standing(self) -> Standing:
        """Label of the guarantee: proven if users send all items; a published calibration needs confirmation."""
        return full_reporting_standing(self.groups, self.calibration)

    def counted_on(self) -> str:
        """Name the users who send dummies."""
        return f"all other users, of {sum(plan.n for plan in self.groups):,} in all"

    def cost(self) -> Cost:
        """Return the cost of a user's items and blanket messages."""
        items = float(self.set_size)
        most, certain = most_blankets(self.groups, self.population)
        bits = message_bits(self.alphabet_size)
        return Cost(
            items + self.blankets_per_user, bits, items, most_messages=items + most, most_certain=certain
        )
