"""Which files a paper's figures and tables consist of; known without any result, so that a workflow can plan them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from shuffledp.experiments.config import Experiment, Paper

TABLE_FORMATS = ("csv", "md", "tex")
CAPTION_FORMATS = ("rst", "report.rst")


@dataclass(frozen=True)
class DrawingFile:
    """One picture or table: ``id`` is its file stem, ``where`` what its rows have in common."""

    id: str
    name: str
    kind: Literal["figure", "table"]
    entry: Mapping[str, Any]
    experiment: Experiment
    where: Mapping[str, Any]

    def formats(self, figure_formats: tuple[str, ...]) -> tuple[str, ...]:
        """File endings: the pictures and the drawn numbers, or the table."""
        return (*figure_formats, "csv") if self.kind == "figure" else TABLE_FORMATS

    def title(self) -> str:
        """Title with what distinguishes this file from its siblings."""
        by = self.entry.get("files")
        return self.entry["title"] if by is None else f"{self.entry['title']} ({by}: {self.where[by]})"


def drawing_files(paper: Paper) -> list[DrawingFile]:
    """All figures and tables of a paper, in the order of its file."""
    return [*_files(paper, "figure", paper.figures), *_files(paper, "table", paper.tables)]


def _files(
    paper: Paper, kind: Literal["figure", "table"], entries: Mapping[str, Mapping[str, Any]]
) -> Iterator[DrawingFile]:
    for name, entry in entries.items():
        experiment = paper.experiments[entry["experiment"]]
        by = entry.get("files")
        if by is None:
            yield DrawingFile(name, name, kind, entry, experiment, entry.get("where", {}))
            continue
        for value in _values(experiment, by, entry["methods"]):
            where = {**entry.get("where", {}), by: value}
            yield DrawingFile(f"{name}_{slug(value)}", name, kind, entry, experiment, where)


def _values(experiment: Experiment, by: str, methods: list[str]) -> list[Any]:
    if by == "accounting":
        return experiment.accountings(methods)
    return methods if by == "method" else list(experiment.grid[by])


def slug(value: Any) -> str:
    """A value as part of a file name, for example 0.05 as ``0p05`` and -1 as ``m1``."""
    text = str(value).lower().replace(".", "p").replace("-", "m")
    return re.sub(r"[^a-z0-9_]+", "_", text).strip("_")


def figure_folder(results: Path, paper: str) -> Path:
    """Where a paper's figures and tables go."""
    return results / "figures" / paper


def files_of(results: Path, files: Iterable[DrawingFile], formats: tuple[str, ...]) -> list[Path]:
    """Every file that drawing these figures and tables writes, without what describes the paper as a whole."""
    return [
        figure_folder(results, file.experiment.paper) / f"{file.id}.{end}"
        for file in files
        for end in file_endings(file, formats)
    ]


def claim_file(results: Path, paper: str, name: str) -> Path:
    """Where a computed table of claims is; its checksum list has the same name with ``.sha256``."""
    return results / "claims" / paper / f"{name}.csv"


def output_files(results: Path, paper: Paper, formats: tuple[str, ...]) -> list[Path]:
    """Every file that the drawing job of a paper writes, manifest and checksum list included."""
    folder = figure_folder(results, paper.key)
    own = files_of(results, drawing_files(paper), formats)
    claims = [folder / f"{name}.{end}" for name in paper.claims for end in (*TABLE_FORMATS, *CAPTION_FORMATS)]
    return [folder / "manifest.json", folder / "figures.sha256", *own, *claims]


def file_endings(file: DrawingFile, formats: tuple[str, ...]) -> tuple[str, ...]:
    """Endings of all files of one drawing: its formats, its caption, and the caption with settings for the report."""
    return (*file.formats(formats), *CAPTION_FORMATS)
