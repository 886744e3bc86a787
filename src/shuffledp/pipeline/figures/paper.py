"""Drawing of jobs (`shuffledp.pipeline.figures.drawings`): figures, tables, captions and the manifest."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from shuffledp.pipeline.experiments.results import (
    IN_DOUBT,
    PARAMETER_PREFIX,
    TRAINED_METRICS,
    Results,
    read_methods,
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
from shuffledp.pipeline.figures.drawing_jobs import (
    BOTH,
    ClaimTableJob,
    DrawingJob,
    Fields,
    PaperJob,
    figure_folder,
)
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
    orders,
    picture,
)
from shuffledp.pipeline.figures.style import column_style, figure_style, rendered
from shuffledp.pipeline.jobs import source
from shuffledp.pipeline.manifest import CHECKSUMS, DRAWINGS, MANIFEST, DrawnPaper, ManifestEntry, run_of
from shuffledp.storage import publish, write_atomically

log = logging.getLogger(__name__)
#: Marks of pictures whose data are not the real data, by the source of the data.
MARKS = {"stand_in": "stand-in data", "summary": "data rebuilt from summaries"}


@dataclass(frozen=True)
class Drawn:
    """Finished drawing: its entry in the manifest, its files by name, and the commits of its results."""

    entry: ManifestEntry
    files: Mapping[str, bytes]
    commits: tuple[str, ...]


def draw_all(jobs: Sequence[DrawingJob | ClaimTableJob]) -> list[Drawn]:
    """Return the drawings of jobs, in the same order."""
    reader = cache(_read)
    return [_claims(job) if job["kind"] == "claims" else _drawing(job, *reader(*_setup(job))) for job in jobs]


def draw_paper(job: PaperJob) -> dict[Path, bytes]:
    """Return the files of a paper by final path: figures, tables, captions, the manifest, and the drawings' jobs."""
    drawings = draw_all(job["drawings"])
    folder = figure_folder(Path(job["results"]), job["paper"]["key"])
    run = run_of((commit for drawing in drawings for commit in drawing.commits), job["run"])
    paper = DrawnPaper(**job["paper"], run=run, entries=tuple(drawing.entry for drawing in drawings))
    jobs = json.dumps([drawing | {"caption": ""} for drawing in job["drawings"]]).encode()
    return _contents(folder, drawings) | {folder / MANIFEST: paper.to_json(), folder / DRAWINGS: jobs}


def publish_paper(job: PaperJob) -> None:
    """Draw a paper, and write all files with their checksums."""
    folder = figure_folder(Path(job["results"]), job["paper"]["key"])
    publish(folder / CHECKSUMS, draw_paper(job), folders=2)


def write_drawings(jobs: Sequence[DrawingJob]) -> None:
    """Draw some figures and tables of a paper and write their files; the paper's job publishes them."""
    folder = figure_folder(Path(jobs[0]["results"]), jobs[0]["paper"])
    for path, content in _contents(folder, draw_all(jobs)).items():
        write_atomically(path, content)


def _contents(folder: Path, drawings: Iterable[Drawn]) -> dict[Path, bytes]:
    return {folder / name: content for drawing in drawings for name, content in drawing.files.items()}


def _setup(job: DrawingJob) -> tuple[str, str, str, tuple[str, ...]]:
    """Return the folder of the results, the paper, the experiment and the methods of a drawing."""
    return job["results"], job["paper"], job["experiment"], tuple(job["entry"]["methods"])


def _read(folder: str, paper: str, experiment: str, methods: tuple[str, ...]) -> tuple[Results, pd.DataFrame]:
    """Return the results of some methods, and their summary."""
    results = read_methods(Path(folder), paper, experiment, methods)
    behind = repeats_behind_bars(results.values)
    return results, results.summary().merge(behind, on=["cell", "metric", "kind"], how="left")


