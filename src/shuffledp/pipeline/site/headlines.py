"""The headline claim of each paper, its numbers and the verdict: a table that the claims computed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from shuffledp.pipeline.manifest import ManifestError
from shuffledp.pipeline.site.csv_tables import verified_rows

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "claims/headlines.csv"


@dataclass(frozen=True)
class Headline:
    """What a paper claims first of all, and what came of it.

    ``figure`` is the drawing that shows it; numbers are texts with what they are numbers of.
    """

    paper: str
    claim_id: str
    where: str
    claim: str
    figure: str
    paper_value: str
    printed: str
    exact: str
    verdict: str
    why: str


def read(results: Path) -> dict[str, Headline]:
    """Headlines by paper."""
    path = results / TABLE
    names = [field.name for field in fields(Headline)]
    found: dict[str, Headline] = {}
    for row in verified_rows(path, names):
        headline = Headline(**{name: (row[name] or "").strip() for name in names})
        if headline.paper in found:
            raise ManifestError(f"{path}: the paper {headline.paper!r} has several headlines, expected one.")
        found[headline.paper] = headline
    return found
