"""Text and number of a cell, by which all formats count alike, and rows left out by reason."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Largest number of columns in a message, and of letters of a name.
MOST_NAMES, MOST_LETTERS = 20, 60
#: Texts that `text_of` changes beyond their blanks, as a regular expression of Python and of DuckDB.
CHANGED = r"-?(?:0|[1-9][0-9]*)[.]0+|[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]"
_CHANGED = re.compile(CHANGED)
_USERS = "u?id|uuid|user(?:name)?|person|client|customer|patient|visitor|member|subscriber|employee|student|account"
_USERS += "|e?mail|login|cookie|device|phone|household|respondent|participant|who|ssn"
#: Names of columns that name users.
NAMES_USER = re.compile(rf"(?i:(?:^|[_ .-]|user|client|customer)(?:{_USERS})s?(?:$|[_ .-]))|[a-z]I[dD]$")
_SEVERAL = (list, tuple, dict, set, frozenset, np.ndarray, np.void)
#: Range of integers up to which each has a place, without a search for the different ones.
_NEAR = 65_536
_INTEGER = re.compile("-?[0-9]+")


def text_of(value: Any) -> str:
    """Return the text by which a value, a user or an item is counted, in every format; empty for a missing cell.

    A text stays as it is, without blanks at its ends. Only ``1.0`` and ``1.00`` become ``1``, and ``True`` becomes
    ``true``. A typed number gets its shortest text: Decimal ``2.50`` and the float 2.5 are ``2.5``.
    """
    if isinstance(value, float | np.floating):
        single = np.float32(value) if isinstance(value, np.float16) else value  # as DuckDB reads half floats
        return "" if value != value else _shortest(float(str(single)))
    if isinstance(value, Decimal):
        if not value.is_finite():
            return "" if value.is_nan() else str(float(value))
        fixed = format(value, "f")
        return _changed(fixed.rstrip("0").rstrip(".") if "." in fixed else fixed)
    if isinstance(value, datetime | time | np.datetime64):
        return _time(value)
    return _changed((value.decode() if isinstance(value, bytes) else str(value)).strip())


def _changed(text: str) -> str:
    if not _CHANGED.fullmatch(text):
        return text
    whole = text.lower().partition(".")[0]
    return "0" if whole == "-0" else whole


def _shortest(number: float) -> str:
    """Return an integer without a fraction, and any other float as Python and DuckDB write it."""
    return str(int(number)) if number.is_integer() else repr(number)


def _time(value: datetime | time | np.datetime64) -> str:
    """Return a time without zeros at the end of its seconds, in UTC if it has a time zone."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC)
    text = str(value).replace("T", " ").replace("+00:00", "+00")
    return re.sub(r"([.]\d*?)0+(?!\d)", lambda zeros: zeros[1].rstrip("."), text)


def number_of(text: str) -> float:
    """Return the number of a cell; nan if it is no finite number. ``true`` and ``false`` are 1 and 0."""
    if text in ("true", "false"):
        return float(text == "true")
    try:
        number = math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def numeral_of(text: str) -> str:
    """Return the same text for all notations of a number; any other text stays as it is."""
    number = number_of(text)
    if number != number:
        return text
    return text if _INTEGER.fullmatch(text) and text == text.lstrip("0") else _shortest(number)


