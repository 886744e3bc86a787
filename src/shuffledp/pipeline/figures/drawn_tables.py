"""Tables with one number per cell over rows and columns, as CSV, Markdown and LaTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from tabulate import tabulate

from shuffledp.pipeline.figures.drawing_jobs import Fields, Grid
from shuffledp.pipeline.figures.plotter import long_form

LINES = (84, 136)
"""Approximate number of small letters in a row of a LaTeX table, upright and sideways, on A4."""
GAP = 1.5
"""Letters that fit into the space between two columns."""
LONGEST_WORD = 12
"""Letters of its longest word up to which a column does not break words."""


def as_table(
    entry: Fields,
    cells: pd.DataFrame,
    summary: pd.DataFrame,
    orders: Grid,
    names: Mapping[str, str],
) -> dict[str, str]:
    """Return a table as CSV, Markdown and LaTeX."""
    wide = spread(entry, cells, summary, orders)
    wide.columns = pd.Index([_heading(c, list(entry["columns"]), entry, names) for c in wide.columns])
    rows = [
        [_named(axis, i, names) for axis, i in zip(entry["rows"], _parts(r), strict=True)] for r in wide.index
    ]
    headers = [entry.get("headings", {}).get(axis, axis) for axis in entry["rows"]]
    flat = wide.reset_index(drop=True)
    for place, header in enumerate(headers):
        flat.insert(place, header, [row[place] for row in rows])
    shown = wide.map(lambda v: v if isinstance(v, str) else _formatted(v, entry.get("format", ".4g")))
    body = [
        [*map(_plain, row), *numbers] for row, numbers in zip(rows, shown.to_numpy().tolist(), strict=True)
    ]
    return {
        "csv": flat.to_csv(index=False, float_format="%.10g", lineterminator="\n"),
        **_texts([*headers, *wide.columns], body),
    }


def as_leaderboard(entry: Fields, rows: pd.DataFrame, numbers: Sequence[str]) -> dict[str, str]:
    """Return a leaderboard as CSV, Markdown and LaTeX."""

    def written(form: str) -> pd.DataFrame:
        texts = {h: [v if isinstance(v, str) else _formatted(v, form) for v in rows[h]] for h in numbers}
        return rows.assign(**texts)

    shown = written(entry.get("format", ".4g"))
    return {
        "csv": written(".10g").to_csv(index=False, lineterminator="\n"),
        **_texts(list(shown.columns), shown.to_numpy().tolist()),
    }


def in_three_forms(frame: pd.DataFrame) -> dict[str, str]:
    """Return a finished table of texts as CSV, Markdown and LaTeX."""
    csv = frame.to_csv(index=False, lineterminator="\n")
    return {"csv": csv, **_texts(list(frame.columns), frame.to_numpy().tolist())}


def stated(frame: pd.DataFrame) -> dict[str, str]:
    """Return the values of delta in a finished table's column of this name for its caption; empty without one."""
    return {"delta": ", ".join(dict.fromkeys(frame["delta"]))} if "delta" in frame else {}


def _texts(headers: Sequence[str], body: Sequence[Sequence[str]]) -> dict[str, str]:
    markdown = tabulate(body, headers, tablefmt="github", disable_numparse=True) + "\n"
    return {"md": markdown, "tex": latex(headers, body)}


