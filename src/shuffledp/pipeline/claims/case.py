"""Argument and answer of a function that decides a claim: a query under one accounting, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

from shuffledp.pipeline.query import Outcome, Points, Query, grade

Effort = Literal["full", "quick"]
#: Largest difference at which a measured fraction agrees with a stated fraction: five percentage points.
POINTS = 0.05
#: Largest difference at which a slope in logarithms agrees with a stated exponent.
SLOPE = 0.1
#: Uncertainty of closed forms, and of numerical values that are exact to the shown digits.
CLOSED_FORM = "0"


@dataclass(frozen=True, kw_only=True)
class Case(Query):
    """Query of the results of a paper, for a claim under one accounting and for one target of the error."""

    paper: str
    target: str = "-"
    effort: Effort = "full"

    @property
    def accounting(self) -> str:
        """Accounting of all numbers."""
        return str(self.at["accounting"])

    def under(self, accounting: str) -> Self:
        """Return the same case under another accounting, for results with only one accounting."""
        return self.where(accounting=accounting)

    def at_most(self, full: int, quick: int) -> int:
        """Return the size of a search: ``full`` or ``quick`` by the effort."""
        return {"full": full, "quick": quick}[self.effort]


@dataclass(frozen=True)
class Verdict:
    """Verdict of results on a claim.

    ``measured`` is the value in the words of the claim, with its unit, empty if untestable. ``found`` is True or False,
    the outcome, or the points for and against the claim. ``why`` is the reason, as a clause. ``uncertainty`` is the
    standard error of the value or another limit, such as the size of a search.
    """

    measured: str
    found: Outcome | bool | Points
    why: str
    uncertainty: str = CLOSED_FORM

    @property
    def verdict(self) -> Outcome:
        """Outcome that follows from ``found``."""
        if isinstance(self.found, Points):
            return self.found.outcome
        return self.found if isinstance(self.found, str) else grade(strict=self.found)


def combined(outcomes: Iterable[Outcome]) -> Outcome:
    """Return one outcome for several accountings or targets; "in part" if decided outcomes differ."""
    distinct = set(outcomes)
    if not distinct:
        raise ValueError("There is no verdict to combine.")
    tested = distinct - {"untestable"}
    if not tested:
        return "untestable"
    return tested.pop() if len(tested) == 1 else "in part"
