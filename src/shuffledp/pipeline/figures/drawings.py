"""Jobs of a paper's figures and tables: all data of a drawing except its input files, known before any result."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from shuffledp.pipeline.config import Experiment, Method, Paper, Settings
from shuffledp.pipeline.config.grammar import Drawn, described
from shuffledp.pipeline.experiments.bundle import CELL_TEXTS
from shuffledp.pipeline.figures.drawing_jobs import (
    BOTH,
    ClaimTableJob,
    DrawingJob,
    Fields,
    PaperJob,
    TrainingJob,
    figure_folder,
)
from shuffledp.pipeline.figures.names import method_identity, method_label, protocol_name
from shuffledp.pipeline.figures.palette import (
    Look,
    look_of,
    numbered_look,
    own_look,
    with_free_color,
    with_other_marker,
)
from shuffledp.pipeline.manifest import CHECKSUMS, DRAWINGS, MANIFEST

TABLE_FORMATS = ("csv", "md", "tex", "tabular")
PAPERS = Path(__file__).resolve().parents[1] / "papers"
#: Captions of claims that all papers share, in ``papers/captions``.
SHARED_CAPTIONS = ("errata.rst", "reading_notes.rst")


@dataclass(frozen=True)
class Drawing:
    """Picture or table, whose files have the stem ``id``; ``where`` has the values that all its rows have."""

    id: str
    kind: Literal["figure", "table"]
    entry: Fields
    experiment: Experiment
    where: Fields
    looks: Mapping[str, Look] = field(default_factory=dict)

    @property
    def paper(self) -> str:
        """Key of the paper."""
        return self.experiment.paper

    def formats(self, figure_formats: Sequence[str]) -> tuple[str, ...]:
        """Return the suffixes of the files: pictures and drawn numbers of a figure, or the forms of a table."""
        return (*figure_formats, "csv") if self.kind == "figure" else TABLE_FORMATS

    def job(self, results: str, figure_formats: Sequence[str], captions: Path, scale: str) -> DrawingJob:
        """Return the plain data that this drawing depends on, except the content of its input files."""
        experiment, methods = self.experiment, list(self.entry["methods"])
        looks = self.looks if len(methods) > 1 or self.entry.get("curves", "method") == "method" else {}
        return {
            "paper": self.paper,
            "id": self.id,
            "kind": self.kind,
            "title": self.entry["title"],
            "alt": self._alt(),
            "entry": _plain(self.entry),
            "quantity": _quantity(self.entry),
            "where": _plain(self.where),
            "results": results,
            "experiment": experiment.id,
            "labels": {m: self._label(experiment.methods[m]) for m in methods},
            "looks": {m: asdict(looks[m]) for m in methods if m in looks},
            "points": self._points(Path(results)),
            "grid": _plain(self._grid()),
            "accountings": experiment.accountings(methods),
            "repeats": experiment.repeats,
            "facts": _stated(experiment, self.where, methods),
            "assumed": dict(experiment.assumed),
            "training": self._training(),
            "simulated_at": _plain(experiment.simulated_at),
            "caption": str(captions / self.entry["caption"]) if "caption" in self.entry else "",
            "scale": scale,
            "formats": list(self.formats(figure_formats)),
        }

    def _label(self, method: Method) -> str | None:
        """Return the name of a method if the results have another one: a figure of a paper has the paper's names."""
        return method_label(self.experiment, method) if self.experiment.study else method.label

    def _grid(self) -> dict[str, list[Any]]:
        """Return the grid without the variables that no method and no axis uses; these are not drawn."""
        experiment, entry = self.experiment, self.entry
        used = set().union(*(experiment.variables(experiment.methods[m]) for m in entry["methods"]))
        axes = {str(entry[axis]) for axis in ("x", "along", "panels", "curves") if axis in entry}
        used |= {*axes, *entry.get("rows", ()), *entry.get("columns", ()), *self.where}
        used |= {name for column in entry.get("entries", ()) for name in column.get("where", {})}
        return {name: values for name, values in experiment.grid.items() if name in used}

    def _alt(self) -> str:
        entry, title = self.entry, self.entry["title"]
        if self.kind == "table":
            return f"Table: {title}"
        across_x, up = entry.get("x_label", entry["x"]), entry.get("y_label", entry["y"])
        across = f", one panel per {entry['panels']}" if "panels" in entry else ""
        if entry.get("kind") == "pareto":
            return f"{title}: {up} against {across_x}, a point per method"
        curves = entry.get("curves", "method")
        pair = "; printed dashed, exact solid, and a strip with their ratio" if "files" in entry else ""
        return f"{title}: {up} against {across_x}{across}, one curve per {curves}{pair}"

    def _points(self, results: Path) -> dict[str, Any] | None:
        points = self.entry.get("points")
        if points is None:
            return None
        table = claim_file(results, self.paper, points["claims"])
        return {"where": {}, "panels": None, "label": "read off the paper", **points, "table": str(table)}

    def _training(self) -> list[TrainingJob]:
        experiment = self.experiment
        methods = {m: experiment.methods[m].training for m in self.entry["methods"]}
        rounds = {run.id: (variable, run) for variable, run in reversed(list(experiment.rounds.items()))}
        return [
            {
                "round": rounds[run.id][0],
                "methods": [m for m, named in methods.items() if named == run.id],
                "described": run.described(),
            }
            for run in {run.id: run for run in experiment.rounds.values()}.values()
            if run.id in methods.values()
        ]


