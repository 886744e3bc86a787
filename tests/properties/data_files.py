"""Faulty data files of users, damaged in one or two places.

`bad_data_files` draws one. `trial` reads it and compares the counts with a simple count, or judges the line of the
error.
"""

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
    "values.csv": b"id,color,minutes\n" + 3 * b'0,red,3.5\n1,green,4\n2,blue,0\n3,red,12\n4,"red",7.25\n',
    "numbers.csv": b"age\n" + b"".join(b"%d\n" % (3 * i % 11) for i in range(20)),
    "pairs.csv": b"user,item\n1,a\n1,b\n2,a\n3,c\n3,a\n2,b\n1,a\n",
}

TEXTS = ["red", "green", None, "red", " blue ", ""]
LISTS = [["a", "b"], ["a"], [], None, ["c", None, "a"], ["b", "b"]]
#: Types of columns of Parquet files, and their values, six rows each.
TYPED: tuple[tuple[list[Any], tuple[pa.DataType, ...]], ...] = (
    (TEXTS, (pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int32(), pa.string()))),
    (
        [2, 0, 1, None, 1, 1],
        (pa.int64(), pa.uint64(), pa.date32(), pa.duration("s"), pa.timestamp("us", "UTC")),
    ),
    ([1, 2, 1, None, 2, 3], (pa.dictionary(pa.int32(), pa.int64()), pa.decimal128(5, 2))),
    ([0, 1, 2, 5, -1, 10**12], (pa.int64(),)),
    ([2**64 - 1, 0, 1, None, 1, 1], (pa.uint64(),)),
    ([0.0, 1.5, math.nan, math.inf, -2.0, 3.0], (pa.float64(), pa.float32())),
    ([True, False, True, None, True, True], (pa.bool_(),)),
    ([None] * 6, (pa.null(),)),
    (LISTS, (pa.list_(pa.string()), pa.large_list(pa.string()))),
    ([[0, 1], [1], [], None, [2, 9], [1, 1]], (pa.list_(pa.int64()),)),
    ([[0, 1]] * 6, (pa.list_(pa.int64(), 2),)),
    ([[["a"]], [["b"], []], [], None, [["a", "b"]], [["a"]]], (pa.list_(pa.list_(pa.string())),)),
    ([{"a": 1}, {"a": 2}, None, {"a": 1}, {"a": None}, {"a": 3}], (pa.struct([("a", pa.int64())]),)),
)
COLUMNS = [pa.array(values, kind) for values, kinds in TYPED for kind in kinds]

SCRAPS: tuple[bytes, ...] = (
    *(bytes([letter]) for letter in b"\"',;\n\r\x00\t #\xff\xc3\x1a\x0b\x0c\x1c\x85"),
    *(letter.encode() for letter in "\ufeff\u0663\u00b2\u2028\ufffd\U0001f600"),
    *b"nan inf -inf 1e400 -1 1,000 1_000 0x1F 1.0 1e3 +2 None NULL %s =1+1 -0 00 99999999999999999999".split(),
    *(b'""', b"\r\n", b"\n\n\n", b'"a\nb"', b'"a,b"', b"9" * 5000, b"x" * 140_000, b"," * 300),
)


@dataclass(frozen=True)
class BadFile:
    """File, and the options to read it."""

    name: str
    content: bytes = field(repr=False)
    how: str
    options: Mapping[str, Any] = field(default_factory=dict)


#: Damages of bytes at a place.
DAMAGES: Mapping[str, Callable[[st.DrawFn, bytes, int], bytes]] = {
    "scrap": lambda draw, content, at: content[:at] + draw(st.sampled_from(SCRAPS)) + content[at:],
    "cut": lambda draw, content, at: content[:at],
    "drop": lambda draw, content, at: content[:at] + content[at + draw(st.integers(1, 30)) :],
    "flip": lambda draw, content, at: (
        content[:at] + draw(st.binary(min_size=1, max_size=1)) + content[at + 1 :]
    ),
    "head": lambda draw, content, at: content.partition(b"\n")[0] + b"\n" + content[at:],
    "ends": lambda draw, content, at: content.replace(
        b"\n", draw(st.sampled_from((b"\r\n", b"\r", b"\n\n", b"", b"\x0b", b"\xe2\x80\xa8")))
    ),
    "encode": lambda draw, content, at: content.decode("latin-1").encode(
        draw(st.sampled_from(("utf-16", "utf-8-sig", "utf-32")))
    ),
}


@st.composite
def _damaged(draw: st.DrawFn, content: bytes) -> tuple[bytes, str]:
    """Return bytes with one to three damages."""
    done = draw(st.lists(st.sampled_from(("scrap", "scrap", "scrap", *DAMAGES)), min_size=1, max_size=3))
    for how in done:
        content = DAMAGES[how](draw, content, draw(st.integers(0, len(content))))
    return content, " and ".join(done)


@st.composite
def bad_data_files(draw: st.DrawFn) -> BadFile:
    """Draw a damaged file of one of the readable kinds."""
    kind = draw(st.sampled_from(("csv", "csv", "csv", "parquet", "parquet")))
    if kind == "csv":
        name = draw(st.sampled_from(sorted(OWN)))
        content, how = draw(_damaged(OWN[name]))
        return BadFile(name, content, how, draw(_asked(name)))
    columns = [draw(st.sampled_from(COLUMNS)) for _ in "xy"]
    sink = io.BytesIO()
    pq.write_table(
        pa.table(columns, names=["x", "y"]), sink, store_schema=False
    )  # of which the engine reads nothing, as durations show
    content, how = (
        draw(_damaged(sink.getvalue()))
        if draw(st.booleans())
        else (sink.getvalue(), ", ".join(str(column.type) for column in columns))
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
        {},
        {"domain_size": 11},
        {"values": ["red", "green", "blue"]},
        {"values": [1, 2.0, "3"]},
        {"max_value": 10.0},
        {"max_value": 12.5, "levels": 5},
        {"max_value": 4.0, "low": -4.0, "levels": 16},
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
            if not any(items):  # a user of items outside the domain alone is left out
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
