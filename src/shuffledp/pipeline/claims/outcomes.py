"""Verdicts on claims, and the rules of thumb that the catalogue uses unless a claim says otherwise.

A verdict belongs to one claim under one accounting (and one target of the error, where the claim depends on it);
`combined` says what holds over all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

Outcome = Literal["holds", "in part", "fails", "untestable"]
POINTS = 0.05
"""Within how much of a stated fraction a measured one agrees: five percentage points."""
TIE = 0.005
"""Relative difference up to which neither of two numbers is the lower one."""
SLOPE = 0.1
"""Within how much of a stated exponent a slope in logarithms agrees."""
CLOSED_FORM = "0"
"""Uncertainty of what has none: closed forms and numerical values that are exact to the digits shown."""


class Untestable(Exception):  # noqa: N818  (a result, no mistake)
    """Results cannot decide a claim; the message says what is missing."""


class Tally(NamedTuple):
    """Number of points at which a statement is true, and at which it is not; ``3 of 7`` in words."""

    for_it: int
    against: int

    def __str__(self) -> str:
        """Return how many of all points are for the statement."""
        return f"{self.for_it} of {sum(self)}"


def tally(found: Iterable[object]) -> Tally:
    """Count what is true and what is not."""
    flags = [bool(one) for one in found]
    return Tally(sum(flags), len(flags) - sum(flags))


@dataclass(frozen=True)
class Verdict:
    """What results show of a claim.

    Attributes
    ----------
    measured : str
        The measured value in the words of the claim, with its unit; empty if untestable.
    found : bool, (int, int) such as a `Tally`, or {"holds", "in part", "fails", "untestable"}
        Whether it holds; or at how many points it does, and at how many it does not (`ordering`); or the outcome.
    why : str
        What decided, as a clause.
    uncertainty : str
        Standard error of what was measured, with its unit, or what else limits it, such as the size of a search.
    """

    measured: str
    found: Outcome | bool | tuple[int, int]
    why: str
    uncertainty: str = CLOSED_FORM

    @property
    def verdict(self) -> Outcome:
        """Outcome by what was found."""
        if isinstance(self.found, str):
            return self.found
        if isinstance(self.found, tuple):
            return ordering(*self.found)
        return "holds" if self.found else "fails"


def combined(outcomes: Iterable[Outcome]) -> Outcome:
    """One outcome of a claim under several accountings or targets.

    What can be tested decides: a common outcome stands, and outcomes that disagree make a claim hold in part.
    """
    every = set(outcomes)
    if not every:
        raise ValueError("There is no verdict to combine.")
    tested = every - {"untestable"}
    if not tested:
        return "untestable"
    return tested.pop() if len(tested) == 1 else "in part"


# -- rules of thumb ------------------------------------------------------------------------------------------------


def ordering(for_it: int, against: int) -> Outcome:
    """``A below B``: holds if true wherever it is decided, in part if at half of these points or more, else fails."""
    if for_it and not against:
        return "holds"
    return "in part" if for_it >= against else "fails"


def never_above(against: int, points: int) -> Outcome:
    """``A never above B``: a tie is no violation; holds without any, in part with one at half of the points at most."""
    if points < 1:
        raise ValueError("There is no point to compare at.")
    if not against:
        return "holds"
    return "in part" if 2 * against <= points else "fails"


def about(measured: float, stated: float) -> Outcome:
    """``about p %``: holds within five points; in part if only the direction is right; fails otherwise."""
    if abs(measured - stated) <= POINTS:
        return "holds"
    return "in part" if measured * stated > 0 else "fails"


def scaling(x: ArrayLike, y: ArrayLike) -> float:
    """The exponent of a scaling law: least-squares slope of log y on log x."""
    if np.unique(x).size < 2:
        raise ValueError("A slope needs two different x at least.")
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])


def exponent(measured: float, stated: float) -> Outcome:
    """``proportional to x^p``: holds within `SLOPE`; in part if the sign is right; fails otherwise."""
    if abs(measured - stated) <= SLOPE:
        return "holds"
    return "in part" if measured * stated > 0 else "fails"


def compared(lower: ArrayLike, upper: ArrayLike) -> tuple[int, int, int]:
    """At how many points the first is below the second, above it, and tied with it (`TIE`, relative to the second)."""
    low, high = np.asarray(lower, float), np.asarray(upper, float)
    below, above = low < high * (1 - TIE), low > high * (1 + TIE)
    return int(below.sum()), int(above.sum()), int((~below & ~above).sum())


# -- words ---------------------------------------------------------------------------------------------------------


def percent(value: float) -> str:
    """A fraction as a percentage with one decimal; what rounds to zero has no sign."""
    return f"{100 * value:z.1f} %"


def percents(values: Iterable[float]) -> str:
    """Fractions, in their order, as percentages."""
    return f"{', '.join(f'{100 * v:z.1f}' for v in values)} %"


def span(values: Iterable[float], unit: str = "") -> str:
    """The least and the greatest value, with three digits."""
    every = list(values)
    low, high = f"{min(every):.3g}", f"{max(every):.3g}"
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"
