"""Faulty data files of users, damaged in one or two places.

`bad_data_files` draws one. `trial` reads it and compares the counts with a simple count, or judges the line of the
error.
"""

from __future__ import annotations

import csv
import io
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st
from judged import ACCEPTED, Outcome, TooLong, limited, refused

from shuffledp.userdata.counting import count_column
from shuffledp.userdata.sets import collect_sets

# -- one's own files -------------------------------------------------------------------------------------------------

#: Small text files; the Parquet files are created from tables.
OWN: Mapping[str, bytes] = {
    "values.csv": b"id,color,minutes\n"
    + b"".join(
        b"%d,%s,%s\n" % (i, c, m)
        for i, (c, m) in enumerate(
            [(b"red", b"3.5"), (b"green", b"4"), (b"blue", b"0"), (b"red", b"12"), (b'"red"', b"7.25")] * 3
        )
    ),
    "numbers.csv": b"age\n" + b"\n".join(b"%d" % (3 * i % 11) for i in range(20)) + b"\n",
    "pairs.csv": b"user,item\n"
    + b"".join(
        b"%d,%s\n" % (u, i)
        for u, i in [(1, b"a"), (1, b"b"), (2, b"a"), (3, b"c"), (3, b"a"), (2, b"b"), (1, b"a")]
    ),
}

#: Columns of Parquet files, six rows each.
COLUMNS: Mapping[str, Callable[[], pa.Array]] = {
    "texts": lambda: pa.array(["red", "green", None, "red", " blue ", ""]),
    "integers": lambda: pa.array([0, 1, 2, 5, -1, 10**12]),
    "nulls": lambda: pa.array([0, None, 2, None, None, 1]),
    "floats": lambda: pa.array([0.0, 1.5, math.nan, math.inf, -2.0, 3.0]),
    "decimals": lambda: pa.array(
        [Decimal("1.50"), Decimal("2.00"), None, Decimal("3.00"), Decimal("0.00"), Decimal("1.50")]
    ),
    "truths": lambda: pa.array([True, False, True, None, True, True]),
    "nothing": lambda: pa.nulls(6),
    "dates": lambda: pa.array([0, 1, 2, 3, 4, 5], pa.date32()),
    "bytes": lambda: pa.array([b"a", b"\xff", b"a", None, b"b", b""], pa.binary()),
    "dictionary": lambda: pa.array(["a", "b", "a", None, "b", "c"]).dictionary_encode(),
    "numbers by dictionary": lambda: pa.array([1, 2, 1, None, 2, 3]).dictionary_encode(),
    "lists": lambda: pa.array([["a", "b"], ["a"], [], None, ["c", None, "a"], ["b", "b"]]),
    "lists of integers": lambda: pa.array([[0, 1], [1], [], None, [2, 9], [1, 1]]),
    "large lists": lambda: pa.array([["a"], ["b"], [], ["a", "b"], None, ["c"]], pa.large_list(pa.string())),
    "fixed lists": lambda: pa.array([[0, 1]] * 6, pa.list_(pa.int64(), 2)),
    "lists of lists": lambda: pa.array([[["a"]], [["b"], []], [], None, [["a", "b"]], [["a"]]]),
    "structures": lambda: pa.array([{"a": 1}, {"a": 2}, None, {"a": 1}, {"a": None}, {"a": 3}]),
    "durations": lambda: pa.array([1, 2, 1, None, 2, 1], pa.duration("s")),
    "times": lambda: pa.array([1, 2, 1, None, 2, 1], pa.timestamp("us", "UTC")),
    "unsigned": lambda: pa.array([2**64 - 1, 0, 1, None, 1, 1], pa.uint64()),
    "half floats": lambda: pa.array(np.array([0, 1, 0.5, 1, 1, 0], np.float16)),
    "large texts": lambda: pa.array(["red", "green", None, "red", "blue", "red"], pa.large_string()),
}

SCRAPS: tuple[bytes, ...] = (
    *(
        b'"',
        b'""',
        b"'",
        b",",
        b";",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n\n",
        b"\x00",
        b"\t",
        b" ",
        b"\xff",
        b"\xc3",
        b"\xef\xbb\xbf",
    ),
    *(
        b"nan",
        b"inf",
        b"-inf",
        b"1e400",
        b"-1",
        b"1,000",
        b"1_000",
        b"0x1F",
        b"1.0",
        b"1e3",
        b"+2",
        b"\xd9\xa3",
        b"\xc2\xb2",
    ),
    *(
        b"9" * 5000,
        b"x" * 140_000,
        b"None",
        b"NULL",
        b"#",
        b"%s",
        b"\x1a",
        b"\xe2\x80\xa8",
        b"\x0b",
        b"\x0c",
        b"\x1c",
        b"\x85",
    ),
    *(
        b"," * 300,
        b'"a\nb"',
        b'"a,b"',
        b"=1+1",
        b"\xef\xbf\xbd",
        b"99999999999999999999",
        b"-0",
        b"00",
        b"\xf0\x9f\x98\x80",
    ),
)


