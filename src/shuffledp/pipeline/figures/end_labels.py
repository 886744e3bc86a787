"""Names beside the last panel and numbers at the ends of the gray curves, instead of a legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from shuffledp.pipeline.figures import layout, legend, sheet
from shuffledp.pipeline.figures.axes import Axis, typeset
from shuffledp.pipeline.figures.drawn_curves import Strand, leading
from shuffledp.pipeline.figures.palette import DARK, Look
from shuffledp.pipeline.figures.picture import Picture
from shuffledp.pipeline.figures.style import in_column

POINTS, NUMBER_POINTS = 7.5, 5.5
"""Size of names and of numbers."""
_WIDEST = 1.5  # inches of a line of a name
_LINE, _LEADER, _HANDLE, _GAP = 0.125, 0.16, 0.26, 0.05


@dataclass(frozen=True)
class Label:
    """Name of a curve beside the panel, the number at its end, and its look."""

    name: str
    text: str
    end: float
    look: Look

    @property
    def height(self) -> float:
        """Height in inches."""
        return (self.text.count("\n") + 1) * _LINE


def of(what: Picture) -> list[Label]:
    """Return the names beside the last panel of the first row; none without a list ``lead`` or in a column."""
    if "lead" not in what.drawing or in_column():
        return []
    value = what.panels[layout.rows_of(len(what.panels))[0] - 1]
    here = {s.curve: s for s in leading(what.drawn) if value is None or s.panel in (None, value)}
    found = []
    for one in what.together:
        name = what.drawn_of(one)
        curves = [f"{name}|{part}" for part in reversed(list(what.parts))] or [name]
        strand = next((here[curve] for curve in curves if curve in here), None)
        end = None if strand is None else _end(strand, what.y_axis)
        if strand is not None and end is not None and name not in what.numbered:
            text = layout.wrapped(typeset(legend.joined(one, what.labels)), POINTS, _WIDEST)
            found.append(Label(name, text, end[1], what.drawn_looks[strand.curve]))
    return found


def _end(strand: Strand, axis: Axis) -> tuple[float, float] | None:
    """Return the last point of a curve that is within the axis."""
    inside = (strand.y >= axis.low) & (strand.y <= axis.high)
    if not inside.any():
        return None
    last = int(np.flatnonzero(inside)[-1])
    return float("nan") if strand.level else float(strand.x[last]), float(strand.y[last])


def width(labels: Sequence[Label]) -> float:
    """Return the width in inches of the names beside the panels."""
    widths = (layout.text_inches(line, POINTS) for label in labels for line in label.text.split("\n"))
    return max((_LEADER + _HANDLE + _GAP + wide for wide in widths), default=0.0)


def spread(wanted: Sequence[float], heights: Sequence[float], low: float, high: float) -> list[float]:
    """Return the middles of boxes in their order that do not overlap, near the wanted ones and within two ends.

    More boxes than fit extend below the lower end.
    """
    order = sorted(range(len(wanted)), key=lambda i: -wanted[i])
    top, places = high, {}
    for i in order:
        places[i] = min(wanted[i], top - heights[i] / 2)
        top = places[i] - heights[i] / 2
    bottom = low
    for i in reversed(order):
        lifted = max(places[i], bottom + heights[i] / 2)
        if lifted == places[i]:
            break
        places[i] = lifted
        bottom = lifted + heights[i] / 2
    top = high
    for i in order:  # a crowd that was lifted above the upper end
        places[i] = min(places[i], top - heights[i] / 2)
        top = places[i] - heights[i] / 2
    return [places[i] for i in range(len(wanted))]


def write(page: sheet.Sheet, labels: Sequence[Label], axis: Axis) -> None:
    """Write the names, each with a piece of its line and a leader from the end of its curve."""
    plan, box = page.plan, page.plan.beside.box
    wanted = [box.bottom + axis.share(label.end) * box.height for label in labels]
    places = spread(
        wanted, [label.height for label in labels], box.bottom - 0.1, box.bottom + box.height + 0.1
    )
    right = box.left + box.width
    for label, start, place in zip(labels, wanted, places, strict=True):
        _line(page, [right + 0.02, right + _LEADER], [start, place], Look(DARK, "", "-", 0.5))
        handle = [right + _LEADER + share * _HANDLE for share in (0.0, 0.5, 1.0)]
        _line(page, handle, [place] * 3, label.look)
        x, y = (right + _LEADER + _HANDLE + _GAP) / plan.width, place / plan.height
        page.figure.text(x, y, label.text, va="center_baseline", fontsize=POINTS, linespacing=1.1)


def _line(page: sheet.Sheet, x: Sequence[float], y: Sequence[float], look: Look) -> None:
    plan = page.plan
    own: dict[str, Any] = {"lw": look.width} if look.width else {}
    if look.marker:
        own |= {"marker": look.marker, "markevery": [1], "mfc": "none"}
    across, up = [one / plan.width for one in x], [one / plan.height for one in y]
    page.figure.add_artist(Line2D(across, up, color=look.color, ls=look.dash, **own))


def number(ax: Axes, what: Picture, here: Sequence[Strand], box: layout.Box) -> None:
    """Write the numbers of the gray curves of a panel at their ends."""
    ends: dict[int, tuple[float, float]] = {}
    for strand in leading(here):
        end, own = _end(strand, what.y_axis), what.numbered.get(what.name_of(strand.curve))
        if own is not None and end is not None:
            ends[own] = end  # the last part is the most exact one
    step = [NUMBER_POINTS / 72] * len(ends)
    wanted = [what.y_axis.share(y) * box.height for _, y in ends.values()]
    for (own, (x, _)), y in zip(ends.items(), spread(wanted, step, 0.0, box.height), strict=True):
        across = 0.985 if np.isnan(x) else what.x_axis.share(x) + 0.012
        style: dict[str, Any] = {"transform": ax.transAxes, "fontsize": NUMBER_POINTS, "color": DARK}
        ax.text(across, y / box.height, str(own), ha="left", va="center_baseline", zorder=6, **style)
