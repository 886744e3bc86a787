"""Tables of the site, from CSV files."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from shuffledp.numerics.rounding import Side, number_text
from shuffledp.numerics.statements import side_of
from shuffledp.pipeline.manifest import CHECKSUMS, ManifestError
from shuffledp.storage import read_verified

if TYPE_CHECKING:
    from pathlib import Path

#: Cells of one row on a page, by name.
Row = Mapping[str, Any]
Rows = tuple[Row, ...]
DIGITS = 4  # significant digits of a number on a page
#: Text in place of a number in a column of numbers.
NO_NUMBER = ("infeasible", "–")


@dataclass(frozen=True)
class Cell:
    """Cell with its text on the page, and the full number if the page shows fewer digits."""

    text: str
    full: str = ""


@dataclass(frozen=True)
class Table:
    """Table of a page."""

    header: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[Cell, ...], ...]
    shortened: bool


def text_of(path: Path, problem: type[ValueError] = ManifestError) -> str:
    """Return the content of a text file among a paper's drawings, after a check against the manifest."""
    try:
        return read_verified(path, path.with_name(CHECKSUMS)).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise problem(f"{path} is not UTF-8 text: {error}.") from None


def lines(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a CSV file."""
    filled_rows = [row for row in csv.reader(text_of(path).splitlines(keepends=True)) if row]
    if not filled_rows:
        raise ManifestError(f"{path} is empty, expected a header and rows.")
    header, *rows = filled_rows
    return header, rows


def table(path: Path) -> Table:
    """Return a CSV file as a table; raises the errors of `lines`."""
    header, rows = lines(path)
    columns = [[row[i] for row in rows if row[i].strip()] for i in range(len(header))]
    sides = [side_of(name) for name in header]
    cells = tuple(tuple(map(cell, row, sides)) for row in rows)
    return Table(
        header=tuple(header),
        numeric=tuple(_of_numbers(column) for column in columns),
        rows=cells,
        shortened=any(each.full for row in cells for each in row),
    )


def _of_numbers(column: list[str]) -> bool:
    rest = [text for text in column if text not in NO_NUMBER]
    return bool(rest) and all(number(text) is not None for text in rest)


def number(text: str) -> Decimal | None:
    """Return the number in a text, or None."""
    try:
        return Decimal(text.strip())
    except InvalidOperation:
        return None


def cell(text: str, side: Side = "nearest") -> Cell:
    """Return a cell: integers stay unchanged, other numbers have at most `DIGITS` significant digits, rounded to a
    side.
    """
    value = number(text)
    if value is None or not value.is_finite() or not set(text) & set(".eE"):
        return Cell(text)
    if len(value.as_tuple().digits) <= DIGITS:
        return Cell(text)
    return Cell(number_text(float(value), side, DIGITS), full=text.strip())
