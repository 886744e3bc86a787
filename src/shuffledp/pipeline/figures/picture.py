"""One picture as data: rows of a summary, and their looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from shuffledp.pipeline.figures.drawing_jobs import Fields
from shuffledp.pipeline.figures.drawn_curves import Strand, equal_curves, leading, strands
from shuffledp.pipeline.figures.palette import BLACK, Look, Looks
from shuffledp.pipeline.manifest import Chart, Curve, Scale

#: Curve of points of the paper.
PAPER = "paper"
#: Look of points of the paper.
POINTS = Look(BLACK, "x", "")


@dataclass(frozen=True)
class Part:
    """Part that distinguishes curves of one name, such as an accounting, with its text and look in the legend."""

    text: str
    look: Look


@dataclass(frozen=True)
class Picture:
    """One picture: rows of a summary and their looks.

    ``drawing`` is the figure's entry in the paper's file. ``selection`` has the rows of the summary, with a column
    ``curve``. ``labels`` are the legend texts by name in their order, and ``looks`` the looks by curve. ``grid`` has
    the values of variables in order. ``points`` of the paper have a panel (None: every panel), x and y, and
    ``points_label`` is their legend text. ``mark`` is the note on the data in the picture itself, and ``title`` the
    line above the panels. ``ratios`` is True for strips of printed over exact numbers below the panels.

    A curve is ``name``, or ``name|part`` if ``parts`` distinguish curves of one name.
    """

    drawing: Mapping[str, Any]
    selection: pd.DataFrame
    labels: Mapping[str, str]
    looks: Looks
    panels: Sequence[Any] = (None,)
    grid: Mapping[str, list[Any]] = field(default_factory=dict)
    parts: Mapping[str, Part] = field(default_factory=dict)
    points: Sequence[tuple[str | None, float, float]] = ()
    points_label: str = ""
    mark: str = ""
    ratios: bool = False
    title: str = ""

    @cached_property
    def places(self) -> dict[Any, float] | None:
        """Positions of values of x that are not numbers; None for numbers."""
        values = self.grid.get(self.drawing["x"], ())
        if all(isinstance(value, int | float) for value in values):
            return None
        return {value: float(i) for i, value in enumerate(values)}

    @cached_property
    def every(self) -> list[Strand]:
        """Curves of all kinds of numbers."""
        drawing = self.drawing
        return strands(self.selection, drawing["x"], drawing.get("panels"), drawing.get("along"), self.places)

    @cached_property
    def lines(self) -> list[Strand]:
        """Curves that are drawn as lines; simulated means are lines along a variable or where nothing else is known."""
        first = leading(self.every)
        if "along" in self.drawing or self.parts:
            return first
        sloped = [strand for strand in self.every if strand.kind != "simulated" and not strand.level]
        return [*(strand for strand in first if strand.level), *sloped]

    @cached_property
    def points_with_bars(self) -> list[Strand]:
        """Simulated means that are drawn as points; printed ones are left out of a picture of both accountings."""
        if "along" in self.drawing:
            return []
        lines = {(strand.curve, strand.panel) for strand in self.lines if strand.kind != "simulated"}
        means = [s for s in self.every if s.kind == "simulated" and not s.level]
        if not self.parts:
            return means
        return [s for s in means if (s.curve, s.panel) in lines and not s.curve.endswith("|printed")]

    @cached_property
    def bands(self) -> list[Strand]:
        """Curves of simulated means along a variable that have standard errors."""
        along = "along" in self.drawing
        return [s for s in self.lines if along and s.kind == "simulated" and np.isfinite(s.error).any()]

    @property
    def selection_drawn(self) -> pd.DataFrame:
        """Rows of the numbers that are drawn, as lines or as points."""
        keys_of_curves = {(strand.curve, strand.kind) for strand in (*self.lines, *self.points_with_bars)}
        keys = zip(self.selection["curve"], self.selection["kind"], strict=True)
        return self.selection[[key in keys_of_curves for key in keys]]

    def stated(self, axis: str, panel: Any) -> list[float]:
        """Return the numbers on an axis of a panel that the paper's text states, at most one."""
        number = self.drawing.get("stated", {}).get(axis)
        value = number.get(str(panel)) if isinstance(number, Mapping) else number
        return [] if value is None else [float(value)]

    def name_of(self, curve: str) -> str:
        """Return the name of a curve."""
        return curve.rpartition("|")[0] if self.parts else curve

    def part_of(self, curve: str) -> str:
        """Return the part of a curve; empty without parts."""
        return curve.rpartition("|")[2] if self.parts else ""

    def named(self, name: str, curves: Iterable[Strand]) -> list[Strand]:
        """Return the curves that have a name."""
        return [strand for strand in curves if self.name_of(strand.curve) == name]

    def most_exact(self, curves: Iterable[Strand]) -> Strand:
        """Return the most exact of some curves, a closed form if there is one."""
        return max(curves, key=self.exactness)

    def exactness(self, curve: Strand) -> tuple[int, bool]:
        """Return a sort key: the place of a curve's accounting, and whether it is a closed form."""
        return ["", *self.parts].index(self.part_of(curve.curve)), curve.kind != "simulated"

    def look_of_name(self, name: str) -> Look:
        """Return the look of a name: of its most exact curve."""
        return self.looks[self.most_exact(self.named(name, self.every)).curve]

    @cached_property
    def together(self) -> list[list[str]]:
        """Names with a number, in groups of curves that are equal within half a percent at all points."""
        numbers: dict[str, dict[Any, float]] = {}
        for strand in leading(self.every):
            points = numbers.setdefault(self.name_of(strand.curve), {})
            part = self.part_of(strand.curve)
            points |= {
                (part, strand.panel, x): y for x, y in strand.numbers_by_position().items() if np.isfinite(y)
            }
        return equal_curves(numbers, [name for name in self.labels if numbers.get(name)])


