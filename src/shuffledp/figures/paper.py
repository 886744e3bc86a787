"""Draws what a job describes: reads results, makes every figure and table with caption, and the manifest.

A job is plain data (`shuffledp.figures.drawings`); no configuration is read here.
"""

from __future__ import annotations

import json
import logging
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

import shuffledp
from shuffledp.experiments.results import TRAINED_METRICS, Bundle, Results, read
from shuffledp.figures.captions import ClaimRows, Numbers, render
from shuffledp.figures.guarantees import doubts, guarantee_facts
from shuffledp.figures.plotter import Picture, draw, long_form
from shuffledp.figures.store import Drawn, Store, digest_of, folder_of, forget_others, keep, kept
from shuffledp.figures.style import figure_style, rendered
from shuffledp.figures.tables import as_table, in_three_forms, stated
from shuffledp.storage import listed, publish, verified, write_atomically

log = logging.getLogger(__name__)
Job = Mapping[str, Any]


def draw_all(jobs: Sequence[Job], store: Store | None = None) -> list[Drawn]:
    """Drawings by their jobs.

    Parameters
    ----------
    jobs : sequence of mapping
        As `Drawing.job` and `ClaimTable.job` make them.
    store : Store, optional
        Where drawings are kept (see `shuffledp.figures.store`); those that are up to date are taken from
        there, the others are drawn and put there. Without it everything is drawn.

    Raises
    ------
    IntegrityError
        If an input file does not match its checksum, naming it and the command that rebuilds it.
    """
    reader = _Reader()
    return [_drawn_or_kept(job, store, reader) for job in jobs]


def draw_paper(job: Job, store: Store | None = None) -> dict[Path, bytes]:
    """Contents of the files of a paper: figures, tables, captions and the manifest, by final path.

    ``job`` is as `paper_job` makes it, ``store`` as in `draw_all`.
    """
    drawn = draw_all(job["drawings"], store)
    if store is not None:
        forget_others(store.folder, [drawing["id"] for drawing in job["drawings"]])
    folder = _folder(job["results"], job["paper"]["key"])
    return _contents(folder, drawn) | {folder / "manifest.json": _manifest(job, drawn)}


def publish_paper(job: Job, code: str) -> None:
    """Draw a paper and write all files of it with their checksum list; what is kept and up to date is not drawn.

    ``code`` is a digest of the code that draws.
    """
    key = job["paper"]["key"]
    contents = draw_paper(job, Store(folder_of(Path(job["results"]), key), code))
    publish(_folder(job["results"], key) / "figures.sha256", contents)


def write_drawings(jobs: Sequence[Job], code: str) -> None:
    """Draw some figures and tables of a paper and write their files, which the paper's own job then publishes."""
    results, key = jobs[0]["results"], jobs[0]["paper"]
    drawn = draw_all(jobs, Store(folder_of(Path(results), key), code))
    for path, content in _contents(_folder(results, key), drawn).items():
        write_atomically(path, content)


def _folder(results: str, paper: str) -> Path:
    return Path(results) / "figures" / paper


def _contents(folder: Path, drawn: Iterable[Drawn]) -> dict[Path, bytes]:
    return {folder / name: content for one in drawn for name, content in one.files.items()}


