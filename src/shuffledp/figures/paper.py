"""The drawing job of a paper: reads results, writes every figure and table with caption, and the manifest."""

from __future__ import annotations

import json
import logging
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

import shuffledp
from shuffledp.experiments.config import Paper, Settings, TrainingRun, is_variable
from shuffledp.experiments.results import TRAINED_METRICS, Bundle, Results, read
from shuffledp.figures.drawings import DrawingFile, claim_file, drawing_files, figure_folder
from shuffledp.figures.guarantees import doubts, guarantee_facts
from shuffledp.figures.plotter import Drawing, draw, long_form
from shuffledp.figures.style import house_style, rendered
from shuffledp.figures.tables import as_table, in_three_forms
from shuffledp.storage import publish, verified

log = logging.getLogger(__name__)


def draw_paper(
    paper: Paper,
    settings: Settings,
    captions: Path,
    *,
    only: Iterable[str] | None = None,
) -> dict[Path, bytes]:
    """Contents of the files of a paper's figures and tables.

    Parameters
    ----------
    paper : Paper
        What to draw.
    settings : Settings
        Results folder and formats.
    captions : Path
        Folder with a folder per paper that holds the captions' prose.
    only : iterable of str, optional
        Names or ids of the drawings wanted; all of them when left out.

    Returns
    -------
    dict of Path to bytes
        Final path and content; with ``only`` left out, the manifest too.
    """
    results, wanted = Path(settings.results), None if only is None else set(only)
    folder = figure_folder(results, paper.key)
    cache: dict[tuple[str, ...], Results] = {}
    contents: dict[Path, bytes] = {}
    entries = []
    for file in drawing_files(paper):
        if wanted is not None and not wanted & {file.id, file.name}:
            continue
        methods = tuple(file.entry["methods"])
        key = (file.experiment.id, *methods)
        if key not in cache:
            cache[key] = read({m: Bundle.of(results, paper.key, file.experiment.id, m) for m in methods})
        log.info("%s.%s", paper.key, file.id)
        entry, files = _drawn(paper, file, cache[key], settings, captions)
        entries.append(entry)
        contents |= {folder / name: content for name, content in files.items()}
    if wanted is not None and not entries:
        known = ", ".join(file.id for file in drawing_files(paper))
        raise ValueError(f"{paper.key} has no drawing {', '.join(sorted(wanted))}. Known: {known}.")
    for name, about in paper.claims.items() if wanted is None else ():
        entry, files = _claim(paper, name, about, claim_file(results, paper.key, name), captions)
        entries.append(entry)
        contents |= {folder / name: content for name, content in files.items()}
    if wanted is None:
        contents[folder / "manifest.json"] = _manifest(paper, settings, entries, cache.values())
    return contents


def publish_paper(settings: Settings, paper: Paper, contents: Mapping[Path, bytes]) -> None:
    """Write all files of a paper's drawing job and their checksum list."""
    publish(figure_folder(Path(settings.results), paper.key) / "figures.sha256", contents)


def _drawn(
    paper: Paper, file: DrawingFile, results: Results, settings: Settings, captions: Path
) -> tuple[dict[str, Any], dict[str, bytes]]:
    cells = _matching(results.cells, file.where)
    summary = _matching(results.summary(), file.where)
    note = _note(results)
    facts = _facts(file, cells, results)
    if file.kind == "figure":
        files = _figure(file, cells, summary, note, settings.formats)
    else:
        files = {
            f"{file.id}.{end}": text.encode()
            for end, text in as_table(file.entry, cells, summary, _orders(file)).items()
        }
    prose = _prose(captions / paper.key / file.entry["caption"], file, facts)
    files |= {
        f"{file.id}.rst": prose.encode(),
        f"{file.id}.report.rst": _report_caption(prose, facts, note).encode(),
    }
    entry = {
        "id": file.id,
        "drawing": file.name,
        "kind": file.kind,
        "title": file.title(),
        "alt": _alt(file),
        "caption": f"{file.id}.rst",
        "files": {end: f"{file.id}.{end}" for end in file.formats(settings.formats)},
        "settings": [[k, v] for k, v in facts.items()],
        "note": note,
        "infeasible": _gaps(cells, _names(file, cells)),
    }
    return entry, files