@dataclass(frozen=True)
class Made:
    """Drawing function of a picture, with its numbers, its chart, and notes for the manifest and the caption."""

    draw: Callable[[], Figure]
    numbers: bytes
    chart: Chart | None
    without: Sequence[str] = ()
    questions: Fields = field(default_factory=dict)


# -- entry of the manifest -----------------------------------------------------------------------------------------


def chart(what: Picture) -> Chart | None:
    """Return the description of a figure's chart; None if it has no numbers."""
    if what.selection.empty:
        return None
    drawing = what.drawing
    panels = drawing.get("panels")
    curves_in_picture = {strand.curve for strand in [*what.lines, *what.points_with_bars]}
    curves = [
        looks_like(curve, _label(what, curve), look)
        for curve, look in what.looks.items()
        if curve in curves_in_picture
    ]
    if what.points:
        curves.append(looks_like(PAPER, what.points_label, POINTS))
    label = drawing.get("panel_label", f"{panels} = {{}}") if panels else None
    return chart_of(drawing, curves, panels, label)


def chart_of(
    drawing: Fields,
    curves: Iterable[Curve],
    panels: str | None,
    panel_label: str | None,
    scale: Scale = "linear",
) -> Chart:
    """Return a chart with the axes of a figure's entry, with a scale where the entry has none."""
    x, y = drawing["x"], drawing["y"]
    return Chart(
        x=x,
        y=y,
        x_label=drawing.get("x_label", x),
        y_label=drawing.get("y_label", y),
        x_scale=drawing.get("x_scale", scale),
        y_scale=drawing.get("y_scale", scale),
        panels=panels,
        panel_label=panel_label,
        curves=tuple(curves),
    )


def _label(what: Picture, curve: str) -> str:
    if not what.parts:
        return what.labels[curve]
    name, _, part = curve.rpartition("|")
    return f"{what.labels[name]}, {what.parts[part].text}"


def looks_like(curve: str, label: str, look: Look) -> Curve:
    """Return the entry of a curve in a chart: its id, label and look."""
    dash = look.dash if isinstance(look.dash, str) else list(look.dash)
    return Curve(id=curve, label=label, color=look.color, marker=look.marker, dash=dash)