def _drawing(job: DrawingJob, results: Results, summary: pd.DataFrame) -> Drawn:
    log.info("%s.%s", job["paper"], job["id"])
    entry, labels = job["entry"], names(job, results.cells)
    cells, here = chosen(results.cells, job["where"]), matching(summary, job["where"])
    facts = _facts(job, cells, results, summary)
    questions = {
        **_numbers(job, results.cells, summary).questions(),
        "called": labels,
        "controls": entry.get("controls", []),
        "trusting": partial(_trusting, cells, entry["methods"]),
    }
    made = None
    if job["kind"] == "figure":
        made = _made(job, results, summary)
        files = _rendered(job, made)
        questions |= made.questions
    else:
        if "entries" in entry:
            texts = as_leaderboard(entry, *leaderboard(entry, cells, here, labels), *_in_tex(job))
            questions["ranked"] = partial(ranked, entry, cells, here)
        else:
            texts = as_table(entry, cells, here, orders(job), labels, *_in_tex(job))
        files = {f"{job['id']}.{end}": text.encode() for end, text in texts.items()}
    fields = {
        "note": " ".join(sorted({about["note"] for about in _about_the_data(job, results)})),
        "infeasible": (*gaps(cells, labels, orders(job)), *(made.without if made else ())),
        "chart": made.chart if made else None,
        "board": next((str(e["heading"]) for e in entry.get("entries", ()) if e["value"] == "trust"), ""),
        "protocols": tuple(sorted({name for name in cells["protocol"].dropna() if name})),
    }
    commits = sorted({str(p["commit"]) for p in results.provenance.values()})
    return _drawn(job, facts, questions, files, fields, commits)