@dataclass(frozen=True)
class ClaimTable:
    """Table that the claims package computes: errata with their witnesses, or a checked table of the paper."""

    paper: str
    id: str
    title: str
    caption: str
    citation: str

    def formats(self, _: Sequence[str]) -> tuple[str, ...]:
        """Return the suffixes of the files."""
        return TABLE_FORMATS

    def job(self, results: str, captions: Path, scale: str) -> ClaimTableJob:
        """Return the plain data that this table depends on, as `Drawing.job` does."""
        return {
            "paper": self.paper,
            "id": self.id,
            "kind": "claims",
            "title": self.title,
            "alt": f"Table: {self.title}",
            "table": str(claim_file(Path(results), self.paper, self.id)),
            "facts": {"about": self.citation},
            "caption": str(caption_path(captions, self.caption)),
            "scale": scale,
            "formats": list(TABLE_FORMATS),
        }


def _quantity(entry: Fields) -> str:
    """Return the drawn quantity; for a leaderboard, the quantity that orders the rows."""
    ordering = [e["value"] for h in entry.get("order", ()) for e in entry["entries"] if e["heading"] == h]
    drawn = [entry[key] for key in ("y", "value") if key in entry]
    return str(next(value for value in (*drawn, *ordering) if value not in CELL_TEXTS))


def drawings_of(paper: Paper) -> list[Drawing]:
    """Return all figures and tables of a paper, in the order of its file."""
    looks = looks_of(paper)

    def drawing(kind: Literal["figure", "table"], id: str, drawn: Drawn) -> Drawing:
        entry = drawn.plain()
        where = entry.get("where", {}) | ({"accounting": BOTH} if "files" in entry else {})
        looks_here = looks if kind == "figure" else {}
        return Drawing(id, kind, entry, paper.experiments[drawn.experiment], where, looks_here)

    figures = [drawing("figure", *item) for item in paper.figures.items()]
    return figures + [drawing("table", *item) for item in paper.tables.items()]


def claim_tables(paper: Paper) -> list[ClaimTable]:
    """Return the tables of claims of a paper, in the order of its file."""
    return [
        ClaimTable(paper.key, name, about.title, about.caption, paper.citation)
        for name, about in paper.claims.items()
    ]


def caption_path(folder: Path, name: str) -> Path:
    """Return a template in the folder of a paper, or the template that all papers share."""
    return (folder.parents[1] / "captions" if name in SHARED_CAPTIONS else folder) / name


def caption_folder(root: Path, paper: str) -> Path:
    """Return the folder of captions for a paper or study; it is relative if `root` is."""
    folder = PAPERS / paper
    if not folder.is_dir():
        return root / "workflow/report" / paper
    return root / os.path.relpath(folder / "captions", root)


def paper_job(paper: Paper, settings: Settings, root: Path) -> PaperJob:
    """Return the plain data that a paper's drawings and manifest depend on, except the content of input files."""
    captions = caption_folder(root, paper.key)
    results, scale = settings.results, "shortened" if paper.key in settings.shortened else "paper"
    drawing_jobs = [drawing.job(results, settings.formats, captions, scale) for drawing in drawings_of(paper)]
    claims = [table.job(results, captions, scale) for table in claim_tables(paper)]
    return {
        "paper": {
            "key": paper.key,
            "kind": paper.kind,
            "title": paper.title,
            "citation": paper.citation,
            "doi": paper.doi,
        },
        "run": {"seed": settings.seed, "scale": scale},
        "results": results,
        "drawings": [*drawing_jobs, *claims],
    }


