"""Privacy profiles of protocols for set-valued data, for audits and figures of delta against eps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.general.profiles import View, at_each
from shuffledp.accounting.segmented.items import segmented_delta
from shuffledp.accounting.segmented.plans import SegmentedPlan
from shuffledp.accounting.segmented.users import user_level_delta
from shuffledp.guarantees import UPPER, Standing
from shuffledp.numerics.argument_ranges import Count, EpsArray, check_fields, checked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shuffledp.accounting.general.profiles import Kind


@dataclass(frozen=True)
class SegmentedProfile:
    """Privacy profile of the segmented protocol for the users of one level, by the plan's accounting.

    Wang et al. 2024, arXiv 2407.19639, Theorem 3; an upper bound on delta unless `kind` is ``approximate``.

    Parameters
    ----------
    plan : SegmentedPlan
        Parameters of the protocol.
    level : int
        Index of the level; ValueError is raised if there is no such level.
    """

    plan: SegmentedPlan
    level: Count
    neighbours: ClassVar[str] = "replace_one"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = "Wang et al. 2024 (arXiv 2407.19639), Theorem 3"

    def __post_init__(self) -> None:
        check_fields(self)
        if self.level >= len(self.plan.rates):
            raise ValueError(f"level must be in [0, {len(self.plan.rates) - 1}], got {self.level}.")

    @property
    def kind(self) -> Kind:
        """``upper``, or ``approximate`` for the paper's pair of counts if some rate is below 1."""
        proven = self.plan.blanket_law == "poisson" or self.plan.rates[self.level] == 1
        return "upper" if proven else "approximate"

    @checked
    def delta(self, eps: EpsArray) -> NDArray[np.float64]:
        """Return delta for each eps (nats, >= 0), in the shape of `eps`; the same in both directions.

        An upper bound, or the claim of the paper if `kind` is ``approximate``.
        """
        return at_each(self._delta, eps)

    def _delta(self, eps: float) -> float:
        plan, rate = self.plan, self.plan.rates[self.level]
        setting = (plan.n, plan.blankets, plan.domain_size)
        if plan.accounting == "exact":
            return user_level_delta(eps, rate, *setting, plan.set_size)
        # Above the budget's eps, delta is at most its value at this eps; the bound by composition would grow again.
        return min(
            1.0,
            *(
                plan.set_size
                * math.exp(min(at, 700.0))
                * segmented_delta(at / plan.set_size, rate, *setting, blanket_law=plan.blanket_law)
                for at in {eps, min(eps, plan.eps[self.level])}
            ),
        )


#: Guarantee of a published calibration that the divergence does not confirm.
_UNCONFIRMED = Standing(
    "unproven",
    "a published number of blanket messages that the divergence of the counts does not confirm here",
)


def full_reporting_standing(plans: Sequence[SegmentedPlan], calibration: str) -> Standing:
    """Return the guarantee of balls-into-bins protocols, given as plans with one level and reporting probability 1.

    The published calibrations (:func:`shuffledp.accounting.baselines.sets.mm_plan`; Luo, Wang and Yi 2022) treat
    binomial numbers as Poisson variables, or hold for small eps only. Each plan is compared with the proven bound of
    its divergence: the guarantee is an upper bound, or unproven if this bound exceeds the budget.
    """
    if calibration == "variation_ratio":
        return UPPER
    met = all(float(SegmentedProfile(plan, 0).delta(plan.eps[0])) <= plan.delta for plan in plans)
    return UPPER if met else _UNCONFIRMED
