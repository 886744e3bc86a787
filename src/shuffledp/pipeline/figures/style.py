"""The style of all figures: fonts, sizes and file formats."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

SETTINGS: dict[Any, Any] = {
    "figure.dpi": 160,  # as in files: a layout is for one resolution
    "savefig.dpi": "figure",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titlepad": 4,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.5,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.edgecolor": "#262626",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#e2e2e2",
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.4,
    "xtick.color": "#262626",
    "ytick.color": "#262626",
    "svg.hashsalt": "shuffledp",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.family": "DejaVu Sans",
}


#: Size of the text beside rows and in cells, in points.
SIZE = 7.5
#: Width in inches of a column of a two-column paper.
COLUMN_WIDTH = 3.3
_COLUMN: dict[Any, Any] = {
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize", "legend.fontsize"), 8),
    "lines.linewidth": 1.0,
    "lines.markersize": 3.5,
    "font.family": "DejaVu Serif",
}


@contextmanager
def figure_style() -> Iterator[None]:
    """Apply settings of Matplotlib and seaborn in a context."""
    import seaborn  # takes a second: not for those who only ask for colors

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(seaborn.axes_style("ticks"))
        mpl.rcParams.update(SETTINGS)
        yield


@contextmanager
def column_style() -> Iterator[None]:
    """Apply the settings for a column of a two-column paper inside of a context."""
    page = dict(SETTINGS)
    SETTINGS.update(_COLUMN)
    try:
        with figure_style():
            yield
    finally:
        SETTINGS.update(page)


def in_column() -> bool:
    """Return whether pictures are drawn for a column of a two-column paper."""
    return bool(SETTINGS["font.family"] == _COLUMN["font.family"])


def rendered(figure: Figure, file_format: str) -> bytes:
    """Return the figure as a file whose bytes depend only on the drawing."""
    metadata = {"png": {"Software": None}, "pdf": dict.fromkeys(("CreationDate", "Producer", "Creator"))}
    sink = io.BytesIO()
    figure.savefig(
        sink, format=file_format, metadata=metadata.get(file_format, dict.fromkeys(("Date", "Creator")))
    )
    return sink.getvalue()
