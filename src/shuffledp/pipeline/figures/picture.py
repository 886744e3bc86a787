"""One picture as data: rows of a summary, their looks, and axes that all files of its drawing have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from shuffledp.pipeline.figures import legend
from shuffledp.pipeline.figures.axes import Axis, horizontal, vertical
from shuffledp.pipeline.figures.drawn_curves import Strand, Together, coinciding, leading, strands
from shuffledp.pipeline.figures.palette import Look, Looks, behind
from shuffledp.pipeline.manifest import Chart, Curve


@dataclass(frozen=True)
class Part:
    """Part that distinguishes curves of one name, such as an accounting, with its text and look in the legend."""

    text: str
    look: Look


@dataclass(frozen=True)
class Picture:
    """One picture: rows of a summary and their looks.

    ``drawing`` is the figure's entry in the paper's file. ``selection`` has the rows of the summary for this file, with
    a column ``curve``, and ``frame`` the rows of all files of the drawing, which have the same axes and the same
    ``panels``. ``labels`` are the legend texts by name in their order, and ``looks`` the looks by curve. ``grid`` has
    the values of variables in order. ``points`` of the paper have a panel (None: every panel), x and y, and
    ``points_label`` is their legend text. ``mark`` is the note on the data in the picture itself, and ``title`` the
    line above the panels.

    A curve is ``name``, or ``name|part`` if ``parts`` distinguish curves of one name. In ``frame`` the column ``curve``
    also has the value that distinguishes the file.
    """

    drawing: Mapping[str, Any]
    selection: pd.DataFrame
    frame: pd.DataFrame
    labels: Mapping[str, str]
    looks: Looks
    panels: Sequence[Any] = (None,)
    grid: Mapping[str, list[Any]] = field(default_factory=dict)
    parts: Mapping[str, Part] = field(default_factory=dict)
    points: Sequence[tuple[str | None, float, float]] = ()
    points_label: str = legend.READ_OFF
    mark: str = ""
    ratios: bool = False
    title: str = ""
    """Title above the panels; ``ratios`` is True for strips below the panels with the ratios of printed to exact
    numbers."""

    @cached_property
    def places(self) -> dict[Any, float] | None:
        """Positions of values of x that are not numbers; None for numbers."""
        values = self.grid.get(self.drawing["x"], ())
        if all(isinstance(value, int | float) for value in values):
            return None
        return {value: float(i) for i, value in enumerate(values)}

    @cached_property
    def strands(self) -> list[Strand]:
        """Curves of this file; curves with parts have only one kind of number."""
        every = self._strands(self.selection)
        return leading(every) if self.parts else every

    @cached_property
    def drawn(self) -> list[Strand]:
        """Curves of this file, one of each group of coinciding curves."""
        hidden = {name for one in self.together for name in one.curves if name != self.drawn_of(one)}
        return [strand for strand in self.strands if self.name_of(strand.curve) not in hidden]

    @cached_property
    def simulated(self) -> list[Strand]:
        """Simulated means with exact accounting, drawn on the lines of the same curves."""
        if not self.parts or "along" in self.drawing:
            return []
        lines = {strand.curve for strand in self.drawn if strand.kind != "simulated" and not strand.level}
        return [
            strand
            for strand in self._strands(self.selection)
            if strand.kind == "simulated"
            and strand.curve in lines
            and strand.curve.endswith("|exact")
            and self.name_of(strand.curve) not in self.numbered
        ]

    def name_of(self, curve: str) -> str:
        """Return the name of a curve."""
        return curve.rpartition("|")[0] if self.parts else curve

    def drawn_of(self, one: Together) -> str:
        """Return the drawn name of coinciding curves: the first one in ``lead`` of the figure, otherwise the first."""
        lead = self.drawing.get("lead", ())
        return next((name for name in one.curves if name in lead), one.curves[0])

    @cached_property
    def numbered(self) -> dict[str, int]:
        """Numbers of the drawn names that are not in the figure's list ``lead``, nor the user's own."""
        if "lead" not in self.drawing:
            return {}
        own = {self.name_of(curve) for curve, look in self.looks.items() if look.width}
        named = {*self.drawing["lead"], *own}
        others = (self.drawn_of(one) for one in self.together if not named.intersection(one.curves))
        return {name: number for number, name in enumerate(others, 1)}

    @cached_property
    def drawn_looks(self) -> dict[str, Look]:
        """Looks by curve, thin and gray for numbered names."""
        return {
            curve: behind(look, bool(self.parts)) if self.name_of(curve) in self.numbered else look
            for curve, look in self.looks.items()
        }

    @property
    def means(self) -> bool:
        """True if simulated means are drawn as points beside lines."""
        joined = "along" in self.drawing or bool(self.parts)
        return not joined and any(s.kind == "simulated" and not s.level for s in self.strands)

    def _strands(self, rows: pd.DataFrame) -> list[Strand]:
        drawing = self.drawing
        return strands(rows, drawing["x"], drawing.get("panels"), drawing.get("along"), self.places)

    @cached_property
    def x_axis(self) -> Axis:
        """Horizontal axis of all files."""
        return horizontal(
            self._strands(self.frame), self.drawing.get("x_scale", "linear"), [x for _, x, _ in self.points]
        )

    @cached_property
    def y_axis(self) -> Axis:
        """Vertical axis of all files."""
        own = [replace(s, curve=s.curve.rpartition("|")[0]) for s in self._strands(self.frame)]
        return vertical(own, self.drawing.get("y_scale", "linear"), [y for _, _, y in self.points])

    @cached_property
    def together(self) -> list[Together]:
        """Names with a number, in groups of curves that coincide."""
        numbers: dict[str, dict[Any, float]] = {}
        for strand in leading(self.strands):
            name, part = self.name_of(strand.curve), strand.curve.rpartition("|")[2] if self.parts else ""
            own = numbers.setdefault(name, {})
            own |= {(part, strand.panel, x): y for x, y in strand.at().items() if np.isfinite(y)}
        names = [name for name in self.labels if numbers.get(name)]
        return coinciding(numbers, self.y_axis.units, self.y_axis.span, names)


# -- entry of the manifest -----------------------------------------------------------------------------------------


def chart(what: Picture) -> Chart | None:
    """Return the description of a figure's chart; None if it has no numbers."""
    if what.selection.empty:
        return None
    drawing = what.drawing
    panels = drawing.get("panels")
    drawn = {strand.curve for strand in what.strands}
    curves = [
        looks_like(curve, _label(what, curve), look) for curve, look in what.looks.items() if curve in drawn
    ]
    if what.points:
        curves.append(looks_like(legend.PAPER, what.points_label, legend.POINTS))
    return Chart(
        x=drawing["x"],
        y=drawing["y"],
        x_label=drawing.get("x_label", drawing["x"]),
        y_label=drawing.get("y_label", drawing["y"]),
        x_scale=drawing.get("x_scale", "linear"),
        y_scale=drawing.get("y_scale", "linear"),
        panels=panels,
        panel_label=drawing.get("panel_label", f"{panels} = {{}}") if panels else None,
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
