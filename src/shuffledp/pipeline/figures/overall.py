"""Pictures and tables over all papers and studies: the ranking, the verdicts on claims, and the effect of accountings.

To add a picture, add its title to `shuffledp.pipeline.figures.overall_jobs.TITLES`, its table to `publish_overall`, its
drawing and the names of its caption to `_DRAWN`, and the caption to ``papers/overall/captions/``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from shuffledp.pipeline.experiments.bundle import ABSENT, FAKES
from shuffledp.pipeline.experiments.results import IN_DOUBT, Bundle, read
from shuffledp.pipeline.figures.axes import power
from shuffledp.pipeline.figures.captions import render
from shuffledp.pipeline.figures.drawing_jobs import Fields
from shuffledp.pipeline.figures.drawings import figure_folder
from shuffledp.pipeline.figures.files import as_csv, table_of_texts
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
from shuffledp.pipeline.manifest import CHECKSUMS, MANIFEST, DrawnPaper, Entry, run_of
from shuffledp.storage import publish

VERDICTS = {"holds": "#009E73", "in part": "#E69F00", "fails": "#B2182B", "untestable": "#b8b8b8"}
"""Verdicts on claims with their colors."""
MOST_ROWS = 6
"""Number of protocols of a task under one trust model in the dumbbells, best first."""
QUANTITIES = {
    **dict.fromkeys(("mse", "sse", "worst_mse"), "squared error"),
    **dict.fromkeys(("tve", "l1"), "absolute error"),
    **dict.fromkeys(("eps_central", "eps_shuffler"), "eps"),
}
"""Words for the compared quantities; a quantity without an entry keeps its name."""
_SHOWN_TRUST = [TRUST[trust] for trust in ("shuffler", "shuffler_adds", "secure_sum")]
_ROW, _SIZE = 0.165, 7.5
_ABSENT = f"{100 * ABSENT:g} %"


# -- numbers -------------------------------------------------------------------------------------------------------


def dumbbells(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the best protocols for each task's first setting and each trust, in units of the curator's error."""
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
    """Return, for `dumbbells`, eps with absent users, and the gain of fake users over the root mean squared error."""
    first = dumbbells(rows)[[*SETTING, "trust", "label"]]
    columns = [*SETTING, "trust", "label", "guarantee", "error", *ROBUST]
    found = first.merge(rows[columns], on=list(first), how="left", sort=False)
    found = found[found["eps_dropped"].notna()]
    return found.assign(gain_over_error=found["poisoning_gain"] / found["error"] ** 0.5).drop(columns="error")