@dataclass(frozen=True)
class BadFile:
    """File, and the options to read it."""

    name: str
    content: bytes = field(repr=False)
    how: str
    options: Mapping[str, Any] = field(default_factory=dict)


@st.composite
def _damaged(draw: st.DrawFn, content: bytes) -> tuple[bytes, str]:
    """Return bytes with one to three damages."""
    done = []
    for _ in range(draw(st.sampled_from((1, 1, 1, 2, 3)))):
        size = len(content)
        at = draw(st.integers(0, size))
        how = draw(
            st.sampled_from(
                (
                    "scrap",
                    "scrap",
                    "scrap",
                    "scrap",
                    "cut",
                    "drop",
                    "flip",
                    "flip",
                    "row",
                    "head",
                    "ends",
                    "encode",
                    "empty",
                )
            )
        )
        if how == "scrap":
            content = content[:at] + draw(st.sampled_from(SCRAPS)) + content[at:]
        elif how == "cut":
            content = content[:at]
        elif how == "drop":
            content = content[:at] + content[at + draw(st.integers(1, 30)) :]
        elif how == "flip" and at < size:
            content = content[:at] + bytes([content[at] ^ draw(st.integers(1, 255))]) + content[at + 1 :]
        elif how == "row":
            lines = content.split(b"\n")
            line = draw(st.integers(0, len(lines) - 1))
            lines[line:line] = [lines[draw(st.integers(0, len(lines) - 1))]]
            content = b"\n".join(lines)
        elif how == "head":
            lines = content.split(b"\n")
            content = b"\n".join(
                draw(st.sampled_from((lines[:1], lines[:2], lines[1:], [*lines[:1], *lines[:1], *lines[1:]])))
            )
        elif how == "ends":
            content = content.replace(
                b"\n",
                draw(st.sampled_from((b"\r\n", b"\r", b"\n\n", b"", b"\x0b", b"\xe2\x80\xa8"))),
            )
        elif how == "encode":
            text = content.decode("latin-1")
            content = draw(
                st.sampled_from((text.encode("utf-16"), text.encode("utf-8-sig"), text.encode("utf-32")))
            )
        elif how == "empty":
            content = draw(st.sampled_from((b"", b"\n", b" ", b"\x00", b"\xef\xbb\xbf", b"\xff\xfe")))
        done.append(how)
    return content, " and ".join(done)


@st.composite
def bad_data_files(draw: st.DrawFn) -> BadFile:
    """Draw a damaged file of one of the readable kinds."""
    kind = draw(st.sampled_from(("csv", "csv", "csv", "parquet", "parquet")))
    if kind == "csv":
        name = draw(st.sampled_from(sorted(OWN)))
        content, how = draw(_damaged(OWN[name]))
        return BadFile(name, content, how, draw(_asked(name)))
    name = draw(st.sampled_from(sorted(COLUMNS)))
    sink = io.BytesIO()
    other = draw(st.sampled_from(sorted(COLUMNS)))
    table = pa.table([COLUMNS[name](), COLUMNS[other]()], names=["x", "y"])
    pq.write_table(table, sink, store_schema=False)  # of which the engine reads nothing, as durations show
    content, how = (
        draw(_damaged(sink.getvalue())) if draw(st.booleans()) else (sink.getvalue(), f"{name}, {other}")
    )
    return BadFile("file.parquet", content, how, draw(_asked("file.parquet")))


