"""Cells of files and data frames in blocks of rows, so that memory holds no whole column of a file.

The standard library reads a small CSV file, `shuffledp.userdata.engine` all other files.

Unreadable cells are added to `Faults` with their place. Missing cells are also faults, so that a block has no missing
cell.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.userdata.files import address, is_small

#: Rows of a block of a data frame.
BLOCK = 16_384
#: Rows of a block of a CSV file. The number is small, so that the block's lists are freed before Python's collector
#: moves them to its older generations, and a wide file takes little memory.
LINES = 512
#: Number of bad rows that are named; further bad rows are only counted.
NAMED = 5

#: Largest number of columns in a message, and of letters of a name.
MOST_NAMES, MOST_LETTERS = 20, 60

#: First bytes of packed files.
PACKED = ((b"\x1f\x8b", "gzip"), (b"PK\x03\x04", "zip"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"\xfd7zXZ", "xz"))

_BREAK = re.compile("\r\n|\r|\n")

Cells: TypeAlias = list[str] | NDArray[Any]
"""Cells of some rows: stripped texts, or an array of integers or floats."""
Place: TypeAlias = tuple[str, str, int | None]
"""File, "line" or "row", and its number; an empty file name for records in memory, None without a number."""
Progress = Callable[[int], None]
"""Function called after each block with the number of rows read."""


@dataclass
class Faults:
    """Number of bad rows, and descriptions of the first ones, each with its file and its line or row."""

    file: str = ""
    word: str = "row"
    count: int = 0
    _first: list[tuple[Place, str]] = field(default_factory=list)

    def add(self, place: Any, what: str) -> None:
        """Add a bad row, in any order; `place` may be a number, the row or line in the only file."""
        self.count += 1
        self.describe(place if isinstance(place, tuple) else (self.file, self.word, place), what)

    def describe(self, place: Place, what: str) -> None:
        """Add the description of a row that is already counted."""
        self._first.append((place, what))
        if len(self._first) > 2 * NAMED:
            self._first = self._sorted()

    def _sorted(self) -> list[tuple[Place, str]]:
        return sorted(self._first, key=lambda one: (one[0][0], one[0][2] is None, one[0][2] or 0, one[1]))[
            :NAMED
        ]

    @property
    def named(self) -> tuple[str, ...]:
        """Descriptions of the first bad rows, each with its place."""
        return tuple(f"{_shown_place(*place)}: {what}" for place, what in self._sorted())


def _shown_place(file: str, word: str, number: int | None) -> str:
    if number is None:
        return file
    return f"{file}, {word} {number}" if file else f"{word} {number}"


@dataclass(frozen=True)
class Block:
    """Columns of a block of rows, and the lines of these rows in the file."""

    lines: Sequence[Any]
    columns: tuple[Cells, ...]


@dataclass(frozen=True)
class Lists:
    """Block of rows with lists: the entries of all lists in order, and the line and size of each list."""

    lines: Sequence[Any]
    sizes: NDArray[np.int64]
    entries: list[str | None]


def is_file(data: Any) -> bool:
    """Return True for records in a file, False for records in memory."""
    return isinstance(data, str | os.PathLike)


def faults_of(data: Any) -> Faults:
    """Return an empty collection of faults for records in a file or in memory."""
    small = is_file(data) and is_small(Path(data))
    return Faults(str(Path(data)), "line") if small else Faults()


def columns_of(path: Path) -> list[str]:
    """Return the names of the columns of CSV, Parquet or JSON files, without reading their rows."""
    if not is_small(path):
        from shuffledp.userdata.engine import Table

        with Table(path, []) as table:
            return table.names
    _check_there(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        return _header(path, csv.reader(file, strict=True))


def blocks(
    data: Any, columns: Sequence[str | None], faults: Faults, progress: Progress | None = None
) -> Iterator[Block]:
    """Yield some columns of a file or a data frame in blocks of rows."""
    read = 0
    for length, block in (
        _of_file(data, columns, faults) if is_file(data) else _of_frame(data, columns, faults)
    ):
        read += length
        if len(block.lines):
            yield block
        if progress is not None:
            progress(read)


def lists(
    data: Any, column: str, faults: Faults, progress: Progress | None = None, separator: str | None = None
) -> Iterator[Lists]:
    """Yield a column of lists in blocks; rows without a list are faults, empty lists are not."""
    if separator is not None:
        return _split(data, column, separator, faults, progress)
    if not is_file(data):
        return _lists_of_frame(data, column, faults, progress)
    path = Path(data)
    if is_small(path):
        _check_there(path)
        raise ValueError(
            f"{path}: lists in a CSV file need separator. For one item per row give user and item."
        )
    return _lists_of_table(path, column, faults, progress)


def _split(
    data: Any, column: str, separator: str, faults: Faults, progress: Progress | None
) -> Iterator[Lists]:
    """Yield lists of the entries in texts with a separator; an empty text is a missing cell."""
    for block in blocks(data, [column], faults, progress):
        cells = block.columns[0]
        texts = cells if isinstance(cells, list) else map(text_of, cells.tolist())
        parts = [[part.strip() for part in text.split(separator)] for text in texts]
        sizes = np.array([len(part) for part in parts], np.int64)
        yield Lists(block.lines, sizes, [entry for part in parts for entry in part])


def _lists_of_frame(data: Any, column: str, faults: Faults, progress: Progress | None) -> Iterator[Lists]:
    """Yield lists, tuples, sets or arrays in a data frame; missing cells and cells of other types are faults."""
    cells = _series(data, column)
    for start in range(0, len(cells), BLOCK):
        held: list[tuple[Any, Any]] = []
        for line, cell in enumerate(cells[start : start + BLOCK], start=start + 1):
            if isinstance(cell, list | tuple | set | frozenset | np.ndarray):
                held.append((line, cell))
            else:
                faults.add(line, "empty" if _is_none(cell) else f"{shown(str(cell))} is no list")
        if held:
            yield _lists(held, _is_none)
        if progress is not None:
            progress(min(start + BLOCK, len(cells)))


def _lists(held: Sequence[tuple[Any, Any]], is_none: Callable[[Any], bool]) -> Lists:
    """Return a block of lists from pairs of a line and a list."""
    sizes = np.array([len(cell) for _, cell in held], np.int64)
    entries = [None if is_none(entry) else text_of(entry) for _, cell in held for entry in cell]
    return Lists([line for line, _ in held], sizes, entries)


def _is_none(cell: Any) -> bool:
    """Return True for a missing cell of a data frame, which is None or nan."""
    return cell is None or cell != cell


def _lists_of_table(path: Path, column: str, faults: Faults, progress: Progress | None) -> Iterator[Lists]:
    from shuffledp.userdata.engine import Table, missing

    read = 0
    with Table(path, [column]) as table:
        for rows in table.fetched(f"SELECT c0, file, row FROM {table.source()}"):
            held: list[tuple[Any, Any]] = []
            for cell, file, row in rows:
                value = json.loads(cell) if table.kind == "json" and cell and cell[0] == "[" else cell
                if isinstance(value, list):
                    held.append(((file, "row", row), value))
                elif missing(value):
                    faults.add((file, "row", row), "empty")
                else:
                    raise ValueError(
                        f"{address(path)}, column {column!r} holds {shown(text_of(value))}, not lists."
                    )
            read += len(rows)
            yield _lists(held, missing)
            if progress is not None:
                progress(read)


def text_of(value: Any) -> str:
    """Return a value as text, as in a CSV file; a float without a fraction becomes an integer."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


