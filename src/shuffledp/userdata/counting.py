"""Counts of one column of the user's records, in one pass; memory grows with the number of values, not of rows."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.numerics.argument_ranges import check_count, check_positive
from shuffledp.userdata.bins import Bins
from shuffledp.userdata.cells import (
    NAMES_USER,
    Faults,
    cells_of,
    empty,
    factorized,
    number_of,
    text_of,
)
from shuffledp.userdata.engine import DataTable, Percent, quoted
from shuffledp.userdata.files import address, intact

#: Largest number of different values without a given domain; for more, users need a hash or a coarser column.
MOST_VALUES = 1_000_000
#: Largest number of values or levels of a given domain: each has a counter in memory.
MOST_COUNTERS = 10_000_000
#: Distance from a level, in levels, up to which a number equals the level: decimals are no floating point numbers.
_SAME = 1e-6
#: Number of compared hexadecimal digits of a hash: they fit into 63 bits.
_DIGITS = 15
#: Largest absolute number of a row before a sum per user, in levels; larger numbers are clipped.
_LARGEST = "1e15"
#: Texts of decimals that are shorter as numbers.
_ZEROS = re.compile(r"[-+]?[0-9]*[.][0-9]*[1-9]0+")
#: Texts, in lower case, that often stand for a missing value.
_MISSING = frozenset({"-", "?", "n/a", "na", "nan", "nil", "none", "null", "undefined", "unknown"})
#: Number of different texts that are judged together.
_AT_ONCE = 65_536
#: Largest number of different bad values whose first row is looked up.
_LOOKED_UP = 1_000

#: Value that stands for all values outside of a list.
OTHER = "other"
#: Reason of rows without a number.
NO_NUMBER = "not a finite number"

#: Value of a user with several rows.
PerUser = Literal["random", "first", "sum"]


def is_file(data: Any) -> bool:
    """Return True for records in a file, False for records in memory."""
    return isinstance(data, str | os.PathLike)


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
        Descriptions of the excluded rows, one per reason: their number, and the place of one of them.
    clipped : int
        Number of values outside of the range, which were clipped.
    rounded : int
        Number of values inside of the range that lie between two levels.
    step : float
        Value of one level of a number; 1 for frequencies.
    dropped : int
        Number of good rows beyond one per user, for data with a column of the user.
    other : bool
        True if users with a value outside of the given ones are counted as the value `OTHER`.
    bins : str or None
        Bins of numbers, LOW:HIGH:WIDTH, if they are the domain.
    repeated : str or None
        Column that looks like the user's and repeats values, for data without a column of the user.
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
    other: bool = False
    bins: str | None = None
    repeated: str | None = None

    @property
    def users(self) -> int:
        """Number of counted rows, or of users if users have several rows."""
        return int(self.counts.sum())

    @property
    def rows(self) -> int:
        """Number of rows that were read."""
        return self.users + self.dropped + self.bad_rows

    def remarks(self, how: str = "give --domain-size") -> list[str]:
        """Return remarks on these data for a result; ``how`` names the options that set a domain."""
        texts = [domain_remark(len(self.values), how)] if self.found else []
        if self.repeated is not None:
            texts.append(
                f"Every row is taken as a user, but column {self.repeated!r} repeats values. If it names the user, "
                f"give user={self.repeated!r} (--user {self.repeated}), or keep one row per user."
            )
        if self.other:
            users = self.counts[self.values.index(OTHER)]
            have = "user has" if users == 1 else "users have"
            texts.append(
                f"{users:,} {have} the value {OTHER!r}, which stands for every value outside of the list."
            )
        if self.found and several_notations(self.values):
            texts.append(
                "Some values are notations of one number, such as 1.5 and 1.50. They are counted as different values."
            )
        if self.found and (alike := len(self.values) - len({value.casefold() for value in self.values})):
            differ = "1 value differs" if alike == 1 else f"{alike:,} values differ"
            texts.append(
                f"{differ} from another value in upper and lower case only. They are different values."
            )
        if self.found and (missing := sum(value.casefold() in _MISSING for value in self.values)):
            are = "1 value looks" if missing == 1 else f"{missing:,} values look"
            texts.append(f"{are} like a missing one, such as N/A or NULL, and counts as a value.")
        if any(isinstance(value, str) and _ZEROS.fullmatch(value) for value in self.values):
            texts.append(
                "Some values are texts of decimals that end in zeros, such as 2.50. Numbers in Parquet, JSON or a data "
                "frame are other values: 2.5."
            )
        texts += bad_rows_remark(self.bad_rows, self.faults)
        if self.dropped:
            are = "1 row is" if self.dropped == 1 else f"{self.dropped} rows are"
            texts.append(f"{are} of a user with another row: every user has one value.")
        if self.clipped:
            texts.append(f"{_numbers_were(self.clipped)} clipped to the range.")
        if self.rounded:
            step = f"steps of {self.step:g}"
            texts.append(
                f"{_numbers_were(self.rounded)} rounded to {step}. Errors do not include the rounding."
            )
        return texts


def _numbers_were(count: int) -> str:
    return "1 number was" if count == 1 else f"{count} numbers were"


def domain_remark(size: int, how: str) -> str:
    """Return the remark on a domain that comes from the data."""
    return (
        f"The {size} values found in the data are taken as the domain. A domain must be public: if it is not known "
        f"without the data, {how}."
    )


def several_notations(values: Sequence[str]) -> bool:
    """Return True if two texts are notations of the same number."""
    numbers = [number for number in map(number_of, values) if not math.isnan(number)]
    return len(set(numbers)) < len(numbers)


@dataclass(frozen=True)
class CountsFile:
    """Path of a file of counts, for use as the data of a comparison."""

    path: Path


def bad_rows_remark(count: int, faults: Sequence[str]) -> list[str]:
    """Return the remark on excluded rows; no remark if no row is bad."""
    reasons = f": {'; '.join(faults)}" if faults else ""
    return [f"{count:,} {'row' if count == 1 else 'rows'} left out{reasons}."] if count else []


def count_column(
    data: Any,
    column: str | None = None,
    *,
    domain_size: int | None = None,
    values: Sequence[Any] | None = None,
    other: bool = False,
    bins: str | None = None,
    max_value: float | None = None,
    levels: int | None = None,
    low: float = 0.0,
    user: str | None = None,
    per_user: PerUser = "random",
    key: str = "0",
    delimiter: str | None = None,
    memory: str | None = None,
    percent: Percent | None = None,
) -> Counted:
    """Count one column of files or a data frame; memory does not grow with the number of rows.

    Parameters
    ----------
    data : str, Path, data frame, series or array
        A data frame, or a series or array of cells. With the extra ``data`` a CSV file with a header, UTF-8; Parquet
        files, lines of JSON, packed files (``.gz``, ``.zst``), a folder, a pattern such as ``part-*.csv``, and folders
        of hive partitions; with the extra ``s3`` all of these at an address ``s3://..``. One row per user, unless
        ``user`` is given.
    column : str, optional
        Name of the column, for a file or a data frame.
    domain_size : int, optional
        Values are the integers 0..domain_size-1; others are bad rows.
    values : sequence, optional
        The public domain: texts or numbers, at least two; others are bad rows. Without any of ``domain_size``,
        ``values`` and ``max_value`` the texts found are the domain.
    other : bool
        True to count a user with a value outside of ``values`` as the value ``"other"``, which is added to the domain
        unless it is listed. A random value per user is chosen before.
    bins : str, optional
        LOW:HIGH:WIDTH, intervals of numbers that contain their smallest number; numbers outside are bad rows. The
        values are the smallest numbers of the intervals.
    max_value : float, optional
        For sums: numbers are clipped to [low, max_value].
    levels : int, optional
        For sums: numbers are rounded to the nearest of the levels 0, 1, .., levels, whose unit is
        ``(max_value - low) / levels``. By default the levels are the integers of the range.
    low : float
        For sums: the least number.
    user : str, optional
        Column of the user, for files with several rows per user. Every user then has one value.
    per_user : {"random", "first", "sum"}
        Value of a user: a random one of the user's different values, which depends on ``key``, user and value, and not
        on the order of rows; the first one in the order of files and rows; or the sum of numbers, clipped to the range.
    key : str
        Key of the hash that chooses a random value.
    delimiter : str, optional
        Text between two cells of a CSV file; by default the one of comma, semicolon, tab and bar that fits the header.
    memory : str, optional
        Memory of the engine, such as ``"4GB"``, 1 GB by default; larger intermediate tables go to a temporary folder.
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
    value_options = _ValueOptions(domain_size, values, other, bins, max_value, levels, low)
    if per_user == "sum" and user is not None and max_value is None:
        raise ValueError("The sum of a user's numbers needs max_value, to which it is clipped.")
    about = address(data) if is_file(data) else "the data"
    where = about if column is None else f"{about}, column {column!r}"

    tally, faults, dropped, repeated = value_options.new_tally(where), Faults(), 0, None
    if not is_file(data):
        if user is not None:
            raise ValueError("user is for files.")
        cells = cells_of(data, column)
        if isinstance(tally, _Levels) and getattr(cells, "dtype", None) in (np.int64, np.float64):
            tally.add(np.asarray(cells), faults, column)
        else:
            _take_rows(*factorized(cells, exact=not value_options.has_numbers), tally, faults, column)
        repeated = repeated_column(data, column)
    else:
        columns = [str(column)] if user is None else [str(column), user]
        options: dict[str, Any] = {"delimiter": delimiter, "memory": memory, "percent": percent}
        with (
            intact(Path(data)),
            DataTable(Path(data), columns, **options, numbers=value_options.has_numbers) as table,
        ):
            if user is None:
                _judged(table, table.values, tally, faults)
                repeated = table.repeated(columns)
            else:
                dropped = _one_per_user(table, tally, value_options.new_tally(where), faults, per_user, key)
    if not tally.users:
        raise ValueError(f"{where} has no row that can be counted{because(faults)}.")
    return replace(tally.make_counts(faults), dropped=dropped, repeated=repeated, other=other, bins=bins)


