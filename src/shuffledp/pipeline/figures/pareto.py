"""Pareto pictures: an error against a cost, for all methods and enlarged around the front.

A method on the front of its trust model has a filled marker. The line is the front of shufflers that only permute.
Controls are level lines, and methods with an unproven or violated claim are on no front.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from shuffledp.pipeline.figures import end_names, panels
from shuffledp.pipeline.figures.curves import draw_infeasible
from shuffledp.pipeline.figures.drawing_jobs import DrawingJob, Fields
from shuffledp.pipeline.figures.drawn_curves import grouped
from shuffledp.pipeline.figures.end_names import EndName
from shuffledp.pipeline.figures.files import as_csv
from shuffledp.pipeline.figures.fronts import Offer, by_trust, front, legend_names, offers
from shuffledp.pipeline.figures.leaderboard import CONTROL
from shuffledp.pipeline.figures.names import TRUST
from shuffledp.pipeline.figures.numerals import number_text, typeset
from shuffledp.pipeline.figures.palette import Look, Looks, told_apart
from shuffledp.pipeline.figures.picture import Made, chart_of, looks_like
from shuffledp.pipeline.figures.selected_rows import chosen
from shuffledp.pipeline.figures.style import COLUMN_WIDTH, in_column

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
    entry, selected = job["entry"], chosen(cells, job["where"])
    points = offers(selected, summary, entry)
    labels = legend_names(job, selected)
    looks = told_apart({o.method: Look(**job["looks"][o.method]) for o in points})
    methods = [offer for offer in points if offer.method not in entry.get("controls", ())]
    fronts = {trust: front(some, TOLERANCE) for trust, some in by_trust(methods).items()}
    curves = [looks_like(o.method, labels[o.method], looks[o.method]) for o in points]
    return Made(
        partial(_draw, entry, points, methods, fronts, labels, looks, mark),
        _numbers(entry, points, methods, fronts),
        chart_of(entry, curves, "trust", "{}", "log") if points else None,
        questions={
            "front": lambda trust: [labels[offer.method] for offer in fronts.get(trust, [])],
            "tolerance": TOLERANCE,
        },
    )


def _numbers(
    entry: Fields, points: Sequence[Offer], methods: Sequence[Offer], fronts: Mapping[str, Sequence[Offer]]
) -> bytes:
    frame = pd.DataFrame(points, columns=[field.name for field in fields(Offer)])
    cost, error = str(entry["x"]), str(entry["y"])
    about: dict[str, Any] = {
        "curve": frame["method"],
        "trust": frame["trust"].map(TRUST),
        "kind": "computed",
        FRONT: [offer in fronts.get(offer.trust, ()) for offer in points],
        CONTROL: [offer not in methods for offer in points],
    }
    columns = ["method", "accounting", "curve", "trust", "guarantee", "kind", cost, error, FRONT, CONTROL]
    return as_csv(frame.rename(columns={"cost": cost, "error": error}).assign(**about)[columns])


# -- drawing -------------------------------------------------------------------------------------------------------


def _draw(
    entry: Fields,
    points: Sequence[Offer],
    methods: Sequence[Offer],
    fronts: Mapping[str, Sequence[Offer]],
    labels: Mapping[str, str],
    looks: Looks,
    mark: str,
) -> Figure:
    if not methods:
        return draw_infeasible()
    controls = [offer for offer in points if offer not in methods]
    first = _PERMUTES if _PERMUTES in fronts else next(iter(fronts))
    line = fronts[first]
    on_front = [offer for best in fronts.values() for offer in best]
    figure = Figure(figsize=(2 * COLUMN_WIDTH if in_column() else 9.2, 4.0))
    everywhere, close = figure.subplots(1, 2, width_ratios=[1, 1.6])
    box = _ends(line, _AROUND)
    for ax, title, ends in (
        (everywhere, "all methods", _ends(methods)),
        (close, "around the front", box),
    ):
        ax.set_title(title, loc="left")
        for name, limits in zip("xy", ends, strict=True):
            panels.set_axis(ax, name, "log", limits, 5)
        _points(ax, methods, on_front, looks)
        _steps(ax, line)
        _levels(ax, controls, looks)
        ax.set_xlabel(entry.get("x_label", entry["x"]))
    (left, right), (low, high) = box
    style: dict[str, Any] = {"fill": False, "ec": panels.DARK, "lw": 0.8, "zorder": 5}
    everywhere.add_patch(Rectangle((left, low), right - left, high - low, **style))
    names = _names(methods, on_front, line, labels, looks)
    end_names.write(close, [n for n in names if left <= n.x <= right and low <= n.y <= high])
    everywhere.set_ylabel(end_names.wrapped(entry.get("y_label", entry["y"]), 34))
    panels.write_key(figure, _keys(controls, labels, looks, TRUST[first]))
    panels.write_title(figure, typeset(entry["title"]), mark)
    return end_names.laid_out(figure)


def _ends(some: Sequence[Offer], around: float = 1.0) -> list[tuple[float, float]]:
    """Return the ends of both axes for some methods, with a factor around them."""
    numbers = [[offer.cost for offer in some], [offer.error for offer in some]]
    return [
        panels.limits_of([np.array([min(values) / around, max(values) * around])], "log")
        for values in numbers
    ]


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


def _keys(controls: Sequence[Offer], labels: Mapping[str, str], looks: Looks, trust: str) -> list[Line2D]:
    levels = {o.method: f"{labels[o.method]}: {number_text(o.error, 3)}" for o in controls}
    return [
        panels.key(f"front: {trust}", lw=1),
        panels.key("on the front of its trust model", ls="", marker="o"),
        panels.key("not on it", ls="", marker="o", mfc="white"),
        *(panels.key_line(text, looks[method], marked=False) for method, text in levels.items()),
    ]
