"""Pareto pictures: an error against a cost, for all methods and enlarged around the front.

A method on the front of its trust model has a filled marker. The line is the front of shufflers that only permute.
Controls are level lines, and methods with an unproven or violated claim are on no front.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from shuffledp.pipeline.figures import end_names, panels
from shuffledp.pipeline.figures.curves import INFEASIBLE, draw_text
from shuffledp.pipeline.figures.drawing_jobs import DrawingJob, Fields
from shuffledp.pipeline.figures.drawn_curves import grouped
from shuffledp.pipeline.figures.end_names import EndName
from shuffledp.pipeline.figures.files import as_csv
from shuffledp.pipeline.figures.fronts import Offer, by_trust, front, legend_names, offers
from shuffledp.pipeline.figures.leaderboard import CONTROL
from shuffledp.pipeline.figures.names import TRUST
from shuffledp.pipeline.figures.numerals import number_text, typeset
from shuffledp.pipeline.figures.palette import Look, Looks, told_apart
from shuffledp.pipeline.figures.picture import Made, looks_like
from shuffledp.pipeline.figures.selected_rows import chosen
from shuffledp.pipeline.figures.style import COLUMN_WIDTH, in_column
from shuffledp.pipeline.manifest import Chart

FRONT = "front"
#: Relative advantage in error or cost up to which a method is not on the front for this advantage.
TOLERANCE = 0.01
#: Most names beside a picture; the CSV file has all methods.
MOST_NAMES = 12
_AROUND, _FAR = 1.75, 20.0  # factors around the enlarged front, and up to which controls are drawn
_SAME_PLACE = 1.03  # ratio up to which markers cover each other
_PERMUTES = "shuffler"


def pareto(job: DrawingJob, cells: pd.DataFrame, summary: pd.DataFrame, mark: str) -> Made:
    """Return the picture of a job."""
    entry = job["entry"]
    selected = chosen(cells, job["where"])
    points = offers(selected, summary, entry, str(entry["y"]))
    labels = legend_names(job, selected)
    looks = told_apart({o.method: Look(**job["looks"][o.method]) for o in points})
    controls = list(entry.get("controls", ()))
    points_by_trust = by_trust(points)
    fronts = {
        trust: [o.method for o in front(some, controls, TOLERANCE)] for trust, some in points_by_trust.items()
    }
    return Made(
        partial(_draw, entry, points, labels, looks, mark),
        _numbers(entry, points, fronts, controls),
        _chart(entry, points, labels, looks),
        questions={"front": lambda trust: [labels[m] for m in fronts.get(trust, [])], "tolerance": TOLERANCE},
    )


def _numbers(
    entry: Fields,
    points: Sequence[Offer],
    fronts: Mapping[str, Sequence[str]],
    controls: Sequence[str],
) -> bytes:
    frame = pd.DataFrame(map(asdict, points), columns=[field.name for field in fields(Offer)])
    numbers = {entry["x"]: frame["cost"], entry["y"]: frame["error"]}
    columns_of_points: dict[str, Any] = {
        "curve": frame["method"],
        "trust": frame["trust"].map(TRUST),
        "kind": "computed",
        FRONT: [offer.method in fronts[offer.trust] for offer in points],
        CONTROL: frame["method"].isin(controls),
    }
    columns = ["method", "accounting", "curve", "trust", "guarantee", "kind", *numbers, FRONT, CONTROL]
    return as_csv(frame.assign(**numbers, **columns_of_points)[columns])


def _chart(entry: Fields, points: Sequence[Offer], labels: Mapping[str, str], looks: Looks) -> Chart | None:
    if not points:
        return None
    return Chart(
        x=entry["x"],
        y=entry["y"],
        x_label=entry.get("x_label", entry["x"]),
        y_label=entry.get("y_label", entry["y"]),
        x_scale="log",
        y_scale="log",
        panels="trust",
        panel_label="{}",
        curves=tuple(looks_like(o.method, labels[o.method], looks[o.method]) for o in points),
    )


# -- drawing -------------------------------------------------------------------------------------------------------


def _draw(
    entry: Fields, points: Sequence[Offer], labels: Mapping[str, str], looks: Looks, mark: str
) -> Figure:
    controls = [offer for offer in points if offer.method in entry.get("controls", ())]
    methods = [offer for offer in points if offer not in controls]
    if not methods:
        return draw_text(INFEASIBLE)
    fronts = {trust: front(some, (), TOLERANCE) for trust, some in by_trust(methods).items()}
    line = next(iter(fronts.values())) if _PERMUTES not in fronts else fronts[_PERMUTES]
    on_front = [offer for best in fronts.values() for offer in best]
    wide = 2 * COLUMN_WIDTH if in_column() else 9.2
    figure = Figure(figsize=(wide, 4.0), layout="constrained")
    everywhere, close = figure.subplots(1, 2, width_ratios=[1, 1.6])
    names = _names(methods, on_front, line, labels, looks)
    close.set_title("around the front", loc="left")
    everywhere.set_title("all methods", loc="left")
    for ax in (everywhere, close):
        near = ax is close
        ends = _ends(line if near else methods, _AROUND if near else 1.0)
        for name, limits in zip("xy", ends, strict=True):
            panels.set_axis(ax, name, "log", limits, 5)
        _points(ax, methods, on_front, looks)
        _steps(ax, line)
        _levels(ax, controls, looks)
        ax.set_xlabel(entry.get("x_label", entry["x"]))
    box = _ends(line, _AROUND)
    corner = (box[0][0], box[1][0])
    sizes = [high - low for low, high in box]
    everywhere.add_patch(Rectangle(corner, *sizes, fill=False, ec=panels.DARK, lw=0.8, zorder=5))
    inside = [name for name in names if _inside(name, box)]
    end_names.write(close, inside)
    everywhere.set_ylabel(end_names.wrapped(entry.get("y_label", entry["y"]), 34))
    panels.write_key(figure, _keys(controls, labels, looks, trusts=list(fronts)))
    panels.write_title(figure, typeset(entry["title"]), mark)
    return end_names.laid_out(figure)


def _ends(some: Sequence[Offer], around: float) -> list[tuple[float, float]]:
    """Return the ends of both axes for some methods, with a factor around them."""
    numbers = [[offer.cost for offer in some], [offer.error for offer in some]]
    return [
        panels.limits_of([np.array([min(values) / around, max(values) * around])], "log")
        for values in numbers
    ]


def _inside(name: EndName, box: Sequence[tuple[float, float]]) -> bool:
    (low_x, right), (low, high) = box
    return low_x <= name.x <= right and low <= name.y <= high


def _names(
    methods: Sequence[Offer],
    on_front: Sequence[Offer],
    line: Sequence[Offer],
    labels: Mapping[str, str],
    looks: Looks,
) -> list[EndName]:
    """Return the names of the points that are nearest to the front; points under one marker share a name."""
    order = sorted(methods, key=lambda o: (o not in on_front, min(_distance(o, best) for best in line)))
    groups = grouped(order, lambda a, b: _distance(a, b) <= math.log(_SAME_PLACE))
    return [
        EndName(
            group[0].cost,
            group[0].error,
            ", ".join(_label(offer, labels) for offer in group),
            looks[group[0].method].color,
        )
        for group in groups[:MOST_NAMES]
    ]


def _label(offer: Offer, labels: Mapping[str, str]) -> str:
    label = labels[offer.method]
    return label if offer.trust == _PERMUTES else f"{label} ({TRUST[offer.trust]})"


def _distance(a: Offer, b: Offer) -> float:
    """Return the larger of the distances in cost and error on logarithmic axes."""
    return max(abs(math.log(a.cost / b.cost)), abs(math.log(a.error / b.error)))


def _points(ax: Axes, methods: Sequence[Offer], on_front: Sequence[Offer], looks: Looks) -> None:
    for offer in methods:
        look, filled = looks[offer.method], offer in on_front
        style: dict[str, Any] = {"marker": look.marker, "mec": look.color, "zorder": 4 if filled else 3}
        ax.plot([offer.cost], [offer.error], ls="", mfc=look.color if filled else "white", ms=5.5, **style)


def _steps(ax: Axes, line: Sequence[Offer]) -> None:
    (_, right), (_, top) = ax.get_xlim(), ax.get_ylim()
    x = [line[0].cost, *(offer.cost for offer in line), right]
    y = [top, *(offer.error for offer in line), line[-1].error]
    ax.plot(x, y, color=panels.DARK, lw=1, drawstyle="steps-post", zorder=2)


def _levels(ax: Axes, controls: Sequence[Offer], looks: Looks) -> None:
    """Draw controls as level lines, unless they are far beyond the panel."""
    low, high = ax.get_ylim()
    for offer in controls:
        if low / _FAR < offer.error < high * _FAR:
            look = looks[offer.method]
            ax.axhline(offer.error, color=look.color, ls=look.dash, lw=0.9, zorder=1)
    ax.set_ylim(low, high)


def _keys(
    controls: Sequence[Offer], labels: Mapping[str, str], looks: Looks, trusts: Sequence[str]
) -> list[Line2D]:
    first = _PERMUTES if _PERMUTES in trusts else trusts[0]
    dot: dict[str, Any] = {"ls": "", "marker": "o", "color": panels.DARK}
    return [
        Line2D([], [], color=panels.DARK, lw=1, label=f"front: {TRUST[first]}"),
        Line2D([], [], label="on the front of its trust model", **dot),
        Line2D([], [], label="not on it", mfc="white", **dot),
        *(panels.key_line(_level_text(o, labels), looks[o.method], marked=False) for o in controls),
    ]


def _level_text(offer: Offer, labels: Mapping[str, str]) -> str:
    return f"{labels[offer.method]}: {number_text(offer.error, 3)}"