def is_missing(value: Any) -> bool:
    """Return True for a cell without content: None, nan, NA or NaT."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # pandas' NA is neither; an array has several answers
        return getattr(value, "ndim", 0) == 0


def is_inexact(value: Any) -> bool:
    """Return True for a float so large that it may stand for several integers, which has no exact text."""
    if not isinstance(value, float | np.floating) or not math.isfinite(value):
        return False
    return abs(float(value)) >= 2.0 ** (np.finfo(type(value)).nmant + 1)


@dataclass
class Faults:
    """Rows left out, by reason, and the place of one row of each reason. They contain no text of a cell."""

    reasons: Counter[str] = field(default_factory=Counter)
    places: dict[str, str] = field(default_factory=dict)

    def add(self, reason: str, rows: int = 1, place: str = "") -> None:
        """Add rows with the same reason."""
        if rows:
            self.reasons[reason] += rows
            if place:
                self.places.setdefault(reason, place)

    @property
    def count(self) -> int:
        """Number of rows left out."""
        return self.reasons.total()

    @property
    def named(self) -> tuple[str, ...]:
        """One description per reason, the most frequent first: number of rows, reason, place of one of these rows."""
        return tuple(
            f"{rows:,} {reason}" + (f" ({self.places[reason]})" if reason in self.places else "")
            for reason, rows in sorted(self.reasons.items(), key=lambda entry: (-entry[1], entry[0]))
            if rows
        )


def empty(column: str | None) -> str:
    """Return the reason of rows without a value in a column."""
    return "empty" if column is None else f"empty {listed([column])}"


# -- records in memory ---------------------------------------------------------------------------------------------


def cells_of(data: Any, column: str | None) -> Sequence[Any]:
    """Return the cells of a column of a data frame, or of a series or array without its index."""
    names = getattr(data, "column_names", None)  # of a table of pyarrow, whose columns are cells
    names = list(getattr(data, "columns", ())) if names is None else names
    if column is None:
        if hasattr(data, "columns"):
            raise ValueError(f"A data frame needs the name of a column. It has: {listed(names)}.")
        cells = data
    else:
        if not hasattr(data, "columns"):
            raise ValueError(
                f"column {column!r} belongs to a file or a data frame, not to {type(data).__name__}."
            )
        place_of("The data frame", column, names)
        cells = data[column]
    if hasattr(cells, "array"):  # a series without its index, which need not count from 0
        kind = getattr(cells.dtype, "numpy_dtype", None)
        if kind is not None and kind.kind == "f":  # nullable floats keep their precision
            cells = cells.to_numpy(kind, na_value=np.nan)
        else:
            cells = (cells if isinstance(cells.dtype, np.dtype) else cells.astype(object)).to_numpy()
    elif str(getattr(cells, "type", "")) in ("halffloat", "float", "double"):
        cells = cells.to_numpy(zero_copy_only=False)
    elif hasattr(cells, "to_pylist") or hasattr(cells, "to_list"):  # arrays of pyarrow, series of polars
        cells = (getattr(cells, "to_pylist", None) or cells.to_list)()
    if not hasattr(cells, "__iter__"):
        raise ValueError(f"Records are a file, a data frame or one column, got {type(cells).__name__}.")
    if getattr(cells, "ndim", 1) != 1:
        raise ValueError(f"Records are one column, got {cells.ndim} dimensions.")
    if isinstance(cells, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(cells)
        cells = [None if mask else cell for mask, cell in zip(hidden, cells.data, strict=True)]
    return cells  # type: ignore[no-any-return]


def factorized(cells: Any, *, exact: bool = True) -> tuple[NDArray[np.int64], list[str]]:
    """Return the place of every cell's text among the texts of different cells; a missing cell is empty.

    With `exact`, raises ValueError for a float of 2^53 or more, which may stand for several integers.
    """
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        if cells.dtype.kind in "iu" and len(cells) and int(cells.max()) - int(cells.min()) < _NEAR:
            near = range(int(cells.min()), int(cells.max()) + 1)
            wide = cells.astype(np.int64) if cells.dtype.itemsize < 8 else cells
            return (wide - wide.min()).astype(np.int64), list(map(str, near))
        values, codes = np.unique(cells, return_inverse=True)
        return codes.reshape(-1), [_text(value, cells, exact=exact) for value in values]
    keys = list(cells)
    if len(set(map(type, keys)) - {str, bytes, type(None)}) > 1:  # 1 equals True
        keys = [(type(cell), cell) for cell in keys]
    try:
        index = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    except TypeError:
        kind = next(type(cell).__name__ for cell in cells if isinstance(cell, _SEVERAL))
        raise ValueError(f"The data hold a {kind} in a row, not one value per row.") from None
    texts = [_text(key[1] if isinstance(key, tuple) else key, cells, exact=exact) for key in index]
    return np.fromiter(map(index.__getitem__, keys), np.int64, len(keys)), texts


def texts_of(cells: Any) -> list[str]:
    """Return the text of every cell in memory, empty for a missing one."""
    codes, texts = factorized(cells)
    return [texts[code] for code in codes.tolist()]


def _text(value: Any, cells: Any, *, exact: bool) -> str:
    if isinstance(value, _SEVERAL):
        raise ValueError(f"The data hold a {type(value).__name__} in a row, not one value per row.")
    if exact and is_inexact(value):
        row = next(i for i, cell in enumerate(cells, 1) if is_inexact(cell))
        raise ValueError(
            f"The data, row {row}: a float of 2^53 or more has no exact text; give integers or texts."
        )
    try:
        return "" if is_missing(value) else text_of(value)
    except UnicodeDecodeError:
        raise ValueError("The data have bytes that are not UTF-8; give texts.") from None


# -- names of columns ----------------------------------------------------------------------------------------------


def place_of(where: str, column: str, names: Sequence[Any]) -> int:
    """Return the index of a column. Raise ValueError if there is none or several."""
    if column not in names:
        separated = len(names) == 1 and re.search(r"[^\w\s]", str(names[0]))
        advice = (
            " If another character separates the cells, give delimiter (--delimiter)." if separated else ""
        )
        raise ValueError(f"{where} has no column {column!r}. It has: {listed(names)}.{advice}")
    if list(names).count(column) > 1:
        raise ValueError(f"{where} has several columns {column!r}.")
    return list(names).index(column)


def listed(names: Sequence[Any]) -> str:
    """Return names of columns on one line; long names are cut."""
    some = [
        name
        if name.isprintable() and len(name) <= MOST_LETTERS and name == name.strip()
        else quote_name(name)
        for name in map(str, names)
    ]
    further = len(some) - MOST_NAMES
    return ", ".join(some[:MOST_NAMES]) + (f" and {further} more" if further > 0 else "") or "none"


def quote_name(text: str) -> str:
    """Return a name in quotes for a message; a long name is cut."""
    return f"{text[:MOST_LETTERS]!r}.." if len(text) > MOST_LETTERS else repr(text)
