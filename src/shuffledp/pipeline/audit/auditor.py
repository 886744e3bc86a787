"""Comparison of a claimed delta with the delta that enumeration of the outcomes finds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from shuffledp.accounting.errors import Infeasible
from shuffledp.pipeline.audit.families import of_family
from shuffledp.pipeline.audit.finite_laws import Bounds, TooLargeError
from shuffledp.pipeline.audit.frequency import VIEWS as FREQUENCIES
from shuffledp.pipeline.audit.set_views import VIEWS as SETS
from shuffledp.pipeline.audit.summation import VIEWS as SUMS
from shuffledp.pipeline.audit.vectors import VIEWS as VECTORS
from shuffledp.pipeline.audit.views import View, WorstDelta, true_delta
from shuffledp.pipeline.experiments.calibrations import calibrated
from shuffledp.populations.base import Law, Population
from shuffledp.protocols.base import ProtocolBase
from shuffledp.tasks import Budget, Task

#: Group of the entry points of installed packages; an entry has the name of the protocol's class, with its module.
GROUP = "shuffledp.audit_views"
#: Labels that promise that delta does not exceed the claim.
SOUND = ("exact", "upper")

HOLDS = "holds"
#: Outcome if the claim lies within the rounding error of the found delta.
UNDECIDED = "undecided"
AS_LABELED = "exceeds as labeled"
EXCEEDS = "EXCEEDS"
INFEASIBLE = "infeasible"
NOT_ENUMERATED = "not enumerated"
FAILED = "FAILED"
#: Outcomes that are defects: a sound label with too small a claim, or an error.
FINDINGS = (EXCEEDS, FAILED)


#: Total probability of numbers of users that may be omitted without a note.
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True)
class AuditSetting:
    """Arguments of a calibration; `population` is the law of the number of other users."""

    protocol: type[ProtocolBase]
    accounting: str
    task: Task
    population: Population
    budget: Budget
    options: tuple[tuple[str, Any], ...] = ()

    def calibrated(self) -> ProtocolBase:
        """Return the calibrated protocol; raises the errors of the protocol's ``calibrate``."""
        return calibrated(
            self.protocol, self.budget, self.population, self.task, self.accounting, dict(self.options)
        )

    def __str__(self) -> str:
        options = "".join(f", {key}={value!r}" for key, value in self.options)
        return (
            f"get({self.protocol.task_kind!r}, {self.protocol.name!r}).calibrate({self.budget!r}, "
            f"{self.population!r}, {self.task!r}, accounting={self.accounting!r}{options})"
        )


@dataclass(frozen=True)
class Row:
    """Outcome of one calibration: the claim (`eps`, `delta`), and the true delta in [`found`, `found` + `error`].

    With several privacy levels, the numbers are for the level with the largest ratio. They are nan if no delta was
    found. `label` is the protocol's ``guarantee``. `note` has a reason, an error, the omitted parts of the view, or the
    inputs at which delta exceeds the claim.
    """

    setting: AuditSetting
    status: str
    label: str = ""
    eps: float = math.nan
    delta: float = math.nan
    found: float = math.nan
    error: float = math.nan
    note: str = ""

    @property
    def ratio(self) -> float:
        """Ratio of the found delta to the claimed delta."""
        return self.found / self.delta if self.delta > 0 else math.nan


def decided(bounds: Bounds, claimed: float) -> bool | None:
    """Return whether the true delta is at most the claimed delta, or None if the claim lies within the bounds."""
    if bounds.high <= claimed:
        return True
    return False if bounds.low > claimed else None


def view_of(protocol: ProtocolBase, budget: Budget) -> View | str:
    """Return the analyzer's view of a calibrated protocol, by the protocol's family, or the reason for no view."""
    eps, levels = budget.largest_eps, budget.levels
    make = of_family(protocol, {**FREQUENCIES, **SUMS, **VECTORS, **_installed()})
    if make is not None:
        return make(protocol, eps)
    make_with_levels = of_family(protocol, SETS)
    if make_with_levels is not None:
        return make_with_levels(protocol, eps, levels)
    return f"the messages of {protocol.name} are not written down in shuffledp.pipeline.audit"


@cache
def _installed() -> Mapping[str, Callable[..., View]]:
    """Return the views that installed packages register, by the class of the protocol."""
    return {entry.name: entry.load() for entry in entry_points(group=GROUP)}


def audited(setting: AuditSetting) -> Row:
    """Calibrate and enumerate a protocol; a row, not an exception, reports infeasibility and calibration errors."""
    try:
        protocol = setting.calibrated()
    except Infeasible as reason:
        return Row(setting, INFEASIBLE, note=str(reason))
    except Exception as error:
        return Row(setting, FAILED, note=f"{type(error).__name__}: {error}")
    return compared(setting, protocol)


def compared(setting: AuditSetting, protocol: ProtocolBase) -> Row:
    """Compare the enumerated delta of a calibrated protocol with the budget's delta, both at the budget's eps."""
    label, delta = str(protocol.guarantee), setting.budget.delta
    if not isinstance(setting.population, Law):
        return Row(setting, NOT_ENUMERATED, label, note="the population is not a law")
    try:
        view = view_of(protocol, setting.budget)
        if isinstance(view, str):
            return Row(setting, NOT_ENUMERATED, label, note=view)
        deltas = true_delta(view, setting.population)
    except TooLargeError as reason:
        return Row(setting, NOT_ENUMERATED, label, note=str(reason))
    eps, worst = max(deltas, key=lambda pair: pair[1].bounds)
    low, high = worst.bounds
    # Numbers of users that are not enumerated could add as much as their probability.
    left_out = (
        "" if worst.users > 1 - _NEGLIGIBLE else f"numbers of users of probability {1 - worst.users:.2g}"
    )
    notes, holds = [view.note, left_out], decided(worst.bounds, delta)
    status = HOLDS if holds else UNDECIDED
    if holds is False:
        status = EXCEEDS if label in SOUND else AS_LABELED
        notes.append(_witness(worst))
    return Row(setting, status, label, eps, delta, low, high - low, "; ".join(filter(None, notes)))


def _witness(worst: WorstDelta) -> str:
    return f"{worst.first} against {worst.second} among {list(worst.others)}"