def place_of(path: Path, column: str, names: Sequence[str]) -> int:
    """Return the index of a column. Raise ValueError if there is none or several."""
    if column not in names:
        raise ValueError(
            f"{address(path)} has no column {column!r}. It has: {_listed(names) or 'none'}.{_separated(names)}"
        )
    if list(names).count(column) > 1:
        raise ValueError(f"{address(path)} has several columns {column!r}.")
    return list(names).index(column)


def _listed(names: Sequence[str]) -> str:
    """Return names of columns on one line; long names are cut."""
    shown = [
        name if name.isprintable() and len(name) <= MOST_LETTERS else _cut(name) for name in map(str, names)
    ]
    more = len(shown) - MOST_NAMES
    return ", ".join(shown[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _separated(names: Sequence[str]) -> str:
    """Return the remark on a header whose cells are not separated by commas, otherwise an empty text."""
    other = next((mark for mark in ";\t|" if len(names) == 1 and mark in names[0]), None)
    return "" if other is None else f" Cells are separated by commas, not by {other!r}."


def shown(text: str) -> str:
    """Return a cell in quotes for a message; a long cell is cut."""
    return repr(text) if len(text) <= MOST_LETTERS else _cut(text)


def _cut(name: str) -> str:
    return f"{name[:MOST_LETTERS]!r}.." if len(name) > MOST_LETTERS else repr(name)


# -- kinds of records ----------------------------------------------------------------------------------------------


def _of_file(data: Any, columns: Sequence[str | None], faults: Faults) -> Iterator[tuple[int, Block]]:
    path, names = Path(data), [str(name) for name in columns]
    if not is_small(path):
        return _of_table(path, names, faults)
    _check_there(path)
    return _csv(path, names, faults)


def _of_table(path: Path, columns: list[str], faults: Any) -> Iterator[tuple[int, Block]]:
    """Yield blocks of files read by DuckDB; damaged lines are faults."""
    from shuffledp.userdata.engine import Table, missing

    with Table(path, columns) as table:
        cells = ", ".join(f"c{i}" for i in range(len(columns)))
        for rows in table.fetched(f"SELECT file, row, {cells} FROM {table.source(rejects=True)}"):
            files, numbers, *held = zip(*rows, strict=True)
            lines = [(file, "row", number) for file, number in zip(files, numbers, strict=True)]
            texts: list[Cells] = [["" if missing(cell) else text_of(cell) for cell in one] for one in held]
            yield len(rows), _whole(lines, texts, faults)
        before = faults.count
        table.damaged(faults)
        yield faults.count - before, Block([], ())


def _begins(path: Path, mark: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(mark)) == mark


def _check_there(path: Path) -> None:
    """Raise ValueError if there is no file; pipes and devices, which can be read only once, are allowed."""
    if not path.exists() or path.is_dir():
        raise ValueError(f"There is no file {path}.")


def _header(path: Path, reader: Any) -> list[str]:
    return next(iter(_rows(path, reader, 1)), [])


def _rows(path: Path, reader: Any, most: int) -> list[list[str]]:
    """Return the next rows, at most ``most``. Raise ValueError with file and line for an error of the CSV reader."""
    before, rows = reader.line_num, list[list[str]]()
    try:
        rows.extend(islice(reader, most))  # keeps the rows before an error
    except csv.Error as error:
        begin = [before, *_lines(before, rows)][-1] + 1
        raise ValueError(f"{path}, line {begin}: {_broken(error, begin, reader.line_num)}.") from None
    except UnicodeDecodeError as error:
        begins = path.is_file()  # a pipe has lost its beginning
        packed = next((kind for mark, kind in PACKED if begins and _begins(path, mark)), None)
        what = f"not UTF-8 ({error.reason})" if packed is None else f"packed ({packed}): unpack it first"
        raise ValueError(f"{path}, after line {reader.line_num}: {what}.") from None
    return rows


def _broken(error: csv.Error, begin: int, end: int) -> str:
    """Return the message for an error in a row from line `begin` to line `end`."""
    if "limit" not in str(error):  # of what strict reading refuses, all else is about quotes
        return "a cell of this row opens with a quote, and no quote before a comma or a line end closes it"
    return f"{error}" + (f", in quotes up to line {end}: one may not be closed" if end > begin else "")


def _csv(path: Path, columns: list[str], faults: Faults) -> Iterator[tuple[int, Block]]:
    """Yield blocks of a CSV file. Rows of a wrong length are faults; a blank line is a missing cell or no row."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        header = _header(path, reader)
        places = [place_of(path, column, header) for column in columns]
        width = len(header)
        while True:
            before = reader.line_num
            rows = _rows(path, reader, LINES)
            if not rows:
                return
            read = len(rows)
            lines: Sequence[int] = range(before + 1, before + 1 + read)
            if reader.line_num - before != read:
                lines = _lines(before, rows)
            if set(map(len, rows)) != {width}:
                if width == 1:
                    rows = [row or [""] for row in rows]
                read -= rows.count([])
                for line, row in zip(lines, rows, strict=True):
                    if row and len(row) != width:
                        faults.add(line, f"{len(row)} cells where the header has {width}")
                lines = [line for line, row in zip(lines, rows, strict=True) if len(row) == width]
                rows = [row for row in rows if len(row) == width]
            cells: list[Cells] = [list(map(str.strip, map(itemgetter(place), rows))) for place in places]
            yield read, _whole(lines, cells, faults)


def _lines(before: int, rows: list[list[str]]) -> list[int]:
    """Return the last line of each row, as cells may have line breaks."""
    breaks = (sum(len(_BREAK.findall(cell)) for cell in row) for row in rows)
    return list(accumulate((1 + more for more in breaks), initial=before))[1:]


def _of_frame(data: Any, columns: Sequence[str | None], faults: Faults) -> Iterator[tuple[int, Block]]:
    found = [_series(data, column) for column in columns]
    for start in range(0, len(found[0]), BLOCK):
        cells = [_cells(series[start : start + BLOCK]) for series in found]
        read = len(cells[0])
        yield read, _whole(range(start + 1, start + 1 + read), cells, faults)


def _cells(part: Any) -> Cells:
    """Return an array of numbers, or a list of texts; missing cells are nan or empty texts."""
    array = np.asarray(part)
    if array.dtype.kind in "iuf":
        return array
    empty = part.isna() if hasattr(part, "isna") else (cell is None for cell in array.tolist())
    return ["" if none else text_of(cell) for none, cell in zip(empty, array.tolist(), strict=True)]


def _series(data: Any, column: str | None) -> Any:
    """Return a column of a data frame, or a series or array without its index."""
    if column is None:
        if hasattr(data, "columns"):
            names = ", ".join(map(str, data.columns))
            raise ValueError(f"A data frame needs the name of a column. It has: {names or 'none'}.")
        found = data if hasattr(data, "isna") else np.asarray(data)
    else:
        if not hasattr(data, "columns"):
            raise ValueError(
                f"column {column!r} belongs to a file or a data frame, not to {type(data).__name__}."
            )
        place_of(Path("The data frame"), column, list(data.columns))
        found = data[column]
    if getattr(found, "ndim", 1) != 1:
        raise ValueError(f"Records are one column, got {found.ndim} dimensions.")
    return getattr(found, "array", found)  # without its index, which need not count from 0


def _whole(lines: Sequence[Any], columns: Sequence[Cells], faults: Faults) -> Block:
    """Return the block without rows that have a missing cell; these rows are faults."""
    empty: set[int] = set()
    for cells in columns:
        if isinstance(cells, list) and "" in cells:
            empty |= {i for i, cell in enumerate(cells) if not cell}
        elif not isinstance(cells, list) and cells.dtype.kind == "f":
            empty |= set(np.flatnonzero(np.isnan(cells)).tolist())
    if not empty:
        return Block(lines, tuple(columns))
    for i in empty:
        faults.add(lines[i], "empty")
    kept = [i for i in range(len(lines)) if i not in empty]
    return Block(
        [lines[i] for i in kept],
        tuple([cells[i] for i in kept] if isinstance(cells, list) else cells[kept] for cells in columns),
    )
