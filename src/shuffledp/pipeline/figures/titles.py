"""Titles of the pictures over all papers, with the setting that their rows share."""

from __future__ import annotations

import textwrap

import pandas as pd
from matplotlib.figure import Figure

from shuffledp.pipeline.figures.drawing_jobs import Fields
from shuffledp.pipeline.figures.numerals import power
from shuffledp.pipeline.figures.ranking import SETTING

#: Mean width of a letter of a title in inches.
_LETTER = 0.073


def setting_words(row: Fields) -> str:
    """Return the setting of a row, as far as the row has it."""
    parts = [f"n = {row['users']:,.0f}"] if "users" in row else []
    parts += [f"k = {row['values']:,.0f}"] if row.get("values", 0) > 0 else []
    parts += [f"eps = {row['eps']:g} nats"] if "eps" in row else []
    return ", ".join([*parts, *([f"delta = {power(row['delta'])}"] if "delta" in row else [])])


def common_setting(table: pd.DataFrame) -> str:
    """Return the part of the setting that all rows share."""
    common = {name: table[name].iloc[0] for name in SETTING if name in table and table[name].nunique() == 1}
    return ", ".join(filter(None, (common.pop("task", ""), setting_words(common))))


def with_title(figure: Figure, title: str) -> Figure:
    """Return the figure with a title above it, in lines of its width."""
    width = figure.get_size_inches()[0]
    whole = title.replace(" = ", "\u00a0=\u00a0")  # no line ends within "n = 100"
    lines = textwrap.wrap(whole, int((width - 0.2) / _LETTER))
    figure.suptitle("\n".join(lines), x=0.1 / width, ha="left", fontsize=9, weight="bold")
    return figure
