"""Tables of claims by name, as the configuration lists them: errata, reading notes, and checked tables of a paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Final

import pandas as pd

from shuffledp.pipeline.claims.claim_jobs import PAPERS
from shuffledp.pipeline.claims.errata_data import Entry, ErratumError, errata, reading_notes
from shuffledp.pipeline.claims.witness import Witness


@dataclass(frozen=True)
class Layout:
    """Columns of a table of entries."""

    entries: Callable[[str], Sequence[Entry]]
    texts: Mapping[str, str]
    values: tuple[str, str]

    @property
    def columns(self) -> list[str]:
        """All columns of `evaluated`, in their order."""
        return [*self.texts, "quantity", *self.values, "shown", "note"]


LAYOUTS: Final = {
    "errata": Layout(
        errata,
        {
            **{name: name for name in ("id", "place", "quote", "effect")},
            "printed form": "printed",
            "corrected form": "corrected",
            "explanation": "explanation",
        },
        ("printed value", "correct value"),
    ),
    "reading_notes": Layout(
        reading_notes,
        {
            **{name: name for name in ("id", "formerly", "place")},
            "as read": "read",
            "as used": "used",
            "why a note": "why",
            "consequence": "consequence",
        },
        ("value as read", "value as used"),
    ),
}


def table(paper: str, name: str) -> pd.DataFrame:
    """Return ``errata`` or ``reading_notes`` with witnesses, or one of the ``TABLES`` in ``computed_tables.py``."""
    if name in LAYOUTS:
        return evaluated(paper, name)
    has_module = (PAPERS / paper / "computed_tables.py").is_file()
    module = f"shuffledp.pipeline.papers.{paper}.computed_tables"
    tables: Mapping[str, Callable[[], pd.DataFrame]] = import_module(module).TABLES if has_module else {}
    if name not in tables:
        raise ValueError(
            f"No table {name!r} of claims about {paper!r}. Known: {', '.join([*LAYOUTS, *tables])}."
        )
    return tables[name]()


def evaluated(paper: str, name: str) -> pd.DataFrame:
    """Compute all witnesses of a paper's errata or reading notes; raise `ErratumError` if one shows no entry."""
    layout = LAYOUTS[name]
    rows, failed = [], []
    for entry in layout.entries(paper):
        witness = _witness(entry)
        is_shown = entry.shown_by(witness)
        texts = [getattr(entry, attribute) for attribute in layout.texts.values()]
        rows.append(
            [
                *(text if isinstance(text, str) else " [...] ".join(text) for text in texts),
                witness.quantity,
                witness.printed,
                witness.correct,
                is_shown,
                witness.note,
            ]
        )
        if not is_shown:
            first, second = layout.values
            failed.append(
                f"{entry.id} ({entry.witness}): {first} {witness.printed:.6g}, {second} {witness.correct:.6g}, "
                f"expected the first {entry.side} the second; condition {'holds' if witness.shows else 'fails'}"
            )
    if failed:
        raise ErratumError(f"{paper}: not shown: {'; '.join(failed)}.")
    return pd.DataFrame(rows, columns=layout.columns)


def _witness(entry: Entry) -> Witness:
    witness = entry.compute()
    if not (math.isfinite(witness.printed) and math.isfinite(witness.correct)):
        raise ErratumError(
            f"{entry.id}: witness {entry.witness} gives {witness.printed!r} and {witness.correct!r}, "
            "expected two finite numbers."
        )
    return witness
