"""What the manifest says of a drawing besides its files: its finding in a sentence, and how its numbers are drawn."""

from __future__ import annotations

from typing import Any

from shuffledp.pipeline.figures import legend
from shuffledp.pipeline.figures.palette import Look
from shuffledp.pipeline.figures.picture import Picture


def chart(what: Picture) -> dict[str, Any] | None:
    """How the numbers of a figure are drawn; None if there are none.

    Returns
    -------
    dict or None
        ``x``, ``y``, ``panels``: columns of the figure's CSV; ``x_label``, ``y_label``, ``panel_label``, ``x_scale``
        and ``y_scale``; ``curves``: ``id`` (in the column ``curve``), ``label``, and the look as Matplotlib writes it.
    """
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
    return {
        "x": drawing["x"],
        "y": drawing["y"],
        "x_label": drawing.get("x_label", drawing["x"]),
        "y_label": drawing.get("y_label", drawing["y"]),
        "x_scale": drawing.get("x_scale", "linear"),
        "y_scale": drawing.get("y_scale", "linear"),
        "panels": panels,
        "panel_label": drawing.get("panel_label", f"{panels} = {{}}") if panels else None,
        "curves": curves,
    }


def _label(what: Picture, curve: str) -> str:
    if not what.parts:
        return what.labels[curve]
    name, _, part = curve.rpartition("|")
    return f"{what.labels[name]}, {what.parts[part].text}"


def looks_like(curve: str, label: str, look: Look) -> dict[str, Any]:
    """A curve of a chart: its id, label and look, as JSON has them."""
    return {
        "id": curve,
        "label": label,
        "color": look.color,
        "marker": look.marker,
        "dash": _plain_dash(look.dash),
    }


def _plain_dash(dash: Any) -> Any:
    """A kind of line as JSON has it: "-", "" for none, or ``[offset, [on, off, ...]]`` in units of the line's width."""
    return dash if isinstance(dash, str) else [dash[0], list(dash[1])]
