"""Errata and reading notes of all papers, for one page that can be sorted and searched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shuffledp.pipeline.site.csv_tables import Row, cell, lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shuffledp.pipeline.manifest import DrawnPaper, ManifestEntry

#: Kinds of rows, with the names of their columns for the printed and the correct form, in words and in numbers.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "errata": ("erratum", "printed form", "corrected form", "printed value", "correct value"),
    "reading_notes": ("reading note", "as read", "as used", "value as read", "value as used"),
}
_PLACED = {"id", "place", "quantity", "effect", "shown"}  # a remark whose numbers do not show it ends the run
#: Effects of an erratum on users of the printed form, the most important first; notes have none.
EFFECTS = ("unsafe", "biased", "wrong_optimum", "wrong_claim", "safe", "cosmetic", "")


def is_remarks(entry: ManifestEntry) -> bool:
    """Return whether a table has errata or reading notes, which have a page of their own."""
    return entry.kind == "table" and entry.id in COLUMNS


def remarks(paper: DrawnPaper) -> Iterator[Row]:
    """Yield a paper's errata, then its reading notes; ``details`` has the columns that the page shows on demand."""
    for entry in filter(is_remarks, paper.entries):
        kind, *names = COLUMNS[entry.id]
        header, rows = lines(entry.files["csv"])
        details = [name for name in header if name not in {*_PLACED, *names}]
        for line in rows:
            row = dict(zip(header, line, strict=True))
            effect = row.get("effect", "")
            printed_text, holds, value_said, value_holds = (row[name] for name in names)
            yield {
                **{name: row[name] for name in ("id", "place", "quantity")},
                "paper": paper.key,
                "kind": kind,
                "said": printed_text,
                "holds": holds,
                "effect": effect.replace("_", " "),
                "rank": EFFECTS.index(effect),
                "value_said": cell(value_said),
                "value_holds": cell(value_holds),
                "details": [(name, row[name]) for name in details if row[name]],
            }
