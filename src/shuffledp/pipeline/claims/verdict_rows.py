"""Verdicts on all claims of a paper: one row per claim, accounting and target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, cast

from shuffledp.pipeline.claims import stated_claims
from shuffledp.pipeline.claims.case import Case, Effort, Verdict, combined
from shuffledp.pipeline.claims.evidence import Evidence
from shuffledp.pipeline.claims.stated_claims import Claim
from shuffledp.pipeline.formatters import listed
from shuffledp.pipeline.query import MissingResultsError, Outcome

#: Accountings whose verdicts are shown but not counted: a simplified form, which its theorem implies for many users.
ABRIDGED = ("simplified",)
ANOTHER_SCALE = "neither: the expected outcome is for the papers' scale, and this run has another scale"
LEFT_OPEN = "neither: the expected outcome was left open, and this run decides it"
_OF_CLAIM = ("id", "kind", "paper", "stated", "expected", "figure", "errata")
Row = dict[str, str]


def judged(claim: Claim, case: Case) -> Verdict:
    """Return the verdict of the claim's function, ``untestable`` if results are missing or there is no function."""
    if claim.untestable:
        return Verdict("", "untestable", claim.untestable)
    try:
        return claim.decide(case, **claim.options)
    except MissingResultsError as missing:
        return Verdict("", "untestable", str(missing))


def rows(claim: Claim, evidence: Evidence, effort: Effort, scale: str) -> Iterator[Row]:
    """Yield the rows of a claim: one per accounting and target."""
    others = stated_claims.claims(claim.paper) if claim.follows else ()
    followed = [
        row for other in others if other.id in claim.follows for row in rows(other, evidence, effort, scale)
    ]

    def verdict_on(accounting: str, target: str) -> Verdict:
        if claim.follows:
            return following(followed, accounting)
        at = {"accounting": accounting}
        return judged(claim, Case(evidence, at, paper=claim.paper, target=target, effort=effort))

    verdicts = {pair: verdict_on(*pair) for pair in product(claim.accountings, claim.targets)}
    unabridged = [verdict for (accounting, _), verdict in verdicts.items() if accounting not in ABRIDGED]
    overall = combined(verdict.verdict for verdict in unabridged or verdicts.values())
    for (accounting, target), verdict in verdicts.items():
        yield {
            **{name: getattr(claim, name) for name in _OF_CLAIM},
            **{name: getattr(verdict, name) for name in ("measured", "uncertainty", "verdict", "why")},
            "where": claim.place,
            "claim": claim.statement,
            "accounting": accounting,
            "target": target,
            "overall": overall,
            "difference": difference(claim, overall, scale),
            "headline": "yes" if claim.headline else "",
            "scale": scale,
        }


def following(followed: Iterable[Row], accounting: str) -> Verdict:
    """Return the verdict that follows from the rows of other claims under an accounting."""
    relevant = [row for row in followed if row["accounting"] in (accounting, "-")]
    words = dict.fromkeys(f"{row['id']} ({row['verdict']})" for row in relevant)
    outcome = combined(cast("Outcome", row["verdict"]) for row in relevant)
    return Verdict("", outcome, f"follows from {listed([*words])}")


def difference(claim: Claim, overall: str, scale: str) -> str:
    """Return the reason why the outcome differs from the expected outcome; empty if they agree."""
    if overall == claim.expected:
        return ""
    if scale != "paper":
        return ANOTHER_SCALE
    return LEFT_OPEN if claim.expected == "open" else claim.wrong or "not explained"


def table(job: Mapping[str, Any]) -> list[Row]:
    """Return the rows of all claims of one paper."""
    evidence = Evidence(Path(job["results"]), job["paper"], job["methods"])
    return [
        row
        for claim in stated_claims.claims(job["paper"])
        for row in rows(claim, evidence, job["effort"], job["scale"])
    ]
