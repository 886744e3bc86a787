"""Data of the figures: real data, published summaries, stand-ins, or random numbers only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shuffledp.pipeline.manifest import DrawnPaper

SETTING = "data"
#: Description of each source of prepared data (see results/README.md), the closest to the papers first.
KINDS = {
    "own": "own data",
    "official": "real data",
    "mirror": "real data",
    "summary": "published summaries",
    "stand_in": "stand-ins",
    "synthetic": "synthetic",
}
_DATA = re.compile(r"(?P<what>.*?) \(source: (?P<sources>[^()]*)\)")


@dataclass(frozen=True)
class Origin:
    """Kind of data, with its data sets and the papers that use them."""

    kind: str
    data: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class DataNote:
    """Note on data, with the papers that have this note."""

    text: str
    papers: tuple[str, ...]


def origins(papers: Iterable[DrawnPaper]) -> tuple[Origin, ...]:
    """Return the kinds of data in use, in the order of `KINDS`, and then unknown sources by name."""
    by_kind: dict[str, dict[str, dict[str, None]]] = {kind: {} for kind in dict.fromkeys(KINDS.values())}
    for paper in papers:
        for entry in paper.entries:
            match = _DATA.fullmatch(dict(entry.settings).get(SETTING, ""))
            if match is None:
                continue
            name = match["what"].partition(",")[0]  # what is taken of a data set follows
            for source in match["sources"].split(", "):
                kind = by_kind.setdefault(KINDS.get(source, source), {})
                kind.setdefault(name, {})[paper.key] = None
    return tuple(
        Origin(kind, tuple((name, tuple(keys)) for name, keys in data.items()))
        for kind, data in by_kind.items()
        if data
    )


def data_notes(papers: Iterable[DrawnPaper]) -> tuple[DataNote, ...]:
    """Return every distinct note on data once."""
    by_note: dict[str, dict[str, None]] = {}
    for paper in papers:
        for entry in paper.entries:
            if entry.note:
                by_note.setdefault(entry.note, {})[paper.key] = None
    return tuple(DataNote(text, tuple(keys)) for text, keys in by_note.items())