@dataclass(frozen=True)
class _ValueOptions:
    """Values that are counted, as the arguments of `count_column` state them."""

    domain_size: int | None
    values: Sequence[Any] | None
    other: bool
    bins: str | None
    max_value: float | None
    levels: int | None
    low: float

    def __post_init__(self) -> None:
        """Raise ValueError for arguments that exclude each other."""
        if self.domain_size is not None and self.max_value is not None:
            raise ValueError("Give domain_size for frequencies or max_value for a sum, not both.")
        sized = self.domain_size is not None or self.max_value is not None
        if self.values is not None and sized:
            raise ValueError("Give either values or domain_size or max_value, not several.")
        if self.bins is not None and (self.values is not None or sized):
            raise ValueError("Give either bins or values or domain_size or max_value, not several.")
        if self.other and self.values is None:
            raise ValueError("other needs values, the list of the public domain.")
        if self.levels is not None and self.max_value is None:
            raise ValueError("levels is for sums and needs max_value.")
        if self.low and self.max_value is None:
            raise ValueError("low is for sums and needs max_value.")

    @property
    def has_numbers(self) -> bool:
        """True if cells are read as numbers."""
        return self.max_value is not None or self.domain_size is not None or self.bins is not None

    def new_tally(self, where: str) -> Tally:
        """Return a tally without users; `where` names the column in messages."""
        if self.max_value is not None:
            return _Levels(self.low, self.max_value, steps_of(self.low, self.max_value, self.levels))
        if self.bins is not None:
            return ValueCounter(Bins.parse(self.bins))
        if self.values is not None:
            return ValueCounter(Listed.from_values(self.values, self.other))
        return ValueCounter(domain_of(self.domain_size, None, FoundDomain(where)))


