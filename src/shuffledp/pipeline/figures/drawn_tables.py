"""Tables with one number per cell over rows and columns, as CSV, Markdown and LaTeX."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from tabulate import LATEX_ESCAPE_RULES, tabulate

from shuffledp.numerics.rounding import Side, decimals_text, number_text
from shuffledp.numerics.statements import side_of
from shuffledp.pipeline.figures.drawing_jobs import Fields, Grid
from shuffledp.pipeline.figures.selected_rows import by_cell

#: Letters of the longest text up to which a column does not break lines, and letters of a row up to which a page is
#: upright.
_SHORT, _UPRIGHT = 14, 84
#: Sizes of letters, and the letters of a row that fit.
_SIZES = ((118, r"\footnotesize"), (150, r"\scriptsize"), (math.inf, r"\tiny"))
#: Letters that fit into the space between two columns.
_GAP = 1.5
_WORDS = {"eps": r"$\varepsilon$", "delta": r"$\delta$", "-": "--"}
_NO_NUMBERS = {"", "–", "infeasible"}


def as_table(
    entry: Fields,
    cells: pd.DataFrame,
    summary: pd.DataFrame,
    orders: Grid,
    names: Mapping[str, str],
    *about: str,
) -> dict[str, str]:
    """Return a table as CSV, Markdown and LaTeX; `about` is its title and its LaTeX label."""
    wide = spread(entry, cells, summary, orders)
    wide.columns = pd.Index([_heading(c, list(entry["columns"]), entry, names) for c in wide.columns])
    rows = [
        [_named(axis, i, names) for axis, i in zip(entry["rows"], _parts(r), strict=True)] for r in wide.index
    ]
    headers = [entry.get("headings", {}).get(axis, axis) for axis in entry["rows"]]
    flat = wide.reset_index(drop=True)
    for place, header in enumerate(headers):
        flat.insert(place, header, [row[place] for row in rows])
    form, side = entry.get("format", ".4g"), side_of(entry["value"])
    texts = wide.map(lambda v: v if isinstance(v, str) else _formatted(v, form, side))
    body = [
        [*map(_plain, row), *numbers] for row, numbers in zip(rows, texts.to_numpy().tolist(), strict=True)
    ]
    return {
        "csv": flat.to_csv(index=False, float_format="%.10g", lineterminator="\n"),
        **_texts([*headers, *wide.columns], body, *about),
    }


def as_leaderboard(entry: Fields, rows: pd.DataFrame, numbers: Sequence[str], *about: str) -> dict[str, str]:
    """Return a leaderboard as CSV, Markdown and LaTeX; `about` is its title and its LaTeX label."""

    def written(form: str) -> pd.DataFrame:
        texts = {
            h: [v if isinstance(v, str) else _formatted(v, form, side_of(h)) for v in rows[h]]
            for h in numbers
        }
        return rows.assign(**texts)

    texts_of_rows = written(entry.get("format", ".4g"))
    return {
        "csv": written(".10g").to_csv(index=False, lineterminator="\n"),
        **_texts(list(texts_of_rows.columns), texts_of_rows.to_numpy().tolist(), *about),
    }


def in_three_forms(frame: pd.DataFrame, *about: str) -> dict[str, str]:
    """Return a finished table of texts as CSV, and as Markdown and LaTeX with at most four digits."""
    csv = frame.to_csv(index=False, lineterminator="\n")
    rounded = frame.apply(lambda column: column.map(partial(_four_digits, side=side_of(str(column.name)))))
    return {"csv": csv, **_texts(list(frame.columns), rounded.to_numpy().tolist(), *about)}


def stated(frame: pd.DataFrame) -> dict[str, str]:
    """Return the values in a finished table's column delta for its caption; empty without this column."""
    return {"delta": ", ".join(frame["delta"].unique())} if "delta" in frame else {}


def _texts(
    headers: Sequence[str], body: Sequence[Sequence[str]], title: str = "", label: str = ""
) -> dict[str, str]:
    markdown = tabulate(body, headers, tablefmt="github", disable_numparse=True) + "\n"
    return {"md": markdown, **latex(headers, body, title, label)}


