"""The generic plotter: x, y, panels and curves of an experiment's summary.

Simulated means are points with error bars of one standard error, closed-form expectations and computed curves are
lines. Infeasible cells are gaps with a note below the axes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field
from itertools import zip_longest
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from shuffledp.experiments.bundle import CELL_NUMBERS, PARAMETER_PREFIX, TRAINED_METRICS
from shuffledp.figures.palette import Look, looks

PANEL_INCHES = (2.9, 2.55)
MOST_COLUMNS = 4
CHARACTERS_PER_INCH = 14
HANDLE_CHARACTERS = 8  # what a legend's line and the space around it take
MOST_LEGEND_COLUMNS = 6
LEGEND_ROW_INCHES = 0.19
REMARK_LINE = 0.06  # height of a remark's line in heights of a panel
REMARK_CHARACTERS = 62  # of a remark's smaller letters across one panel
MARKERS_PER_CURVE = 12  # about so many at most: on dense curves they would hide each other
WARNING = "#8a1c00"  # the title says that the data are not the real ones


@dataclass(frozen=True)
class Picture:
    """One picture: rows of a summary and how to show them.

    ``drawing`` is the figure's entry in the paper's file, ``selection`` the rows of the summary that belong to this
    file, ``infeasible`` the cells without numbers; both have a column ``curve``. ``labels`` are the legend texts by
    curve, ``note`` is what must be said about the data on the picture itself.
    """

    drawing: Mapping[str, Any]
    selection: pd.DataFrame
    infeasible: pd.DataFrame
    labels: Mapping[str, str]
    title: str
    note: str = ""
    grid: Mapping[str, list[Any]] = field(default_factory=dict)
    siblings: Sequence[str] = ()
    """All methods of the experiment: they look the same in every figure of it."""
    looks: Mapping[str, int] = field(default_factory=dict)
    """Methods that keep one look in every figure of the paper, see `shuffledp.figures.palette`."""


def long_form(cells: pd.DataFrame, summary: pd.DataFrame, y: str) -> pd.DataFrame:
    """Rows to draw for a quantity.

    Parameters
    ----------
    cells, summary : DataFrame
        Results of an experiment.
    y : str
        A metric of the summary, a number that every cell has (such as ``eps_local``), or a calibrated parameter of the
        protocols (such as ``parameters.dummies``). What training adds may be absent: then there are no rows.

    Raises
    ------
    ValueError
        If nothing has that name.
    """
    shown: pd.DataFrame = summary[summary["metric"] == y]
    if not shown.empty or y in TRAINED_METRICS or (cells["status"] != "ok").all():
        return shown
    feasible = cells[cells["status"] == "ok"]
    parameters = [json.loads(p) for p in feasible["parameters"]]
    name = y.removeprefix(PARAMETER_PREFIX)
    if y in CELL_NUMBERS:
        numbers = feasible[y]
    elif y.startswith(PARAMETER_PREFIX) and any(name in p for p in parameters):
        numbers = pd.Series([p.get(name, np.nan) for p in parameters], index=feasible.index)
    else:
        named = (f"{PARAMETER_PREFIX}{parameter}" for p in parameters for parameter in p)
        known = sorted({*summary["metric"], *CELL_NUMBERS, *named})
        raise ValueError(f"No quantity {y!r} in these results. Known: {', '.join(known)}.")
    return feasible.assign(kind="computed", mean=numbers, standard_error=np.nan, count=1)


def draw(what: Picture) -> Figure:
    """Draw one picture."""
    panel_values = _panel_values(what)
    columns = min(len(panel_values), MOST_COLUMNS)
    rows = math.ceil(len(panel_values) / columns)
    width = max(columns * PANEL_INCHES[0] + 0.7, 5.2)
    named = [what.labels[curve] for curve in _in_legend(what)]
    legend_rows = math.ceil(len(named) / _columns_that_fit(named, width))
    height = rows * PANEL_INCHES[1] + 0.9 + LEGEND_ROW_INCHES * legend_rows
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    others = (curve for curve in what.labels if curve not in what.siblings)
    every = looks([*what.siblings, *others], what.looks)
    shown = {curve: every[curve] for curve in what.labels}
    remarks = [_panel(ax, what, value, shown) for ax, value in zip(axes.flat, panel_values, strict=False)]
    _make_room_below(axes[0, 0], max(remarks))
    for ax in axes.flat[len(panel_values) :]:
        ax.set_visible(False)
    _labels(figure, axes, what)
    _legend(figure, what, {curve: shown[curve] for curve in _in_legend(what)})
    layout = figure.get_layout_engine()
    assert layout is not None
    layout.execute(figure)  # once, without a draw; every format is then saved as it stands
    figure.set_layout_engine("none")
    return figure


def _panel_values(what: Picture) -> list[Any]:
    by = what.drawing.get("panels")
    if by is None:
        return [None]
    every = pd.concat([what.selection, what.infeasible], ignore_index=True)
    present = list(every[by].dropna().unique()) if by in every else []
    order = list(what.grid.get(by, sorted(present)))
    return [v for v in order if v in present] or order or [None]


def _only(frame: pd.DataFrame, column: str | None, value: Any) -> pd.DataFrame:
    """Rows of one panel; methods that do not depend on the panel's variable belong to all of them."""
    if column is None or column not in frame:
        return frame
    matching: pd.DataFrame = frame.loc[(frame[column] == value) | frame[column].isna()]
    return matching


