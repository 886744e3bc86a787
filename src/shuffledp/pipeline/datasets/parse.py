"""Strict parsers of the raw files; every error names the file and, for text files, the line (from 1)."""

from __future__ import annotations

import csv
import math
import warnings
from typing import IO, TYPE_CHECKING, NoReturn

import numpy as np
import pandas as pd

from shuffledp.pipeline.datasets.published_datasets import BIRTHPLACE_DOMAIN, MSNBC_CATEGORIES
from shuffledp.pipeline.datasets.source_errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = [
    "count_ratings",
    "parse_adult",
    "parse_counts",
    "parse_idx",
    "parse_ipums_birthplace",
    "parse_msnbc",
]

_ADULT_FIELDS = 15
_IPUMS_FIELDS = 61
_BIRTHPLACE = 33  # column 34, `bplg`
_YEAR_1970 = "97"
_MSNBC_HEADER = 7
_IDX_UINT8 = 0x08
_LARGEST_MOVIE = 10_000_000  # counts of all movies up to the largest are held in memory
_DIGITS = 18  # of a number that 64 bits hold


def _fail(file: str, line: int, found: object, expected: str) -> NoReturn:
    shown = repr(found) if len(repr(found)) <= 80 else repr(found)[:77] + "..."
    raise ParseError(
        f"{file}, line {line}: found {shown}, expected {expected}. Delete the file and run again to fetch "
        f"it anew."
    )


def _lines(content: bytes, file: str) -> Iterator[tuple[int, str]]:
    try:
        text = content.decode("ascii")
    except UnicodeDecodeError as error:
        _fail(file, content.count(b"\n", 0, error.start) + 1, content[error.start], "ASCII text")
    empty = 0
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            empty = empty or number
        elif empty:
            _fail(file, empty, "", "no empty line before the end of the file")
        else:
            yield number, line.removesuffix("\r")


def parse_adult(content: bytes, file: str, *, test: bool = False) -> pd.DataFrame:
    """Read ``adult.data`` or ``adult.test``."""
    incomes = ("<=50K.", ">50K.") if test else ("<=50K", ">50K")
    sexes: list[str] = []
    hours: list[int] = []
    for number, line in _lines(content, file):
        if test and number == 1:
            if not line.startswith("|"):
                _fail(file, 1, line, "the header line '|1x3 Cross validator'")
            continue
        fields = line.split(", ")
        if len(fields) != _ADULT_FIELDS:
            _fail(file, number, line, f"{_ADULT_FIELDS} fields separated by ', ', not {len(fields)}")
        sex, week, income = fields[9], fields[12], fields[14]
        if sex not in ("Female", "Male"):
            _fail(file, number, sex, "'Female' or 'Male' in column 10")
        if not (week.isdigit() and 1 <= int(week) <= 99):
            _fail(file, number, week, "hours per week 1..99 in column 13")
        if income not in incomes:
            _fail(file, number, income, f"{incomes[0]!r} or {incomes[1]!r} in column 15")
        sexes.append(sex)
        hours.append(int(week))
    if not sexes:
        _fail(file, 2 if test else 1, "", "at least one person")
    return pd.DataFrame({"sex": sexes, "hours_per_week": np.array(hours, np.int64)})


def parse_ipums_birthplace(content: bytes, file: str) -> NDArray[np.int64]:
    """Read the general birthplace code (`bplg`, column 34) of every person of IPUMS Los Angeles 1970."""
    codes: list[int] = []
    for number, line in _lines(content, file):
        fields = line.split(",")
        if len(fields) != _IPUMS_FIELDS:
            _fail(file, number, line, f"{_IPUMS_FIELDS} fields separated by ',', not {len(fields)}")
        if not all(fields) or not line.replace(",-", ",").replace(",", "").isdigit():
            _fail(file, number, line, "digits, after a minus sign at most, in every field")
        if fields[0] != _YEAR_1970:
            _fail(file, number, fields[0], f"year {_YEAR_1970!r} (1970) in column 1")
        code = int(fields[_BIRTHPLACE])
        if not 1 <= code <= BIRTHPLACE_DOMAIN:
            _fail(file, number, fields[_BIRTHPLACE], f"a birthplace code 1..{BIRTHPLACE_DOMAIN} in column 34")
        codes.append(code)
    if not codes:
        _fail(file, 1, "", "at least one person")
    return np.array(codes, np.int64)


