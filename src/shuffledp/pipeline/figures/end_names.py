"""Names at the ends of curves, and beside points, instead of a legend."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Annotation, OffsetFrom
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from shuffledp.pipeline.figures.style import SETTINGS

#: Size of a name, and its letters per line.
POINTS, LETTERS = 7.0, 30
_AWAY, _LINE, _BESIDE = 18.0, 1.25, "beside"
_BEYOND = 8.0  # points by which names may stand above and below their panel


@dataclass(frozen=True)
class EndName:
    """Name of a point, with the color of its line."""

    x: float
    y: float
    text: str
    color: str


def wrapped(text: str, letters: int = LETTERS) -> str:
    """Return a text in lines of at most some letters."""
    return "\n".join(textwrap.wrap(text, letters))


def height_of(names: Iterable[EndName]) -> float:
    """Return the height of names below each other in inches."""
    return sum(_height(wrapped(name.text), POINTS) / 72 for name in names)


def _height(text: str, points: float) -> float:
    """Return the height of a text in points."""
    return (text.count("\n") + 1) * _LINE * points


def write(ax: Axes, names: Iterable[EndName], size: float = POINTS) -> None:
    """Write names right of a panel, each with a line from its point; `laid_out` moves them apart."""
    for name in names:
        line: dict[str, Any] = {"arrowstyle": "-", "color": name.color, "lw": 0.9, "relpos": (0, 0.5)}
        ax.annotate(
            wrapped(name.text),
            (name.x, name.y),
            (_AWAY, 0),
            textcoords=OffsetFrom(ax, (1, 0)),
            va="center",
            fontsize=size,
            color=SETTINGS["axes.edgecolor"],
            annotation_clip=False,
            arrowprops=line | {"shrinkA": 1, "shrinkB": 0},
            linespacing=1.05,
            gid=_BESIDE,
        )


def laid_out(figure: Figure) -> Figure:
    """Lay a figure out once, then move the names of each panel apart, and keep this layout."""
    ConstrainedLayoutEngine().execute(figure)
    inches = 72 / figure.dpi
    for ax in figure.axes:
        notes = [text for text in ax.texts if isinstance(text, Annotation) and text.get_gid() == _BESIDE]
        if notes:
            ends = ax.transData.transform([note.xy for note in notes])[:, 1] - ax.bbox.y0
            heights = [_height(note.get_text(), float(note.get_fontsize())) for note in notes]
            places = spread(ends * inches, heights, -_BEYOND, ax.bbox.height * inches + _BEYOND)
            for note, place in zip(notes, places, strict=True):
                note.xyann = (_AWAY, place)
    return figure


def spread(
    targets: Sequence[float], heights: Sequence[float], low: float, high: float
) -> NDArray[np.float64]:
    """Return the middles of boxes that do not overlap, between two ends, with the least sum of squared moves."""
    order = np.argsort(targets, kind="stable")
    tall = np.asarray(heights, float)[order]
    offsets = np.cumsum(tall) - tall / 2
    starts = isotonic_regression(np.asarray(targets, float)[order] - offsets).x
    middles = np.empty(len(order))
    middles[order] = np.clip(starts, low, max(high - tall.sum(), low)) + offsets
    return middles
