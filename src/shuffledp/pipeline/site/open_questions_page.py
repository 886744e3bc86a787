"""Open questions with what searches found about them, for a page of their own."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from shuffledp.pipeline.manifest import ManifestError
from shuffledp.pipeline.site.csv_tables import Cell, cell, verified_rows

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "claims/open_questions.csv"
VERDICTS = ("violated", "bracketed", "no violation found")
"""In the order in which the page sorts them."""


@dataclass(frozen=True)
class OpenQuestion:
    """What is open, the statement that a search tried to violate, how far it got and what is proven."""

    id: str
    paper: str
    question: str
    statement: str
    searched: str
    method: str
    seed: str
    measure: str
    where: str
    proof: str
    extreme: str
    settings: Cell
    violations: Cell
    verdict: str
    related: tuple[str, ...]

    @property
    def rank(self) -> int:
        """Place of the verdict in `VERDICTS`."""
        return VERDICTS.index(self.verdict)


_COLUMNS = tuple(field.name for field in fields(OpenQuestion))
_NO_TEXT = ("settings", "violations", "related")


def read(results: Path) -> tuple[OpenQuestion, ...]:
    """The questions in the order of their table."""
    path = results / TABLE
    found: dict[str, OpenQuestion] = {}
    for row in verified_rows(path, _COLUMNS):
        if row["verdict"] not in VERDICTS:
            raise ManifestError(f"{path}, {row['id']}: no verdict is called {row['verdict']!r}.")
        if row["id"] in found:
            raise ManifestError(f"{path}: {row['id']} stands there twice.")
        found[row["id"]] = OpenQuestion(
            **{name: row[name] for name in _COLUMNS if name not in _NO_TEXT},
            settings=cell(row["settings"]),
            violations=cell(row["violations"]),
            related=tuple(row["related"].split()),
        )
    return tuple(found.values())
