"""Claims with verdicts, headline claims and open questions, as rows for the pages."""

from __future__ import annotations

import csv
from collections import Counter
from typing import TYPE_CHECKING, Any

from shuffledp.pipeline.site.csv_tables import Row, Rows, cell
from shuffledp.storage import verified_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

HEADLINES = "claims/headlines.csv"
QUESTIONS = "claims/open_questions.csv"
#: Verdicts in the order in which the pages count and sort them.
OUTCOMES = ("holds", "in part", "fails", "untestable")
#: Verdicts on open questions, in the order in which the page sorts them.
SEARCHED = ("violated", "bracketed", "no violation found")


def kept_verdicts(table: Path | None) -> dict[str, str]:
    """Return the verdicts at the papers' scale that the project keeps, by id; none without a table."""
    if table is None:
        return {}
    with table.open(encoding="utf-8", newline="") as lines:
        return {row["id"]: row["verdict"] for row in csv.DictReader(lines)}


def claims(results: Path, kept: Mapping[str, str]) -> Rows:
    """Return claims in the order of their table, each with its verdicts by accounting and target of the error.

    A claim of a shortened run has its kept verdict, too.
    """
    claims_by_id: dict[str, dict[str, Any]] = {}
    for row in verified_rows(results / "claims/claims.csv"):
        rank, errata = OUTCOMES.index(row["overall"]), row["errata"].split()
        at_scale = "" if row["scale"] == "paper" else kept.get(row["id"], "")
        claim = claims_by_id.setdefault(
            row["id"], {**row, "rank": rank, "errata": errata, "kept": at_scale, "judgments": []}
        )
        judgment = {name: "" if text == "-" else text for name, text in row.items()}
        against = judgment["target"] and f"error against the {judgment['target']}"
        terms = ", ".join(filter(None, (judgment["accounting"], against)))
        claim["judgments"].append({**judgment, "terms": terms})
    return tuple(claims_by_id.values())


def headlines(results: Path) -> dict[str, Row]:
    """Return each paper's headline claim with its numbers and verdict."""
    return {row["paper"]: row for row in verified_rows(results / HEADLINES)}


def questions(results: Path) -> Rows:
    """Return open questions in the order of their table, with the results of their searches."""
    return tuple(
        {
            **row,
            "rank": SEARCHED.index(row["verdict"]),
            "settings": cell(row["settings"]),
            "violations": cell(row["violations"]),
            "related": row["related"].split(),
        }
        for row in verified_rows(results / QUESTIONS)
    )


def counts(of: Iterable[Row]) -> Mapping[str, int]:
    """Return the number of claims by outcome, in the order of `OUTCOMES`."""
    counter = Counter(claim["overall"] for claim in of)
    return {outcome: counter[outcome] for outcome in OUTCOMES}
