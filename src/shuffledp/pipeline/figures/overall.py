"""Pictures and tables over all papers and studies: the ranking, and what claims and accountings come to."""

from __future__ import annotations

import io
import json
import math
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from shuffledp import __version__
from shuffledp.pipeline.experiments.results import IN_DOUBT, Bundle, read
from shuffledp.pipeline.figures.axes import power
from shuffledp.pipeline.figures.captions import render
from shuffledp.pipeline.figures.drawings import figure_folder
from shuffledp.pipeline.figures.names import TRUST
from shuffledp.pipeline.figures.overall_jobs import (
    CAPTIONS,
    KEY,
    RANKING,
    TITLE,
    TITLES,
    OverallJob,
    bundles,
)
from shuffledp.pipeline.figures.palette import COLORS, GRAY
from shuffledp.pipeline.figures.ranking import ROBUST, SETTING, at, first_setting, ranking, records
from shuffledp.pipeline.figures.selected_rows import by_cell
from shuffledp.pipeline.figures.sheet import said
from shuffledp.pipeline.figures.style import SETTINGS, figure_style, rendered
from shuffledp.pipeline.manifest import CHECKSUMS, MANIFEST, DrawnPaper, Entry, Run
from shuffledp.storage import publish, read_verified

VERDICTS = {"holds": "#009E73", "in part": "#E69F00", "fails": "#B2182B", "untestable": "#b8b8b8"}
"""Verdicts on claims with their colors."""
MOST_ROWS = 6
"""Protocols of a task under one trust that the dumbbells show, the best ones."""
QUANTITIES = {
    **dict.fromkeys(("mse", "sse", "worst_mse"), "squared error"),
    **dict.fromkeys(("tve", "l1"), "absolute error"),
    **dict.fromkeys(("eps_central", "eps_shuffler"), "eps"),
}
"""Words for the compared quantities; the others are named as they are."""
_SHOWN_TRUST = [TRUST[trust] for trust in ("shuffler", "shuffler_adds", "secure_sum")]
_ROW, _SIZE = 0.165, 7.5


# -- numbers -------------------------------------------------------------------------------------------------------


