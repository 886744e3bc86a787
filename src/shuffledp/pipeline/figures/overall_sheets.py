"""Parts of the pictures over all papers: columns of lines with an axis of ratios, keys, settings and titles."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from shuffledp.pipeline.figures.drawing_jobs import Fields
from shuffledp.pipeline.figures.numerals import power
from shuffledp.pipeline.figures.ranking import SETTING, records
from shuffledp.pipeline.figures.style import SETTINGS

ROW, SIZE = 0.165, 7.5
"""Height of a line in inches, and size of its text in points."""
APART = ("#5E3C99", "#E69F00", "#56B4E9", "#B2182B", "#009E73", "#000000")
"""Colors that stay apart for color-blind readers, all of them in one picture."""
REST = "#b8b8b8"
"""Color of the curves that no legend names."""
_TITLE, _LETTER = 0.3, 0.073
"""Height of a line of a title and mean width of its letters, in inches."""


@dataclass(frozen=True)
class Line:
    """Line of a picture: a heading, or a label with its row of the table."""

    text: str
    row: Fields | None = None
    strong: bool = False
    remark: str = ""


def in_columns(groups: Sequence[Sequence[Line]], most: int) -> list[list[Line]]:
    """Return the groups in columns of about equal height."""
    total = sum(map(len, groups))
    columns: list[list[Line]] = [[] for _ in range(most)]
    place = 0
    for group in groups:
        if columns[place] and place < most - 1 and len(columns[place]) + len(group) / 2 > total / most:
            place += 1
        columns[place].extend(group)
    return [column for column in columns if column]


def sheet_of(
    columns: Sequence[Sequence[Line]], label: str, limits: tuple[float, float], names: float = 2.3
) -> tuple[Figure, list[Axes]]:
    """Return a picture with one line per row, and a logarithmic axis of ratios below each column."""
    tall = max(map(len, columns)) * ROW
    plot, edge = 2.5, 0.15
    width, height = len(columns) * (names + plot + edge), tall + 0.95
    figure, axes = Figure(figsize=(width, height)), []
    for number, column in enumerate(columns):
        left = (number * (names + plot + edge) + names) / width
        high = len(column) * ROW
        ax = figure.add_axes((left, (height - 0.3 - high) / height, plot / width, high / height))
        ax.set(ylim=(len(column) - 0.4, -0.6), xlim=limits, xscale="log", yticks=[])
        ax.minorticks_off()
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(label, fontsize=8)
        ax.axvline(1.0, color="#262626", lw=0.8, zorder=1)
        for i, line in enumerate(column):
            settings: dict[str, Any] = {"fontweight": "bold"} if line.strong else {}
            color = SETTINGS["axes.edgecolor"] if line.row is not None or line.strong else "#6a6a6a"
            ax.annotate(
                line.text, (0, i), (-4, 0), ("axes fraction", "data"), textcoords="offset points",
                ha="right", va="center", fontsize=SIZE, color=color, **settings,
            )  # fmt: skip
            if line.row is not None:
                ax.axhline(i, color="#e9e9e9", lw=0.6, zorder=0)
            if line.remark:
                own: dict[str, Any] = {
                    "va": "center",
                    "fontsize": SIZE,
                    "color": "#6a6a6a",
                    "backgroundcolor": "white",
                }
                ax.annotate(line.remark, (0.02, i), xycoords=("axes fraction", "data"), **own)
        axes.append(ax)
    return figure, axes


def drawn_rows(axes: Sequence[Axes], columns: Sequence[Sequence[Line]]) -> Iterator[tuple[Axes, int, Fields]]:
    """Yield axes, position and table row of each line that has a row."""
    for ax, column in zip(axes, columns, strict=True):
        yield from ((ax, i, line.row) for i, line in enumerate(column) if line.row is not None)


def by_task(table: pd.DataFrame) -> list[list[Line]]:
    """Return the lines of each task: a line with its setting, and lines for the protocols of each trust."""
    groups = []
    own_names = [name for name in SETTING[1:] if table[name].nunique() > 1]
    for task, own in table.groupby("task", sort=False):
        groups.append(
            [
                Line(
                    str(task),
                    strong=True,
                    remark=setting_words({name: own[name].iloc[0] for name in own_names}),
                )
            ]
        )
        for trust, rows in own.groupby("trust", sort=False):
            groups[-1].append(Line(str(trust)))
            groups[-1] += [Line(shortened(str(row["label"])), row) for row in records(rows)]
    return groups


def write_keys(figure: Figure, keys: Sequence[tuple[str, str]], remark: str) -> None:
    """Write a line that explains the colors, above the columns."""
    width, height = figure.get_size_inches()
    x, y = 0.1 / width, 1 - 0.13 / height
    for text, color in keys:
        figure.text(x, y, "●", color=color, fontsize=9, va="center")
        figure.text(x + 0.14 / width, y, text, fontsize=8, va="center")
        x += (0.35 + 0.075 * len(text)) / width
    figure.text(x, y, remark, fontsize=8, va="center")


def setting_words(row: Fields) -> str:
    """Return the setting of a row, as far as the row has it."""
    found = [f"n = {row['users']:,.0f}"] if "users" in row else []
    found += [f"k = {row['values']:,.0f}"] if row.get("values", 0) > 0 else []
    found += [f"eps = {row['eps']:g} nats"] if "eps" in row else []
    return ", ".join([*found, *([f"delta = {power(row['delta'])}"] if "delta" in row else [])])


def common_setting(table: pd.DataFrame) -> str:
    """Return the part of the setting that all rows share."""
    common = {name: table[name].iloc[0] for name in SETTING if name in table and table[name].nunique() == 1}
    return ", ".join(filter(None, (common.pop("task", ""), setting_words(common))))


def shortened(text: str, most: int = 38) -> str:
    """Return a text, cut to a largest number of characters."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip(' ,')}…"


def with_title(figure: Figure, title: str) -> Figure:
    """Return the figure with a title above it, for which it grows by a line or several."""
    width, height = figure.get_size_inches()
    whole = title.replace(" = ", "\u00a0=\u00a0")  # no line ends within "n = 100"
    lines = textwrap.wrap(whole, int((width - 0.2) / _LETTER))
    if figure.get_layout_engine() is not None:
        figure.suptitle("\n".join(lines), x=0.1 / width, ha="left", fontsize=9, weight="bold")
        return figure
    above = _TITLE * len(lines)
    share = height / (height + above)
    figure.set_size_inches(width, height + above)
    for ax in figure.axes:
        left, bottom, wide, tall = ax.get_position().bounds
        ax.set_position((left, bottom * share, wide, tall * share))
    for text in figure.texts:
        text.set_y(text.get_position()[1] * share)
    figure.text(
        0.1 / width,
        1 - 0.5 * above / (height + above),
        "\n".join(lines),
        fontsize=9,
        va="center",
        weight="bold",
    )
    return figure
