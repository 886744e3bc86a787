"""Common parts of all pictures: frames, ticks, labels, and the picture without numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.markers import TICKDOWN, TICKLEFT
from matplotlib.ticker import NullLocator

from shuffledp.pipeline.figures import layout, legend
from shuffledp.pipeline.figures.axes import Axis, Ticks, typeset
from shuffledp.pipeline.figures.drawing_jobs import Fields
from shuffledp.pipeline.figures.palette import Look
from shuffledp.pipeline.figures.style import SETTINGS, in_column
from shuffledp.pipeline.manifest import Chart

WARNING = "#8a1c00"  # a mark says that the data are not the real ones
TITLE_POINTS, LEAST_POINTS = 8.5, 5.5
_BOLD = 1.15  # times as wide as usual letters
INFEASIBLE = "Nothing is feasible at these settings: there is nothing to draw."


@dataclass(frozen=True)
class Made:
    """Drawing function of a picture, with its numbers, its chart, and notes for the manifest and the caption."""

    draw: Callable[[], Figure]
    numbers: bytes
    chart: Chart | None
    without: Sequence[str] = ()
    questions: Fields = field(default_factory=dict)


def said(text: str) -> Figure:
    """Return a picture without axes that shows a text instead of data."""
    figure = Figure(figsize=(5.2, 0.7))
    figure.text(0.5, 0.5, text, ha="center", va="center", fontsize=SETTINGS["font.size"])
    return figure


def add(ax: Axes, x: Any, y: Any, look: Look, **settings: Any) -> None:
    """Add a line or markers, without a change of the limits."""
    own = {"color": look.color, "ls": look.dash, "marker": look.marker, "mfc": "none"}
    if look.width:
        own |= {"lw": look.width, "mew": 1.6, "ms": 6.5}
    ax.add_artist(Line2D(x, y, **own | settings))


def framed(ax: Axes, across: Axis, up: Axis) -> None:
    """Set the limits and scales of a panel's axes."""
    for axis, scaled, limited, lines in (
        (across, ax.set_xscale, ax.set_xlim, ax.xaxis),
        (up, ax.set_yscale, ax.set_ylim, ax.yaxis),
    ):
        if axis.scale == "log":
            scaled("log")
            lines.set_minor_locator(NullLocator())
        limited(axis.low, axis.high)


def ticked(ax: Axes, across: Ticks, up: Ticks, *, below: bool, left: bool) -> None:
    """Draw ticks at given positions; all small ticks are one line of markers, for speed."""
    ax.set_xticks(across.major, across.labels if below else [""] * len(across.major))
    ax.set_yticks(up.major, up.labels if left else [""] * len(up.major))
    if across.minor:
        _small_ticks(ax, across.minor, [0.0] * len(across.minor), TICKDOWN, ax.get_xaxis_transform())
    if up.minor:
        _small_ticks(ax, [0.0] * len(up.minor), up.minor, TICKLEFT, ax.get_yaxis_transform())


def _small_ticks(ax: Axes, x: Sequence[float], y: Sequence[float], marker: Any, transform: Any) -> None:
    color = SETTINGS["axes.edgecolor"]
    add(ax, x, y, Look(color, marker, ""), transform=transform, clip_on=False, zorder=1, ms=2, mew=0.5)


@dataclass(frozen=True)
class Sheet:
    """Picture with panels; `finish` adds the title, the label of the horizontal axis and the legend."""

    figure: Figure
    plan: layout.Layout
    drawing: Fields
    title: str
    mark: str
    label: str
    items: Sequence[legend.Item]
    form: layout.Legend

    @classmethod
    def of(
        cls,
        drawing: Fields,
        panels: int,
        items: Sequence[legend.Item],
        ticks: Sequence[str],
        mark: str,
        title: str,
        *,
        titles: bool,
        strips: bool = False,
        room: float = 0.0,
        right: float = 0.0,
    ) -> Sheet:
        """Return an empty picture with space for all texts.

        ``room`` is added to the height of the label, and ``right`` is the width of the names beside the panels.
        """
        most_looks = max((len(item.looks) for item in items), default=1)
        form = layout.legend_of([item.text for item in items], most_looks, layout.plot_width(panels) + 0.5)
        height = layout.panel_height(panels) + room
        label = layout.wrapped(
            typeset(drawing.get("y_label", drawing["y"])), SETTINGS["axes.labelsize"], height
        )
        plan = layout.laid_out(
            panels,
            titles=titles,
            strips=strips,
            above=(bool(title) and not in_column()) + bool(mark),
            left=max(layout.text_inches(text, SETTINGS["ytick.labelsize"]) for text in ticks),
            label_lines=label.count("\n") + 1,
            legend_rows=form.rows,
            right=right,
        )
        return cls(Figure(figsize=(plan.width, plan.height)), plan, drawing, title, mark, label, items, form)

    def panel(self, box: layout.Box) -> Axes:
        """Add the axes of a panel."""
        return self.figure.add_axes(box.shares(self.plan.width, self.plan.height))

    def name_panel(self, ax: Axes, value: Any) -> None:
        """Write the value of the panels' variable above a panel, if the variable exists."""
        if value is not None:
            text = self.drawing.get("panel_label", f"{self.drawing['panels']} = {{}}")
            ax.set_title(typeset(text.format(value)))

    def label_rows(self, box: layout.Box, text: str = "", points: float = 0.0) -> None:
        """Write the label of a vertical axis."""
        x, y = self.plan.label_x / self.plan.width, (box.bottom + box.height / 2) / self.plan.height
        own: dict[str, Any] = {"ha": "right", "va": "center", "ma": "center"}
        size = points or SETTINGS["axes.labelsize"]
        self.figure.text(x, y, text or self.label, rotation=90, fontsize=size, **own)

    def finish(self) -> Figure:
        """Write the label of the horizontal axis, the title, the note on the data, and the legend."""
        plan, write = self.plan, self.figure.text
        title = "" if in_column() else typeset(self.title)  # a paper's title is in its caption
        middle, top = plan.middle / plan.width, 0.03
        x_label = self.drawing.get("x_label", self.drawing["x"])
        write(
            middle,
            plan.below / plan.height,
            typeset(x_label),
            ha="center",
            va="top",
            fontsize=SETTINGS["axes.labelsize"],
        )
        if title:
            points = TITLE_POINTS
            while _BOLD * layout.text_inches(title, points) > plan.width - 0.1 and points > LEAST_POINTS:
                points -= 0.5
            write(0.05 / plan.width, 1 - top / plan.height, title, va="top", fontsize=points, weight="bold")
            top += 0.155
        if self.mark:
            own: dict[str, Any] = {"ha": "right", "va": "top", "fontsize": 7, "color": WARNING}
            write(0.995, 1 - top / plan.height, self.mark, **own)
        legend.write(self.figure, self.items, self.form, 0.5 if in_column() else middle)
        return self.figure
