"""Layout of a picture in inches, computed from its texts; rows of panels have no gaps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from matplotlib.font_manager import FontProperties, findfont, get_font

from shuffledp.pipeline.figures.style import COLUMN_WIDTH, SETTINGS, in_column

WIDTHS = {1: 4.3, 2: 2.8, 3: 2.45, 4: 2.25, 5: 1.95}
"""Width of a panel by the number of panels in a row."""
HEIGHTS = {1: 2.6}  # of the only panel
HEIGHT = 2.0
COLUMN_HEIGHTS = {1: 1.9}
COLUMN_HEIGHT, COLUMN_STRIP = 1.25, 0.45
"""Heights in a column of a two-column paper, where at most two panels are side by side."""
STRIP, STRIP_GAP = 0.62, 0.07
GAP = 0.15
MOST_COLUMNS = 4
_LINE = 0.155
_TICK_LABELS = 0.24
_TITLE = 0.2
_BESIDE_TICKS = 0.14  # ticks and the space around their labels
_EDGE = 0.08
_LEGEND_ROW = 0.153
_BESIDE = 0.5  # letters of a legend between line and text
_BETWEEN = 1.2  # letters between two columns
_BETWEEN_INCHES = 0.04


def text_inches(text: str, points: float) -> float:
    """Return the width of a line of text in the style's font."""
    return _inches(text, points, SETTINGS["font.family"])


#: Dots per inch. At the resolution of a screen, hinting rounds the widths of letters by up to 15 %.
_FINE = 720


@cache
def _inches(text: str, points: float, family: str) -> float:
    font = get_font(findfont(FontProperties(family=family)))
    font.set_size(points, _FINE)
    font.set_text(text, 0.0)
    return float(font.get_width_height()[0]) / 64 / _FINE


def wrapped(text: str, points: float, inches: float) -> str:
    """Wrap text into lines of at most the given width, unless a single word is wider."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_inches(longer, points) <= inches:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)


def rows_of(panels: int) -> list[int]:
    """Return the number of panels in each row: equal numbers if possible, at most five."""
    if in_column():
        return [2] * (panels // 2) + [1] * (panels % 2)
    if panels <= MOST_COLUMNS + 1:
        return [panels]
    for columns in (4, 3, 5):
        if panels % columns == 0:
            return [columns] * (panels // columns)
    rows = math.ceil(panels / MOST_COLUMNS)
    fewer, longer = divmod(panels, rows)
    return [fewer + 1] * longer + [fewer] * (rows - longer)


@dataclass(frozen=True)
class Box:
    """Rectangle in inches from the lower left corner of the picture."""

    left: float
    bottom: float
    width: float
    height: float

    def shares(self, width: float, height: float) -> tuple[float, float, float, float]:
        """Return the box in shares of the picture's width and height."""
        return self.left / width, self.bottom / height, self.width / width, self.height / height


@dataclass(frozen=True)
class Place:
    """Position of a panel and its strip, and whether the panel is the first or last of its row or column."""

    box: Box
    strip: Box | None
    first: bool
    last: bool


@dataclass(frozen=True)
class Legend:
    """Legend texts in columns that fit, the number of rows, and the length of line samples in letters."""

    columns: int
    rows: int
    handle: float
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    """Size of a picture, and the positions of its panels and everything around them, all in inches."""

    width: float
    height: float
    places: tuple[Place, ...]
    beside: Place
    """Panel beside which names are written."""
    label_x: float
    """Right end of the labels of the vertical axes."""
    middle: float
    """Middle of the panels."""
    below: float
    """Top of the label of the horizontal axis."""


def legend_of(texts: Sequence[str], most_looks: int, width: float) -> Legend:
    """Return the legend with the most columns, filled downwards, whose widest entries fit side by side."""
    handle = 2.8 * most_looks**0.7  # in units of the letters' size
    size = SETTINGS["legend.fontsize"]
    own = (handle + _BESIDE + _BETWEEN) * size / 72 + _BETWEEN_INCHES
    widths = [text_inches(text, size) + own for text in texts]
    for columns in range(len(texts), 1, -1):
        if sum(max(part) for part in _filled_downwards(widths, columns)) <= width:
            return Legend(columns, math.ceil(len(texts) / columns), handle, tuple(texts))
    shown = tuple(
        wrapped(text, size, width - own) if wide > width else text
        for text, wide in zip(texts, widths, strict=True)
    )
    return Legend(1, sum(text.count("\n") + 1 for text in shown), handle, shown)


def _filled_downwards(widths: Sequence[float], columns: int) -> Iterator[Sequence[float]]:
    fewer, longer = divmod(len(widths), columns)
    start = 0
    for column in range(columns):
        end = start + fewer + (column < longer)
        yield widths[start:end]
        start = end


def plot_width(panels: int) -> float:
    """Return the width of all panels of a row; in a column it is less by the labels."""
    if in_column():
        return COLUMN_WIDTH - 0.5
    widest = max(rows_of(panels))
    return widest * WIDTHS[widest] + (widest - 1) * GAP


def panel_height(panels: int) -> float:
    """Return the height of a panel."""
    return COLUMN_HEIGHTS.get(panels, COLUMN_HEIGHT) if in_column() else HEIGHTS.get(panels, HEIGHT)


def laid_out(
    panels: int,
    *,
    titles: bool,
    strips: bool,
    above: int,
    left: float,
    label_lines: int,
    legend_rows: int,
    right: float = 0.0,
) -> Layout:
    """Return the sizes and positions of a picture; ``right`` is the width of the names beside the panels."""
    rows = rows_of(panels)
    ragged = len(set(rows)) > 1
    tall, high = panel_height(panels), COLUMN_STRIP if in_column() else STRIP
    strip = high + STRIP_GAP if strips else 0.0
    title = _TITLE if titles else _EDGE
    between = title + (_TICK_LABELS if ragged else 0.0) + 0.02
    margin = _EDGE + label_lines * _LINE + left + _BESIDE_TICKS
    below = 0.05 + legend_rows * _LEGEND_ROW + 0.06 + _LINE + _TICK_LABELS
    inner = COLUMN_WIDTH - margin - 0.14 if in_column() else plot_width(panels)
    height = below + len(rows) * (tall + strip) + (len(rows) - 1) * between + title + above * _LINE
    places: list[Place] = []
    top = height - title - above * _LINE
    for row, count in enumerate(rows):
        wide = (inner - (rows[0] - 1) * GAP) / rows[0] if in_column() else (inner - (count - 1) * GAP) / count
        lower = top - tall - strip
        for column in range(count):
            x = margin + column * (wide + GAP)
            under = Box(x, lower, wide, high) if strips else None
            last = ragged or row == len(rows) - 1
            places.append(Place(Box(x, lower + strip, wide, tall), under, column == 0, last))
        top = lower - between
    width = margin + inner + 0.14 + right
    return Layout(
        width,
        height,
        tuple(places),
        places[rows[0] - 1],
        margin - left - _BESIDE_TICKS,
        margin + inner / 2,
        below - _TICK_LABELS,
    )