def _claim(
    paper: Paper, name: str, about: Mapping[str, Any], table: Path, captions: Path
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """A table that the claims room computed: errata or reading notes with witnesses, or a checked table."""
    frame = pd.read_csv(verified(table, table.with_suffix(".sha256")), dtype=str, keep_default_na=False)
    prose = (captions / paper.key / about["caption"]).read_text(encoding="utf-8").strip() + "\n"
    facts = {
        "about": paper.citation,
        "rows": str(len(frame)),
        "numbers": "computed in this run by shuffledp.claims",
    }
    forms = in_three_forms(frame)
    files = {f"{name}.{end}": text.encode() for end, text in forms.items()}
    files |= {f"{name}.rst": prose.encode(), f"{name}.report.rst": _report_caption(prose, facts, "").encode()}
    entry = {
        "id": name,
        "drawing": name,
        "kind": "table",
        "title": about["title"],
        "alt": f"Table: {about['title']}",
        "caption": f"{name}.rst",
        "files": {end: f"{name}.{end}" for end in forms},
        "settings": [[k, v] for k, v in facts.items()],
        "note": "",
        "infeasible": [],
    }
    return entry, files


def _matching(frame: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    """Rows that agree with all conditions; a method that does not depend on a variable agrees with any value."""
    for column, value in where.items():
        if column in frame:
            frame = frame[(frame[column] == value) | frame[column].isna()]
    return frame


def _figure(
    file: DrawingFile, cells: pd.DataFrame, summary: pd.DataFrame, note: str, formats: Sequence[str]
) -> dict[str, bytes]:
    curves = file.entry.get("curves", "method")
    selection = _with_curves(long_form(cells, summary, file.entry["y"]), curves)
    gaps = _with_curves(cells[cells["status"] != "ok"], curves)
    drawn = pd.concat([selection[["method", "curve"]], gaps[["method", "curve"]]])
    labels = _legend_labels(file, cells, drawn, curves)
    in_doubt = doubts(_with_curves(cells, curves), _orders(file)["accounting"])
    labels = {
        curve: f"{text} ({in_doubt[curve]})" if curve in in_doubt else text for curve, text in labels.items()
    }
    siblings = list(file.experiment.methods) if curves == "method" else []
    drawing = Drawing(file.entry, selection, gaps, labels, file.title(), note, file.experiment.grid, siblings)
    with house_style():
        figure = draw(drawing)
        files = {f"{file.id}.{end}": rendered(figure, end) for end in formats}
    return files | {f"{file.id}.csv": _drawn_numbers(file, selection)}


def _with_curves(frame: pd.DataFrame, curves: str) -> pd.DataFrame:
    """With a column that names each row's curve; a method that does not depend on the variable has one curve."""
    if curves == "method" or curves not in frame:
        return frame.assign(curve=frame["method"])
    value = frame[curves].map(lambda v: "" if pd.isna(v) else f"|{v}")
    return frame.assign(curve=frame["method"] + value.astype(str))


def _orders(file: DrawingFile) -> dict[str, list[Any]]:
    """Values of every axis in the order of the configuration; methods in the order of the figure."""
    methods = list(file.entry["methods"])
    return {**file.experiment.grid, "accounting": file.experiment.accountings(methods), "method": methods}


def _names(file: DrawingFile, cells: pd.DataFrame) -> dict[str, str]:
    """Legend name per method; where several would have the same, the method's id tells them apart."""
    labels = dict(zip(cells["method"], cells["label"], strict=True))
    methods = file.experiment.methods
    names = {m: methods[m].label or str(labels.get(m) or m) for m in file.entry["methods"]}
    shared = [name for name in names.values() if list(names.values()).count(name) > 1]
    return {m: f"{name} ({m})" if name in shared else name for m, name in names.items()}


def _legend_labels(
    file: DrawingFile, cells: pd.DataFrame, frame: pd.DataFrame, curves: str
) -> dict[str, str]:
    """Legend texts by curve: methods in the figure's order, then values in the grid's."""
    present = set(frame["curve"])
    several = frame["method"].nunique() > 1
    labels: dict[str, str] = {}
    for method, name in _names(file, cells).items():
        values = [] if curves == "method" else _orders(file)[curves]
        texts = {method: name} | {
            f"{method}|{v}": f"{name}, {curves} {v}" if several else f"{curves} {v}" for v in values
        }
        labels |= {curve: text for curve, text in texts.items() if curve in present}
    return labels


def _drawn_numbers(file: DrawingFile, selection: pd.DataFrame) -> bytes:
    variables = [v for v in file.experiment.grid if v in selection]
    across = [file.entry["x"]] if "along" in file.entry else []  # a number of the cells
    columns = ["method", "accounting", *variables, *across]
    columns += ["kind", "mean", "standard_error", "count", "data_source"]
    ordered = selection.sort_values(["method", "accounting", *variables, "kind"], kind="stable")
    shown = ordered[columns].rename(columns={"mean": file.entry["y"]})
    return shown.to_csv(index=False, float_format="%.10g", lineterminator="\n").encode()


# -- captions ----------------------------------------------------------------------------------------------------


def _span(values: Sequence[Any]) -> str:
    distinct = list(dict.fromkeys(values))
    texts = [f"{v:g}" if isinstance(v, float) else str(v) for v in distinct]
    if len(distinct) <= 5 or any(isinstance(v, str) for v in distinct):
        return ", ".join(texts)
    return f"{_span([min(distinct)])} to {_span([max(distinct)])} ({len(distinct)} values)"


def _value_text(value: Any, grid: Mapping[str, list[Any]]) -> str:
    if is_variable(value):
        return _span(grid[value[1:]])
    return _span(value if isinstance(value, list) else [value])


def _population_text(config: Mapping[str, Any], grid: Mapping[str, list[Any]]) -> str:
    if "users" in config:
        return _value_text(config["users"], grid)
    arguments = ", ".join(f"{k} {_value_text(v, grid)}" for k, v in config.items() if k != "law")
    return f"1 + {config['law']} ({arguments})"


def _facts(file: DrawingFile, cells: pd.DataFrame, results: Results) -> dict[str, str]:
    """What a caption always says: source, data, participants, eps, delta, repeats, accounting, guarantee, trust."""
    experiment = file.experiment
    parts = experiment.parts
    grid = {**experiment.grid, **{k: [v] for k, v in file.where.items() if k in experiment.grid}}
    facts = {"reproduces": f"{file.experiment.source} of the paper"}
    if parts.get("data"):
        sources = sorted({p["data"]["source"] for p in results.provenance.values()} - {"none"})
        column = f", {parts['data']['column']}" if "column" in parts["data"] else ""
        facts["data"] = f"{parts['data']['name']}{column} (source: {', '.join(sources)})"
    if parts.get("population"):
        facts["participants N"] = _population_text(parts["population"], grid)
    if parts.get("budget"):
        budget = parts["budget"]
        facts |= {
            k: _value_text(budget[k], grid) + unit
            for k, unit in (("eps", " nats"), ("delta", ""))
            if k in budget
        }
        if "delta_times_users" in budget:
            facts["delta"] = f"{_value_text(budget['delta_times_users'], grid)} / N"
    if parts.get("task"):
        target = (
            "the participants' own"
            if parts["task"].get("truth", "participants") == "participants"
            else "the population's"
        )
        facts["error against"] = f"{target} values"
        simulated = (
            cells["cell"].isin(results.values.loc[results.values["kind"] == "simulated", "cell"]).any()
        )
        facts["repeats"] = str(experiment.repeats) if simulated else "none: only closed forms are shown"
    facts["accounting"] = ", ".join(a for a in _orders(file)["accounting"] if a in set(cells["accounting"]))
    reductions = sorted({r for r in cells["reduction"] if isinstance(r, str)})
    if reductions:
        facts["reduction"] = ", ".join(reductions)
    facts |= guarantee_facts(cells, _names(file, cells), _orders(file)["accounting"])
    runs = _runs(file)
    if runs:
        facts["training"] = "; ".join(run.described() for run in runs)
        sources = sorted({p["data"]["source"] for p in results.provenance.values()} - {"none"})
        facts["data of the training"] = f"source: {', '.join(sources)}" if sources else "no training"
    best = _highest_accuracy(file, results) if file.entry.get("y") in TRAINED_METRICS else None
    if best:
        facts["highest accuracy"] = best
    for name, why in experiment.assumed.items():
        facts[f"assumed {name}"] = why
    return facts


def _runs(file: DrawingFile) -> list[TrainingRun]:
    """The training runs behind a drawing."""
    experiment = file.experiment
    named = {experiment.methods[m].training for m in file.entry["methods"]}
    return list({run.id: run for run in experiment.rounds.values() if run.id in named}.values())


def _highest_accuracy(file: DrawingFile, results: Results) -> str | None:
    """Of all evaluated rounds of a drawing's training runs, in words; the earliest where several are equal."""
    summary, found = results.summary(), []
    for run in _runs(file):
        methods = [m for m, method in file.experiment.methods.items() if method.training == run.id]
        rows = summary[summary["metric"].isin(TRAINED_METRICS) & summary["method"].isin(methods)]
        round_ = next(v for v, other in file.experiment.rounds.items() if other.id == run.id)
        if not rows.empty:
            best = rows.sort_values(["mean", round_], ascending=[False, True]).iloc[0]
            found.append(f"{100 * best['mean']:.2f} % after {int(best[round_]):,} rounds")
    return "; ".join(found) or None


def _note(results: Results) -> str:
    notes = {p["data"]["note"] for p in results.provenance.values() if p["data"]["note"]}
    return " ".join(sorted(notes))


def _prose(path: Path, file: DrawingFile, facts: Mapping[str, str]) -> str:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(path.read_text(encoding="utf-8"))
    return template.render(where=file.where, facts=facts).strip() + "\n"


def _report_caption(prose: str, facts: Mapping[str, str], note: str) -> str:
    warning = f".. warning::\n   {_plain_rst(note)}\n\n" if note else ""
    fields = (f":{_plain_rst(key)}: {_plain_rst(value)}\n" for key, value in facts.items())
    return f"{prose}\n{warning}" + "".join(fields)


def _plain_rst(text: str) -> str:
    """Text that reStructuredText shows as it stands, on one line."""
    return re.sub(r"([\\*`|_:<>-])", r"\\\1", " ".join(text.split()))


def _alt(file: DrawingFile) -> str:
    entry = file.entry
    if file.kind == "table":
        return f"Table: {file.title()}"
    across = f", one panel per {entry['panels']}" if "panels" in entry else ""
    return f"{file.title()}: {entry['y']} against {entry['x']}{across}, one curve per {entry.get('curves', 'method')}"


def _gaps(cells: pd.DataFrame, names: Mapping[str, str]) -> list[str]:
    gaps = cells[cells["status"] != "ok"]
    return [
        f"{names[str(row.method)]} ({row.accounting}) at {row.point}: {row.reason}"
        for row in gaps.itertuples()
    ]


def _manifest(
    paper: Paper, settings: Settings, entries: list[dict[str, Any]], results: Iterable[Results]
) -> bytes:
    commits = sorted({str(p["commit"]) for r in results for p in r.provenance.values()})
    manifest = {
        "paper": {"key": paper.key, "title": paper.title, "citation": paper.citation, "doi": paper.doi},
        "run": {
            "version": shuffledp.__version__,
            "commit": ", ".join(c for c in commits if c),
            "python": platform.python_version(),
            "seed": settings.seed,
            "scale": "shortened" if paper.key in settings.shortened else "paper",
        },
        "entries": entries,
    }
    return (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode()
