"""What the drawing jobs left behind: a folder per paper, read only if it matches its checksums."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import jsonschema

from shuffledp.storage import verified

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

MANIFEST = "manifest.json"
CHECKSUMS = "figures.sha256"

_TEXT = {"type": "string"}
_TITLE = {"type": "string", "minLength": 1}
_ID = {"type": "string", "pattern": r"^[A-Za-z0-9_][A-Za-z0-9_-]*\Z"}
_FILE = {
    "type": "string",
    "pattern": r"^[A-Za-z0-9_][A-Za-z0-9_.-]*\Z",
}  # a name in the same folder, never a path


def _object(required: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(required), "required": list(required)}


_SCALE = {"enum": ["linear", "log"]}
_DASH = {"anyOf": [{"type": "string"}, {"type": "array"}]}
_CURVE = _object(
    {
        "id": _TITLE,
        "label": _TEXT,
        "color": {"type": "string", "pattern": r"^#[0-9A-Fa-f]{6}\Z"},
        "marker": _TEXT,
        "dash": _DASH,
    }
)
_CHART = _object(
    {
        "x": _TITLE,
        "y": _TITLE,
        "x_label": _TEXT,
        "y_label": _TEXT,
        "x_scale": _SCALE,
        "y_scale": _SCALE,
        "panels": {"anyOf": [{"type": "null"}, _TITLE]},
        "panel_label": {"anyOf": [{"type": "null"}, _TEXT]},
        "curves": {"type": "array", "items": _CURVE},
    }
)
_OPTIONAL = {"board": _TEXT}
_ENTRY = _object(
    {
        "id": _ID,
        "drawing": _ID,
        "variant": _TEXT,
        "by": _TEXT,
        "finding": _TEXT,
        "chart": {"anyOf": [{"type": "null"}, _CHART]},
        "kind": {"enum": ["figure", "table"]},
        "title": _TITLE,
        "alt": _TEXT,
        "caption": _FILE,
        "files": {
            "type": "object",
            "propertyNames": {"pattern": r"^[a-z0-9]+\Z"},
            "additionalProperties": _FILE,
            "required": ["csv"],
        },
        "settings": {
            "type": "array",
            "items": {"type": "array", "items": _TEXT, "minItems": 2, "maxItems": 2},
        },
        "note": _TEXT,
        "infeasible": {"type": "array", "items": _TEXT},
    }
) | {
    "if": {"properties": {"kind": {"const": "figure"}}},
    "then": {"properties": {"files": {"required": ["png"]}, "alt": _TITLE}},
}
_PAPER = _object(
    {
        "key": {"type": "string", "pattern": r"^[a-z0-9_]+\Z"},
        "kind": {"enum": ["paper", "study"]},
        "title": _TITLE,
        "citation": _TEXT,
        "doi": {"anyOf": [{"type": "null"}, {"type": "string", "pattern": r"^10\.[0-9.]+/\S+\Z"}]},
    }
)
_RUN = _object(
    {
        "version": _TEXT,
        "commit": _TEXT,
        "python": _TEXT,
        "seed": {"type": "integer"},
        "scale": {"enum": ["paper", "shortened"]},
    }
)
_ENTRY["properties"] |= _OPTIONAL
SCHEMA = _object({"paper": _PAPER, "run": _RUN, "entries": {"type": "array", "items": _ENTRY}})


class ManifestError(ValueError):
    """A manifest, or a file that it names, does not have the agreed form."""


@dataclass(frozen=True)
class Run:
    """What produced the figures of a paper."""

    version: str
    commit: str
    python: str
    seed: int
    scale: Literal["paper", "shortened"]


@dataclass(frozen=True)
class Curve:
    """How one curve of a figure looks; marker and kind of line are written as Matplotlib writes them."""

    id: str
    label: str
    color: str
    marker: str
    dash: Any


@dataclass(frozen=True)
class Chart:
    """What a figure shows of its CSV file: the columns on the axes and in the panels, and its curves in order."""

    x: str
    y: str
    x_label: str
    y_label: str
    x_scale: Literal["linear", "log"]
    y_scale: Literal["linear", "log"]
    panels: str | None
    panel_label: str | None
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Entry:
    """One figure or table; every path exists and matches its checksum.

    Entries with the same ``drawing`` show the same thing in several ways: ``variant`` is the value, of what ``by``
    names, that distinguishes this one (empty if it is alone). ``finding`` is what one learns from it, in a sentence.
    """

    id: str
    drawing: str
    variant: str
    by: str
    finding: str
    chart: Chart | None
    kind: Literal["figure", "table"]
    title: str
    alt: str
    caption: Path
    files: Mapping[str, Path]
    settings: tuple[tuple[str, str], ...]
    note: str
    infeasible: tuple[str, ...]
    board: str = ""
    """The column by which the rows of a leaderboard are chosen; empty for everything else."""


@dataclass(frozen=True)
class DrawnPaper:
    """A paper, or a study of our own, and everything that was drawn for it."""

    key: str
    kind: Literal["paper", "study"]
    title: str
    citation: str
    doi: str | None
    run: Run
    entries: tuple[Entry, ...]


def read(folder: Path) -> DrawnPaper:
    """Read a paper's folder of figures and tables.

    Parameters
    ----------
    folder : Path
        ``<results>/figures/<paper>``; its name must be the paper's key.

    Returns
    -------
    DrawnPaper
        Entries in the manifest's order.

    Raises
    ------
    shuffledp.storage.IntegrityError
        If the manifest or a file that it names is missing or damaged; names the file and how to rebuild it.
    ManifestError
        If the manifest does not have the agreed form.
    """
    checksums = folder / CHECKSUMS
    path = verified(folder / MANIFEST, checksums)
    content = _checked(path)
    paper, run = content["paper"], content["run"]
    if paper["key"] != folder.name:
        raise ManifestError(
            f"{path}: the paper's key is {paper['key']!r}, expected the folder's name {folder.name!r}."
        )
    entries = tuple(_entry(entry, folder, checksums) for entry in content["entries"])
    ids = [entry.id for entry in entries]
    if twice := sorted({i for i in ids if ids.count(i) > 1}):
        raise ManifestError(f"{path}: entries need different ids, but these occur twice: {', '.join(twice)}.")
    return DrawnPaper(
        key=paper["key"],
        kind=paper["kind"],
        title=paper["title"],
        citation=paper["citation"],
        doi=paper["doi"],
        run=Run(**{name: run[name] for name in Run.__dataclass_fields__}),
        entries=entries,
    )


def without(paper: DrawnPaper, condition: Callable[[Entry], bool]) -> DrawnPaper:
    """The paper without the entries that meet a condition."""
    return replace(paper, entries=tuple(entry for entry in paper.entries if not condition(entry)))


def _checked(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ManifestError(f"{path} is not JSON: {error}.") from None
    problem = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(SCHEMA).iter_errors(content))
    if problem is not None:
        raise ManifestError(f"{path}: {problem.json_path}: {problem.message}.")
    return content


def _entry(entry: Mapping[str, Any], folder: Path, checksums: Path) -> Entry:
    return Entry(
        id=entry["id"],
        drawing=entry["drawing"],
        variant=entry["variant"],
        by=entry["by"],
        finding=" ".join(entry["finding"].split()),
        chart=None if entry["chart"] is None else _chart(entry["chart"]),
        kind=entry["kind"],
        title=entry["title"],
        alt=entry["alt"],
        caption=verified(folder / entry["caption"], checksums),
        files={form: verified(folder / name, checksums) for form, name in entry["files"].items()},
        settings=tuple((name, value) for name, value in entry["settings"]),
        note=entry["note"].strip(),
        infeasible=tuple(entry["infeasible"]),
        board=entry.get("board", ""),
    )


def _chart(chart: Mapping[str, Any]) -> Chart:
    curves = tuple(
        Curve(**{name: curve[name] for name in Curve.__dataclass_fields__}) for curve in chart["curves"]
    )
    return Chart(
        **{name: chart[name] for name in Chart.__dataclass_fields__ if name != "curves"}, curves=curves
    )
