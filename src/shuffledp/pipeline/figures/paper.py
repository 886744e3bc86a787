"""Drawing of jobs (`shuffledp.pipeline.figures.drawings`): figures, tables, captions and the manifest."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd

from shuffledp.pipeline.experiments.bundle import CELL_TEXTS
from shuffledp.pipeline.experiments.results import (
    IN_DOUBT,
    PARAMETER_PREFIX,
    TRAINED_METRICS,
    Bundle,
    Results,
    read,
)
from shuffledp.pipeline.figures import spotlight
from shuffledp.pipeline.figures.captions import (
    ClaimRows,
    Numbers,
    finding,
    how_drawn,
    plain_caption,
    render,
)
from shuffledp.pipeline.figures.curves import draw
from shuffledp.pipeline.figures.drawing_jobs import BOTH, ClaimTableJob, DrawingJob, Fields, PaperJob
from shuffledp.pipeline.figures.drawn_curves import repeats_behind_bars
from shuffledp.pipeline.figures.drawn_tables import as_leaderboard, as_table, in_three_forms, stated
from shuffledp.pipeline.figures.files import table_of_texts
from shuffledp.pipeline.figures.gaps import gaps
from shuffledp.pipeline.figures.guarantee_words import guarantee_facts
from shuffledp.pipeline.figures.leaderboard import leaderboard, ranked
from shuffledp.pipeline.figures.pareto import pareto
from shuffledp.pipeline.figures.picture import Made, Picture, chart as chart_of
from shuffledp.pipeline.figures.selected_rows import (
    chosen,
    in_unit,
    matching,
    names,
    numbers_of,
    of_both,
    orders,
    picture,
)
from shuffledp.pipeline.figures.store import Drawn, Store, digest_of, folder_of, forget_others, keep, kept
from shuffledp.pipeline.figures.style import column_style, figure_style, rendered
from shuffledp.pipeline.jobs import source
from shuffledp.pipeline.manifest import CHECKSUMS, MANIFEST, Chart, DrawnPaper, ManifestEntry, run_of
from shuffledp.storage import listed, publish, verified, write_atomically

log = logging.getLogger(__name__)
#: Marks of pictures whose data are not the real data, by the source of the data.
MARKS = {"stand_in": "stand-in data", "summary": "data rebuilt from summaries"}


def draw_all(jobs: Sequence[DrawingJob | ClaimTableJob], store: Store | None = None) -> list[Drawn]:
    """Return the drawings of jobs, in the same order."""
    reader = cache(_read)
    return [_drawn_or_kept(job, store, reader) for job in jobs]


def draw_paper(job: PaperJob, store: Store | None = None) -> dict[Path, bytes]:
    """Return the files of a paper by final path: figures, tables, captions and the manifest."""
    drawings = draw_all(job["drawings"], store)
    if store is not None:
        forget_others(store.folder, [drawing["id"] for drawing in job["drawings"]])
    folder = _folder(job["results"], job["paper"]["key"])
    return _contents(folder, drawings) | {folder / MANIFEST: _manifest(job, drawings)}


def publish_paper(job: PaperJob, code: str) -> None:
    """Draw a paper, reuse stored drawings that are up to date, and write all files with their checksums."""
    key = job["paper"]["key"]
    contents = draw_paper(job, Store(folder_of(Path(job["results"]), key), code))
    publish(_folder(job["results"], key) / CHECKSUMS, contents, folders=2)


def write_drawings(jobs: Sequence[DrawingJob], code: str) -> None:
    """Draw some figures and tables of a paper and write their files; the paper's job publishes them."""
    results, key = jobs[0]["results"], jobs[0]["paper"]
    drawings = draw_all(jobs, Store(folder_of(Path(results), key), code))
    for path, content in _contents(_folder(results, key), drawings).items():
        write_atomically(path, content)


def _folder(results: str, paper: str) -> Path:
    return Path(results) / "figures" / paper


def _contents(folder: Path, drawings: Iterable[Drawn]) -> dict[Path, bytes]:
    return {folder / name: content for drawing in drawings for name, content in drawing.files.items()}


@dataclass(frozen=True)
class _Read:
    """Results of some methods of an experiment with their summary, shared by drawings."""

    results: Results
    summary: pd.DataFrame
    simulated: frozenset[str]


#: Folder of the results, paper, experiment and methods.
_Setup = tuple[str, str, str, tuple[str, ...]]
_Reader = Callable[[_Setup], _Read]


def _setup(job: DrawingJob) -> _Setup:
    return job["results"], job["paper"], job["experiment"], tuple(job["entry"]["methods"])


def _bundles(setup: _Setup) -> dict[str, Bundle]:
    results, paper, experiment, methods = setup
    return {m: Bundle.locate(Path(results), paper, experiment, m) for m in methods}