def latex(
    headers: Sequence[str], body: Sequence[Sequence[str]], title: str = "", label: str = ""
) -> dict[str, str]:
    """Return a table for LaTeX in two forms, without its empty columns.

    ``tex`` has caption and label, and its long texts and pages break. ``tabular`` has the rules of booktabs, for a
    ``table`` of one's own.
    """
    columns = [[str(entry) for entry in column] for column in zip(headers, *body, strict=True)]
    columns = [column for column in columns if any(column[1:])] or columns
    heading, *rows = zip(*columns, strict=True)
    lines = [" & ".join(map(_heading_in_tex, heading)), *(" & ".join(map(_in_tex, row)) for row in rows)]
    width = sum(min(max(map(len, column[1:])), _SHORT) + _GAP for column in columns)
    size = next(size for letters, size in _SIZES if width <= letters)
    about = rf"caption={{{_in_tex(title)}}}, label={{tab:{label}}}"
    kinds = "".join(map(_kind, columns))
    look = rf"colspec={{{kinds}}}, width=\linewidth, rowhead=1, rows={{font={size}}}, colsep=3pt"
    inside = [rf"\toprule {lines[0]} \\ \midrule", *(rf"{line} \\" for line in lines[1:]), r"\bottomrule"]
    table = [rf"\begin{{longtblr}}[{about}]{{{look}}}", *inside, r"\end{longtblr}"]
    needs = r"% needs \usepackage{tabularray} and \UseTblrLibrary{booktabs}"
    if width > _UPRIGHT:
        needs = f"{needs}, and the package pdflscape"
        table = [r"\begin{landscape}", *table, r"\end{landscape}"]
    sides = "".join("r" if _numeric(column) else "l" for column in columns)
    plain = [r"% needs \usepackage{booktabs}", rf"\begin{{tabular}}{{{sides}}}", *inside, r"\end{tabular}"]
    return {"tex": "\n".join([needs, *table, ""]), "tabular": "\n".join([*plain, ""])}


def _numeric(column: Sequence[str]) -> bool:
    return all(text in _NO_NUMBERS or _number(text) is not None for text in column[1:])


def _kind(column: Sequence[str]) -> str:
    """Return the kind of a column: numbers to the right; the lines of long texts break within the width of the page."""
    side = "r" if _numeric(column) else "l"
    return f"X[-1,{side}]" if max(map(len, column)) > _SHORT else side


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _four_digits(text: str, side: Side) -> str:
    """Return a text, rounded to four digits and a side if it is a number with more digits."""
    value = _number(text)
    whole = value is None or text.lstrip("-").isdigit() or not math.isfinite(value)
    return text if value is None or whole else number_text(value, side, 4)


def _heading_in_tex(text: str) -> str:
    return " ".join(_WORDS.get(word, _escaped(word)) for word in text.split(" "))


def _in_tex(text: str) -> str:
    """Return a text for LaTeX; a number becomes a formula with powers of ten and thousands separators."""
    value = _number(text)
    if value is None or not math.isfinite(value):
        return _escaped(text)
    digits, _, power = text.partition("e")
    if power:
        ten = f"10^{{{int(power)}}}"
        return f"${ten}$" if digits == "1" else rf"${digits} \cdot {ten}$"
    whole, point, rest = digits.partition(".")
    return (
        f"${int(whole):,}{point}{rest}$".replace(",", "{,}") if len(whole.lstrip("-")) > 3 else f"${digits}$"
    )


def _escaped(text: str) -> str:
    return "".join(LATEX_ESCAPE_RULES.get(letter, letter) for letter in text)


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
    """Return the table as a data frame; a method that does not depend on an axis repeats its number along the axis."""
    rows, columns = list(entry["rows"]), list(entry["columns"])
    ok = cells["status"] == "ok"
    numbers = cells["cell"].map(by_cell(cells[ok], summary, entry["value"])).astype(object)
    table = cells.assign(number=numbers.where(ok, "infeasible"))
    for axis in (*rows, *columns):
        values = table.get(axis, pd.Series(np.nan, table.index))
        table[axis] = [list(orders[axis]) if pd.isna(value) else value for value in values]
        table = table.explode(axis)
        table[axis] = pd.Categorical(table[axis], orders[axis])
    wide = table.set_index([*rows, *columns])["number"].unstack(columns).sort_index().sort_index(axis=1)
    return wide.astype(object).where(wide.notna(), "")


def _formatted(value: Any, form: str, side: Side) -> str:
    """Return a number in a format; a bound has the digits of the format and is rounded to its side."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    if side == "nearest":
        return format(float(value), form)
    digits = int(form[1:-1])
    return (decimals_text if form.endswith("f") else number_text)(float(value), side, digits)


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