class _Reader:
    """Results by experiment and methods, read once; several drawings often show the same."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, ...], Results] = {}

    def __call__(self, job: Job) -> Results:
        key = (job["results"], job["paper"], job["experiment"], *job["entry"]["methods"])
        if key not in self._read:
            self._read[key] = read(_bundles(job))
        return self._read[key]


def _bundles(job: Job) -> dict[str, Bundle]:
    results, methods = Path(job["results"]), job["entry"]["methods"]
    return {m: Bundle.of(results, job["paper"], job["experiment"], m) for m in methods}


def _inputs(job: Job) -> dict[str, str]:
    """Checksums of the files that a drawing reads, each verified."""
    if job["kind"] == "claims":
        table = Path(job["table"])
        pairs = [(table, table.with_suffix(".sha256"))]
    else:
        pairs = [(p, b.checksum) for b in _bundles(job).values() for p in (b.cells, b.values, b.provenance)]
    sums = {path.as_posix(): listed(checksum)[verified(path, checksum)] for path, checksum in pairs}
    return {**sums, job["caption"]: Path(job["caption"]).read_text(encoding="utf-8")}


def _drawn_or_kept(job: Job, store: Store | None, reader: _Reader) -> Drawn:
    digest = "" if store is None else digest_of(job, _inputs(job), store.code)
    found = None if store is None else kept(store.folder, job["id"], digest)
    if found is not None:
        return found
    log.info("%s.%s", job["paper"], job["id"])
    drawn = _claims(job) if job["kind"] == "claims" else _drawing(job, reader(job))
    if store is not None:
        keep(store.folder, job["id"], digest, drawn)
    return drawn


def _drawing(job: Job, results: Results) -> Drawn:
    cells = _matching(results.cells, job["where"])
    summary = _matching(results.summary(), job["where"])
    note = _note(results)
    facts = _facts(job, cells, results)
    if job["kind"] == "figure":
        files = _figure(job, cells, summary, note)
    else:
        texts = as_table(job["entry"], cells, summary, _orders(job), _names(job, cells))
        files = {f"{job['id']}.{end}": text.encode() for end, text in texts.items()}
    prose = _prose(job, facts, _numbers(job, results).questions())
    commits = sorted({str(p["commit"]) for p in results.provenance.values()})
    return _finished(job, files, prose, facts, note, _gaps(cells, _names(job, cells)), commits)


def _claims(job: Job) -> Drawn:
    """A table that the claims package computed: errata or reading notes with witnesses, or a checked table."""
    table = Path(job["table"])
    frame = pd.read_csv(verified(table, table.with_suffix(".sha256")), dtype=str, keep_default_na=False)
    facts = {
        **job["facts"],
        **stated(frame),
        "rows": str(len(frame)),
        "numbers": "computed in this run by shuffledp.claims",
    }
    files = {f"{job['id']}.{end}": text.encode() for end, text in in_three_forms(frame).items()}
    return _finished(job, files, _prose(job, facts, ClaimRows(frame).questions()), facts)


def _finished(
    job: Job,
    files: Mapping[str, bytes],
    prose: str,
    facts: Mapping[str, str],
    note: str = "",
    gaps: Sequence[str] = (),
    commits: Sequence[str] = (),
) -> Drawn:
    """A drawing with its captions and its entry in the manifest."""
    captions = {
        f"{job['id']}.rst": prose.encode(),
        f"{job['id']}.report.rst": _report_caption(prose, facts, note).encode(),
    }
    entry = {
        "id": job["id"],
        "drawing": job["name"],
        "kind": "figure" if job["kind"] == "figure" else "table",
        "title": job["title"],
        "alt": job["alt"],
        "caption": f"{job['id']}.rst",
        "files": {end: f"{job['id']}.{end}" for end in job["formats"]},
        "settings": [[k, v] for k, v in facts.items()],
        "note": note,
        "infeasible": list(gaps),
    }
    return Drawn(entry, {**files, **captions}, tuple(commits))


def _matching(frame: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    """Rows that agree with all conditions; a method that does not depend on a variable agrees with any value."""
    for column, value in where.items():
        if column in frame:
            frame = frame[(frame[column] == value) | frame[column].isna()]
    return frame


def _figure(job: Job, cells: pd.DataFrame, summary: pd.DataFrame, note: str) -> dict[str, bytes]:
    entry = job["entry"]
    curves = entry.get("curves", "method")
    selection = _with_curves(long_form(cells, summary, entry["y"]), curves)
    gaps = _with_curves(cells[cells["status"] != "ok"], curves)
    drawn = pd.concat([selection[["method", "curve"]], gaps[["method", "curve"]]])
    labels = _legend_labels(job, cells, drawn, curves)
    in_doubt = doubts(_with_curves(cells, curves), _orders(job)["accounting"])
    labels = {
        curve: f"{text} ({in_doubt[curve]})" if curve in in_doubt else text for curve, text in labels.items()
    }
    picture = Picture(
        entry, selection, gaps, labels, job["title"], note, job["grid"], job["siblings"], job["looks"]
    )
    with figure_style():
        figure = draw(picture)
        files = {f"{job['id']}.{end}": rendered(figure, end) for end in job["formats"] if end != "csv"}
    return files | {f"{job['id']}.csv": _drawn_numbers(job, selection)}


def _with_curves(frame: pd.DataFrame, curves: str) -> pd.DataFrame:
    """With a column that names each row's curve; a method that does not depend on the variable has one curve."""
    if curves == "method" or curves not in frame:
        return frame.assign(curve=frame["method"])
    value = frame[curves].map(lambda v: "" if pd.isna(v) else f"|{v}")
    return frame.assign(curve=frame["method"] + value.astype(str))