def _read(setup: _Setup) -> _Read:
    results = read(_bundles(setup))
    behind = repeats_behind_bars(results.values)
    summary = results.summary().merge(behind, on=["cell", "metric", "kind"], how="left")
    return _Read(results, summary, frozenset(summary.loc[summary["kind"] == "simulated", "cell"]))


def _inputs(job: DrawingJob | ClaimTableJob) -> dict[str, str]:
    """Return the checksums of a drawing's input files, after verification."""
    if job["kind"] == "claims":
        table = Path(job["table"])
        pairs = [(table, table.with_suffix(".sha256"))]
    else:
        pairs = [
            (p, b.checksum) for b in _bundles(_setup(job)).values() for p in (b.cells, b.values, b.provenance)
        ]
        if job["points"]:
            table = Path(job["points"]["table"])
            pairs.append((table, table.with_suffix(".sha256")))
    sums = {path.as_posix(): listed(checksum)[verified(path, checksum)] for path, checksum in pairs}
    if job["caption"]:
        sums[job["caption"]] = source(job["caption"]).read_text(encoding="utf-8")
    return sums


def _drawn_or_kept(job: DrawingJob | ClaimTableJob, store: Store | None, reader: _Reader) -> Drawn:
    digest = "" if store is None else digest_of(job, _inputs(job), store.code)
    stored = None if store is None else kept(store.folder, job["id"], digest)
    if stored is not None:
        return stored
    log.info("%s.%s", job["paper"], job["id"])
    drawing = _claims(job) if job["kind"] == "claims" else _drawing(job, reader(_setup(job)))
    if store is not None:
        keep(store.folder, job, digest, drawing)
    return drawing


def _drawing(job: DrawingJob, inputs: _Read) -> Drawn:
    cells = chosen(inputs.results.cells, job["where"])
    facts = _facts(job, cells, inputs)
    chart: Chart | None = None
    without: Sequence[str] = ()
    questions = {
        **_numbers(job, inputs).questions(),
        "called": names(job, cells),
        "controls": job["entry"].get("controls", []),
        "trusting": partial(_trusting, cells, job["entry"]["methods"]),
    }
    if job["kind"] == "figure":
        made = _made(job, inputs)
        chart = made.chart
        files = _rendered(job, made)
        questions |= made.questions
        without = made.without
    else:
        summary = matching(inputs.summary, job["where"])
        labels = names(job, cells)
        if "entries" in job["entry"]:
            texts = as_leaderboard(
                job["entry"], *leaderboard(job["entry"], cells, summary, labels), *_in_tex(job)
            )
            questions["ranked"] = partial(ranked, job["entry"], cells, summary)
        else:
            texts = as_table(job["entry"], cells, summary, orders(job), labels, *_in_tex(job))
        files = {f"{job['id']}.{end}": text.encode() for end, text in texts.items()}
    prose = _prose(job, facts, questions)
    entry = _entry(
        job,
        prose,
        facts,
        note=_note(job, inputs.results),
        infeasible=(*gaps(cells, names(job, cells), orders(job)), *without),
        chart=chart,
        protocols=tuple(sorted({name for name in cells["protocol"].dropna() if name})),
    )
    commits = sorted({str(p["commit"]) for p in inputs.results.provenance.values()})
    return _drawn(entry, files, prose, commits)


def _trained(job: DrawingJob, summary: pd.DataFrame) -> bool:
    """Return whether a run has the accuracies that a figure draws; True for a figure of another quantity."""
    y = job["entry"].get("y")
    return y not in TRAINED_METRICS or bool((summary["metric"] == y).any())


def _along(job: DrawingJob) -> DrawingJob:
    """Return the job of the picture without training: the figure's x by the round along its curves."""
    entry = job["entry"]
    axes = {"x": entry["along"], "x_label": entry["along"], "x_scale": "linear"}
    axes |= {
        "y": entry["x"],
        "y_label": entry.get("x_label", entry["x"]),
        "y_scale": entry.get("x_scale", "linear"),
    }
    rest = {name: value for name, value in entry.items() if name != "along"}
    return {**job, "entry": {**rest, **axes}}


def _in_tex(job: DrawingJob | ClaimTableJob) -> tuple[str, str]:
    """Return the title of a table and its label in LaTeX."""
    return job["title"], f"{job['paper']}:{job['id']}"


def _without_parameter(job: DrawingJob, cells: pd.DataFrame, what: Picture) -> list[str]:
    """Return a note on computed methods without a curve, whose ``parameters()`` lack the drawn number."""
    parameter = str(job["entry"]["y"]).removeprefix(PARAMETER_PREFIX)
    if parameter == job["entry"]["y"]:
        return []
    computed = set(cells.loc[cells["status"] == "ok", "method"]) - set(what.selection["method"])
    named = [name for method, name in names(job, cells).items() if method in computed]
    return [f"{'; '.join(named)}: parameters() has no {parameter!r}"] if named else []


