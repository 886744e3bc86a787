"""Verdicts on claims, each under one accounting and target of the error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from shuffledp.pipeline.query import Outcome, Points, grade

#: Largest difference at which a measured fraction agrees with a stated fraction: five percentage points.
POINTS = 0.05
#: Largest difference at which a slope in logarithms agrees with a stated exponent.
SLOPE = 0.1
#: Uncertainty of closed forms, and of numerical values that are exact to the shown digits.
CLOSED_FORM = "0"


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