def _orders(job: Job) -> dict[str, list[Any]]:
    """Values of every axis in the order of the configuration; methods in the order of the figure."""
    return {**job["grid"], "accounting": job["accountings"], "method": job["entry"]["methods"]}


def _names(job: Job, cells: pd.DataFrame) -> dict[str, str]:
    """Legend name per method; where several would have the same, the method's id tells them apart."""
    labels = dict(zip(cells["method"], cells["label"], strict=True))
    names = {m: label or str(labels.get(m) or m) for m, label in job["labels"].items()}
    shared = [name for name in names.values() if list(names.values()).count(name) > 1]
    return {m: f"{name} ({m})" if name in shared else name for m, name in names.items()}


def _legend_labels(job: Job, cells: pd.DataFrame, frame: pd.DataFrame, curves: str) -> dict[str, str]:
    """Legend texts by curve: methods in the figure's order, then values in the grid's."""
    present = set(frame["curve"])
    several = frame["method"].nunique() > 1
    labels: dict[str, str] = {}
    for method, name in _names(job, cells).items():
        values = [] if curves == "method" else _orders(job)[curves]
        texts = {method: name} | {
            f"{method}|{v}": f"{name}, {curves} {v}" if several else f"{curves} {v}" for v in values
        }
        labels |= {curve: text for curve, text in texts.items() if curve in present}
    return labels


def _drawn_numbers(job: Job, selection: pd.DataFrame) -> bytes:
    variables = [v for v in job["grid"] if v in selection]
    across = [job["entry"]["x"]] if "along" in job["entry"] else []  # a number of the cells
    columns = ["method", "accounting", *variables, *across]
    columns += ["kind", "mean", "standard_error", "count", "data_source"]
    ordered = selection.sort_values(["method", "accounting", *variables, "kind"], kind="stable")
    shown = ordered[columns].rename(columns={"mean": job["entry"]["y"]})
    return shown.to_csv(index=False, float_format="%.10g", lineterminator="\n").encode()


# -- captions ----------------------------------------------------------------------------------------------------


