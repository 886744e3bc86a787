"""Entries of the manifest on a drawing besides its files: its finding, and the drawing style of its numbers."""

from __future__ import annotations

from shuffledp.pipeline.figures import legend
from shuffledp.pipeline.figures.palette import Look
from shuffledp.pipeline.figures.picture import Picture
from shuffledp.pipeline.manifest import Chart, Curve


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
        curves.append(looks_like(legend.PAPER, legend.READ_OFF, legend.POINTS))
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
    """Return a curve's entry in a chart: its id, label and look."""
    dash = look.dash if isinstance(look.dash, str) else list(look.dash)
    return Curve(id=curve, label=label, color=look.color, marker=look.marker, dash=dash)
