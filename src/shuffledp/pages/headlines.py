"""The headline claim of each paper, its numbers and the verdict: a table that the claims computed."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from shuffledp.pages.manifest import ManifestError
from shuffledp.storage import read_verified

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
    """Headlines by paper.

    Parameters
    ----------
    results : Path
        Folder of the results.

    Raises
    ------
    shuffledp.storage.IntegrityError
        If the table is missing or damaged.
    ManifestError
        If a column is missing, or a paper has several rows.
    """
    path = results / TABLE
    content = read_verified(path, path.with_suffix(".sha256")).decode("utf-8")
    reader = csv.DictReader(content.splitlines(keepends=True))
    names = [field.name for field in fields(Headline)]
    if missing := [name for name in names if name not in (reader.fieldnames or ())]:
        raise ManifestError(f"{path}: no column {', '.join(missing)}.")
    found: dict[str, Headline] = {}
    for row in reader:
        headline = Headline(**{name: (row[name] or "").strip() for name in names})
        if headline.paper in found:
            raise ManifestError(f"{path}: the paper {headline.paper!r} has several headlines, expected one.")
        found[headline.paper] = headline
    return found
