"""Counts of one column of the user's records, in one pass; memory grows with the number of values, not of rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.numerics.argument_ranges import check_count, check_positive
from shuffledp.userdata.engine import Percent, Table
from shuffledp.userdata.files import address, is_small
from shuffledp.userdata.per_user import grouped, one_per_user
from shuffledp.userdata.reading import (
    Block,
    Cells,
    Faults,
    Progress,
    blocks,
    faults_of,
    is_file,
    shown,
    text_of,
)

#: Largest number of different values without a given domain; for more, users need a hash or a coarser column.
MOST_VALUES = 1_000_000
#: Largest number of values or levels of a given domain: each has a counter in memory.
MOST_COUNTERS = 10_000_000
#: Distance from a level, in levels, up to which a number equals the level: decimals are no floating point numbers.
_SAME = 1e-6

#: Value of a user with several rows.
PerUser = Literal["random", "first", "sum"]


@dataclass(frozen=True)
class Counted:
    """Users per value.

    Parameters
    ----------
    counts : (V,) ndarray of int
        Users per value, in the order of ``values``.
    values : tuple
        The domain: integers 0..k-1, the texts that were given or found (then sorted), or the levels of numbers.
    found : bool
        True if the domain was taken from the data. Privacy then requires that the domain is public for another reason.
    bad_rows : int
        Number of excluded rows.
    faults : tuple of str
        Descriptions of the first bad rows, each with file and line; for Parquet files and data frames the number of the
        row, from 1.
    clipped : int
        Number of values outside of the range, which were clipped.
    rounded : int
        Number of values inside of the range that lie between two levels.
    step : float
        Value of one level of a number; 1 for frequencies.
    dropped : int
        Number of good rows beyond one per user, for data with a column of the user.
    """

    counts: NDArray[np.int64]
    values: tuple[Any, ...]
    found: bool = False
    bad_rows: int = 0
    faults: tuple[str, ...] = ()
    clipped: int = 0
    rounded: int = 0
    step: float = 1.0
    dropped: int = 0

    @property
    def users(self) -> int:
        """Number of counted rows, or of users if users have several rows."""
        return int(self.counts.sum())

    def remarks(self, how: str = "give --domain-size") -> list[str]:
        """Return remarks on these data for a result; ``how`` names the options that set a domain."""
        said = [domain_remark(len(self.values), how)] if self.found else []
        said += bad_rows_remark(self.bad_rows, self.faults)
        if self.dropped:
            are = "1 row is" if self.dropped == 1 else f"{self.dropped} rows are"
            said.append(f"{are} of a user with another row: every user has one value.")
        if self.clipped:
            said.append(f"{_numbers_were(self.clipped)} clipped to the range.")
        if self.rounded:
            step = f"steps of {self.step:g}"
            said.append(
                f"{_numbers_were(self.rounded)} rounded to {step}. Errors do not include the rounding."
            )
        return said


def _numbers_were(count: int) -> str:
    return "1 number was" if count == 1 else f"{count} numbers were"


def domain_remark(size: int, how: str) -> str:
    """Return the remark on a domain that comes from the data."""
    return (
        f"The {size} values found in the data are taken as the domain. A domain must be public: if it is not known "
        f"without the data, {how}."
    )


def bad_rows_remark(count: int, faults: Sequence[str]) -> list[str]:
    """Return the remark on excluded rows; no remark if no row is bad."""
    if not count:
        return []
    if not faults:
        return [f"{count} {'row' if count == 1 else 'rows'} left out."]
    more = count - len(faults)
    rest = f"; and {more} more" if more else ""
    return [f"{count} {'row' if count == 1 else 'rows'} left out: {'; '.join(faults)}{rest}."]


def count_column(
    data: Any,
    column: str | None = None,
    *,
    domain_size: int | None = None,
    values: Sequence[Any] | None = None,
    max_value: float | None = None,
    levels: int | None = None,
    low: float = 0.0,
    user: str | None = None,
    per_user: PerUser = "random",
    key: str = "0",
    delimiter: str | None = None,
    memory: str | None = None,
    progress: Progress | None = None,
    percent: Percent | None = None,
) -> Counted:
    """Count one column of files or a data frame; memory does not grow with the number of rows.

    Parameters
    ----------
    data : str, Path, data frame, series or array
        A CSV file with a header, UTF-8; a data frame of pandas; or a series or array of cells. With the extra ``data``
        also Parquet files, lines of JSON, packed files (``.gz``, ``.zst``), a folder, a pattern such as
        ``part-*.csv``, and folders of hive partitions; with the extra ``s3`` all of these at an address ``s3://..``.
        One row per user, unless ``user`` is given.
    column : str, optional
        Name of the column, for a file or a data frame.
    domain_size : int, optional
        Values are the integers 0..domain_size-1; others are bad rows.
    values : sequence, optional
        The public domain: texts or numbers, at least two; others are bad rows. Without any of ``domain_size``,
        ``values`` and ``max_value`` the texts found are the domain.
    max_value : float, optional
        For sums: numbers are clipped to [low, max_value].
    levels : int, optional
        For sums: numbers are rounded to the nearest of the levels 0, 1, .., levels, whose unit is
        ``(max_value - low) / levels``. By default the levels are the integers of the range.
    low : float
        For sums: the least number.
    user : str, optional
        Column of the user, for files with several rows per user (extra ``data``). Every user then has one value.
    per_user : {"random", "first", "sum"}
        Value of a user: a random one of the user's different values, which depends on ``key``, user and value, and not
        on the order of rows; the first one in the order of files and rows; or the sum of numbers, clipped to the range.
    key : str
        Key of the hash that chooses a random value.
    delimiter : str, optional
        Text between two cells of a CSV file; by default the one of comma, semicolon, tab and bar that fits the header.
    memory : str, optional
        Memory of the engine, such as ``"4GB"``, 1 GB by default; larger intermediate tables go to a temporary folder.
    progress : callable, optional
        Called with the number of rows read.
    percent : callable, optional
        Called about once per second with the percentage of the data that the engine has read.

    Returns
    -------
    Counted

    Raises
    ------
    ValueError
        If the file or column does not exist, no row is good, there are too many different values, or a size is out of
        range.
    MissingExtra
        If the data need the extra ``data`` and it is not installed.
    """
    if domain_size is not None and max_value is not None:
        raise ValueError("Give domain_size for frequencies or max_value for a sum, not both.")
    if values is not None and (domain_size is not None or max_value is not None):
        raise ValueError("Give either values or domain_size or max_value, not several.")
    if levels is not None and max_value is None:
        raise ValueError("levels is for sums and needs max_value.")
    if low and max_value is None:
        raise ValueError("low is for sums and needs max_value.")
    about = address(data) if is_file(data) else "the data"
    where = about if column is None else f"{about}, column {column!r}"

    def _tally() -> Values | _Levels:
        if max_value is not None:
            return _Levels(low, max_value, _size_of(low, max_value, levels))
        return Values(domain_of(domain_size, values, Found(where)))

    tally = _tally()
    if per_user == "sum" and user is not None and max_value is None:
        raise ValueError("The sum of a user's numbers needs max_value, to which it is clipped.")
    dropped = 0
    if is_file(data) and column is not None and (user or delimiter or not is_small(Path(data))):
        faults = Faults()
        with Table(
            Path(data),
            [column] if user is None else [column, user],
            delimiter=delimiter,
            memory=memory,
            percent=percent,
        ) as table:
            if user is None:
                rows = grouped(table, tally, faults)
            else:
                rows, dropped = one_per_user(table, tally, _tally(), faults, per_user, key)
        if progress is not None:
            progress(rows)
    elif user is not None:
        raise ValueError("user is for files.")
    else:
        faults = faults_of(data)
        for block in blocks(data, [column], faults, progress):
            tally.add(block, faults)
    if not tally.users:
        first = f" {faults.named[0]}." if faults.named else ""
        raise ValueError(f"{where} has no row that can be counted.{first}")
    return replace(tally.counted(faults), dropped=dropped)


# -- domains -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Integers:
    """Domain of the integers 0..size-1."""

    size: int

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(range(self.size))

    def place(self, text: str) -> int:
        """Return the index of a value; -1 outside of the domain."""
        with suppress(ValueError):
            value = int(_digits(text))
            return value if 0 <= value < self.size else -1
        return -1

    def fault(self, text: str) -> str:
        return f"{shown(text)} is not one of 0..{self.size - 1}"


@dataclass(frozen=True)
class Listed:
    """Domain of listed values, as the texts of a file."""

    values: tuple[str, ...]
    places: Mapping[str, int]

    @classmethod
    def of(cls, values: Sequence[Any]) -> Listed:
        """Return the domain of given texts or numbers."""
        texts = tuple(text_of(value) for value in values)
        places = {text: i for i, text in enumerate(texts)}
        if len(texts) < 2:
            raise ValueError(f"values must be at least 2, got {len(texts)}.")
        if len(places) < len(texts):
            twice = next(text for i, text in enumerate(texts) if places[text] != i)
            raise ValueError(f"values has {twice!r} twice.")
        return cls(texts, places)

    def place(self, text: str) -> int:
        """Return the index of a value; -1 outside of the domain."""
        return self.places.get(text, -1)

    def fault(self, text: str) -> str:
        """Return the message about a text outside of the domain."""
        return f"{shown(text)} is not one of the {len(self.values)} values"


@dataclass(frozen=True)
class Found:
    """Domain of the texts in the data, with indices in order of appearance."""

    where: str
    noun: str = "value"
    places: dict[str, int] = field(default_factory=dict)

    @property
    def values(self) -> tuple[str, ...]:
        """Sorted texts of the domain. Raise ValueError for a single text."""
        if len(self.places) < 2:
            one = shown(next(iter(self.places)))
            raise ValueError(f"{self.where} has a single {self.noun}, {one}; a domain needs at least two.")
        return tuple(sorted(self.places))

    def place(self, text: str) -> int:
        """Return the index of a text, which may be new."""
        place = self.places.setdefault(text, len(self.places))
        if place >= MOST_VALUES:
            raise ValueError(f"{self.where} has more than {MOST_VALUES} different {self.noun}s.")
        return place

    def fault(self, text: str) -> str:
        """Return an empty message, because every text belongs to this domain."""
        return ""


Domain: TypeAlias = _Integers | Listed | Found


def domain_of(domain_size: int | None, values: Sequence[Any] | None, found: Found, least: int = 2) -> Domain:
    """Return the domain 0..size-1 or of the given values; without both, the domain `found` in the data."""
    if domain_size is not None:
        return _Integers(_held("domain_size", check_count("domain_size", domain_size, least)))
    return found if values is None else Listed.of(values)


def _plain_numbers(texts: list[str]) -> NDArray[np.float64] | None:
    """Return the numbers of all texts, converted together; None if a text is not a finite number."""
    if "_" in "".join(texts):  # see `_digits`
        return None
    try:
        numbers = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def _digits(text: str) -> str:
    """Return the text. Raise ValueError for an underscore, which Python accepts in numbers such as ``1_000``."""
    if "_" in text:
        raise ValueError
    return text


def distinct(cells: Cells) -> dict[str, int]:
    """Return the number of occurrences of each text in the cells."""
    if isinstance(cells, list):
        return Counter(cells)
    found, count = np.unique(cells, return_counts=True)
    return {text_of(value): int(c) for value, c in zip(found.tolist(), count, strict=True)}


def tell(block: Block, bad: Mapping[str, str], faults: Faults, column: int = 0) -> None:
    """Add the rows of a block whose text is bad to the faults."""
    cells = block.columns[column]
    texts = cells if isinstance(cells, list) else map(text_of, cells.tolist())
    for line, text in zip(block.lines, texts, strict=True):
        if text in bad:
            faults.add(line, bad[text])


# -- tallies -------------------------------------------------------------------------------------------------------


class Values:
    """Counter of the values of a domain."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        found = isinstance(domain, Found)
        self._counts: Any = Counter[int]() if found else np.zeros(len(domain.values), np.int64)

    @property
    def users(self) -> int:
        """Number of counted rows."""
        counts = self._counts
        return int(counts.total() if isinstance(counts, Counter) else counts.sum())

    def add(self, block: Block, faults: Faults) -> None:
        """Count the first column of a block, and add bad rows to the faults."""
        if bad := self.take(distinct(block.columns[0])):
            tell(block, bad, faults)

    def take(self, counts: Mapping[str, int]) -> dict[str, str]:
        """Add texts with their numbers of rows, and return the bad texts, each with a message."""
        bad: dict[str, str] = {}
        for text, count in counts.items():
            place = self._domain.place(text)
            if place < 0:
                bad[text] = self._domain.fault(text)
            else:
                self._counts[place] += count
        return bad

    def counted(self, faults: Faults) -> Counted:
        """Return the counts in the order of the domain."""
        values, counts = self._domain.values, self._counts
        found = isinstance(self._domain, Found)
        if found:
            counts = np.array([counts[self._domain.place(value)] for value in values], np.int64)
        return Counted(counts, values, found=found, bad_rows=faults.count, faults=faults.named)