def repeated_column(data: Any, column: str | None) -> str | None:
    """Return another column of a data frame whose name is that of a user, and which repeats a value."""
    if hasattr(data, "duplicated") and hasattr(data, "columns"):
        for name in data.columns:
            if name != column and NAMES_USER.search(str(name)) and data[name].dropna().duplicated().any():
                return str(name)
    return None


def because(faults: Faults) -> str:
    """Return the rows left out as the end of a sentence."""
    return f": {'; '.join(faults.named)}" if faults.named else ""


#: Bad texts by reason; None for a missing cell.
_Bad: TypeAlias = dict[str, list[str | None]]


def _judged(table: DataTable, query: str, tally: Tally, faults: Faults) -> list[str | None]:
    """Count the texts of a query with their numbers of rows; return the bad texts, whose rows are faults."""
    bad: _Bad = {}
    counts: Counter[str] = Counter()
    for text, rows in table.fetched(query):
        counts[text_of(text or "")] += rows
        if len(counts) >= _AT_ONCE:
            _take(counts, tally, faults, table.columns[0], bad)
    _take(counts, tally, faults, table.columns[0], bad)
    table.damaged(faults)
    for reason, texts in bad.items():
        table.name(faults, reason, texts[:_LOOKED_UP])
    return [text for texts in bad.values() for text in texts]


