"""Manifest of a paper's folder of figures and tables, which drawing jobs write and the site reads."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from shuffledp.storage import verified

MANIFEST = "manifest.json"
CHECKSUMS = "figures.sha256"
#: Jobs of a paper's drawings, with which a tool draws its pictures again from the same results.
DRAWINGS = "drawings.json"


def _name_in_folder(path: Path) -> Path:
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", str(path)):
        raise ValueError("must be the name of a file in the same folder")
    return path


Title = Annotated[str, Field(min_length=1)]
Id = Annotated[str, Field(pattern="^[A-Za-z0-9_][A-Za-z0-9_-]*$")]
FileName = Annotated[Path, AfterValidator(_name_in_folder)]
Scale = Literal["linear", "log"]


class ManifestError(ValueError):
    """Error for a manifest, or a file in it, that does not have the defined form."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Run(_Part):
    """Version, commit, seed and scale of the run that drew the figures of a paper."""

    version: str
    commit: str
    python: str
    seed: int
    scale: Literal["paper", "shortened"]


def run_of(commits: Iterable[str], fields: Mapping[str, Any]) -> Run:
    """Return the run that draws now, from this version, this Python, the commits of the results, and given fields."""
    named = ", ".join(sorted({*commits} - {""}))
    return Run(version=version("shuffledp"), commit=named, python=platform.python_version(), **fields)


class Curve(_Part):
    """Style of one curve of a figure; marker and line style are in Matplotlib's notation.

    ``id`` is in the column ``curve`` of the figure's CSV. ``dash`` is "-", "" for none, or ``[offset, [on, off, ...]]``
    in units of the line's width.
    """

    id: Title
    label: str
    color: Annotated[str, Field(pattern="^#[0-9A-Fa-f]{6}$")]
    marker: str
    dash: str | list[Any]


class Chart(_Part):
    """Columns of a figure's CSV file for the axes and panels, and the figure's curves in order."""

    x: Title
    y: Title
    x_label: str
    y_label: str
    x_scale: Scale
    y_scale: Scale
    panels: Title | None
    panel_label: str | None
    curves: tuple[Curve, ...]


class ManifestEntry(_Part):
    """Figure or table; in a paper that `read` returns, every path exists and matches its checksum.

    ``finding`` is the result in one sentence. ``board`` is the column that selects the rows of a leaderboard, and
    ``protocols`` lists the protocols whose numbers the entry shows.
    """

    id: Id
    finding: Annotated[str, AfterValidator(lambda text: " ".join(text.split()))]
    chart: Chart | None = None
    kind: Literal["figure", "table"]
    title: Title
    alt: str
    caption: FileName
    files: dict[Annotated[str, Field(pattern="^[a-z0-9]+$")], FileName]
    settings: tuple[tuple[str, str], ...] = ()
    note: Annotated[str, StringConstraints(strip_whitespace=True)] = ""
    infeasible: tuple[str, ...] = ()
    board: str = ""
    protocols: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self) -> Self:
        needed = {"csv", "png"} if self.kind == "figure" else {"csv"}
        if missing := sorted(needed - set(self.files)):
            raise ValueError(f"files lacks {', '.join(missing)}")
        if self.kind == "figure" and not self.alt:
            raise ValueError("alt is empty")
        return self


class DrawnPaper(_Part):
    """Paper, or study of this project, with all its drawings."""

    key: Annotated[str, Field(pattern="^[a-z0-9_]+$")]
    kind: Literal["paper", "study"]
    title: Title
    citation: str
    doi: Annotated[str, Field(pattern=r"^10\.[0-9.]+/\S+$")] | None
    run: Run
    entries: tuple[ManifestEntry, ...]

    def to_json(self) -> bytes:
        """Return the content of the manifest file."""
        return f"{self.model_dump_json(indent=2)}\n".encode()


def read(folder: Path) -> DrawnPaper:
    """Read a paper's folder of figures and tables, ``<results>/figures/<paper>``, after a check of all checksums."""
    checksums = folder / CHECKSUMS
    path = verified(folder / MANIFEST, checksums)
    try:
        paper = DrawnPaper.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        raise ManifestError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}.") from None
    if paper.key != folder.name:
        raise ManifestError(
            f"{path}: the paper's key is {paper.key!r}, expected the folder's name {folder.name!r}."
        )
    ids = [entry.id for entry in paper.entries]
    if twice := sorted({i for i in ids if ids.count(i) > 1}):
        raise ManifestError(f"{path}: entries need different ids, but these occur twice: {', '.join(twice)}.")
    entries = tuple(_in_folder(entry, folder, checksums) for entry in paper.entries)
    return paper.model_copy(update={"entries": entries})


def _in_folder(entry: ManifestEntry, folder: Path, checksums: Path) -> ManifestEntry:
    files = {form: verified(folder / name, checksums) for form, name in entry.files.items()}
    return entry.model_copy(update={"caption": verified(folder / entry.caption, checksums), "files": files})


def without(paper: DrawnPaper, condition: Callable[[ManifestEntry], bool]) -> DrawnPaper:
    """Return the paper without the entries that meet a condition."""
    return paper.model_copy(update={"entries": tuple(e for e in paper.entries if not condition(e))})


def name_of(key: str, title: str) -> str:
    """Return a short name of a paper: its key, with the spelling in its title if the title contains the key."""
    words = key.replace("_", " ")
    match = re.search(rf"\b{re.escape(words)}\b", title, re.IGNORECASE)
    name = match[0] if match else words
    return name[:1].upper() + name[1:]
