"""Plain CSV files by the standard library, for installations without DuckDB."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import accumulate, chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from shuffledp.userdata.cells import NAMES_USER, Faults, place_of, texts_of
from shuffledp.userdata.files import PACKINGS, address, files_of, format_of, is_remote

#: Texts that may separate the cells.
MARKS = ",;\t|"
#: Rows of a block. The number is small, so that Python's collector does not move the lists to older generations.
LINES = 2_048
_BREAK = re.compile("\r\n|\r|\n")
#: Reason of rows of another length than the header.
WIDTH = "with another number of cells than the header"


def reads_csv(path: Path) -> bool:
    """Return True for one plain CSV file if DuckDB is not installed."""
    if find_spec("duckdb") is not None or is_remote(path) or not path.exists() or path.is_dir():
        return False
    return path.suffix.lower() not in PACKINGS and format_of(path) in (None, "csv")


def check_delimiter(delimiter: str | None) -> None:
    """Raise ValueError for a separator of other than one character."""
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ValueError(f"delimiter must be one character, got {delimiter!r}.")


def separated(
    lines: Sequence[str], file: Path, columns: Sequence[str], delimiter: str | None
) -> tuple[str, ...]:
    """Return the separator of the cells, and the names of the columns, from the first lines of a file."""
    if lines and "\x00" in lines[0]:
        raise ValueError(f"{address(file)} is UTF-16 or no text: save it as UTF-8.")
    plain = file.with_suffix("") if file.suffix.lower() in PACKINGS else file
    marks = delimiter or ("\t" if plain.suffix.lower() == ".tsv" else MARKS)
    limit = csv.field_size_limit(2**31 - 1)
    try:
        headers = [(mark, *next(csv.reader(lines, delimiter=mark), [])) for mark in marks]
    finally:
        csv.field_size_limit(limit)
    fitting = (header for header in headers if any(column in header[1:] for column in columns))
    return next(fitting, max(headers, key=len))


def csv_columns(
    path: Path, columns: Sequence[str], delimiter: str | None, faults: Faults
) -> Iterator[tuple[Sequence[int], list[list[str]]]]:
    """Yield the lines of rows, and the cells of some columns, in blocks; the last block is empty.

    Rows of another length than the header are faults. A blank line is a missing cell, or no row of several columns.
    """
    files_of(path)
    check_delimiter(delimiter)
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = _decoded(file, path)
        first = list(islice(lines, 100))
        mark, *header = separated(first, path, columns, delimiter)
        places = [place_of(str(path), column, header) for column in columns]
        reader = csv.reader(chain(first, lines), delimiter=mark, strict=True, skipinitialspace=True)
        next(reader)
        width, before = len(header), reader.line_num
        while rows := _rows(path, reader):
            numbers: Sequence[int] = range(before + 1, before + 1 + len(rows))
            if reader.line_num - before != len(rows):
                numbers = _begins(before, rows)[:-1]
            before = reader.line_num
            if set(map(len, rows)) != {width}:
                rows = [row or [""] for row in rows] if width == 1 else rows
                rows = [_without_ends(row, width) for row in rows]
                for line, row in zip(numbers, rows, strict=True):
                    if row and len(row) != width:
                        faults.add(WIDTH, place=f"{path}, line {line}")
                numbers = [line for line, row in zip(numbers, rows, strict=True) if len(row) == width]
                rows = [row for row in rows if len(row) == width]
            yield numbers, [list(map(itemgetter(place), rows)) for place in places]
    yield [], [[] for _ in columns]


def _without_ends(row: list[str], width: int) -> list[str]:
    """Return a row without the empty cells behind its last column."""
    end = len(row)
    while end > width and not row[end - 1]:
        end -= 1
    return row[:end]


def repeated_in_csv(path: Path, column: str, delimiter: str | None) -> str | None:
    """Return another column of a file whose name is that of a user, and which repeats a value."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        _, *header = separated(list(islice(file, 100)), path, [column], delimiter)
    for name in header:
        if name != column and NAMES_USER.search(name) and header.count(name) == 1:
            users: set[str] = set()
            for _, (texts,) in csv_columns(path, [name], delimiter, Faults()):
                good = [text for text in texts_of(texts) if text]
                if len(set(good)) < len(good) or not users.isdisjoint(good):
                    return name
                users.update(good)
    return None


def _decoded(file: Any, path: Path) -> Iterator[str]:
    try:
        yield from file
    except UnicodeDecodeError:
        raise ValueError(f"{path} is packed or not UTF-8: unpack it, or save it as UTF-8.") from None


def _begins(before: int, rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the first line of each row behind a line, as cells may have line breaks."""
    breaks = (1 + sum(len(_BREAK.findall(cell)) for cell in row) for row in rows)
    return list(accumulate(breaks, initial=before + 1))


def _rows(path: Path, reader: Any) -> list[list[str]]:
    """Return the next rows. Raise ValueError with the line for an open quote."""
    before, rows = reader.line_num, list[list[str]]()
    try:
        rows.extend(islice(reader, LINES))  # keeps the rows before an error
    except csv.Error as error:
        what = (
            str(error)
            if "limit" in str(error)
            else "a cell of this row opens with a quote that nothing closes"
        )
        raise ValueError(f"{path}, line {_begins(before, rows)[-1]}: {what}.") from None
    return rows
