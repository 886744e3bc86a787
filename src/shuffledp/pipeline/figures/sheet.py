"""Parts common to pictures of all kinds: frames, ticks, labels, and the picture without numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.markers import TICKDOWN, TICKLEFT
from matplotlib.ticker import NullLocator

from shuffledp.pipeline.figures import layout
from shuffledp.pipeline.figures.axes import Axis, Ticks, typeset
from shuffledp.pipeline.figures.palette import Look
from shuffledp.pipeline.figures.style import SETTINGS
from shuffledp.pipeline.manifest import Chart

WARNING = "#8a1c00"  # a mark says that the data are not the real ones
TITLE_POINTS, LEAST_POINTS = 8.5, 5.5
INFEASIBLE = "Nothing is feasible at these settings: there is nothing to draw."


@dataclass(frozen=True)
class Made:
    """Picture with its drawing function and numbers."""

    draw: Callable[[], Figure]
    numbers: bytes
    chart: Chart | None
    without: Sequence[str] = ()
    questions: Mapping[str, Any] = field(default_factory=dict)


def said(text: str) -> Figure:
    """Return a picture without axes, with a text instead of data."""
    figure = Figure(figsize=(5.2, 0.7))
    figure.text(0.5, 0.5, text, ha="center", va="center", fontsize=SETTINGS["font.size"])
    return figure


def add(ax: Axes, x: Any, y: Any, look: Look, **settings: Any) -> None:
    """Add a line or markers without a change of the limits."""
    own = {"color": look.color, "ls": look.dash, "marker": look.marker, "mfc": "none"}
    if look.width:
        own |= {"lw": look.width, "mew": 1.6, "ms": 6.5}
    ax.add_artist(Line2D(x, y, **own | settings))


def framed(ax: Axes, across: Axis, up: Axis) -> None:
    """Set the axes of a panel."""
    for axis, scaled, limited, lines in (
        (across, ax.set_xscale, ax.set_xlim, ax.xaxis),
        (up, ax.set_yscale, ax.set_ylim, ax.yaxis),
    ):
        if axis.scale == "log":
            scaled("log")
            lines.set_minor_locator(NullLocator())
        limited(axis.low, axis.high)


def ticked(ax: Axes, across: Ticks, up: Ticks, *, below: bool, left: bool) -> None:
    """Draw ticks at chosen positions; all small ticks are one line of markers, for speed."""
    ax.set_xticks(across.major, across.labels if below else [""] * len(across.major))
    ax.set_yticks(up.major, up.labels if left else [""] * len(up.major))
    if across.minor:
        _small_ticks(ax, across.minor, [0.0] * len(across.minor), TICKDOWN, ax.get_xaxis_transform())
    if up.minor:
        _small_ticks(ax, [0.0] * len(up.minor), up.minor, TICKLEFT, ax.get_yaxis_transform())


def _small_ticks(ax: Axes, x: Sequence[float], y: Sequence[float], marker: Any, transform: Any) -> None:
    color = SETTINGS["axes.edgecolor"]
    add(ax, x, y, Look(color, marker, ""), transform=transform, clip_on=False, zorder=1, ms=2, mew=0.5)


def labeled(
    figure: Figure,
    plan: layout.Layout,
    box: layout.Box,
    text: str,
    points: float = SETTINGS["axes.labelsize"],
) -> None:
    """Write the label of a vertical axis."""
    x, y = plan.label_x / plan.width, (box.bottom + box.height / 2) / plan.height
    figure.text(x, y, text, rotation=90, ha="right", va="center", ma="center", fontsize=points)


def lines_above(title: str, mark: str) -> int:
    """Return the number of lines above the panels: of the title and of the note on the data."""
    return bool(title) + bool(mark)


def finished(figure: Figure, plan: layout.Layout, x_label: str, mark: str, title: str = "") -> None:
    """Write the label of the horizontal axis, the title, and the note on the data."""
    at, size = (plan.middle / plan.width, plan.below / plan.height), SETTINGS["axes.labelsize"]
    figure.text(*at, x_label, ha="center", va="top", fontsize=size)
    if title:
        points = TITLE_POINTS
        while layout.text_inches(typeset(title), points) > plan.width - 0.1 and points > LEAST_POINTS:
            points -= 0.5
        figure.text(
            0.05 / plan.width, 1 - 0.03 / plan.height, typeset(title), va="top", fontsize=points, weight=600
        )
    if mark:
        figure.text(
            0.995,
            1 - (0.03 + 0.155 * bool(title)) / plan.height,
            mark,
            ha="right",
            va="top",
            fontsize=7,
            color=WARNING,
        )
