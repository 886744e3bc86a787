"""CSV tables of all papers: one of all verdicts, and one of the headline claim of every paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from shuffledp.storage import publish, verified_rows

#: Columns of the table of claims; see results/README.md.
COLUMNS: Final = (
    "id",
    "kind",
    "paper",
    "where",
    "claim",
    "stated",
    "accounting",
    "target",
    "measured",
    "uncertainty",
    "verdict",
    "why",
    "overall",
    "expected",
    "difference",
    "figure",
    "errata",
    "headline",
    "scale",
)
HEADLINE_COLUMNS: Final = (
    "paper",
    "claim_id",
    "where",
    "claim",
    "figure",
    "paper_value",
    "printed",
    "exact",
    "verdict",
    "why",
    "scale",
)
_ACCOUNTINGS = ("printed", "exact")
Row = Mapping[str, str]


def published(
    rows: Sequence[Row], columns: Sequence[str], output: Path, checksum: Path, folders: int
) -> None:
    """Publish a table as CSV with its checksum. Raise ValueError if a row has other columns."""
    sink = io.StringIO()
    writer = csv.DictWriter(sink, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    publish(checksum, {output: sink.getvalue().encode()}, folders=folders)


def union(tables: Iterable[Path]) -> list[dict[str, str]]:
    """Return the rows of several tables in one list."""
    return [row for path in tables for row in verified_rows(path)]


def headlines(rows: Iterable[Row]) -> list[dict[str, str]]:
    """Return the headline claim of every paper, from the rows of all claims."""
    rows_of_papers: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row["headline"] and row["accounting"] in _ACCOUNTINGS:
            rows_of_papers.setdefault(row["paper"], {}).setdefault(row["accounting"], row)
    return [_headline(by_accounting) for by_accounting in rows_of_papers.values()]


def _headline(rows: Mapping[str, Row]) -> dict[str, str]:
    claim = next(iter(rows.values()))
    reasons = [f"{row['verdict']} with {name} accounting: {row['why']}" for name, row in rows.items()]
    return {
        **{name: claim[name] for name in ("paper", "where", "claim", "figure", "scale")},
        "claim_id": claim["id"],
        "paper_value": claim["stated"],
        **{name: (rows[name]["measured"] if name in rows else "") or "-" for name in _ACCOUNTINGS},
        "verdict": claim["overall"],
        "why": ". ".join(text[0].upper() + text[1:] for text in reasons) + ".",
    }
