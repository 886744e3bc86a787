"""The one style of figures: fonts, sizes, a color and marker per method, and how files are saved."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.backend_bases import get_registered_canvas_class
from matplotlib.figure import Figure

# Okabe and Ito's colors in an order that keeps neighbors apart; they stay distinct for color-blind readers.
COLORS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#555555",
    "#8C510A",
    "#5E3C99",
    "#B2182B",
)
# Lines that lie upon each other stay visible, because the upper one has gaps.
DASHES: tuple[Any, ...] = (
    "-",
    "-",
    (0, (5, 2)),
    (0, (1.5, 1.5)),
    "-",
    (0, (7, 2, 1.5, 2)),
    "-",
    (0, (3, 1)),
    (0, (8, 3)),
    (0, (4, 1, 1, 1)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")

# Methods keep their look in every figure of every paper; the numbers index COLORS, DASHES and MARKERS.
_KNOWN = {
    "local": 6,
    "amplified": 0,
    "non_adaptive": 2,
    "adaptive": 3,
    "random_checkin": 1,
    "multi_union": 4,
    "multi_expected": 5,
    "adaptive_printed_objective": 7,
    "multi_exact": 8,
}

SETTINGS: dict[Any, Any] = {
    "figure.dpi": 110,
    "savefig.dpi": 160,
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.5,
    "axes.grid": True,
    "grid.color": "#e2e2e2",
    "grid.linewidth": 0.6,
    "svg.hashsalt": "shuffledp",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.family": "DejaVu Sans",
}


@dataclass(frozen=True)
class Look:
    """Color, marker and line of one curve."""

    color: str
    marker: str
    dash: Any


def looks(curves: Sequence[str]) -> dict[str, Look]:
    """A look per curve: known methods keep theirs, others take what is left in order."""
    taken = {_KNOWN[c] for c in curves if c in _KNOWN}
    free = [i for i in range(len(COLORS)) if i not in taken] or list(range(len(COLORS)))
    chosen = {}
    others = 0
    for curve in curves:
        index = _KNOWN.get(curve)
        if index is None:
            index, others = free[others % len(free)], others + 1
        chosen[curve] = Look(COLORS[index], MARKERS[index], DASHES[index])
    return chosen


@contextmanager
def figure_style() -> Iterator[None]:
    """Matplotlib and seaborn settings for the time of drawing, without touching the caller's."""
    import seaborn  # takes a second: not for those who only ask for colors

    with mpl.rc_context(), seaborn.axes_style("ticks"):
        mpl.rcParams.update(SETTINGS)
        yield


def rendered(figure: Figure, file_format: str) -> bytes:
    """The figure as a file; the bytes depend on what is drawn alone.

    The canvas prints as it is: `Figure.savefig` would draw everything once before, to lay out what is laid out already.
    """
    metadata = {"png": {"Software": None}, "pdf": {"CreationDate": None, "Producer": None, "Creator": None}}
    sink = io.BytesIO()
    figure.set_dpi(SETTINGS["savefig.dpi"])  # of pixels; PDF and SVG count in points
    canvas = get_registered_canvas_class(file_format)(figure)
    write = getattr(canvas, f"print_{file_format}")
    write(sink, metadata=metadata.get(file_format, {"Date": None, "Creator": None}))
    return sink.getvalue()