def _panel(ax: Axes, what: Picture, value: Any, shown: Mapping[str, Look]) -> int:
    """Draw one panel; the answer is how many lines of remarks stand at its lower edge."""
    by, x = what.drawing.get("panels"), what.drawing["x"]
    ln = what.drawing.get("y_scale") == "ln"
    here, gaps = _only(what.selection, by, value), _only(what.infeasible, by, value)
    if what.drawing.get("y_scale") == "log":
        ax.set_yscale("log")
    for curve, look in shown.items():
        rows = here[here["curve"] == curve]
        rows = rows.sort_values(x) if x in rows else rows
        _curve(ax, rows, x, look, ln, what.grid.get(x, ()), path="along" in what.drawing)
    said = []
    if what.drawing["y"] in TRAINED_METRICS and here.empty:
        said.append("nothing was trained in this run")
    if not gaps.empty:
        said.append(f"gaps: {_named(what, set(gaps['curve']))} not feasible")
    if what.drawing.get("y_scale") == "log":
        zero = set(here.loc[here["mean"] == 0, "curve"])
        said += [f"0, which has no place here: {_named(what, zero)}"] if zero else []
    remark = "\n".join(fill(text, REMARK_CHARACTERS) for text in said)
    if remark:
        _remark(ax, remark)
    if value is not None:
        ax.set_title(what.drawing.get("panel_label", f"{by} = {{}}").format(value))
    if what.drawing.get("x_scale") == "log":
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(numticks=12))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
    return len(remark.splitlines())


def _named(what: Picture, curves: set[str]) -> str:
    return ", ".join(label for curve, label in what.labels.items() if curve in curves)


