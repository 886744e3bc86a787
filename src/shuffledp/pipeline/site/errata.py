"""Errata and reading notes of all papers, for one page on which they can be sorted and searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from shuffledp.pipeline.manifest import ManifestError
from shuffledp.pipeline.site.csv_tables import Cell, cell, lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shuffledp.pipeline.manifest import DrawnPaper, Entry

# Columns of the two tables: what a remark has in the list, and what shows when it is opened.
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "errata": {
        "said": "printed form",
        "holds": "corrected form",
        "effect": "effect",
        "value_said": "printed value",
        "value_holds": "correct value",
    },
    "reading_notes": {
        "said": "as read",
        "holds": "as used",
        "value_said": "value as read",
        "value_holds": "value as used",
    },
}
KINDS: Mapping[str, Literal["erratum", "reading note"]] = {
    "errata": "erratum",
    "reading_notes": "reading note",
}
_ALWAYS = ("id", "place", "quantity")
_HIDDEN = {"shown"}  # a remark whose numbers do not show it ends the run
EFFECTS = ("unsafe", "biased", "wrong_optimum", "wrong_claim", "safe", "cosmetic")
"""What an erratum does to somebody who uses the printed form, what matters most first; notes have none."""


@dataclass(frozen=True)
class Remark:
    """One erratum or reading note.

    ``rank`` orders the effects, ``details`` are the columns that do not have a place of their own.
    """

    id: str
    paper: str
    kind: Literal["erratum", "reading note"]
    place: str
    said: str
    holds: str
    effect: str
    rank: int
    quantity: str
    value_said: Cell
    value_holds: Cell
    details: tuple[tuple[str, str], ...]


def is_remarks(entry: Entry) -> bool:
    """Whether a table holds errata or reading notes, which have a page of their own."""
    return entry.kind == "table" and entry.drawing in COLUMNS


def remarks(paper: DrawnPaper) -> tuple[Remark, ...]:
    """Errata, then reading notes, of a paper."""
    return tuple(
        remark for entry in paper.entries if is_remarks(entry) for remark in _remarks(paper.key, entry)
    )


def _remarks(paper: str, entry: Entry) -> list[Remark]:
    path, names = entry.files["csv"], COLUMNS[entry.drawing]
    header, rows = lines(path)
    if missing := [name for name in (*_ALWAYS, *names.values()) if name not in header]:
        raise ManifestError(f"{path}: no column {', '.join(missing)}.")
    placed = {*_ALWAYS, *names.values(), *_HIDDEN}
    found = []
    for line in rows:
        row = dict(zip(header, line, strict=True))
        effect = row[names["effect"]] if "effect" in names else ""
        found.append(
            Remark(
                id=row["id"],
                paper=paper,
                kind=KINDS[entry.drawing],
                place=row["place"],
                said=row[names["said"]],
                holds=row[names["holds"]],
                effect=effect.replace("_", " "),
                rank=EFFECTS.index(effect) if effect in EFFECTS else len(EFFECTS),
                quantity=row["quantity"],
                value_said=cell(row[names["value_said"]]),
                value_holds=cell(row[names["value_holds"]]),
                details=tuple((name, row[name]) for name in header if name not in placed and row[name]),
            )
        )
    return found
