"""Legends: coinciding curves share an entry; accountings and points read off a paper come last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from shuffledp.pipeline.figures.drawn_curves import Together
from shuffledp.pipeline.figures.layout import Legend
from shuffledp.pipeline.figures.palette import BLACK, Look

PAPER = "paper"
"""Curve of the points read off the paper."""
READ_OFF = "read off the paper"
POINTS = Look(BLACK, "x", "")
"""Look of points that belong to no method."""
POINT_SIZE = 6.5


@dataclass(frozen=True)
class Item:
    """Legend entry: its text and its looks; for a region also the color and pattern below the look."""

    text: str
    looks: tuple[Look, ...]
    filled: tuple[str, str] | None = None


def joined(one: Together, labels: Mapping[str, str]) -> str:
    """Return the name of coinciding curves, with "=" if they are equal within half a percent, else "≈"."""
    return (" = " if one.equal else " ≈ ").join(_told_apart([labels[c] for c in one.curves]))


def _told_apart(names: Sequence[str]) -> list[str]:
    first, *others = names
    stem = first[: first.rfind(", ") + 2] if ", " in first else ""
    if not stem or not all(name.startswith(stem) for name in others):
        return [first, *others]
    return [first, *(name[len(stem) :] for name in others)]


def write(figure: Figure, entries: Sequence[Item], form: Legend, middle: float) -> None:
    """Draw the legend below the panels; ``middle`` is its position as a share of the picture's width."""
    handles: Any = [(*_patches(item.filled), *(_handle(look) for look in item.looks)) for item in entries]
    side_by_side = not any(item.filled for item in entries)
    figure.legend(
        handles,
        form.texts,
        handler_map={tuple: HandlerTuple(ndivide=None if side_by_side else 1, pad=0.3)},
        loc="lower center",
        bbox_to_anchor=(middle, 0.0),
        ncols=form.columns,
        borderaxespad=0.2,
        borderpad=0.2,
        labelspacing=0.35,
        columnspacing=1.2,
        handlelength=form.handle,
        handletextpad=0.5,
    )


def _patches(filled: tuple[str, str] | None) -> tuple[Patch, ...]:
    if filled is None:
        return ()
    color, hatch = filled
    return (Patch(facecolor=color, edgecolor="white", linewidth=0.6, hatch=hatch),)


def _handle(look: Look) -> Line2D:
    size = POINT_SIZE if look == POINTS else None
    width = look.width or None  # none is the width of the style
    return Line2D(
        [],
        [],
        color=look.color,
        marker=look.marker,
        mfc="none",
        ls=look.dash,
        linewidth=width,
        markersize=size,
    )