def _facts(job: Job, cells: pd.DataFrame, results: Results) -> dict[str, str]:
    """What a caption always says: source, data, participants, eps, delta, repeats, accounting, guarantee, trust."""
    facts = dict(job["facts"])
    if "data" in facts:
        sources = sorted({p["data"]["source"] for p in results.provenance.values()} - {"none"})
        facts["data"] += f" (source: {', '.join(sources)})"
    if "error against" in facts:
        simulated = (
            cells["cell"].isin(results.values.loc[results.values["kind"] == "simulated", "cell"]).any()
        )
        facts["repeats"] = str(job["repeats"]) if simulated else "none: only closed forms are shown"
    facts["accounting"] = ", ".join(a for a in job["accountings"] if a in set(cells["accounting"]))
    reductions = sorted({r for r in cells["reduction"] if isinstance(r, str)})
    if reductions:
        facts["reduction"] = ", ".join(reductions)
    facts |= guarantee_facts(cells, _names(job, cells), _orders(job)["accounting"])
    if job["training"]:
        facts["training"] = "; ".join(run["described"] for run in job["training"])
        sources = sorted({p["data"]["source"] for p in results.provenance.values()} - {"none"})
        facts["data of the training"] = f"source: {', '.join(sources)}" if sources else "no training"
    best = _highest_accuracy(job, results) if job["entry"].get("y") in TRAINED_METRICS else None
    if best:
        facts["highest accuracy"] = best
    for name, why in job["assumed"].items():
        facts[f"assumed {name}"] = why
    return facts


def _highest_accuracy(job: Job, results: Results) -> str | None:
    """Of all evaluated rounds of a drawing's training runs, in words; the earliest where several are equal."""
    summary, found = results.summary(), []
    for run in job["training"]:
        rows = summary[summary["metric"].isin(TRAINED_METRICS) & summary["method"].isin(run["methods"])]
        if not rows.empty:
            best = rows.sort_values(["mean", run["round"]], ascending=[False, True]).iloc[0]
            found.append(f"{100 * best['mean']:.2f} % after {int(best[run['round']]):,} rounds")
    return "; ".join(found) or None


def _note(results: Results) -> str:
    notes = {p["data"]["note"] for p in results.provenance.values() if p["data"]["note"]}
    return " ".join(sorted(notes))


def _numbers(job: Job, results: Results) -> Numbers:
    """What the caption can ask: the numbers of all files of the drawing, of which those of this file come first.

    Of curves along a variable these are their x, such as eps by round: they share the y of one training run.
    """
    entry = job["entry"]
    by = entry.get("files")
    common = {name: value for name, value in job["where"].items() if name != by}
    cells, summary = _matching(results.cells, common), _matching(results.summary(), common)
    quantity = entry["value"] if job["kind"] == "table" else entry["x" if "along" in entry else "y"]
    return Numbers.of(cells, summary, quantity, entry["methods"], list(job["grid"]), job["where"])


def _prose(job: Job, facts: Mapping[str, str], questions: Mapping[str, Any]) -> str:
    names = {"where": job.get("where", {}), "facts": facts, "scale": job["scale"], **questions}
    return render(Path(job["caption"]), names)


def _report_caption(prose: str, facts: Mapping[str, str], note: str) -> str:
    warning = f".. warning::\n   {_plain_rst(note)}\n\n" if note else ""
    fields = (f":{_plain_rst(key)}: {_plain_rst(value)}\n" for key, value in facts.items())
    return f"{prose}\n{warning}" + "".join(fields)


def _plain_rst(text: str) -> str:
    """Text that reStructuredText shows as it stands, on one line."""
    return re.sub(r"([\\*`|_:<>-])", r"\\\1", " ".join(text.split()))


def _gaps(cells: pd.DataFrame, names: Mapping[str, str]) -> list[str]:
    gaps = cells[cells["status"] != "ok"]
    return [
        f"{names[str(row.method)]} ({row.accounting}) at {row.point}: {row.reason}"
        for row in gaps.itertuples()
    ]


def _manifest(job: Job, drawn: Sequence[Drawn]) -> bytes:
    commits = sorted({commit for one in drawn for commit in one.commits} - {""})
    manifest = {
        "paper": job["paper"],
        "run": {
            "version": shuffledp.__version__,
            "commit": ", ".join(commits),
            "python": platform.python_version(),
            "seed": job["run"]["seed"],
            "scale": job["run"]["scale"],
        },
        "entries": [one.entry for one in drawn],
    }
    return (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode()