def _remark(ax: Axes, text: str) -> None:
    """A line inside the axes that does not take part in the layout."""
    remark = ax.text(0.02, 0.02, text, transform=ax.transAxes, fontsize=6.5, color="#444444", zorder=4)
    remark.set_in_layout(False)
    remark.set_bbox({"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1})


def _make_room_below(ax: Axes, lines: int) -> None:
    """Lower the shared lower limit, so that remarks do not cover curves."""
    scale = ax.yaxis.get_transform()
    low, high = scale.transform(np.array(ax.get_ylim()))
    if lines and np.isfinite(low) and np.isfinite(high):
        room = REMARK_LINE * lines + REMARK_LINE / 2
        ax.set_ylim(bottom=float(scale.inverted().transform(low - room / (1 - room) * (high - low))))


def _curve(
    ax: Axes,
    rows: pd.DataFrame,
    x: str,
    look: Look,
    ln: bool,
    positions: Sequence[Any],
    *,
    path: bool = False,
) -> None:
    """Draw one curve; a `path` joins simulated points, because a grid variable runs along it."""
    closed_form = not set(rows["kind"]) <= {"simulated"}
    for kind, group in rows.groupby("kind", sort=True):
        mean = group["mean"].to_numpy(float)
        error = group["standard_error"].to_numpy(float)
        with np.errstate(divide="ignore", invalid="ignore"):  # an error of 0 has no logarithm: no point
            y = np.log(mean) if ln else mean
            bars = np.nan_to_num(error / mean if ln else error)  # delta method: sd(ln m) = sd(m) / m
        if ax.get_yscale() == "log":
            y = np.where(y > 0, y, np.nan)
        y = np.where(np.isfinite(y), y, np.nan)
        if x not in group or group[x].isna().all():  # the method does not depend on x
            if kind != "simulated" or not closed_form:
                ax.axhline(float(y[0]), color=look.color, linestyle="--")
        elif kind == "simulated" and path:
            every = _marked(group)
            ax.plot(
                group[x], y, color=look.color, ls=look.dash, marker=look.marker, markevery=every, mfc="none"
            )
        elif kind == "simulated":
            ax.errorbar(
                group[x],
                y,
                yerr=bars,
                fmt=look.marker,
                color=look.color,
                mfc="none",  # points that coincide stay visible
                elinewidth=0.8,
                zorder=3,
            )
        else:
            known = pd.Series(y, group[x])
            line = known.reindex(known.index.union(list(positions)))  # infeasible cells interrupt the line
            marker = look.marker if kind == "computed" else ""  # a closed form has no points
            ax.plot(
                line.index,
                line,
                color=look.color,
                ls=look.dash,
                marker=marker,
                markevery=_marked(line),
                mfc="none",
                zorder=2,
            )


def _marked(points: Sized) -> int:
    """Every how many points there is a marker."""
    return max(1, len(points) // MARKERS_PER_CURVE)


def _labels(figure: Figure, axes: np.ndarray[Any, Any], what: Picture) -> None:
    visible = [[ax for ax in row if ax.get_visible()] for row in axes]
    for row in visible:
        row[0].set_ylabel(what.drawing.get("y_label", what.drawing["y"]))
    for column in zip_longest(*visible):
        lowest = [ax for ax in column if ax is not None][-1]
        lowest.set_xlabel(what.drawing.get("x_label", what.drawing["x"]))
        lowest.xaxis.set_tick_params(labelbottom=True)
    characters = int(figure.get_figwidth() * CHARACTERS_PER_INCH)
    lines = [fill(text, characters) for text in (what.title, what.note) if text]
    figure.suptitle("\n".join(lines), fontsize=9.5, color=WARNING if what.note else "black")


def _legend(figure: Figure, what: Picture, shown: Mapping[str, Look]) -> None:
    joined = "along" in what.drawing or "simulated" not in set(what.selection.get("kind", ()))
    handles = [
        Line2D(
            [],
            [],
            color=look.color,
            marker="" if _is_level(what, c) or not _has_points(what, c) else look.marker,
            mfc="none",
            ls="--" if _is_level(what, c) else look.dash if joined or _has_line(what, c) else "",
        )
        for c, look in shown.items()
    ]
    labels: Sequence[str] = [what.labels[c] for c in shown]
    if handles:
        columns = _columns_that_fit(labels, figure.get_figwidth())
        figure.legend(handles, labels, loc="outside lower center", ncols=columns)


def _in_legend(what: Picture) -> list[str]:
    """Curves with a number; the others are named by the remark on gaps. All of them where there is none at all."""
    drawn = set(what.selection["curve"]) if "curve" in what.selection else set()
    return [curve for curve in what.labels if curve in drawn] or list(what.labels)


def _columns_that_fit(labels: Sequence[str], inches: float) -> int:
    """The most columns of a legend, filled downwards, whose widest entries fit side by side; at least 1."""
    for columns in range(min(len(labels), MOST_LEGEND_COLUMNS), 1, -1):
        widest = (max(part) for part in np.array_split([len(label) for label in labels], columns))
        if sum(HANDLE_CHARACTERS + width for width in widest) <= inches * CHARACTERS_PER_INCH:
            return columns
    return 1


def _is_level(what: Picture, curve: str) -> bool:
    """Whether a curve does not depend on x and is drawn as a level line."""
    rows, x = what.selection[what.selection["curve"] == curve], what.drawing["x"]
    return not rows.empty and (x not in rows or bool(rows[x].isna().all()))


def _has_points(what: Picture, curve: str) -> bool:
    rows = what.selection[what.selection["curve"] == curve]
    return rows.empty or bool(rows["kind"].isin(["simulated", "computed"]).any())


def _has_line(what: Picture, curve: str) -> bool:
    rows = what.selection[what.selection["curve"] == curve]
    return bool((rows["kind"] != "simulated").any())