def looks_of(paper: Paper) -> dict[str, Look]:
    """Return one look per method of a paper; methods of the user have looks of their own and change no other look."""
    methods: dict[str, Method] = {}
    looks: dict[str, Look] = {}
    options: dict[str, Look] = {}
    for experiment in paper.experiments.values():
        for method in experiment.methods.values():
            identity = None if method.added else method_identity(experiment, method)
            if identity is None:
                methods.setdefault(method.id, method)
            elif method.id == protocol_name(method):
                looks[method.id] = look_of(identity)
            else:
                options[method.id] = look_of(identity)
    for option, look in options.items():
        others = {
            looks[m].color
            for some in _dashed_by_accounting(paper)
            if option in some
            for m in some
            if m in looks
        }
        looks[option] = with_other_marker(with_free_color(look, others), looks.values())
    others_of_file = [m for m in methods.values() if m.id not in looks]
    functions = [m for m in others_of_file if m.function and not m.added]
    numbered = {m.id: numbered_look(number) for number, m in enumerate(functions)}
    user_methods = [m for m in others_of_file if m.id not in numbered]
    return looks | numbered | {m.id: own_look(number) for number, m in enumerate(user_methods)}


def _dashed_by_accounting(paper: Paper) -> list[Collection[str]]:
    """Return the methods of each picture with curves in which dashes say the accounting."""
    return [
        drawing.methods
        for drawing in paper.figures.values()
        if drawing.kind == "curves" and "accounting" in (drawing.files, drawing.curves)
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value


# -- files -------------------------------------------------------------------------------------------------------


def files_of(results: Path, drawings: Iterable[Drawing | ClaimTable], formats: Sequence[str]) -> list[Path]:
    """Return every file of these figures and tables, without the manifest and other files of the whole paper."""
    return [
        figure_folder(results, drawing.paper) / f"{drawing.id}.{end}"
        for drawing in drawings
        for end in (*drawing.formats(formats), "rst")
    ]


def claim_file(results: Path, paper: str, name: str) -> Path:
    """Return the file of a computed table of claims; the checksum list beside it ends with ``.sha256``."""
    return results / "claims" / paper / f"{name}.csv"


def points_files(results: Path, drawings: Iterable[Drawing]) -> list[Path]:
    """Return the tables of claims whose points these drawings show, each with its checksum list."""
    names = {(d.paper, d.entry["points"]["claims"]): None for d in drawings if "points" in d.entry}
    tables = [claim_file(results, paper, name) for paper, name in names]
    return [path for table in tables for path in (table, table.with_suffix(".sha256"))]


def output_files(results: Path, paper: Paper, formats: Sequence[str]) -> list[Path]:
    """Return every file that the drawing job of a paper writes, with the manifest and the checksum list."""
    folder = figure_folder(results, paper.key)
    return [
        folder / MANIFEST,
        folder / DRAWINGS,
        folder / CHECKSUMS,
        *files_of(results, [*drawings_of(paper), *claim_tables(paper)], formats),
    ]


# -- what the configuration states for a caption -----------------------------------------------------------------


def _stated(experiment: Experiment, where: Fields, methods: Sequence[str]) -> dict[str, str]:
    """Return a caption's facts that are known before any result: source, data, participants, eps, delta and target."""
    grid = {**experiment.grid, **{k: [v] for k, v in where.items() if k in experiment.grid}}
    say = partial(described, grid=grid)
    facts = _origin(experiment)
    if experiment.data:
        facts["data"] = experiment.data.described(say)
    if experiment.population:
        facts["participants N"] = experiment.population.described(say)
    if experiment.budget:
        facts |= experiment.budget.described(say)
    arguments = [experiment.methods[m].given for m in methods]  # functions have no budget
    if deltas := [say(values["delta"]) for values in arguments if "delta" in values]:
        facts.setdefault("delta", ", ".join(dict.fromkeys(deltas)))
    if experiment.task:
        facts["error against"] = experiment.task.described()
    return facts


def _origin(experiment: Experiment) -> dict[str, str]:
    """Return the experiment that is reproduced, or the subject of an experiment that the paper does not have."""
    source = experiment.source
    if experiment.study:
        return {"about": source} if source else {}
    subject = source.removeprefix("none: ")
    return {
        "reproduces": f"the paper's {source}" if subject == source else f"nothing in the paper; {subject}"
    }