def _along(job: DrawingJob) -> DrawingJob:
    """Return the job of the picture without training: the figure's x by the round along its curves."""
    entry = job["entry"]
    axes = {
        "x": entry["along"],
        "x_label": entry["along"],
        "x_scale": "linear",
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
    y = str(job["entry"]["y"])
    without = set(cells.loc[cells["status"] == "ok", "method"]) - set(what.selection["method"])
    named = [name for method, name in names(job, cells).items() if method in without]
    if not named or not y.startswith(PARAMETER_PREFIX):
        return []
    return [f"{'; '.join(named)}: parameters() has no {y.removeprefix(PARAMETER_PREFIX)!r}"]


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


def _made(job: DrawingJob, results: Results, summary: pd.DataFrame) -> Made:
    untrained = job["quantity"] in TRAINED_METRICS and not (summary["metric"] == job["quantity"]).any()
    in_picture = _along(job) if untrained else job
    make = pareto if job["entry"].get("kind") == "pareto" else _curves
    sources = {about["source"] for about in _about_the_data(job, results) if about["note"]}
    mark = ", ".join(mark for source, mark in MARKS.items() if source in sources)
    return make(in_picture, results.cells, summary, mark)


def _rendered(job: DrawingJob, made: Made) -> dict[str, bytes]:
    with figure_style():
        figure = made.draw()
        files = {f"{job['id']}.{end}": rendered(figure, end) for end in job["formats"] if end != "csv"}
    return files | {f"{job['id']}.csv": made.numbers}


def in_column(job: DrawingJob) -> bytes:
    """Return a picture as PDF in the width and fonts of a two-column paper."""
    made = _made(job, *_read(*_setup(job)))
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
    texts = in_three_forms(frame, *_in_tex(job))
    files = {f"{job['id']}.{end}": text.encode() for end, text in texts.items()}
    return _drawn(job, facts, ClaimRows(frame).questions(), files)


def _drawn(
    job: DrawingJob | ClaimTableJob,
    facts: Mapping[str, str],
    questions: Fields,
    files: Mapping[str, bytes],
    fields: Fields = MappingProxyType({}),
    commits: Sequence[str] = (),
) -> Drawn:
    """Return a drawing with its caption and its entry in the manifest."""
    prose, id = _prose(job, facts, questions), job["id"]
    entry = ManifestEntry(
        id=id,
        finding=finding(prose),
        kind="figure" if job["kind"] == "figure" else "table",
        title=job["title"],
        alt=job["alt"],
        caption=Path(f"{id}.rst"),
        files={end: Path(f"{id}.{end}") for end in job["formats"]},
        settings=tuple(facts.items()),
        **fields,
    )
    return Drawn(entry, {**files, str(entry.caption): prose.encode()}, tuple(commits))


# -- captions ----------------------------------------------------------------------------------------------------


def _facts(job: DrawingJob, cells: pd.DataFrame, results: Results, summary: pd.DataFrame) -> dict[str, str]:
    """Return a caption's facts: source, data, participants, eps, delta, repeats, accounting, guarantee, trust."""
    facts = dict(job["facts"])
    sources = ", ".join(sorted({p["data"]["source"] for p in results.provenance.values()} - {"none"}))
    if "data" in facts:
        facts["data"] += f" (source: {sources})"
    if "error against" in facts:
        simulated = summary.loc[summary["kind"] == "simulated", "cell"]
        facts["repeats"] = _repeats(job, any_simulated=bool(cells["cell"].isin(simulated).any()))
    facts["accounting"] = ", ".join(a for a in job["accountings"] if a in set(cells["accounting"]))
    reductions = sorted({r for r in cells["reduction"] if isinstance(r, str)})
    if reductions:
        facts["reduction"] = ", ".join(reductions)
    facts |= guarantee_facts(cells, names(job, cells), orders(job)["accounting"])
    if job["training"]:
        facts["training"] = "; ".join(run["described"] for run in job["training"])
        facts["data of the training"] = f"source: {sources}" if sources else "no training"
    best = _highest_accuracies(job, summary) if job["quantity"] in TRAINED_METRICS else ""
    if best:
        facts["highest accuracy"] = best
    return facts | {f"assumed {name}": why for name, why in job["assumed"].items()}


def _repeats(job: DrawingJob, *, any_simulated: bool) -> str:
    if not any_simulated:
        return "none: only closed forms are shown"
    places = job["simulated_at"].items()
    where = ", ".join(f"{name} = {' or '.join(map(str, values))}" for name, values in places)
    return f"{job['repeats']} where {where}, elsewhere closed forms alone" if where else str(job["repeats"])


def _highest_accuracies(job: DrawingJob, summary: pd.DataFrame) -> str:
    """Return text on the highest accuracy of each training run in a drawing, at the earliest round that reaches it."""
    texts = []
    for run in job["training"]:
        rows = summary[summary["metric"].isin(TRAINED_METRICS) & summary["method"].isin(run["methods"])]
        for _, best in rows.sort_values(["mean", run["round"]], ascending=[False, True]).head(1).iterrows():
            texts.append(f"{100 * best['mean']:.2f} % after {int(best[run['round']]):,} rounds")
    return "; ".join(texts)


def _about_the_data(job: DrawingJob, results: Results) -> list[Fields]:
    """Return the provenance of the drawn numbers' data; training data matter only for the accuracy."""
    trained = {m for run in job["training"] for m in run["methods"]}
    left_out = set() if job["quantity"] in TRAINED_METRICS else trained
    return [about["data"] for method, about in results.provenance.items() if method not in left_out]


def _numbers(job: DrawingJob, cells: pd.DataFrame, summary: pd.DataFrame) -> Numbers:
    """Return the numbers for the caption, under all accountings for a picture with printed and exact curves.

    For curves along a variable the numbers are x, such as eps by round, as all curves have the y of one training run.
    """
    entry, where = job["entry"], job["where"]
    chosen_cells = chosen(cells, {k: v for k, v in where.items() if v != BOTH})
    quantity = entry["x"] if "along" in entry else job["quantity"]
    if entry.get("kind") == "pareto":  # a method has one accounting
        chosen_cells, summary, where = (
            chosen_cells.drop(columns="accounting"),
            summary.drop(columns="accounting"),
            {},
        )
    return Numbers.of(
        chosen_cells,
        in_unit(summary, entry.get("unit")),
        quantity,
        entry["methods"],
        list(job["grid"]),
        where,
    )


def _trusting(cells: pd.DataFrame, methods: Sequence[str], accounting: str, *trust: str) -> list[str]:
    """Return the methods with one of these trusted parties, with numbers and no doubtful claim under an accounting."""
    rows = cells[(cells["status"] == "ok") & (cells["accounting"] == accounting) & cells["trust"].isin(trust)]
    proven = ~rows["guarantee"].isin(IN_DOUBT).groupby(rows["method"]).any()
    return [m for m in methods if proven.get(m, False)]


def _prose(job: DrawingJob | ClaimTableJob, facts: Mapping[str, str], questions: Fields) -> str:
    if not job["caption"]:
        return plain_caption(job["title"], facts)
    where = {} if job["kind"] == "claims" else job["where"]
    return render(
        source(job["caption"]), {"where": where, "facts": facts, "scale": job["scale"], **questions}
    )