def _curves(job: DrawingJob, cells: pd.DataFrame, summary: pd.DataFrame, mark: str) -> Made:
    what = picture(job, cells, summary, mark)
    without = _without_parameter(job, matching(cells, job["where"]), what)
    words = how_drawn(
        both=what.ratios,
        simulated=bool(what.points_with_bars),
        closed=all(strand.kind != "simulated" for strand in what.lines),
    )
    by_method = job["entry"].get("kind") == "methods"
    make = partial(spotlight.draw if by_method else draw, what)
    return Made(make, numbers_of(job, what), chart_of(what), without, questions={"how_drawn": words})


#: Function that draws the pictures of each kind.
KINDS: Mapping[str, Callable[[DrawingJob, pd.DataFrame, pd.DataFrame, str], Made]] = {
    "curves": _curves,
    "methods": _curves,
    "pareto": pareto,
}


def _made(job: DrawingJob, inputs: _Read) -> Made:
    in_picture = job if _trained(job, inputs.summary) else _along(job)
    make = KINDS[job["entry"].get("kind", "curves")]
    return make(in_picture, inputs.results.cells, inputs.summary, _mark(job, inputs.results))


def _rendered(job: DrawingJob, made: Made) -> dict[str, bytes]:
    with figure_style():
        figure = made.draw()
        files = {f"{job['id']}.{end}": rendered(figure, end) for end in job["formats"] if end != "csv"}
    return files | {f"{job['id']}.csv": made.numbers}


def in_column(job: DrawingJob) -> bytes:
    """Return a picture as PDF in the width and fonts of a two-column paper."""
    made = _made(job, _read(_setup(job)))
    with column_style():
        return rendered(made.draw(), "pdf")


def _claims(job: ClaimTableJob) -> Drawn:
    """Return a table of the claims package: errata or reading notes with witnesses, or a checked table."""
    frame = table_of_texts(Path(job["table"]))
    facts = {
        **job["facts"],
        **stated(frame),
        "rows": str(len(frame)),
        "numbers": "computed in this run by shuffledp.pipeline.claims",
    }
    files = {
        f"{job['id']}.{end}": text.encode() for end, text in in_three_forms(frame, *_in_tex(job)).items()
    }
    prose = _prose(job, facts, ClaimRows(frame).questions())
    return _drawn(_entry(job, prose, facts), files, prose)


def _drawn(
    entry: ManifestEntry, files: Mapping[str, bytes], prose: str, commits: Sequence[str] = ()
) -> Drawn:
    return Drawn(entry, {**files, str(entry.caption): prose.encode()}, tuple(commits))


def _entry(
    job: DrawingJob | ClaimTableJob, prose: str, facts: Mapping[str, str], **fields: Any
) -> ManifestEntry:
    both = job["kind"] == "figure" and of_both(job)
    return ManifestEntry(
        id=job["id"],
        drawing=job["name"],
        variant=BOTH if both else "",
        by="accounting" if both else "",
        finding=finding(prose),
        kind="figure" if job["kind"] == "figure" else "table",
        title=job["title"],
        alt=job["alt"],
        caption=Path(f"{job['id']}.rst"),
        files={end: Path(f"{job['id']}.{end}") for end in job["formats"]},
        settings=tuple(facts.items()),
        board=_board(job),
        **fields,
    )


def _board(job: DrawingJob | ClaimTableJob) -> str:
    """Return the heading of the column of trusted parties in a leaderboard; empty for all other drawings."""
    entries = () if job["kind"] == "claims" else job["entry"].get("entries", ())
    return next((str(e["heading"]) for e in entries if e["value"] == "trust"), "")


# -- captions ----------------------------------------------------------------------------------------------------


def _facts(job: DrawingJob, cells: pd.DataFrame, inputs: _Read) -> dict[str, str]:
    """Return a caption's facts: source, data, participants, eps, delta, repeats, accounting, guarantee, trust."""
    facts = dict(job["facts"])
    sources = ", ".join(sorted({p["data"]["source"] for p in inputs.results.provenance.values()} - {"none"}))
    if "data" in facts:
        facts["data"] += f" (source: {sources})"
    if "error against" in facts:
        facts["repeats"] = _repeats(job, cells, inputs)
    facts["accounting"] = ", ".join(a for a in job["accountings"] if a in set(cells["accounting"]))
    reductions = sorted({r for r in cells["reduction"] if isinstance(r, str)})
    if reductions:
        facts["reduction"] = ", ".join(reductions)
    facts |= guarantee_facts(cells, names(job, cells), orders(job)["accounting"])
    if job["training"]:
        facts["training"] = "; ".join(run["described"] for run in job["training"])
        facts["data of the training"] = f"source: {sources}" if sources else "no training"
    best = _highest_accuracy(job, inputs.summary) if job["entry"].get("y") in TRAINED_METRICS else None
    if best:
        facts["highest accuracy"] = best
    return facts | {f"assumed {name}": why for name, why in job["assumed"].items()}


