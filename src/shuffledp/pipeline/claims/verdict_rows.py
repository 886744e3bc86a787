"""Verdicts on all claims of a paper: one row per claim, accounting and target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from shuffledp.pipeline.claims import stated_claims
from shuffledp.pipeline.claims.case import Case
from shuffledp.pipeline.claims.evidence import Evidence
from shuffledp.pipeline.claims.outcomes import Untestable, Verdict, combined
from shuffledp.pipeline.claims.stated_claims import Claim

ABRIDGED = ("simplified",)
"""Accountings whose verdicts are shown but not counted: a simplified form, which its theorem implies for many users."""
ANOTHER_SCALE = "neither: the expected outcome is for the papers' scale, and this run has another scale"
LEFT_OPEN = "neither: the expected outcome was left open, and this run decides it"
_OF_CLAIM = ("id", "kind", "paper", "stated", "expected", "figure", "errata")
Row = dict[str, str]


def judged(case: Case) -> Verdict:
    """Return the verdict of the claim's rule, ``untestable`` if results are missing."""
    try:
        return case.claim.rule(case, **case.claim.options)
    except Untestable as missing:
        return Verdict("", "untestable", str(missing))


def rows(claim: Claim, evidence: Evidence, effort: Any, scale: str) -> Iterator[Row]:
    """Yield the rows of a claim: one per accounting and target."""
    cases = [Case(claim, evidence, a, t, effort) for a in claim.accountings for t in claim.targets]
    verdicts = [judged(case) for case in cases]
    overall = combined(
        [one.verdict for case, one in zip(cases, verdicts, strict=True) if case.accounting not in ABRIDGED]
        or [one.verdict for one in verdicts]
    )
    for case, one in zip(cases, verdicts, strict=True):
        yield {
            **{name: getattr(claim, name) for name in _OF_CLAIM},
            **{name: getattr(one, name) for name in ("measured", "uncertainty", "verdict", "why")},
            "where": claim.place,
            "claim": claim.statement,
            "accounting": case.accounting,
            "target": case.target,
            "overall": overall,
            "difference": difference(claim, overall, scale),
            "headline": "yes" if claim.headline else "",
            "scale": scale,
        }


def difference(claim: Claim, overall: str, scale: str) -> str:
    """Return the reason why the outcome differs from the expected outcome; empty if they agree."""
    if overall == claim.expected:
        return ""
    if scale != "paper":
        return ANOTHER_SCALE
    return LEFT_OPEN if claim.expected == "open" else claim.wrong or "not explained"


def table(job: Mapping[str, Any]) -> list[Row]:
    """Return the rows of all claims of one paper."""
    paper = job["paper"]
    evidence = Evidence(Path(job["results"]), paper, job["methods"])
    return [
        row
        for claim in stated_claims.claims(paper)
        for row in rows(claim, evidence, job["effort"], job["scale"])
    ]
