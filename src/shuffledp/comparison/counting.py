"""One column of a file, counted in one pass: memory grows with the number of different values, not with the rows."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.extras import needed
from shuffledp.numerics.checks import check_count, check_positive

#: Different values that are kept; a domain of texts that is larger needs a hash or a coarser column.
MOST_VALUES = 1_000_000
#: Bad rows that are named; the others are counted.
NAMED = 5
#: Rows between two reports of progress.
CHUNK = 1_000_000


@dataclass(frozen=True)
class Counted:
    """Users per value.

    Parameters
    ----------
    counts : (V,) ndarray of int
        In the order of ``values``.
    values : tuple
        The domain: integers 0..k-1, the texts that were found (sorted), or the levels of numbers.
    found : bool
        Whether the domain was read off the data. It must then be public for another reason.
    bad_rows : int
        Rows that were left out.
    faults : tuple of str
        The first of them, each with file and line.
    clipped : int
        Numbers outside of the range, which were moved to its end.
    step : float
        What one level of a number stands for; 1 for frequencies.
    """

    counts: NDArray[np.int64]
    values: tuple[Any, ...]
    found: bool = False
    bad_rows: int = 0
    faults: tuple[str, ...] = ()
    clipped: int = 0
    step: float = 1.0

    @property
    def users(self) -> int:
        """Rows that were counted."""
        return int(self.counts.sum())

    def remarks(self) -> list[str]:
        """What whoever reads numbers made of these data should know, a sentence each."""
        said = []
        if self.found:
            said.append(
                f"The {len(self.values)} values found in the data are taken as the domain. A domain must be public: if "
                "it is not known without the data, give --domain-size."
            )
        if self.bad_rows:
            more = self.bad_rows - len(self.faults)
            rest = f"; and {more} more" if more else ""
            said.append(f"{self.bad_rows} rows left out: {'; '.join(self.faults)}{rest}.")
        if self.clipped:
            said.append(f"{self.clipped} numbers were clipped to the range.")
        return said


@dataclass
class _Faults:
    """Bad rows: how many, and the first of them."""

    count: int = 0
    named: list[str] = field(default_factory=list)

    def add(self, path: Path, line: int, what: str) -> None:
        self.count += 1
        if len(self.named) < NAMED:
            self.named.append(f"{path}, line {line}: {what}")


def count_column(
    path: str | Path,
    column: str,
    *,
    domain_size: int | None = None,
    max_value: float | None = None,
    levels: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Counted:
    """Count one column of a CSV or Parquet file.

    Parameters
    ----------
    path : str or Path
        A CSV file with a header, UTF-8, or a ``.parquet`` file (extra ``pipeline``). One row per user.
    column : str
        Its name.
    domain_size : int, optional
        Values are the integers 0..domain_size-1; others are bad rows. Without it (and without ``max_value``) the
        texts found are the domain.
    max_value : float, optional
        For sums: numbers are clipped to [0, max_value].
    levels : int, optional
        For sums: numbers are rounded to the nearest of the levels 0, 1, .., levels, each of which stands for
        ``max_value / levels``. By default the levels are the integers up to ``max_value``.
    progress : callable, optional
        Called with the number of rows read, now and then.

    Returns
    -------
    Counted

    Raises
    ------
    ValueError
        If the file or column does not exist, no row is good, there are too many different values, or a size is out of
        range.
    MissingExtra
        If a Parquet file is to be read without the extra that reads it.
    """
    file = Path(path)
    if domain_size is not None and max_value is not None:
        raise ValueError("Give domain_size for frequencies or max_value for a sum, not both.")
    if levels is not None and max_value is None:
        raise ValueError("levels are those of a sum: give max_value too.")
    if domain_size is not None:
        check_count("domain_size", domain_size, 2)
    if max_value is not None:
        _size_of(max_value, levels)
    if not file.is_file():
        raise ValueError(f"There is no file {file}.")
    faults = _Faults()
    cells = _parquet(file, column) if file.suffix == ".parquet" else _csv(file, column, faults)
    texts: Counter[str] = Counter()
    for rows, (line, text) in enumerate(cells, 1):
        if progress is not None and rows % CHUNK == 0:
            progress(rows)
        if text in texts:
            texts[text] += 1
        elif what := _fault(text, domain_size, max_value):
            faults.add(file, line, what)
        elif len(texts) >= MOST_VALUES:
            raise ValueError(f"{file}, column {column!r} has more than {MOST_VALUES} different values.")
        else:
            texts[text] = 1
    if not texts:
        first = f" {faults.named[0]}." if faults.named else ""
        raise ValueError(f"{file}, column {column!r} has no row that can be counted.{first}")
    if max_value is not None:
        return _levels(texts, max_value, _size_of(max_value, levels), faults)
    if domain_size is not None:
        table = _table(((int(t), c) for t, c in texts.items()), domain_size)
        return Counted(table, tuple(range(domain_size)), bad_rows=faults.count, faults=tuple(faults.named))
    if len(texts) < 2:
        raise ValueError(
            f"{file}, column {column!r} has a single value, {next(iter(texts))!r}: a domain has two."
        )
    values = tuple(sorted(texts))
    return Counted(
        np.array([texts[v] for v in values], np.int64),
        values,
        found=True,
        bad_rows=faults.count,
        faults=tuple(faults.named),
    )


def _fault(text: str, domain_size: int | None, max_value: float | None) -> str:
    """What is wrong with a cell; empty if nothing."""
    if not text:
        return "empty"
    if max_value is not None:
        number = math.nan
        with suppress(ValueError):
            number = float(text)
        return "" if math.isfinite(number) else f"{text!r} is no finite number"
    if domain_size is not None:
        value = -1
        with suppress(ValueError):
            value = int(text)
        return "" if 0 <= value < domain_size else f"{text!r} is not one of 0..{domain_size - 1}"
    return ""


def _size_of(max_value: float, levels: int | None) -> int:
    """The largest level."""
    most = check_positive("max_value", max_value)
    if levels is None and most != round(most):
        raise ValueError(f"max_value must be an integer where no number of levels is given, got {most!r}.")
    return check_count("levels", round(most) if levels is None else levels, 1)


def _levels(texts: Counter[str], most: float, size: int, faults: _Faults) -> Counted:
    numbers = [(float(text), count) for text, count in texts.items()]
    clipped = sum(count for number, count in numbers if not 0 <= number <= most)
    placed = ((round(min(max(number, 0.0), most) / most * size), count) for number, count in numbers)
    step = most / size
    values = tuple(step * level for level in range(size + 1))
    return Counted(
        _table(placed, size + 1),
        values,
        bad_rows=faults.count,
        faults=tuple(faults.named),
        clipped=clipped,
        step=step,
    )


def _table(pairs: Iterable[tuple[int, int]], size: int) -> NDArray[np.int64]:
    counts = np.zeros(size, np.int64)
    for place, count in pairs:
        counts[place] += count
    return counts


def _csv(path: Path, column: str, faults: _Faults) -> Iterator[tuple[int, str]]:
    """Line and text of every cell; rows that are too short are faults."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        try:
            header = next(reader, [])
            place = _place(path, column, header)
            for row in reader:
                if len(row) == len(header):
                    yield reader.line_num, row[place].strip()
                elif row:  # a blank line is no row
                    faults.add(path, reader.line_num, f"{len(row)} cells where the header has {len(header)}")
        except csv.Error as error:
            raise ValueError(f"{path}, line {reader.line_num}: {error}.") from None
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}, after line {reader.line_num}: not UTF-8 ({error.reason}).") from None


def _parquet(path: Path, column: str) -> Iterator[tuple[int, str]]:
    """Row, from 1, and text of every cell; nulls are empty."""
    with needed():
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile
    try:
        file = ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path} is not a Parquet file: {error}.") from None
    _place(path, column, file.schema_arrow.names)
    row = 0
    for batch in file.iter_batches(columns=[column]):
        for value in batch.column(0).to_pylist():
            row += 1
            yield row, "" if value is None else str(value).strip()


def _place(path: Path, column: str, names: list[str]) -> int:
    if column not in names:
        raise ValueError(f"{path} has no column {column!r}. It has: {', '.join(names) or 'none'}.")
    if names.count(column) > 1:
        raise ValueError(f"{path} has several columns {column!r}.")
    return names.index(column)