def _take(
    counts: Counter[str], tally: Tally, faults: Faults, column: str | None, bad: _Bad | None = None
) -> None:
    """Move texts with their numbers of rows to the tally, or to the faults and the bad texts."""
    reasons = {"": empty(column)} if "" in counts else {}
    missing = counts.pop("", 0)
    reasons |= tally.take(counts)
    for text, reason in reasons.items():
        faults.add(reason, counts[text] if text else missing)
        if bad is not None:
            bad.setdefault(reason, []).append(text or None)
    counts.clear()


def _take_rows(
    codes: NDArray[np.int64],
    texts: Sequence[str],
    tally: Tally,
    faults: Faults,
    column: str | None,
) -> None:
    """Count the texts of rows, and name one row of each reason by its number from 1."""
    bad: _Bad = {}
    counts: Counter[str] = Counter()
    for text, rows in zip(texts, np.bincount(codes, minlength=len(texts)).tolist(), strict=True):
        if rows:
            counts[text] += rows
    _take(counts, tally, faults, column, bad)
    for reason, some in bad.items():
        wrong = {text or "" for text in some}
        row = int(np.argmax(np.isin(codes, [i for i, text in enumerate(texts) if text in wrong])))
        faults.places.setdefault(reason, f"row {row + 1}")


def kept_rows(table: DataTable, judge: Tally, faults: Faults, rank: str = "0", first: bool = False) -> int:
    """Create the table ``kept`` of the good values of users, with the number ``n`` of equal rows.

    Returns the number of users with a good or a bad value; 0 without a bad value.
    """
    rows = f"SELECT {table.text(0)} AS c0, coalesce({table.text(1)}, '') AS u FROM {table.source}"
    if first:
        table.run(f"CREATE TEMP TABLE kept AS SELECT *, 1 AS n, row_number() OVER () AS rank FROM ({rows})")
    else:
        grouped = f"SELECT c0, u, count(*) AS n FROM ({rows}) GROUP BY c0, u"
        table.run(f"CREATE TEMP TABLE kept AS SELECT *, {rank} AS rank FROM ({grouped})")
    bad = _judged(table, "SELECT c0, sum(n)::BIGINT FROM kept GROUP BY c0", judge, faults)
    named = "SELECT count(DISTINCT u) FROM kept WHERE c0 <> '' AND u <> ''"
    users = next(table.fetched(named))[0] if bad else 0
    table.run("DELETE FROM kept WHERE c0 IS NULL OR c0 IN (SELECT unnest(?::VARCHAR[]))", [bad])
    nobody = next(table.fetched("SELECT coalesce(sum(n), 0)::BIGINT FROM kept WHERE u = ''"))[0]
    if nobody:
        faults.add(empty(table.columns[1]), nobody)
        table.run("DELETE FROM kept WHERE u = ''")
        table.name(faults, empty(table.columns[1]), [None], 1)
    return int(users)


