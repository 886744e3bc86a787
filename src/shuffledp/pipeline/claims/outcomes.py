"""Verdicts on claims, each under one accounting and target of the error, and the default rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

Outcome = Literal["holds", "in part", "fails", "untestable"]
Names = Sequence[str]
"""Methods, experiments or other names."""
ByPoint: TypeAlias = "pd.Series[float]"
"""Numbers of a method by grid point."""
POINTS = 0.05
"""Largest difference at which a measured fraction agrees with a stated fraction: five percentage points."""
TIE = 0.005
"""Relative difference up to which neither of two numbers is lower."""
SLOPE = 0.1
"""Largest difference at which a slope in logarithms agrees with a stated exponent."""
CLOSED_FORM = "0"
"""Uncertainty of closed forms, and of numerical values that are exact to the shown digits."""


class Untestable(Exception):  # noqa: N818  (a result, no mistake)
    """Error for a claim that the results cannot decide, with the missing results."""


class Tally(NamedTuple):
    """Number of points at which a statement is true, and at which it is false; printed as ``3 of 7``."""

    for_it: int
    against: int

    def __str__(self) -> str:
        return f"{self.for_it} of {sum(self)}"


def tally(found: Iterable[object]) -> Tally:
    """Count the true and the false values."""
    flags = [bool(one) for one in found]
    return Tally(sum(flags), len(flags) - sum(flags))


@dataclass(frozen=True)
class Verdict:
    """Verdict of results on a claim.

    ``measured`` is the value in the words of the claim, with its unit, empty if untestable. ``found`` is True or False,
    the outcome, or a pair: the numbers of points at which the claim holds and fails (see `ordering`). ``why`` is the
    reason, as a clause. ``uncertainty`` is the standard error of the value or another limit, such as the size of a
    search.
    """

    measured: str
    found: Outcome | bool | tuple[int, int]
    why: str
    uncertainty: str = CLOSED_FORM

    @property
    def verdict(self) -> Outcome:
        """Outcome that follows from ``found``."""
        if isinstance(self.found, str):
            return self.found
        if isinstance(self.found, tuple):
            return ordering(*self.found)
        return "holds" if self.found else "fails"


def combined(outcomes: Iterable[Outcome]) -> Outcome:
    """Return one outcome for several accountings or targets; "in part" if decided outcomes differ."""
    every = set(outcomes)
    if not every:
        raise ValueError("There is no verdict to combine.")
    tested = every - {"untestable"}
    if not tested:
        return "untestable"
    return tested.pop() if len(tested) == 1 else "in part"


# -- rules of thumb ------------------------------------------------------------------------------------------------


def ordering(for_it: int, against: int) -> Outcome:
    """Judge ``A below B``: holds if true at all decided points, in part if at half or more, otherwise fails."""
    if for_it and not against:
        return "holds"
    return "in part" if for_it >= against else "fails"


def never_above(against: int, points: int) -> Outcome:
    """Judge ``A never above B``: holds without violations, in part with violations at up to half of the points."""
    if points < 1:
        raise ValueError("There is no point to compare at.")
    if not against:
        return "holds"
    return "in part" if 2 * against <= points else "fails"


def about(measured: float, stated: float, within: float = POINTS) -> Outcome:
    """Judge ``about p %``: holds up to a difference `within`, in part if the sign is right, otherwise fails."""
    if abs(measured - stated) <= within:
        return "holds"
    return "in part" if measured * stated > 0 else "fails"


def scaling(x: ArrayLike, y: ArrayLike) -> float:
    """Return the exponent of a scaling law: the least-squares slope of log y on log x."""
    if np.unique(x).size < 2:
        raise ValueError("A slope needs two different x at least.")
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])


def exponent(measured: float, stated: float) -> Outcome:
    """Judge ``proportional to x^p``: holds up to a difference `SLOPE`, in part if the sign is right, else fails."""
    return about(measured, stated, SLOPE)


def compared(lower: ArrayLike, upper: ArrayLike) -> tuple[int, int, int]:
    """Count the points at which `lower` is below, above and, by the relative limit `TIE`, equal to `upper`."""
    low, high = np.asarray(lower, float), np.asarray(upper, float)
    below, above = low < high * (1 - TIE), low > high * (1 + TIE)
    return int(below.sum()), int(above.sum()), int((~below & ~above).sum())


# -- words ---------------------------------------------------------------------------------------------------------


def percent(value: float) -> str:
    """Return a fraction as a percentage with one decimal; zero has no sign."""
    return f"{100 * value:z.1f} %"


def percents(values: Iterable[float]) -> str:
    """Return fractions as percentages, in their order."""
    return f"{', '.join(f'{100 * v:z.1f}' for v in values)} %"


def span(values: Iterable[float], unit: str = "") -> str:
    """Return the least and the greatest value with three digits, and the unit."""
    every = list(values)
    low, high = f"{min(every):.3g}", f"{max(every):.3g}"
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"