class _Levels:
    """Counter of numbers, clipped to a range and rounded to its levels; memory does not depend on the data."""

    def __init__(self, low: float, high: float, size: int) -> None:
        self._low, self._high, self._size = low, high, size
        self._counts = np.zeros(size + 1, np.int64)
        self._clipped = self._rounded = 0

    @property
    def users(self) -> int:
        return int(self._counts.sum())

    def add(self, block: Block, faults: Faults) -> None:
        cells = block.columns[0]
        numbers = _plain_numbers(cells) if isinstance(cells, list) else cells.astype(np.float64)
        if numbers is None:
            if bad := self.take(distinct(cells)):
                tell(block, bad, faults)
            return
        finite = np.isfinite(numbers)
        for i in np.flatnonzero(~finite).tolist():
            faults.add(block.lines[i], f"{str(numbers[i])!r} is no finite number")
        self._place(numbers[finite], np.ones(int(finite.sum()), np.int64))

    def _place(self, numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        self._clipped += int(counts[(numbers < self._low) | (numbers > self._high)].sum())
        inside = np.clip(numbers, self._low, self._high)
        exact = (inside - self._low) / (self._high - self._low) * self._size
        placed = np.rint(exact)
        self._rounded += int(counts[np.abs(exact - placed) > _SAME].sum())
        np.add.at(self._counts, placed.astype(np.int64), counts)

    def take(self, counts: Mapping[str, int]) -> dict[str, str]:
        """Add texts of numbers with their numbers of rows, and return the bad texts, each with a message."""
        good: dict[float, int] = {}
        bad: dict[str, str] = {}
        for text, count in counts.items():
            number = math.nan
            with suppress(ValueError):
                number = float(_digits(text))
            if math.isfinite(number):
                good[number] = good.get(number, 0) + count
            else:
                bad[text] = f"{shown(text)} is no finite number"
        self._place(np.array(list(good), float), np.array(list(good.values()), np.int64))
        return bad

    def counted(self, faults: Faults) -> Counted:
        step = (self._high - self._low) / self._size
        return Counted(
            self._counts,
            tuple(self._low + step * level for level in range(self._size + 1)),
            bad_rows=faults.count,
            faults=faults.named,
            clipped=self._clipped,
            rounded=self._rounded,
            step=step,
        )


def _size_of(low: float, max_value: float, levels: int | None) -> int:
    """Return the index of the largest level. Raise ValueError for a wrong range or number of levels."""
    if not math.isfinite(low):
        raise ValueError(f"low must be finite, got {low!r}.")
    most = check_positive("max_value", max_value) if low == 0 else float(max_value)
    if not math.isfinite(most) or most <= low:
        raise ValueError(f"max_value must be finite and above low {low:g}, got {max_value!r}.")
    span = most - low
    if levels is None and span != round(span):
        raise ValueError(f"max_value - low must be an integer if levels is not given, got {span!r}.")
    if levels is None:
        return _held("max_value", round(span), "; give fewer levels")
    return _held("levels", check_count("levels", levels, 1))


def _held(name: str, size: int, advice: str = "") -> int:
    """Return the size. Raise ValueError if it exceeds the largest number of counters."""
    if size > MOST_COUNTERS:
        told = f"{size:,}" if size < 1e15 else f"{size:g}"
        raise ValueError(f"{name} must be at most {MOST_COUNTERS:,}, got {told}{advice}.")
    return size