def _one_per_user(
    table: DataTable, tally: Tally, judge: Tally, faults: Faults, per_user: str, key: str
) -> int:
    """Count one value per user, and return the number of good rows beyond one per user."""
    hashed = f"sha256({quoted(key)} || chr(31) || u || chr(31) || c0)"
    rank = f"CAST('0x' || left({hashed}, {_DIGITS}) AS BIGINT)"
    kept_rows(table, judge, faults, rank, per_user == "first")
    if per_user == "sum":  # exact in any order
        assert isinstance(tally, _Levels)
        steps = f"greatest(least(CAST(c0 AS DOUBLE) / {tally.step!r}, {_LARGEST}), -{_LARGEST})"
        chosen = f"SELECT sum(CAST({steps} AS DECIMAL(38, 12)) * n)::DOUBLE * {tally.step!r} AS v FROM kept GROUP BY u"
    else:  # a least number per user fits on a disk, an aggregate of texts does not
        least = "SELECT u, min(rank) AS rank FROM kept GROUP BY u"
        chosen = f"SELECT c0 AS v FROM kept JOIN ({least}) USING (u, rank)"
    good = next(table.fetched("SELECT coalesce(sum(n), 0)::BIGINT FROM kept"))[0]
    for text, users in table.fetched(f"SELECT CAST(v AS VARCHAR), count(*) FROM ({chosen}) GROUP BY v"):
        tally.take({text_of(text): users})
    return int(good) - tally.users


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
        number = number_of(text)
        return int(number) if number == number // 1 and 0 <= number < self.size else -1

    @property
    def reason(self) -> str:
        """Reason for a text outside of the domain."""
        return f"outside the domain 0..{self.size - 1}"


@dataclass(frozen=True)
class Listed:
    """Domain of listed values, as the texts of a file; `outside` is the index of all other values, or -1."""

    values: tuple[str, ...]
    places: Mapping[str, int]
    outside: int = -1

    @classmethod
    def from_values(cls, values: Sequence[Any], other: bool = False) -> Listed:
        """Return the domain of given texts or numbers, with `OTHER` for all others if `other` is True."""
        names = tuple(text_of(value) for value in values)
        names += (OTHER,) * (other and OTHER not in names)
        places = {text: i for i, text in enumerate(names)}
        if len(names) < 2:
            raise ValueError(f"values must be at least 2, got {len(names)}.")
        if len(places) < len(names):
            twice = next(text for i, text in enumerate(names) if places[text] != i)
            raise ValueError(f"values has {twice!r} twice.")
        return cls(names, places, places[OTHER] if other else -1)

    def place(self, text: str) -> int:
        """Return the index of a value; -1 outside of the domain."""
        return self.places.get(text, self.outside)

    @property
    def reason(self) -> str:
        """Reason for a text outside of the domain."""
        return f"outside the domain of {len(self.values)} values"


@dataclass(frozen=True)
class FoundDomain:
    """Domain of the texts in the data, with indices in order of appearance."""

    where: str
    noun: str = "value"
    places: dict[str, int] = field(default_factory=dict)

    @property
    def values(self) -> tuple[str, ...]:
        """Sorted texts of the domain. Raise ValueError for a single text."""
        if len(self.places) < 2:
            raise ValueError(f"{self.where} has a single {self.noun}; a domain needs at least two.")
        return tuple(sorted(self.places))

    def place(self, text: str) -> int:
        """Return the index of a text, which may be new."""
        place = self.places.setdefault(text, len(self.places))
        if place >= MOST_VALUES:
            raise ValueError(f"{self.where} has more than {MOST_VALUES} different {self.noun}s.")
        return place

    reason = ""


Domain: TypeAlias = _Integers | Listed | FoundDomain


def domain_of(
    domain_size: int | None, values: Sequence[Any] | None, data_domain: FoundDomain, least: int = 2
) -> Domain:
    """Return the domain 0..size-1 or of the given values; without both, the domain found in the data."""
    if domain_size is not None:
        return _Integers(_held("domain_size", check_count("domain_size", domain_size, least)))
    return data_domain if values is None else Listed.from_values(values)


# -- tallies -------------------------------------------------------------------------------------------------------