def latex(headers: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Return a table for LaTeX that is at most as wide as a line."""
    columns = [[str(entry) for entry in column] for column in zip(headers, *body, strict=True)]
    rows = re.sub(r" {2,}", " ", tabulate(body, headers, tablefmt="latex_booktabs", disable_numparse=True))
    upright, sideways = LINES
    if sum(map(_width, columns)) + GAP * len(columns) <= upright:
        return f"% needs the package booktabs\n{rows}\n"
    line = upright if sum(map(_longest_word, columns)) + GAP * len(columns) <= upright else sideways
    shares = "".join(
        "l" if width is None else f">{{\\raggedright\\arraybackslash}}p{{{width / line:.3f}\\linewidth}}"
        for width in _paragraphs(columns, line - GAP * len(columns))
    )
    rows = rows.replace(f"\\begin{{tabular}}{{{'l' * len(columns)}}}", f"\\begin{{longtable}}{{{shares}}}", 1)
    rows = rows.replace("\\midrule", "\\midrule\n\\endhead", 1).replace("\\end{tabular}", "\\end{longtable}")
    rows = f"{{\\footnotesize\\setlength{{\\tabcolsep}}{{3pt}}\n{rows}\n}}\n"
    if line == upright:
        return f"% needs the packages array, booktabs and longtable\n{rows}"
    rows = f"\\begin{{landscape}}\n{rows}\\end{{landscape}}\n"
    return f"% needs the packages array, booktabs, longtable and pdflscape\n{rows}"


def _width(column: Sequence[str]) -> int:
    return max(map(len, column))


def _longest_word(column: Sequence[str]) -> int:
    return min(LONGEST_WORD, max(len(word) for text in column for word in [*text.split(), ""]))


def _paragraphs(columns: Sequence[Sequence[str]], room: float) -> list[float | None]:
    """Return the widths in letters of the columns with broken lines, so that all fit; None for the other columns.

    Short columns are not broken. The others have room for their longest words, and share the remaining width by the
    square root of their lengths, so that the heights of the paragraphs differ as little as their widths.
    """
    broken = [i for i, column in enumerate(columns) if _width(column) > LONGEST_WORD]
    broken = broken or list(range(len(columns)))
    left = room - sum(_width(c) for i, c in enumerate(columns) if i not in broken)
    least = {i: _longest_word(columns[i]) for i in broken}
    says = {i: math.sqrt(sum(map(len, columns[i]))) for i in broken}
    more = max(left - sum(least.values()), 0.0)
    squeezed = min(1.0, left / sum(least.values()))
    return [
        squeezed * least[i] + more * says[i] / sum(says.values()) if i in broken else None
        for i in range(len(columns))
    ]


def _heading(column: Any, axes: Sequence[str], entry: Fields, names: Mapping[str, str]) -> str:
    words = (
        entry.get("headings", {}).get(axis, "{}").format(_plain(_named(axis, value, names)))
        for axis, value in zip(axes, _parts(column), strict=True)
    )
    return ", ".join(words)


def _named(axis: str, value: Any, names: Mapping[str, str]) -> Any:
    return names[value] if axis == "method" else value


def _parts(label: Any) -> tuple[Any, ...]:
    return label if isinstance(label, tuple) else (label,)


def spread(
    entry: Fields,
    cells: pd.DataFrame,
    summary: pd.DataFrame,
    orders: Grid,
) -> pd.DataFrame:
    """Return the table as a data frame; methods that do not depend on an axis repeat their number along it."""
    rows, columns = list(entry["rows"]), list(entry["columns"])
    numbers = long_form(cells, summary, entry["value"])
    preferred = (
        numbers.sort_values("kind").groupby("cell", sort=False).head(1)
    )  # computed, expected, simulated
    gaps = cells[cells["status"] != "ok"].assign(mean="infeasible")
    every = pd.concat([preferred.astype({"mean": object}), gaps.astype({"mean": object})], ignore_index=True)
    shown = _along(every, [*rows, *columns], orders).set_index([*rows, *columns])["mean"].unstack(columns)
    shown = shown.loc[_sorted(shown.index, orders), _sorted(shown.columns, orders)]
    return shown.astype(object).where(shown.notna(), "")


def _along(frame: pd.DataFrame, axes: list[str], orders: Grid) -> pd.DataFrame:
    for axis in axes:
        constant = frame[axis].isna() if axis in frame else pd.Series(True, frame.index)
        copies = [frame[constant].assign(**{axis: value}) for value in orders[axis]]
        frame = pd.concat([frame[~constant], *(c for c in copies if len(c))], ignore_index=True)
    return frame


def _sorted(index: pd.Index, orders: Grid) -> list[Any]:
    def position(label: Any) -> list[int]:
        return [
            list(orders[name]).index(part)
            for name, part in zip(map(str, index.names), _parts(label), strict=True)
        ]

    return sorted(index, key=position)


def _formatted(value: Any, form: str) -> str:
    return (
        "" if value is None or (isinstance(value, float) and np.isnan(value)) else format(float(value), form)
    )


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
