"""Verdicts on all claims of a paper: a row per claim, accounting and target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from shuffledp.pipeline.claims import stated_claims
from shuffledp.pipeline.claims.case import Case, Rule
from shuffledp.pipeline.claims.evidence import Evidence
from shuffledp.pipeline.claims.outcomes import CLOSED_FORM, Untestable, Verdict, combined
from shuffledp.pipeline.claims.stated_claims import Claim

ABRIDGED = ("simplified",)
"""Accountings whose verdicts are shown and do not count: an abridged form, which its theorem implies for many users."""
ANOTHER_SCALE = "neither: this run is at another scale than the papers', which the expected outcome is about"
LEFT_OPEN = "neither: which outcome to expect was left open, and it is decided here"
Row = dict[str, str]


def rules(paper: str) -> Mapping[str, Rule]:
    """The rules of a paper by name."""
    found: Mapping[str, Rule] = import_module(f"shuffledp.pipeline.papers.{paper}.claim_rules").RULES
    return found


def judged(case: Case, rule: Rule) -> Verdict:
    """The verdict of a rule; ``untestable`` where results are missing."""
    try:
        return rule(case, **case.claim.options)
    except Untestable as missing:
        return Verdict("", CLOSED_FORM, "untestable", str(missing))


def rows(claim: Claim, rule: Rule, evidence: Evidence, effort: Any, scale: str) -> Iterator[Row]:
    """The rows of a claim: one per accounting and target."""
    cases = [Case(claim, evidence, a, t, effort) for a in claim.accountings for t in claim.targets]
    verdicts = [judged(case, rule) for case in cases]
    overall = combined(
        [one.verdict for case, one in zip(cases, verdicts, strict=True) if case.accounting not in ABRIDGED]
        or [one.verdict for one in verdicts]
    )
    for case, one in zip(cases, verdicts, strict=True):
        yield {
            "id": claim.id,
            "kind": claim.kind,
            "paper": claim.paper,
            "where": claim.where,
            "claim": claim.says,
            "stated": claim.stated,
            "accounting": case.accounting,
            "target": case.target,
            "measured": one.measured,
            "uncertainty": one.uncertainty,
            "verdict": one.verdict,
            "why": one.why,
            "overall": overall,
            "expected": claim.expected,
            "difference": difference(claim, overall, scale),
            "figure": claim.figure,
            "errata": " ".join(claim.errata),
            "headline": "yes" if claim.headline else "",
            "scale": scale,
        }


def difference(claim: Claim, overall: str, scale: str) -> str:
    """Which of what was expected and what came out is wrong, and why; empty where they are the same."""
    expected = stated_claims.outcome_expected(claim)
    if overall == expected:
        return ""
    if scale != "paper":
        return ANOTHER_SCALE
    if expected is None:
        return LEFT_OPEN
    if not claim.difference:
        return "not explained"
    return f"{claim.wrong}: {claim.difference}"


def table(job: Mapping[str, Any]) -> list[Row]:
    """The claims of one paper.

    Parameters
    ----------
    job : mapping
        As `shuffledp.pipeline.claims.claim_jobs.paper_job` makes it.

    Returns
    -------
    list of dict
        Rows with the columns of the table (`shuffledp.pipeline.claims.combined_tables`), all of them text: ``verdict``
        is that of the row, ``overall`` that of the claim over its rows, ``expected`` what was expected of it.

    Raises
    ------
    ClaimError
        If the file of claims is not valid.
    IntegrityError
        If a result does not match its checksum.
    """
    paper = job["paper"]
    evidence, known = Evidence(Path(job["results"]), paper, job["methods"]), rules(paper)
    return [
        row
        for claim in stated_claims.claims(paper)
        for row in rows(claim, known[claim.rule], evidence, job["effort"], job["scale"])
    ]
