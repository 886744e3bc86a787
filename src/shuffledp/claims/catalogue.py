"""Checkable claims of the papers, and the rules by which results decide them.

A claim is data: where a paper makes it, what it says, which results it is about, and a rule. A rule sees results under
one accounting, on both sides of every ratio, and gives a `Verdict`; a claim whose verdict depends on the accounting is
judged under each, and `combined` says what holds in all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from shuffledp.claims.evidence import Evidence, Untestable

Outcome = Literal["holds", "in part", "fails", "untestable"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
POINTS = 0.05
"""Within how much of a stated fraction a measured one agrees: five percentage points."""
TIE = 0.005
"""Relative difference up to which neither of two numbers is the lower one."""


@dataclass(frozen=True)
class Verdict:
    """What results say of a claim.

    Attributes
    ----------
    measured : str
        The measured value in the words of the claim, with its unit; empty if untestable.
    uncertainty : float
        Standard error of what was measured, in its unit; 0 for closed forms.
    verdict : {"holds", "in part", "fails", "untestable"}
        By the claim's rule.
    why : str
        What decided, as a clause.
    """

    measured: str
    uncertainty: float
    verdict: Outcome
    why: str


Rule = Callable[[Evidence, str], Verdict]


@dataclass(frozen=True)
class Claim:
    """A claim of a paper.

    Attributes
    ----------
    id, paper : str
        Number of the claim, and key of the paper.
    where : str
        Place in the paper.
    says : str
        What it claims, in our words.
    stated : str
        The value that it states.
    figure : str
        The drawing that shows it.
    reads : mapping of str to sequence of str
        Methods by experiment whose results decide it.
    decide : callable
        Verdict of results under an accounting.
    """

    id: str
    paper: str
    where: str
    says: str
    stated: str
    figure: str
    reads: Mapping[str, Sequence[str]]
    decide: Rule

    def judged(self, evidence: Evidence, accounting: str) -> Verdict:
        """The verdict under an accounting; ``untestable`` where results are missing."""
        try:
            return self.decide(evidence, accounting)
        except Untestable as missing:
            return Verdict("", 0.0, "untestable", str(missing))


def combined(verdicts: Sequence[Verdict]) -> Outcome:
    """One outcome of a claim under several accountings.

    What can be tested decides: a common outcome stands, and outcomes that disagree make a claim hold in part.

    Raises
    ------
    ValueError
        If there is no verdict.
    """
    if not verdicts:
        raise ValueError("There is no verdict to combine.")
    tested = {one.verdict for one in verdicts} - {"untestable"}
    if not tested:
        return "untestable"
    return tested.pop() if len(tested) == 1 else "in part"


# -- rules ---------------------------------------------------------------------------------------------------------


def ordering(for_it: int, against: int) -> Outcome:
    """``A below B``: holds if true wherever it is decided, in part if at half of these points or more, fails otherwise.

    Parameters
    ----------
    for_it, against : int
        Points at which it is true, and false; ties (`TIE`) count for neither. Ties alone are no failure: in part.
    """
    if for_it and not against:
        return "holds"
    return "in part" if for_it >= against else "fails"


def about(measured: float, stated: float) -> Outcome:
    """``about p %``: holds within five points; in part if only the direction is right; fails otherwise."""
    if abs(measured - stated) <= POINTS:
        return "holds"
    return "in part" if measured * stated > 0 else "fails"