def dumbbells(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the best protocols of each task at its first setting under each trust, in units of the curator's error."""
    found = []
    for task in dict.fromkeys(rows["task"]):
        own = rows[rows["task"] == task]
        here = at(own, first_setting(own))
        here = here[here["over_curator"].notna() & ~here["guarantee"].isin(IN_DOUBT)]
        found += [here[here["trust"] == trust].head(MOST_ROWS) for trust in _SHOWN_TRUST]
    columns = ["task", "users", "values", "eps", "delta", "trust", "label"]
    columns += ["printed_over_curator", "over_curator", "accounting", "bits"]
    return pd.concat([rows.head(0), *found], ignore_index=True)[columns]


def robustness(rows: pd.DataFrame) -> pd.DataFrame:
    """Return eps with absent users, and the gain of fake users over the root of the squared error, of `dumbbells`."""
    first = dumbbells(rows)[[*SETTING, "trust", "label"]]
    columns = [*SETTING, "trust", "label", "guarantee", "error", *ROBUST]
    found = first.merge(rows[columns], on=list(first), how="left", sort=False)
    found = found[found["eps_dropped"].notna()]
    return found.assign(gain_over_error=found["poisoning_gain"] / found["error"] ** 0.5).drop(columns="error")


def verdicts(claims: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Return the number of claims of each paper by verdict."""
    own = claims[claims["kind"] == "claim"].drop_duplicates("id")
    counts = own.groupby(["paper", "overall"]).size()
    rows = [
        {"paper": names[key], "verdict": verdict, "claims": int(counts.get((key, verdict), 0))}
        for key in dict.fromkeys(own["paper"])
        for verdict in VERDICTS
    ]
    return pd.DataFrame(rows, columns=["paper", "verdict", "claims"])


def printed_over_exact(job: OverallJob) -> pd.DataFrame:
    """Return least, median and greatest ratio of printed to exact numbers of every method, over its common points."""
    ratios: dict[tuple[str, str, str], list[float]] = {}
    for one in job["gaps"]:
        files = {
            m: Bundle.of(Path(job["results"]), one["paper"], one["experiment"], m) for m in one["methods"]
        }
        known = read(files)
        summary = known.summary()
        for method, quantity in one["methods"].items():
            cells = known.cells[(known.cells["method"] == method) & (known.cells["status"] == "ok")]
            if cells.empty:
                continue
            numbers = by_cell(cells, summary, quantity)
            by_point = {
                a: rows.set_index("point")["cell"].map(numbers) for a, rows in cells.groupby("accounting")
            }
            if not {"printed", "exact"} <= set(by_point):
                continue
            found = (by_point["printed"] / by_point["exact"]).dropna()
            key = (one["paper"], str(cells["label"].iloc[0]), QUANTITIES.get(quantity, quantity))
            ratios.setdefault(key, []).extend(float(ratio) for ratio in found if 0 < ratio < float("inf"))
    rows = [
        (
            job["names"][paper],
            label,
            quantity,
            min(some),
            float(pd.Series(some).median()),
            max(some),
            len(some),
        )
        for (paper, label, quantity), some in ratios.items()
        if some
    ]
    columns = ["paper", "method", "quantity", "least", "median", "greatest", "points"]
    return pd.DataFrame(rows, columns=columns)


# -- pictures ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Line:
    """Line of a picture: a heading, or a label with its row of the table."""

    text: str
    row: Mapping[str, Any] | None = None
    strong: bool = False
    remark: str = ""


def _columns(groups: Sequence[Sequence[_Line]], most: int) -> list[list[_Line]]:
    """Return the groups in columns of about equal height."""
    total = sum(map(len, groups))
    columns: list[list[_Line]] = [[] for _ in range(most)]
    place = 0
    for group in groups:
        if columns[place] and place < most - 1 and len(columns[place]) + len(group) / 2 > total / most:
            place += 1
        columns[place].extend(group)
    return [column for column in columns if column]


def _sheet(
    columns: Sequence[Sequence[_Line]], label: str, limits: tuple[float, float]
) -> tuple[Figure, list[Axes]]:
    """Return a picture with a row per line and a logarithmic axis of ratios below each column."""
    tall = max(map(len, columns)) * _ROW
    names, plot, edge = 2.3, 2.5, 0.15
    width, height = len(columns) * (names + plot + edge), tall + 0.95
    figure, axes = Figure(figsize=(width, height)), []
    for number, column in enumerate(columns):
        left = (number * (names + plot + edge) + names) / width
        high = len(column) * _ROW
        ax = figure.add_axes((left, (height - 0.3 - high) / height, plot / width, high / height))
        ax.set(ylim=(len(column) - 0.4, -0.6), xlim=limits, xscale="log", yticks=[])
        ax.minorticks_off()
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(label, fontsize=8)
        for i, line in enumerate(column):
            settings: dict[str, Any] = {"fontweight": "bold"} if line.strong else {}
            color = SETTINGS["axes.edgecolor"] if line.row is not None or line.strong else "#6a6a6a"
            ax.annotate(
                line.text, (0, i), (-4, 0), ("axes fraction", "data"), textcoords="offset points",
                ha="right", va="center", fontsize=_SIZE, color=color, **settings,
            )  # fmt: skip
            if line.row is not None:
                ax.axhline(i, color="#e9e9e9", lw=0.6, zorder=0)
            if line.remark:
                own: dict[str, Any] = {
                    "va": "center",
                    "fontsize": _SIZE,
                    "color": "#6a6a6a",
                    "backgroundcolor": "white",
                }
                ax.annotate(line.remark, (0.02, i), xycoords=("axes fraction", "data"), **own)
        axes.append(ax)
    return figure, axes


def _limits(numbers: pd.Series) -> tuple[float, float]:
    return float(min(numbers.min(), 1.0)) / 1.5, float(max(numbers.max(), 1.0)) * 2.5


def draw_dumbbells(table: pd.DataFrame) -> Figure:
    """Draw printed and exact errors of the best protocols, in units of the curator's."""
    if table.empty:
        return said("No protocol of this run can be compared with a curator.")
    groups = []
    for _, own in table.groupby("task", sort=False):
        group = [_Line(str(own["task"].iloc[0]), strong=True, remark=_setting(records(own)[0]))]
        for trust, rows in own.groupby("trust", sort=False):
            group.append(_Line(str(trust)))
            group += [_Line(_short(str(row["label"])), row) for row in records(rows)]
        groups.append(group)
    columns = _columns(groups, 2)
    ends = pd.concat([table["over_curator"], table["printed_over_curator"]]).dropna()
    figure, axes = _sheet(columns, "squared error over the curator's", _limits(ends))
    for ax, column in zip(axes, columns, strict=True):
        ax.axvline(1.0, color="#262626", lw=0.8, zorder=1)
        for i, line in enumerate(column):
            if line.row is None:
                continue
            exact, printed = line.row["over_curator"], line.row["printed_over_curator"]
            if line.row["accounting"] == "exact":
                if not pd.isna(printed):
                    ax.plot([printed, exact], [i, i], color="#bdbdbd", lw=1.2, zorder=2)
                    ax.plot([printed], [i], "o", color=GRAY, ms=4.2, zorder=3)
                ax.plot([exact], [i], "o", color=COLORS[0], ms=4.8, zorder=4)
            else:
                ax.plot([exact], [i], "o", color=GRAY, ms=4.2, zorder=3)
    _keys(figure, (("as printed", GRAY), ("exact", COLORS[0])), "1 is the curator's error")
    return figure


def draw_robustness(table: pd.DataFrame) -> Figure:
    """Draw the claimed eps, and eps with absent users; a remark has the gain of fake users."""
    if table.empty:
        return said("No experiment of this run computes the eps that remains.")
    groups = []
    for _, own in table.groupby("task", sort=False):
        groups.append([_Line(str(own["task"].iloc[0]), strong=True, remark=_setting(records(own)[0]))])
        for trust, rows in own.groupby("trust", sort=False):
            groups[-1].append(_Line(str(trust)))
            groups[-1] += [_Line(_short(str(row["label"])), row) for row in records(rows)]
    columns = _columns(groups, 2)
    finite = [table[name][table[name] < math.inf] for name in ("eps", "eps_dropped", "eps_colluding")]
    known = pd.concat(finite)
    low, high = 0.95 * known.min(), 1.1 * known.max()
    figure, axes = _sheet(columns, "central privacy budget eps (nats)", (low, high))
    for ax, column in zip(axes, columns, strict=True):
        ax.set_xscale("linear")  # the eps are within a factor of two
        for i, line in enumerate(column):
            if line.row is None:
                continue
            points = [min(float(line.row[name]), high) for name in ("eps", "eps_dropped", "eps_colluding")]
            ax.plot([points[0], max(points)], [i, i], color="#bdbdbd", lw=1.2, zorder=2)
            for x, color, size in zip(points, (GRAY, COLORS[0], COLORS[1]), (5.4, 4.4, 3.2), strict=True):
                ax.plot([x], [i], ">" if x == high else "o", color=color, ms=size, zorder=3, clip_on=False)
    keys = (("claimed", GRAY), ("10 % dropped out", COLORS[0]), ("10 % collude", COLORS[1]))
    _keys(figure, keys, "an arrow: no finite eps, or one beyond the axis")
    return figure


def _keys(figure: Figure, keys: Sequence[tuple[str, str]], remark: str) -> None:
    """Write a line with the colors above the columns."""
    width, height = figure.get_size_inches()
    x, y = 0.1 / width, 1 - 0.13 / height
    for text, color in keys:
        figure.text(x, y, "●", color=color, fontsize=9, va="center")
        figure.text(x + 0.14 / width, y, text, fontsize=8, va="center")
        x += (0.35 + 0.075 * len(text)) / width
    figure.text(x, y, remark, fontsize=8, va="center")


def _setting(row: Mapping[str, Any]) -> str:
    parts = [f"n = {row['users']:,.0f}"]
    parts += [f"k = {row['values']:,.0f}"] if row["values"] > 0 else []
    return ", ".join([*parts, f"eps = {row['eps']:g}", f"delta = {power(row['delta'])}"])


def _short(text: str, most: int = 38) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip(' ,')}…"


def draw_verdicts(table: pd.DataFrame) -> Figure:
    """Draw the numbers of claims by verdict, a bar per paper."""
    if table.empty:
        return said("No paper of this run has claims.")
    papers = list(dict.fromkeys(table["paper"]))
    wide, tall = 4.4, 0.3 * len(papers)
    figure = Figure(figsize=(wide + 2.6, tall + 0.85))
    width, height = figure.get_size_inches()
    ax = figure.add_axes((2.4 / width, 0.45 / height, wide / width, tall / height))
    for i, paper in enumerate(papers):
        left = 0
        for verdict, count in table.loc[table["paper"] == paper, ["verdict", "claims"]].to_numpy().tolist():
            ax.barh(
                i, count, left=left, height=0.68, color=VERDICTS[verdict], edgecolor="white", linewidth=0.6
            )
            if count:
                dark = verdict in ("holds", "fails")
                ax.text(left + count / 2, i, str(count), ha="center", va="center", fontsize=_SIZE,
                        color="white" if dark else "black")  # fmt: skip
            left += count
        ax.annotate(
            _short(paper),
            (0, i),
            (-4, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=_SIZE,
        )
    ax.set(ylim=(len(papers) - 0.5, -0.5), yticks=[])
    ax.set_xlabel("number of claims")
    ax.spines["left"].set_visible(False)
    _keys(figure, tuple(VERDICTS.items()), "")
    return figure


def draw_gaps(table: pd.DataFrame) -> Figure:
    """Draw the ratios of printed to exact numbers: a line from the least to the greatest, a dot at the median."""
    if table.empty:
        return said("No method of this run has printed and exact numbers.")
    groups = []
    for paper, rows in table.groupby("paper", sort=False):
        groups.append([_Line(_short(str(paper), 44), strong=True)])
        for row in records(rows):
            words = f"{row['method']}, {row['quantity']}"
            groups[-1].append(_Line(_short(words, 44), row))
    columns = _columns(groups, 2)
    figure, axes = _sheet(
        columns, "printed over exact", _limits(pd.concat([table["least"], table["greatest"]]))
    )
    for ax, column in zip(axes, columns, strict=True):
        ax.axvline(1.0, color="#262626", lw=0.8, zorder=1)
        for i, line in enumerate(column):
            if line.row is not None:
                ax.plot([line.row["least"], line.row["greatest"]], [i, i], color=COLORS[0], lw=1.6, zorder=2)
                ax.plot([line.row["median"]], [i], "o", color=COLORS[0], ms=4.4, zorder=3)
    _keys(figure, (("median", COLORS[0]),), "lines go from the least to the greatest ratio; 1 is no gap")
    return figure


# -- files ---------------------------------------------------------------------------------------------------------


def publish_overall(job: OverallJob) -> None:
    """Write the ranking and the pictures with their numbers, captions, manifest and checksums."""
    results = Path(job["results"])
    claims = results / "claims/claims.csv"
    judged = pd.read_csv(
        io.BytesIO(read_verified(claims, claims.with_suffix(".sha256"))), dtype=str, keep_default_na=False
    )
    rows = ranking(job["ranked"])
    tables = {
        "dumbbells": dumbbells(rows),
        "robustness": robustness(rows),
        "verdicts": verdicts(judged, job["names"]),
        "gaps": printed_over_exact(job),
    }
    folder = figure_folder(results, KEY)
    made = [_table(job, rows), *(_figure(job, name, table) for name, table in tables.items())]
    contents = {folder / name: content for _, files in made for name, content in files.items()}
    commits = {str(about["commit"]) for about in _provenance(job)}
    drawn = DrawnPaper(
        key=KEY,
        kind="study",
        title=TITLE,
        citation="",
        doi=None,
        run=Run(
            version=__version__, python=platform.python_version(), commit=", ".join(sorted(commits - {""})),
            **job["run"],
        ),
        entries=tuple(entry for entry, _ in made),
    )  # fmt: skip
    contents[folder / MANIFEST] = f"{drawn.model_dump_json(indent=2)}\n".encode()
    publish(folder / CHECKSUMS, contents, folders=2)


def _provenance(job: OverallJob) -> Iterator[Mapping[str, Any]]:
    for bundle in bundles(job):
        yield json.loads(bundle.provenance.read_text(encoding="utf-8"))


_DRAW: Mapping[str, Callable[[pd.DataFrame], Figure]] = {
    "dumbbells": draw_dumbbells,
    "robustness": draw_robustness,
    "verdicts": draw_verdicts,
    "gaps": draw_gaps,
}


def _figure(job: OverallJob, name: str, table: pd.DataFrame) -> tuple[Entry, dict[str, bytes]]:
    with figure_style():
        figure = _DRAW[name](table)
        files = {f"{name}.{end}": rendered(figure, end) for end in job["formats"]}
    return _entry(job, name, "figure", TITLES[name], table, files)


def _table(job: OverallJob, rows: pd.DataFrame) -> tuple[Entry, dict[str, bytes]]:
    return _entry(job, RANKING, "table", "All protocols at every setting", rows, {})


def _of_dumbbells(table: pd.DataFrame) -> dict[str, Any]:
    sound = table[(table["accounting"] == "exact") & (table["trust"] == TRUST["shuffler"])]
    return {"best": next(iter(records(sound)), None)}


def _of_robustness(table: pd.DataFrame) -> dict[str, Any]:
    lost = table["eps_colluding"] == math.inf
    return {
        "protocols": len(table),
        "lost": int(lost.sum()),
        "dropped": float((table["eps_dropped"] / table["eps"]).max()),
        "gain": max(records(table), key=lambda row: _finite(row["gain_over_error"]), default=None),
    }


def _finite(number: float) -> float:
    return number if number < math.inf else -math.inf  # nan too


def _of_verdicts(table: pd.DataFrame) -> dict[str, Any]:
    holding = table.loc[table["verdict"] == "holds", "claims"]
    return {"every": int(table["claims"].sum()), "holding": int(holding.sum())}


def _of_gaps(table: pd.DataFrame) -> dict[str, Any]:
    return {"widest": max(records(table), key=lambda row: float(row["greatest"]), default=None)}


def _of_ranking(table: pd.DataFrame) -> dict[str, Any]:
    return {"protocols": table["protocol"].nunique(), "settings": len(table[list(SETTING)].drop_duplicates())}


_FACTS: Mapping[str, Callable[[pd.DataFrame], dict[str, Any]]] = {
    "dumbbells": _of_dumbbells,
    "robustness": _of_robustness,
    "verdicts": _of_verdicts,
    "gaps": _of_gaps,
    RANKING: _of_ranking,
}
"""Names in the caption of each picture and table."""


def _entry(
    job: OverallJob, name: str, kind: Any, title: str, table: pd.DataFrame, files: Mapping[str, bytes]
) -> tuple[Entry, dict[str, bytes]]:
    prose = render(CAPTIONS / f"{name}.rst", _FACTS[name](table))
    csv = table.to_csv(index=False, float_format="%.10g", lineterminator="\n").encode()
    own = {**files, f"{name}.csv": csv, f"{name}.rst": prose.encode()}
    ends = [*(job["formats"] if kind == "figure" else ()), "csv"]
    entry = Entry(
        id=name,
        drawing=name,
        variant="",
        by="",
        finding=" ".join(prose.partition("\n\n")[0].split()),
        chart=None,
        kind=kind,
        title=title,
        alt=title,
        caption=Path(f"{name}.rst"),
        files={end: Path(f"{name}.{end}") for end in ends},
        settings=(),
        note="",
        infeasible=(),
    )
    return entry, own