def parse_msnbc(content: bytes, file: str) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Read the page visits of MSNBC.com."""
    head = content.split(b"\n", _MSNBC_HEADER)
    if len(head) <= _MSNBC_HEADER:
        _fail(file, len(head), head[-1], f"{_MSNBC_HEADER} header lines and then sequences")
    expected = {1: b"% Different", 3: " ".join(MSNBC_CATEGORIES).encode(), 6: b"% Sequences:"}
    for number, line in enumerate(head[:_MSNBC_HEADER], 1):
        want = expected.get(number, b"")
        if not line.startswith(want) or (number != 1 and line.strip() != want):
            _fail(file, number, line, f"the header line {want.decode()!r}")
    body = np.frombuffer(head[-1].rstrip(b"\r\n"), np.uint8)
    digit = (body >= ord("0")) & (body <= ord("9"))
    newline = body == ord("\n")

    def line_of(offset: int) -> int:
        return _MSNBC_HEADER + 1 + int(np.count_nonzero(newline[:offset]))

    strange = ~(digit | newline | (body == ord(" ")) | (body == ord("\r")))
    if strange.any():
        offset = int(strange.argmax())
        _fail(file, line_of(offset), chr(body[offset]), "digits and spaces")
    starts = np.flatnonzero(digit & ~np.concatenate(([False], digit[:-1])))
    padded = np.concatenate((body, np.full(2, ord("\n"), np.uint8)))
    follows = np.concatenate((digit, [False, False]))
    units, two, three = (
        padded[starts] - np.uint8(48),
        follows[starts + 1],
        follows[starts + 2] & follows[starts + 1],
    )
    values = np.where(two, units * np.int32(10) + padded[starts + 1] - 48, units).astype(np.int32)
    wrong = three | (units == 0) | (values > len(MSNBC_CATEGORIES))
    if wrong.any():
        offset = int(starts[wrong.argmax()])
        token = bytes(body[offset : offset + 20]).split()[0].decode()
        _fail(file, line_of(offset), token, f"a category 1..{len(MSNBC_CATEGORIES)}")
    ends = np.concatenate((np.flatnonzero(newline), [body.size]))
    first_token = np.concatenate(([0], np.searchsorted(starts, ends)))
    empty = np.diff(first_token) == 0
    if empty.any():
        _fail(file, _MSNBC_HEADER + 1 + int(empty.argmax()), "", "at least one category")
    begin = first_token[:-1]
    masks = np.bitwise_or.reduceat(np.left_shift(np.int32(1), values - 1), begin)
    visits = np.bincount(values, minlength=len(MSNBC_CATEGORIES) + 1)[1:].astype(np.int64)
    return masks.astype(np.int32), values[begin], visits


def parse_idx(content: bytes, file: str, dimensions: int) -> NDArray[np.uint8]:
    """Read an idx file of unsigned bytes (MNIST)."""
    header = 4 + 4 * dimensions
    magic = bytes((0, 0, _IDX_UINT8, dimensions))
    if content[:4] != magic:
        raise ParseError(
            f"{file}, byte 0: found {content[:4].hex()}, expected {magic.hex()} (idx, unsigned bytes, "
            f"{dimensions} dimensions). Delete the file and run again to fetch it anew."
        )
    shape = tuple(int.from_bytes(content[i : i + 4], "big") for i in range(4, header, 4))
    expected = header + math.prod(shape)
    if len(content) != expected:
        raise ParseError(
            f"{file}, byte {len(content)}: the file ends here, expected {expected} bytes for shape {shape}. "
            "Delete the file and run again to fetch it anew."
        )
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


def parse_counts(
    content: bytes, file: str, columns: tuple[str, ...], *, text: tuple[str, ...] = ()
) -> pd.DataFrame:
    """Read a table of whole numbers with a header line."""
    rows: list[tuple[str | int, ...]] = []
    keys = next((i for i, name in enumerate(columns) if name.endswith(("count", "users", "Ratings"))), 1)
    for number, line in _lines(content, file):
        fields = line.split(",")
        if number == 1:
            if tuple(fields) != columns:
                _fail(file, 1, line, f"the header {','.join(columns)!r}")
            continue
        if len(fields) != len(columns):
            _fail(file, number, line, f"{len(columns)} fields separated by ','")
        for name, field in zip(columns, fields, strict=True):
            if name not in text and not (field.isdigit() and len(field) <= _DIGITS):
                _fail(file, number, field, f"a whole number of at most {_DIGITS} digits in column {name!r}")
        row = tuple(
            field if name in text else int(field) for name, field in zip(columns, fields, strict=True)
        )
        if rows and not rows[-1][:keys] < row[:keys]:
            _fail(file, number, line, f"rows in increasing order of {', '.join(columns[:keys])}")
        rows.append(row)
    if not rows:
        _fail(file, 1, content[:40].decode("ascii", "replace"), "a header and at least one row")
    frame = pd.DataFrame(rows, columns=list(columns))
    return frame.astype({name: "int64" for name in columns if name not in text})


def _movie_columns(stream: IO[bytes], rows_at_once: int) -> Iterator[pd.DataFrame]:
    """Yield the second of four columns; a missing number raises an error instead of the warning of pandas."""
    reader = pd.read_csv(
        stream,
        header=None,
        names=range(4),
        index_col=False,
        usecols=[1],
        dtype={1: "int64"},
        chunksize=rows_at_once,
        engine="c",
        quoting=csv.QUOTE_NONE,
        skip_blank_lines=False,
        encoding="latin-1",
    )
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            chunk = next(reader, None)
        if chunk is None:
            return
        yield chunk


def count_ratings(stream: IO[bytes], file: str, rows_at_once: int = 1_000_000) -> pd.DataFrame:
    """Count the ratings of each movie in MovieLens' ``ratings.csv`` without a copy of the ratings."""
    header = stream.readline().strip()
    if header != b"userId,movieId,rating,timestamp":
        _fail(file, 1, header.decode("ascii", "replace"), "the header 'userId,movieId,rating,timestamp'")
    counts = np.zeros(1, np.int64)
    line = 2
    try:
        for chunk in _movie_columns(stream, rows_at_once):
            movies = chunk.iloc[:, 0].to_numpy()
            wrong = (movies < 1) | (movies > _LARGEST_MOVIE)
            if wrong.any():
                row = int(wrong.argmax())
                _fail(file, line + row, int(movies[row]), f"a movie number 1..{_LARGEST_MOVIE} in column 2")
            new = np.bincount(movies, minlength=counts.size)
            new[: counts.size] += counts
            counts = new.astype(np.int64)
            line += len(chunk)
    except ParseError:
        raise
    except (ValueError, IndexError, RuntimeWarning) as error:  # pandas' own errors are ValueErrors
        raise ParseError(
            f"{file}, lines {line} to {line + rows_at_once}: {' '.join(str(error).split())}; expected whole "
            f"movie numbers in column 2. "
            "Delete the file and run again to fetch it anew."
        ) from error
    movies = np.flatnonzero(counts)
    return pd.DataFrame({"movie": movies.astype(np.int64), "count": counts[movies]})