@st.composite
def _asked(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """Draw the options for a user's file."""
    if name == "pairs.csv":
        return {"user": "user", "item": "item"} | draw(
            st.sampled_from(({}, {"values": ["a", "b"]}, {"domain_size": 3}))
        )
    column = (
        "x"
        if name == "file.parquet"
        else "age"
        if name == "numbers.csv"
        else draw(st.sampled_from(("color", "minutes")))
    )
    ways: list[dict[str, Any]] = [
        *({}, {"domain_size": 11}, {"values": ["red", "green", "blue"]}, {"values": [1, 2.0, "3"]}),
        *(
            {"max_value": 10.0},
            {"max_value": 12.5, "levels": 5},
            {"max_value": 4.0, "low": -4.0, "levels": 16},
        ),
    ]
    if name == "file.parquet":
        ways += [{"sets": True}, {"sets": True, "domain_size": 3}, {"user": "x", "item": "y"}]
    asked = draw(st.sampled_from(ways))
    return asked if "user" in asked else {"column": column} | asked


# -- what comes of them ----------------------------------------------------------------------------------------------


def trial(bad: BadFile, folder: Path) -> Outcome:
    """Read a file, and return the outcome."""
    path = folder / bad.name
    path.write_bytes(bad.content)
    try:
        with limited(), warnings.catch_warnings():
            warnings.simplefilter("error")
            found = _read(bad, path)
    except ValueError as error:
        if type(error) is not ValueError:  # such as an error of decoding, which names no file
            return Outcome("fault", f"{type(error).__name__}: {error}")
        return refused(str(error), (bad.name,))
    except TooLong:
        return Outcome("fault", "takes too long")
    except Exception as error:
        return Outcome("fault", f"{type(error).__name__}: {error}")
    try:
        wanted = _count(bad, path)
    except Exception as error:
        return Outcome(
            "fault",
            f"accepted {str(found)[:200]}, which a plain count does not: {type(error).__name__}: {error}",
        )
    if found != wanted:
        return Outcome("fault", f"counted {str(found)[:300]}, where a plain count has {str(wanted)[:300]}")
    return ACCEPTED


def _read(bad: BadFile, path: Path) -> Any:
    options = dict(bad.options)
    if options.pop("sets", False) or "user" in options:
        sets = collect_sets(path, **options)
        ends = np.cumsum(sets.sizes)
        held = [sorted(map(str, (sets.values[i] for i in part))) for part in np.split(sets.items, ends[:-1])]
        return sorted(map(tuple, held)), sets.bad_rows
    counted = count_column(path, **options)
    held_by = {str(v): int(c) for v, c in zip(counted.values, counted.counts.tolist(), strict=True) if c}
    return held_by, counted.bad_rows


def _count(bad: BadFile, path: Path) -> Any:
    rows, short = _rows(bad, path)
    if "user" in bad.options or bad.options.get("sets"):
        return _sets(bad.options, rows, short)
    cells = [_text(row[0]) for row in rows]
    places = [_place(bad.options, cell) if cell else None for cell in cells]
    counts = Counter(place for place in places if place is not None)
    return dict(counts), places.count(None) + short


def _rows(bad: BadFile, path: Path) -> tuple[list[list[Any]], int]:
    """Return the cells of the requested columns, and the number of rows with a wrong length."""
    names = [bad.options[key] for key in ("column", "user", "item") if key in bad.options]
    if path.suffix == ".parquet":
        table = pq.read_table(path, columns=names)
        return [list(row) for row in zip(*(table[name].to_pylist() for name in names), strict=True)], 0
    text = bad.content.decode("utf-8-sig", "replace")  # damaged bytes in other columns do not matter
    limit = csv.field_size_limit(2**31 - 1)
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    csv.field_size_limit(limit)
    if len(head) == 1:  # a blank line is an empty cell
        rows = [row or [""] for row in rows]
    # Delimiters at the end of a row are no cells.
    rows = [row[: len(head)] if row and not any(row[len(head) :]) else row for row in rows]
    good = [row for row in rows if len(row) == len(head)]
    return [[row[head.index(name)] for name in names] for row in good], sum(
        1 for row in rows if row and len(row) != len(head)
    )


def _text(cell: Any) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, float | Decimal):
        return (
            str(int(cell))
            if math.isfinite(cell) and cell == int(cell)
            else f"{cell.normalize():f}"
            if isinstance(cell, Decimal)
            else str(cell)
        )
    text = (cell.decode() if isinstance(cell, bytes) else str(cell)).strip().replace("+00:00", "+00")
    if re.fullmatch(r"-?(0|[1-9]\d*)\.0+", text):
        return str(int(float(text)))
    return text.lower() if text.lower() in ("true", "false") else text


def _place(options: Mapping[str, Any], cell: str) -> str | None:
    """Return the value or level of a cell; None for a bad cell."""
    if "values" in options:
        return cell if cell in map(_text, options["values"]) else None
    if "domain_size" in options:
        number = _number(cell)
        return str(int(number)) if number in range(options["domain_size"]) else None
    if "max_value" not in options:
        return cell
    number = _number(cell)
    if number is None:
        return None
    low, high = options.get("low", 0.0), options["max_value"]
    levels = options.get("levels", round(high - low))
    level = round((min(max(number, low), high) - low) / (high - low) * levels)
    return str(low + (high - low) / levels * level)


def _number(cell: str) -> float | None:
    """Return the number of a cell; None if it is no finite number."""
    if cell in ("true", "false"):
        return float(cell == "true")
    if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", cell) and math.isfinite(float(cell)):
        return float(cell)
    return None


def _sets(options: Mapping[str, Any], rows: list[list[Any]], short: int) -> Any:
    users: dict[Any, set[str]] = {}
    bad = short
    for number, row in enumerate(rows):
        if options.get("sets"):
            if row[0] is None:
                bad += 1
                continue
            who, items = number, [_text(item) for item in row[0]]
            users.setdefault(who, set())
        else:
            who, items = _text(row[0]), [_text(row[1])]
            if not who:
                bad += 1
                continue
        for item in items:
            place = _place(options, item) if item else None
            if place is None:
                bad += 1
            else:
                users.setdefault(who, set()).add(place)
    return sorted(tuple(sorted(held)) for held in users.values()), bad