def verdicts(claims: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Return the number of each paper's claims by verdict."""
    own = claims[claims["kind"] == "claim"].drop_duplicates("id")
    counts = pd.crosstab(own["paper"], own["overall"])
    counts = counts.reindex(index=own["paper"].unique(), columns=list(VERDICTS), fill_value=0)
    named = counts.rename(names).rename_axis(index="paper", columns="verdict")
    return pd.Series(named.stack(future_stack=True), name="claims").reset_index()


def printed_over_exact(job: OverallJob) -> pd.DataFrame:
    """Return each method's least, median and greatest ratio of printed to exact numbers, over common points."""
    key = ["paper", "method", "quantity"]
    parts = [pd.DataFrame({**dict.fromkeys(key, ""), "ratio": []})]
    for one in job["gaps"]:
        bundles = {
            m: Bundle.of(Path(job["results"]), one["paper"], one["experiment"], m) for m in one["methods"]
        }
        known = read(bundles)
        summary = known.summary()
        for method, quantity in one["methods"].items():
            cells = known.cells[(known.cells["method"] == method) & (known.cells["status"] == "ok")]
            if cells.empty:
                continue
            numbers = cells["cell"].map(by_cell(cells, summary, quantity))
            wide = cells.assign(number=numbers).pivot(index="point", columns="accounting", values="number")
            if not {"printed", "exact"} <= set(wide):
                continue
            found = wide["printed"] / wide["exact"]
            found = found[(found > 0) & (found < float("inf"))]
            names = job["names"][one["paper"]], cells["label"].iloc[0], QUANTITIES.get(quantity, quantity)
            parts.append(pd.DataFrame({**dict(zip(key, names, strict=True)), "ratio": found}))
    ratios = pd.concat(parts).groupby(key, sort=False)["ratio"]
    return ratios.agg(least="min", median="median", greatest="max", points="count").reset_index()


# -- pictures ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Line:
    """Line of a picture: a heading, or a label with its row of the table."""

    text: str
    row: Fields | None = None
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
    """Return a picture with one line per row, and a logarithmic axis of ratios below each column."""
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
        ax.axvline(1.0, color="#262626", lw=0.8, zorder=1)
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


def _rows(axes: Sequence[Axes], columns: Sequence[Sequence[_Line]]) -> Iterator[tuple[Axes, int, Fields]]:
    """Yield axes, position and table row of each line that has a row."""
    for ax, column in zip(axes, columns, strict=True):
        yield from ((ax, i, line.row) for i, line in enumerate(column) if line.row is not None)


def _limits(numbers: pd.Series) -> tuple[float, float]:
    return float(min(numbers.min(), 1.0)) / 1.5, float(max(numbers.max(), 1.0)) * 2.5


def _by_task(table: pd.DataFrame) -> list[list[_Line]]:
    """Return the lines of each task: a line with its setting, and lines for the protocols of each trust."""
    groups = []
    for task, own in table.groupby("task", sort=False):
        groups.append([_Line(str(task), strong=True, remark=_setting(records(own)[0]))])
        for trust, rows in own.groupby("trust", sort=False):
            groups[-1].append(_Line(str(trust)))
            groups[-1] += [_Line(_short(str(row["label"])), row) for row in records(rows)]
    return groups


def draw_dumbbells(table: pd.DataFrame) -> Figure:
    """Draw the best protocols' printed and exact errors, in units of the curator's error."""
    if table.empty:
        return said("No protocol of this run can be compared with a curator.")
    columns = _columns(_by_task(table), 2)
    ends = pd.concat([table["over_curator"], table["printed_over_curator"]]).dropna()
    figure, axes = _sheet(columns, "squared error over the curator's", _limits(ends))
    for ax, i, row in _rows(axes, columns):
        exact, printed = row["over_curator"], row["printed_over_curator"]
        if row["accounting"] != "exact":
            ax.plot([exact], [i], "o", color=GRAY, ms=4.2, zorder=3)
            continue
        if not pd.isna(printed):
            ax.plot([printed, exact], [i, i], color="#bdbdbd", lw=1.2, zorder=2)
            ax.plot([printed], [i], "o", color=GRAY, ms=4.2, zorder=3)
        ax.plot([exact], [i], "o", color=COLORS[0], ms=4.8, zorder=4)
    _keys(figure, (("as printed", GRAY), ("exact", COLORS[0])), "1 is the curator's error")
    return figure


def draw_robustness(table: pd.DataFrame) -> Figure:
    """Draw the claimed eps, and the remaining eps with absent users."""
    if table.empty:
        return said("No experiment of this run computes the eps that remains.")
    columns = _columns(_by_task(table), 2)
    finite = [table[name][table[name] < math.inf] for name in ("eps", "eps_dropped", "eps_colluding")]
    known = pd.concat(finite)
    low, high = 0.95 * known.min(), 1.1 * known.max()
    figure, axes = _sheet(columns, "central privacy budget eps (nats)", (low, high))
    for ax in axes:
        ax.set_xscale("linear")  # the eps are within a factor of two
    for ax, i, row in _rows(axes, columns):
        points = [min(float(row[name]), high) for name in ("eps", "eps_dropped", "eps_colluding")]
        ax.plot([points[0], max(points)], [i, i], color="#bdbdbd", lw=1.2, zorder=2)
        for x, color, size in zip(points, (GRAY, COLORS[0], COLORS[1]), (5.4, 4.4, 3.2), strict=True):
            ax.plot([x], [i], ">" if x == high else "o", color=color, ms=size, zorder=3, clip_on=False)
    keys = (("claimed", GRAY), (f"{_ABSENT} dropped out", COLORS[0]), (f"{_ABSENT} collude", COLORS[1]))
    _keys(figure, keys, "an arrow: no finite eps, or one beyond the axis")
    return figure


def _keys(figure: Figure, keys: Sequence[tuple[str, str]], remark: str) -> None:
    """Write a line that explains the colors, above the columns."""
    width, height = figure.get_size_inches()
    x, y = 0.1 / width, 1 - 0.13 / height
    for text, color in keys:
        figure.text(x, y, "●", color=color, fontsize=9, va="center")
        figure.text(x + 0.14 / width, y, text, fontsize=8, va="center")
        x += (0.35 + 0.075 * len(text)) / width
    figure.text(x, y, remark, fontsize=8, va="center")


def _setting(row: Fields) -> str:
    parts = [f"n = {row['users']:,.0f}"]
    parts += [f"k = {row['values']:,.0f}"] if row["values"] > 0 else []
    return ", ".join([*parts, f"eps = {row['eps']:g}", f"delta = {power(row['delta'])}"])


def _short(text: str, most: int = 38) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip(' ,')}…"