def _repeats(job: DrawingJob, cells: pd.DataFrame, inputs: _Read) -> str:
    if inputs.simulated.isdisjoint(cells["cell"]):
        return "none: only closed forms are shown"
    where = ", ".join(
        f"{name} = {' or '.join(map(str, values))}" for name, values in job["simulated_at"].items()
    )
    return f"{job['repeats']} where {where}, elsewhere closed forms alone" if where else str(job["repeats"])


def _highest_accuracy(job: DrawingJob, summary: pd.DataFrame) -> str | None:
    """Return text on the highest accuracy of each training run in a drawing, at the earliest round that reaches it."""
    texts = []
    for run in job["training"]:
        rows = summary[summary["metric"].isin(TRAINED_METRICS) & summary["method"].isin(run["methods"])]
        if not rows.empty:
            best = rows.sort_values(["mean", run["round"]], ascending=[False, True]).iloc[0]
            texts.append(f"{100 * best['mean']:.2f} % after {int(best[run['round']]):,} rounds")
    return "; ".join(texts) or None


def _tabled(entry: Fields) -> str:
    """Return the quantity of a table for its caption; for a leaderboard, the quantity that orders the rows."""
    if "value" in entry:
        return str(entry["value"])
    ordering = [e["value"] for h in entry["order"] for e in entry["entries"] if e["heading"] == h]
    return next(str(value) for value in ordering if value not in CELL_TEXTS)


def _about_the_data(job: DrawingJob, results: Results) -> list[Fields]:
    """Return the provenance of the drawn numbers' data; training data matter only for the accuracy."""
    quantity = _tabled(job["entry"]) if job["kind"] == "table" else job["entry"]["y"]
    trained = {m for run in job["training"] for m in run["methods"]}
    left_out = frozenset() if quantity in TRAINED_METRICS else trained
    return [about["data"] for method, about in results.provenance.items() if method not in left_out]


def _note(job: DrawingJob, results: Results) -> str:
    return " ".join(sorted({about["note"] for about in _about_the_data(job, results) if about["note"]}))


def _mark(job: DrawingJob, results: Results) -> str:
    sources = {about["source"] for about in _about_the_data(job, results) if about["note"]}
    return ", ".join(mark for source, mark in MARKS.items() if source in sources)


def _numbers(job: DrawingJob, inputs: _Read) -> Numbers:
    """Return the numbers for the caption, under all accountings for a picture with printed and exact curves.

    For curves along a variable the numbers are x, such as eps by round, as all curves have the y of one training run.
    """
    entry = job["entry"]
    cells = chosen(inputs.results.cells, {k: v for k, v in job["where"].items() if v != BOTH})
    summary = in_unit(inputs.summary[inputs.summary["cell"].isin(cells["cell"])], entry.get("unit"))
    quantity = _tabled(entry) if job["kind"] == "table" else entry["x" if "along" in entry else "y"]
    where = job["where"]
    if entry.get("kind") == "pareto":  # a method has one accounting
        cells, summary, where = cells.drop(columns="accounting"), summary.drop(columns="accounting"), {}
    return Numbers.of(cells, summary, quantity, entry["methods"], list(job["grid"]), where)


def _trusting(cells: pd.DataFrame, methods: Sequence[str], accounting: str, *trust: str) -> list[str]:
    """Return the methods with one of these trusted parties, with numbers and no doubtful claim under an accounting."""
    rows = cells[(cells["status"] == "ok") & (cells["accounting"] == accounting) & cells["trust"].isin(trust)]
    with_numbers, doubted = set(rows["method"]), set(rows.loc[rows["guarantee"].isin(IN_DOUBT), "method"])
    return [m for m in methods if m in with_numbers - doubted]


def _prose(job: DrawingJob | ClaimTableJob, facts: Mapping[str, str], questions: Fields) -> str:
    if not job["caption"]:
        return plain_caption(job["title"], facts)
    names = {
        "where": {} if job["kind"] == "claims" else job["where"],
        "facts": facts,
        "scale": job["scale"],
        **questions,
    }
    return render(source(job["caption"]), names)


def _manifest(job: PaperJob, drawings: Sequence[Drawn]) -> bytes:
    run = run_of((commit for drawing in drawings for commit in drawing.commits), job["run"])
    return DrawnPaper(**job["paper"], run=run, entries=tuple(drawing.entry for drawing in drawings)).to_json()