class ValueCounter:
    """Counter of the values of a domain."""

    def __init__(self, domain: Domain | Bins) -> None:
        self._domain = domain
        is_open = isinstance(domain, FoundDomain)
        self._counts: Any = Counter[int]() if is_open else np.zeros(len(domain.values), np.int64)

    @property
    def users(self) -> int:
        """Number of counted rows."""
        counts = self._counts
        return int(counts.total() if isinstance(counts, Counter) else counts.sum())

    def take(self, counts: Mapping[str, int]) -> dict[str, str]:
        """Add texts with their numbers of rows, and return the bad texts, each with a reason."""
        bad: dict[str, str] = {}
        for text, count in counts.items():
            place = self._domain.place(text)
            if place < 0:
                bad[text] = (
                    self._domain.reason(text) if isinstance(self._domain, Bins) else self._domain.reason
                )
            else:
                self._counts[place] += count
        return bad

    def make_counts(self, faults: Faults) -> Counted:
        """Return the counts in the order of the domain."""
        counts, domain = self._counts, self._domain
        is_open = isinstance(domain, FoundDomain)
        if isinstance(domain, FoundDomain):
            counts = np.array([counts[domain.place(value)] for value in domain.values], np.int64)
        return Counted(counts, domain.values, found=is_open, bad_rows=faults.count, faults=faults.named)


class _Levels:
    """Counter of numbers, clipped to a range and rounded to its levels; memory does not depend on the data."""

    def __init__(self, low: float, high: float, size: int) -> None:
        self._low, self._high, self._size = low, high, size
        self._counts = np.zeros(size + 1, np.int64)
        self._clipped = self._rounded = 0

    @property
    def users(self) -> int:
        return int(self._counts.sum())

    def add(self, numbers: NDArray[Any], faults: Faults, column: str | None) -> None:
        """Count the numbers of rows in memory, and add missing and infinite ones to the faults."""
        for start in range(0, len(numbers), _AT_ONCE):
            block = numbers[start : start + _AT_ONCE].astype(float)
            good = np.isfinite(block)
            if not good.all():
                missing = np.isnan(block)
                for reason, wrong in ((empty(column), missing), (NO_NUMBER, ~good & ~missing)):
                    faults.add(reason, int(wrong.sum()), f"row {start + int(np.argmax(wrong)) + 1}")
                block = block[good]
            self._place(block, np.ones(len(block), np.int64))

    def _place(self, numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        self._clipped += int(counts[(numbers < self._low) | (numbers > self._high)].sum())
        inside = np.clip(numbers, self._low, self._high)
        exact = (inside - self._low) / (self._high - self._low) * self._size
        placed = np.rint(exact)
        self._rounded += int(counts[np.abs(exact - placed) > _SAME].sum())
        np.add.at(self._counts, placed.astype(np.int64), counts)

    def take(self, counts: Mapping[str, int]) -> dict[str, str]:
        """Add texts of numbers with their numbers of rows, and return the bad texts, each with a reason."""
        numbers = np.fromiter(map(number_of, counts), float, len(counts))
        good = ~np.isnan(numbers)
        self._place(numbers[good], np.fromiter(counts.values(), np.int64, len(counts))[good])
        return (
            {}
            if good.all()
            else {text: NO_NUMBER for text, fine in zip(counts, good, strict=True) if not fine}
        )

    @property
    def step(self) -> float:
        """Value of one level."""
        return (self._high - self._low) / self._size

    def make_counts(self, faults: Faults) -> Counted:
        """Return the counts of the levels."""
        step = self.step
        return Counted(
            self._counts,
            tuple(self._low + step * level for level in range(self._size + 1)),
            bad_rows=faults.count,
            faults=faults.named,
            clipped=self._clipped,
            rounded=self._rounded,
            step=step,
        )


Tally: TypeAlias = ValueCounter | _Levels


def steps_of(low: float, max_value: float, levels: int | None) -> int:
    """Return the index of the largest level of a sum. Raise ValueError for a wrong range or number of levels."""
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
        size_text = f"{size:,}" if size < 1e15 else f"{size:g}"
        raise ValueError(f"{name} must be at most {MOST_COUNTERS:,}, got {size_text}{advice}.")
    return size