def draw_verdicts(table: pd.DataFrame) -> Figure:
    """Draw the numbers of claims by verdict, with a bar per paper."""
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
    """Draw the ratios of printed to exact numbers: a line from least to greatest, and a dot at the median."""
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
    for ax, i, ratios in _rows(axes, columns):
        ax.plot([ratios["least"], ratios["greatest"]], [i, i], color=COLORS[0], lw=1.6, zorder=2)
        ax.plot([ratios["median"]], [i], "o", color=COLORS[0], ms=4.4, zorder=3)
    _keys(figure, (("median", COLORS[0]),), "lines go from the least to the greatest ratio; 1 is no gap")
    return figure


# -- captions ------------------------------------------------------------------------------------------------------


def _of_dumbbells(table: pd.DataFrame) -> dict[str, Any]:
    sound = table[(table["accounting"] == "exact") & (table["trust"] == TRUST["shuffler"])]
    return {"best": next(iter(records(sound)), None)}


def _of_robustness(table: pd.DataFrame) -> dict[str, Any]:
    lost = table["eps_colluding"] == math.inf
    return {
        "absent": _ABSENT,
        "fakes": FAKES,
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


# -- files ---------------------------------------------------------------------------------------------------------

_Table = Callable[[pd.DataFrame], dict[str, Any]]
_DRAWN: Mapping[str, tuple[Callable[[pd.DataFrame], Figure] | None, _Table]] = {
    "dumbbells": (draw_dumbbells, _of_dumbbells),
    "robustness": (draw_robustness, _of_robustness),
    "verdicts": (draw_verdicts, _of_verdicts),
    "gaps": (draw_gaps, _of_gaps),
    RANKING: (None, _of_ranking),
}
"""Drawing function of each table, or None, and the names in its caption."""


def publish_overall(job: OverallJob) -> None:
    """Write the ranking and the pictures, with their numbers, captions, manifest and checksums."""
    results = Path(job["results"])
    rows = ranking(job["ranked"])
    tables = {
        RANKING: rows,
        "dumbbells": dumbbells(rows),
        "robustness": robustness(rows),
        "verdicts": verdicts(table_of_texts(results / "claims/claims.csv"), job["names"]),
        "gaps": printed_over_exact(job),
    }
    folder = figure_folder(results, KEY)
    made = [_made(job, name, table) for name, table in tables.items()]
    contents = {folder / name: content for _, files in made for name, content in files.items()}
    commits = {json.loads(b.provenance.read_text(encoding="utf-8"))["commit"] for b in bundles(job)}
    run = run_of(commits, job["run"])
    entries = tuple(entry for entry, _ in made)
    drawn = DrawnPaper(key=KEY, kind="study", title=TITLE, citation="", doi=None, run=run, entries=entries)
    contents[folder / MANIFEST] = drawn.to_json()
    publish(folder / CHECKSUMS, contents, folders=2)


def _made(job: OverallJob, name: str, table: pd.DataFrame) -> tuple[Entry, dict[str, bytes]]:
    draw, facts = _DRAWN[name]
    prose = render(CAPTIONS / f"{name}.rst", facts(table))
    files = {f"{name}.csv": as_csv(table), f"{name}.rst": prose.encode()}
    formats = job["formats"] if draw else []
    if draw:
        with figure_style():
            figure = draw(table)
            files |= {f"{name}.{end}": rendered(figure, end) for end in formats}
    entry = Entry(
        id=name,
        drawing=name,
        finding=prose.partition("\n\n")[0],
        kind="figure" if draw else "table",
        title=TITLES[name],
        alt=TITLES[name],
        caption=Path(f"{name}.rst"),
        files={end: Path(f"{name}.{end}") for end in [*formats, "csv"]},
    )
    return entry, files
