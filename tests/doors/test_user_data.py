"""Data of users: a table counts the same in every format; what cannot be counted is refused, or left out by reason."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
import re
from collections import Counter
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from command_line import invoked, typed
from shuffledp.userdata import engine, files
from shuffledp.userdata.cells import NAMES_USER
from shuffledp.userdata.counting import count_column
from shuffledp.userdata.sets import collect_sets

SECRET = "SECRET-PATIENT-42"
ARROW = {
    float: pa.float64(),
    int: pa.int64(),
    str: pa.string(),
    bool: pa.bool_(),
    Decimal: pa.decimal128(12, 3),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def is_missing(cell):
    return cell is None or cell != cell


def as_json(cell):
    if is_missing(cell):
        return "null"
    return str(cell) if isinstance(cell, Decimal) else json.dumps(cell, ensure_ascii=False)


def write(name, columns):
    """Write a table in the format of a name, and return the name."""
    rows = list(zip(*columns.values(), strict=True))
    if name.endswith(".parquet"):
        kinds = {
            key: ARROW[next((type(cell) for cell in cells if cell is not None), str)]
            for key, cells in columns.items()
        }
        arrays = {key: pa.array(cells, kinds[key]) for key, cells in columns.items()}
        pq.write_table(pa.table(arrays), name)
    elif name.endswith(".jsonl"):
        lines = [
            ", ".join(f"{json.dumps(key)}: {as_json(cell)}" for key, cell in zip(columns, row, strict=True))
            for row in rows
        ]
        Path(name).write_text("".join(f"{{{line}}}\n" for line in lines), encoding="utf-8")
    else:
        lines = io.StringIO()
        cells = [[None if is_missing(cell) else cell for cell in row] for row in rows]
        csv.writer(lines, lineterminator="\n").writerows([columns, *cells])
        content = lines.getvalue().encode()
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".zst"):
            with pa.output_stream(name, compression="zstd") as packed:
                packed.write(content)
        else:
            Path(name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return name


#: Formats of a table: names, or functions that write parts and return a path.
FORMATS = (
    "a.csv",
    "a.csv.gz",
    "a.csv.zst",
    "a.jsonl",
    "a.parquet",
    "folder",
    "pattern",
    "hive",
    "s3",
    "frame",
)


def data_in(form, columns, monkeypatch):
    """Return the data of a count: the table in a format."""
    half = len(next(iter(columns.values()))) // 2
    if form == "frame":
        return pd.DataFrame({key: pd.Series(cells) for key, cells in columns.items()})
    if form in ("folder", "pattern", "hive"):
        for i, part in enumerate((slice(half), slice(half, None))):
            name = f"day={i}/a" if form == "hive" else i
            write(f"{form}/{name}.csv", {key: cells[part] for key, cells in columns.items()})
        return "pattern/*.csv" if form == "pattern" else form
    if form == "s3":
        keep_on_s3(monkeypatch, Path(write("a.parquet", columns)).read_bytes())
        return "s3://bucket/a.parquet"
    return write(form, columns)


class _Stored(MemoryFileSystem):  # type: ignore[misc]
    """File system of S3 with one object, or with a reason why no object can be read."""

    protocol = "s3"

    def __init__(self, content: bytes = b"", reason: str = "") -> None:
        super().__init__()
        self.content, self.reason = content, reason

    def find(self, path: str, **_: Any) -> list[str]:
        return [path.removeprefix("s3://")]

    glob = find

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        return {"name": path, "size": len(self.content) or 100, "type": "file", "mtime": 0}

    def exists(self, path: str, **_: Any) -> bool:
        return True

    def modified(self, path: str) -> datetime:
        return datetime(2020, 1, 1)

    def _open(self, path: str, *_: Any, **__: Any) -> Any:
        if self.reason:
            raise OSError(self.reason)
        return io.BytesIO(self.content)


def keep_on_s3(monkeypatch, content=b"", reason=""):
    stored = _Stored(content, reason, skip_instance_cache=True)
    for module in (engine, files):
        monkeypatch.setattr(module, "s3", lambda: stored)


def counts_of(data, column="v", **options):
    counted = count_column(data, column, **options)
    return {
        str(value): count
        for value, count in zip(counted.values, counted.counts.tolist(), strict=True)
        if count
    }


#: Cells of a column, options of a count, its counts, and the number of rows left out.
CELLS = [
    ([True, False, True, None], {}, {"true": 2, "false": 1}, 1),
    ([True, False, True, True], {"domain_size": 2}, {"0": 1, "1": 3}, 0),
    ([True, False, True, True], {"values": ["True", "False"]}, {"true": 3, "false": 1}, 0),
    ([1.0, 2.5, 1.0, math.nan], {}, {"1": 2, "2.5": 1}, 1),
    ([2**53 + 1, 2**53, 7, 2**53], {}, {"7": 1, str(2**53): 2, str(2**53 + 1): 1}, 0),
    (
        [0.25, 1e-7, 1.5, 61.0],
        {"max_value": 60, "levels": 240},
        {"0.0": 1, "0.25": 1, "1.5": 1, "60.0": 1},
        0,
    ),
    (["1.00", "1", "1.0", "2"], {}, {"1": 3, "2": 1}, 0),
    (["1.00", "1e0", " 1", "x"], {"domain_size": 2}, {"1": 3}, 1),
    (["3.1", "3.10", "007", "7"], {}, {"3.1": 1, "3.10": 1, "007": 1, "7": 1}, 0),
    (["nan", "NA", "  ", "None"], {}, {"nan": 1, "NA": 1, "None": 1}, 1),
    (["a\nb", "a,b", 'q"q', "\u00a0ü\u2003"], {}, {"a\nb": 1, "a,b": 1, 'q"q': 1, "ü": 1}, 0),
    (["1_0", "٣", "inf", "+5"], {"max_value": 9}, {"3.0": 1, "5.0": 1}, 2),
    ([Decimal("1.000"), Decimal("100.000"), None, Decimal("1.000")], {}, {"1": 2, "100": 1}, 1),
]
#: Formats with a reader of their own, which get rows of several vectors of the engine; the other ones differ in files.
READERS = ("a.csv", "a.jsonl", "a.parquet", "frame")


@pytest.mark.parametrize("form, size", [(form, 600 if form in READERS else 1) for form in FORMATS])
@pytest.mark.parametrize("cells, options, counts, left_out", CELLS)
def test_formats_count_a_table_alike(folder, monkeypatch, form, size, cells, options, counts, left_out):
    data = data_in(form, {"u": list(range(4 * size)), "v": cells * size}, monkeypatch)
    counted = count_column(data, "v", **options)
    users = zip(map(str, counted.values), counted.counts.tolist(), strict=True)
    assert {value: count for value, count in users if count} == {
        value: count * size for value, count in counts.items()
    }
    assert counted.bad_rows == left_out * size
    assert sum(int(fault.split()[0].replace(",", "")) for fault in counted.faults) == left_out * size
    assert all(re.search(r"\((.*, )?(row|line) \d+\)$", fault) for fault in counted.faults)


@pytest.mark.parametrize("end, left_out", [(",", 0), (",,", 0), (",,,", 0), (", ", 1), (",x", 1), (",,x", 1)])
def test_trailing_delimiters_are_no_cells(folder, end, left_out):
    Path("a.csv").write_text("u,v\n" + "1,red\n2,blue\n" * 3 + f"3,red{end}\n4,blue\n")
    counted = count_column("a.csv", "v", values=["red", "blue"])
    assert (counted.counts.tolist(), counted.bad_rows) == ([4 - left_out, 4], left_out)


# -- users ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("users", [[1.0, math.nan, 2.0, math.nan], [1.0, math.nan, 1.0, math.nan]])
def test_nan_is_no_user(folder, users):
    """The statistics of the file leave nan out, so that the file has one or two users by its statistics."""
    pq.write_table(pa.table({"v": ["a", "b", "b", "b"], "u": users}), "a.parquet")
    counted = count_column("a.parquet", "v", user="u", values=["a", "b"])
    assert counted.users == len({user for user in users if user == user})
    assert counted.faults == ("2 empty u (a.parquet, row 2)",)
    pq.write_table(pa.table({"v": users, "u": ["a", "b", "c", "d"]}), "b.parquet")
    assert count_column("b.parquet", "v", values=[1, 2]).users == 2


@pytest.mark.parametrize("name", ["ids.parquet", "ids.jsonl", "frame"])
@pytest.mark.parametrize("place", ["v", "u"])
def test_ambiguous_floats_are_refused(folder, name, place):
    ids = [1.0, 2.0, 2.0**53, 9007199254740994.0]
    columns = {"v": [0, 1, 0, 1], "u": ["a", "b", "c", "d"]} | {place: ids}
    if name == "frame" and place == "u":
        return  # users are for files
    data = pd.DataFrame(columns) if name == "frame" else write(name, columns)
    with pytest.raises(ValueError, match=r"row 3: a float of 2\^53 or more has no exact text"):
        count_column(data, "v", **({} if place == "v" else {"user": "u"}))
    if place == "v":  # as numbers of a sum they are clipped
        assert count_column(data, "v", max_value=10).clipped == 2


def test_shard_without_column_is_refused(folder):
    for suffix in (".csv", ".parquet"):
        write(f"d{suffix}/0.csv", {"v": [1, 2]})
        write(f"d{suffix}/1{suffix}", {"v": [1, 2]})
        write(f"d{suffix}/2{suffix}", {"w": [1, 2]})
        if suffix == ".parquet":
            Path("d.parquet/0.csv").unlink()
        with pytest.raises(ValueError, match="has no column 'v'"):
            count_column(f"d{suffix}", "v")


def test_mixed_number_shards_keep_users(folder):
    """One shard has integers, and another has floats."""
    Path("d").mkdir()
    write("d/0.parquet", {"v": ["a", "b"], "u": [2**53, 2**53 + 1]})
    write("d/1.parquet", {"v": ["a", "b"], "u": [1.0, 2.0]})
    assert count_column("d", "v", user="u").users == 4


@pytest.mark.parametrize("numbers", [["1e-13"] * 10, [1e-13] * 10, [Decimal("0.5"), "1e-12"]])
def test_sums_of_tiny_numbers_are_whole(folder, numbers):
    Path("a.csv").write_text("u,x\n" + "".join(f"1,{number}\n" for number in numbers) + "2,0\n")
    total = min(sum(map(float, numbers)), 1e-12)
    counts = count_column("a.csv", "x", user="u", per_user="sum", max_value=1e-12, levels=10).counts
    assert counts[round(total * 1e13)] == 1


def test_number_notations_are_equal(folder):
    cells = ["7", "7.0", "7e0", "07", "+7", "٧", " 7 ", "0.7e1"]
    Path("a.csv").write_text("u,x\n" + "".join(f"{user},{cell}\n" for user, cell in enumerate(cells)))
    for options in (
        {"domain_size": 8},
        {"max_value": 8},
        {"max_value": 8, "user": "u", "per_user": "sum"},
        {"max_value": 8, "user": "u"},
        {"domain_size": 8, "user": "u", "per_user": "first"},
    ):
        assert count_column("a.csv", "x", **options).counts[7] == len(cells)


def test_repeated_users_are_named(folder, monkeypatch):
    columns = {"user_id": [1, 2, 2, 3], "city": ["a", "b", "a", "b"]}
    for form in FORMATS:
        data = data_in(form, columns, monkeypatch)
        (remark,) = [r for r in count_column(data, "city", values=["a", "b"]).remarks() if "user" in r]
        assert "'user_id' repeats values" in remark and "--user user_id" in remark
        assert (
            count_column(data_in(form, columns | {"user_id": [1, 2, None, 3]}, monkeypatch), "city").repeated
            is None
        )
    write("a.csv", columns)
    assert count_column("a.csv", "city", user="user_id").repeated is None


def test_omitted_rows_are_counted_by_reason(folder):
    """No message has a text of a cell."""
    rows = ["Bern,1", ",2", f"{SECRET},3", "Basel,", "Bern,4", ",", "Bern"] * 3
    Path("a.csv").write_text("city,user_id\n" + "\n".join(rows) + "\n")
    done = invoked("count a.csv --column city --user user_id --values Bern,Basel -o o.json")
    assert (
        "15 rows left out: 6 empty city (a.csv, row 2); 3 empty user_id (a.csv, row 4); 3 outside the domain of 2 "
        "values (a.csv, row 3); 3 with another number of cells than the header (a.csv, line 8)."
        in done.stderr
    )
    assert SECRET not in done.output + Path("o.json").read_text()


@pytest.mark.parametrize(
    "name, is_user",
    [
        (name, True)
        for name in ("user_id", "userId", "uid", "User", "customer no", "client-id", "email", "patientID")
    ]
    + [(name, False) for name in ("city", "paid", "void", "minutes", "used", "humid", "color")],
)
def test_names_of_users(name, is_user):
    assert bool(NAMES_USER.search(name)) is is_user


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl", "a.parquet", "frame"])
def test_messages_show_no_cell(folder, monkeypatch, name):
    columns = {"v": [SECRET] * 3, "u": [1, 2, 3]}
    data = data_in(name, columns, monkeypatch)
    for options in ({}, {"domain_size": 2}, {"values": ["a", "b"]}, {"max_value": 3}):
        with pytest.raises(ValueError) as caught:
            count_column(data, "v", **options)
        assert SECRET not in str(caught.value)
    missing = "3 empty w" if name == "a.jsonl" else r"has no column 'w'\. It has: v, u"
    with pytest.raises(ValueError, match=missing) as caught:
        count_column(data, "w")
    assert SECRET not in str(caught.value)
    with pytest.raises(ValueError) as caught:
        collect_sets(data, user="u", item="v", values=["a", "b"])
    assert SECRET not in str(caught.value)


def test_wrong_arrow_column_shows_no_data():
    table = pa.table({"v": [SECRET, "x"]})
    with pytest.raises(ValueError, match=r"has no column 'w'\. It has: v\.$"):
        count_column(table, "w")
    assert counts_of(table) == {SECRET: 1, "x": 1}


def test_quantities_are_not_categories(folder):
    numbers = [i / 8 for i in range(2000)]
    Path("a.csv").write_text("v\n" + "".join(f"{number}\n" for number in [*numbers, "N/A", "-"]))
    words = typed("--data a.csv --column v --eps 1 --delta 1e-6 --protocols local")
    done = invoked("compare", *words)
    assert done.exit_code == 1
    assert (
        "2000 different numbers, which look like quantities" in done.output and "--max-value" in done.output
    )
    several = count_column(["1.5", "1.50", "2"])
    assert any("notations of one number" in remark for remark in several.remarks())
    assert not any("notations" in remark for remark in count_column(["1.5", "1.0", "1"]).remarks())


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.jsonl", "a.csv.gz"])
@pytest.mark.parametrize(
    "reason, message",
    [
        (
            "When reading 'a' in 'b': AWS Error ACCESS_DENIED: HTTP status 403",
            "access is denied; set AWS_ACCESS",
        ),
        ("When reading 'a' in 'b': AWS Error UNKNOWN (HTTP status 500): Details: try later.", "try later."),
        ("GetObject: cut after 17 bytes", "GetObject: cut after 17 bytes."),
    ],
)
def test_unreadable_s3_object_gives_reason(monkeypatch, name, reason, message):
    keep_on_s3(monkeypatch, reason=reason)
    with pytest.raises(ValueError, match=rf"^s3://bucket/{name} cannot be read: {message}") as caught:
        count_column(f"s3://bucket/{name}", "v")
    assert "Traceback" not in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="cannot be read"):
        files.checksums([Path(f"s3://bucket/{name}")])


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content, message",
    [
        ("color;n\nred;1\nblue;2\n", None),
        ("n|color\n1|red\n2|blue\n", None),
        (
            "n^color\n1^red\n2^blue\n",
            r"It has: n\^color\. If another character separates the cells, give delimiter",
        ),
        ("color,n\r\nred,1\nblue,2\r\n", None),
        ('"color","a\nb"\nred,1\nblue,2\n', None),
        ("color," + "x" * 200_000 + "\nred,1\nblue,2\n", None),
        ("filename,file_row_number,color\na,1,red\nb,2,blue\n", None),
        ('color,n\r\n"red",1\nblue,2\r\n', "has quotes and several kinds of line ends"),
        ('color\nred\n"blue\n', "opens with a quote"),
        ("cölor,color\nü,red\nö,blue\n".encode("latin-1"), "."),
        ("color\nrëd\nblue\n".encode("latin-1"), "not UTF-8"),
        ("color\nred\nblue\n".encode("utf-16"), "UTF-16"),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "big.csv"])
def test_packed_and_large_csv_agree(folder, name, content, message):
    content = content if isinstance(content, bytes) else content.encode()
    if name == "big.csv" and b"\n" in content and message is None:
        content += content.splitlines(keepends=True)[-1] * 40_000
    Path(name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    if message is None:
        counts = counts_of(name, "color")
        assert counts.pop("red") == 1 and list(counts) == ["blue"]
        if "file_row_number" in content[:40].decode():
            assert counts_of(name, "filename")["a"] == 1
            assert counts_of(name, "file_row_number")["1"] == 1
    else:
        with pytest.raises(ValueError, match=message) as caught:
            counts_of(name, "color")
        assert "\n" not in str(caught.value)


def test_engine_names_are_column_names(folder):
    columns = {
        name: ["a", "b", "a"]
        for name in ("filename", "file_row_number", "line", "json", "c0", "x1", "file", "u")
    }
    for data in (write("a.parquet", columns), write("a.jsonl", columns), write("a.csv", columns)):
        for name in columns:
            assert counts_of(data, name) == {"a": 2, "b": 1}


def test_unmarked_parquet_texts_are_texts(folder):
    pq.write_table(pa.table({"v": pa.array([b"red", b"blue", b"red"])}), "a.parquet")
    assert counts_of("a.parquet") == {"red": 2, "blue": 1}


def test_json_lines_hold_one_object(folder):
    Path("a.jsonl").write_text('{"v": 1}\n{"v": 2}\n{"v": \n')
    assert count_column("a.jsonl", "v").faults == ("1 without one JSON object (a.jsonl, line 3)",)
    Path("b.jsonl").write_text('{"v": 1}\n{"v": 2} {"v": 3}\n{"v": 2}\n')
    with pytest.raises(
        ValueError, match=r"b\.jsonl(, line 2: several objects of JSON| .*damaged: Malformed)"
    ):
        count_column("b.jsonl", "v")
    Path("d.jsonl").write_text('{"0": "a"}\n["x"]\n1\n{"0": "b"}\n')
    assert count_column("d.jsonl", "0").faults == ("2 without one JSON object (d.jsonl, line 2)",)
    Path("c.jsonl").write_text('{"v": [1]}\n{"v": 2}\n')
    with pytest.raises(ValueError, match="has values of another shape under v"):
        count_column("c.jsonl", "v")


@pytest.mark.parametrize("damage", ["byte", "sum", "length", "cut", "trailing"])
def test_damaged_gzip_is_refused(folder, damage):
    content = bytearray(
        gzip.compress(b"v\n" + b"".join(b"%d\n" % (i * 7919 % 10) for i in range(50_000)), mtime=0)
    )
    assert len(counts_of(write("good.csv.gz", {"v": [1, 2]}))) == 2
    if damage == "byte":
        content[len(content) // 2] ^= 1
    elif damage in ("sum", "length"):
        content[-8 if damage == "sum" else -4] ^= 1
    elif damage == "cut":
        del content[-9:]
    else:
        content += b"rubbish"
    Path("no.csv.gz").write_text("v\n1\n")
    with pytest.raises(ValueError, match=r"^no\.csv\.gz is damaged: Not a gzipped file\.$"):
        counts_of("no.csv.gz")
    Path("a.csv.gz").write_bytes(bytes(content))
    with pytest.raises(ValueError, match=r"^a\.csv\.gz is .*damaged: [^\n]*$"):
        counts_of("a.csv.gz")


def test_cut_zstd_is_refused(folder):
    content = pa.Codec("zstd").compress(b"v\n" + b"".join(b"%d\n" % (i * 7919 % 997) for i in range(200_000)))
    whole = content.to_pybytes()
    for size in (0, 1, 5, 100, len(whole) // 2):
        Path("a.csv.zst").write_bytes(whole[: len(whole) - size])
        if size:
            with pytest.raises(ValueError, match=r"^a\.csv\.zst is damaged: the last frame is cut\.$"):
                counts_of("a.csv.zst")
        else:
            assert sum(counts_of("a.csv.zst").values()) == 200_000


def test_several_gzip_members_are_one_file(folder):
    Path("a.csv.gz").write_bytes(gzip.compress(b"v\n1\n2\n") + gzip.compress(b"1\n"))
    assert counts_of("a.csv.gz") == {"1": 2, "2": 1}


def test_folders_are_read_whole_or_refused(folder, monkeypatch):
    for name in ("data/a/1.csv", "data/b/2.csv", "other/3.csv", "data/.hidden/4.csv"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("v\n0\n1\n")
    Path("data/link").symlink_to("../other")
    assert count_column("data", "v").users == 6
    for link, target, message in (
        ("data/again", "a", "leads to a folder that is already read"),
        ("data/a/loop", "..", "leads to a folder that is already read"),
        ("data/b/copy.csv", "2.csv", "are the same file"),
        ("data/b/none.csv", "nothing", "none.csv cannot be read"),
        ("data/b/folder", "nothing", "folder cannot be read"),
    ):
        Path(link).symlink_to(target)
        for path in ("data",) if link != "data/b/copy.csv" else ("data", "data/*/*.csv"):
            with pytest.raises(ValueError, match=message):
                count_column(path, "v")
        Path(link).unlink()
    os.mkfifo("data/pipe.csv")
    with pytest.raises(ValueError, match=r"data/pipe\.csv is no regular file"):
        count_column("data", "v")
    Path("data/pipe.csv").unlink()
    walk = os.walk

    def closed(top, onerror, **options):  # as for a user without permission
        onerror(PermissionError(13, "Permission denied", "data/b"))
        yield from walk(top, **options)

    monkeypatch.setattr(files.os, "walk", closed)
    with pytest.raises(ValueError, match="data/b cannot be read: Permission denied"):
        count_column("data", "v")


def test_first_value_follows_file_order(folder):
    Path("d").mkdir()
    for i, header in enumerate(("u,v", "v,u", "u,v")):
        cells = {"u": "1", "v": "abc"[i]}
        Path(f"d/{i}.csv").write_text(
            f"{header}\n{','.join(cells[name] for name in header.split(','))}\n9,9\n"
        )
    for values, first in ((["a", "b", "c", "9"], "a"), (["b", "c", "9"], "b"), (["c", "9"], "c")):
        assert counts_of("d", "v", user="u", per_user="first", values=values)[first] == 1


@pytest.mark.parametrize(
    "line, message",
    [
        ('{"s": [[1]]}', "has values of another shape under s"),
        ('{"s": [{"a": 1}]}', "has values of another shape under s"),
        ('{"s": "x"}', "has values of another shape under s"),
        ('{"s": [9007199254740994.0]}', r"a\.jsonl, row 2: a float of 2\^53 or more"),
    ],
)
def test_entries_of_lists_are_texts(folder, line, message):
    Path("a.jsonl").write_text('{"s": [1]}\n' + line + "\n")
    with pytest.raises(ValueError, match=message):
        collect_sets("a.jsonl", column="s")


TIMES = pd.Series(
    pd.to_datetime(["2020-01-01", "2020-01-01 10:00:00.5", None, "2020-01-01"], format="ISO8601")
)
ARRAYS = [
    *(np.array([0.1, 1e-5, 3.25, 0.1, 2, np.nan], kind) for kind in (np.float16, np.float32, np.float64)),
    *(
        np.array([np.iinfo(kind).min, np.iinfo(kind).max, 1, 1], kind)
        for kind in (np.int8, np.uint8, np.int32, np.int64, np.uint64)
    ),
    *(TIMES, TIMES.dt.tz_localize("UTC"), TIMES.dt.tz_localize("Europe/Berlin")),
]


@pytest.mark.parametrize("cells", [pa.array(array) for array in ARRAYS], ids=lambda cells: str(cells.type))
def test_memory_and_parquet_cells_agree(folder, cells):
    table = pa.table({"v": cells})
    pq.write_table(table, "a.parquet")
    counts = counts_of("a.parquet")
    assert counts_of(table) == counts_of(table.to_pandas()) == counts
    assert count_column(table, "v").bad_rows == len(cells) - sum(counts.values())
    if pa.types.is_integer(cells.type):
        assert counts == Counter(map(str, cells.to_pylist()))


EXACT = [2**53 + 1, None, 2**53 + 1, 3]


@pytest.mark.parametrize(
    "cells",
    [
        EXACT,
        pd.Series(EXACT, index=[9, 8, 7, 6], dtype="Int64"),
        pd.Series(EXACT, dtype=object).astype("category"),
        pa.chunked_array([EXACT[:2], EXACT[2:]]),
        np.array(EXACT, object),
        pd.Series([str(EXACT[0]), None, f" {EXACT[0]}", "3.0"]),
    ],
    ids=["list", "nullable", "category", "arrow", "objects", "texts"],
)
def test_records_in_memory_are_exact(cells):
    counted = count_column(cells)
    assert dict(zip(counted.values, counted.counts.tolist(), strict=True)) == {str(EXACT[0]): 2, "3": 1}
    assert counted.faults == ("1 empty (row 2)",)


# -- relatives of the above ----------------------------------------------------------------------------------------


def test_masked_cells_are_missing():
    for kind in (np.int64, np.float32, np.bool_):
        counted = count_column(np.ma.array(np.array([1, 0, 1], kind), mask=[False, False, True]))
        assert counted.users == 2
        assert counted.faults == ("1 empty (row 3)",)


@pytest.mark.parametrize(
    "kind", ["Float32", "float[pyarrow]", "halffloat[pyarrow]", "Float64", "double[pyarrow]"]
)
def test_nullable_floats_keep_their_precision(kind):
    series = pd.Series([0.1, 2.5, None], dtype=kind)
    counted = count_column(series)
    exact = series.dtype.numpy_dtype.type(0.1)
    assert counted.values == (str(np.float32(exact)) if exact.itemsize == 2 else str(exact), "2.5")
    assert counted.faults == ("1 empty (row 3)",)
    assert count_column(pa.array(series)).values == counted.values


@pytest.mark.parametrize(
    "data", [None, 5, np.zeros(2, [("a", int), ("b", int)])], ids=["none", "number", "records"]
)
def test_invalid_columns_are_refused(data):
    with pytest.raises(ValueError, match=r"^(Records are|The data hold) [^\n]*$"):
        count_column(data)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "d/a.csv"])
def test_undecodable_header_shows_no_row(folder, name):
    content = f"stra\xdfe,v\n{SECRET},1\nb,2\n".encode("latin-1")
    Path("d").mkdir()
    Path(name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    for column in ("v", SECRET):
        with pytest.raises(ValueError) as caught:
            count_column(name.replace("d/a.csv", "d"), column)
        assert str(caught.value) == f"{name}, line 1: not UTF-8: save the file as UTF-8."


@pytest.mark.parametrize("header", ['v,"a\nb"', 'v,"a\rb"', '"a\n\nb",v'])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_header_line_breaks_lose_no_row(folder, header, end):
    Path("d").mkdir()
    Path("d/1.csv").write_bytes(end.join([header, "0,0", "1,1", "1,1", ""]).encode())
    Path("d/2.csv").write_bytes(b"v\n0\n1\n")
    try:
        assert counts_of("d") == {"0": 2, "1": 3}
    except ValueError as error:
        assert str(error) == "d/1.csv has quotes and several kinds of line ends: make all line ends the same."
        assert "\n" not in end or end == "\r\n" or "\r" in header


@pytest.mark.parametrize("line", [b'{"v": "stra\xdfe"}', b'{"v":' + b" " * 3_000_000])
def test_unreadable_json_lines_are_refused(folder, line):
    Path("a.jsonl").write_bytes(b'{"v": 1}\n{"v": 2}\n' + line + b"\n")
    with pytest.raises(ValueError, match=r"^a\.jsonl is not a JSON lines file, or damaged: [^\n]*\.$"):
        count_column("a.jsonl", "v")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n"])
def test_json_lines_end_in_any_way(folder, end):
    Path("a.jsonl").write_bytes(f'\ufeff{{"v": 1}}\n{{"v": 2}}\n{{"v": 3}}{end}{{"v": 2}}{end}'.encode())
    assert counts_of("a.jsonl") == {"1": 1, "2": 2, "3": 1}


def test_undecodable_parquet_bytes_are_named(folder):
    pq.write_table(pa.table({"v": [b"a", b"\xff"]}), "a.parquet")
    with pytest.raises(ValueError, match=r"^a\.parquet has bytes that are not UTF-8: save texts\.$"):
        count_column("a.parquet", "v")


def test_trailing_decimal_zeros_are_named(folder):
    Path("a.csv").write_text("v\n2.50\n1.0\n3\n")
    pq.write_table(pa.table({"v": [Decimal("2.50"), Decimal("1.00")]}), "a.parquet")
    for data, options, named in (
        ("a.csv", {}, 1),
        ("a.csv", {"values": ["2.50", "1"]}, 1),
        ("a.parquet", {}, 0),
    ):
        remarks = count_column(data, "v", **options).remarks()
        assert sum("end in zeros" in remark for remark in remarks) == named


def test_names_with_blanks_are_quoted(folder):
    Path("a.csv").write_text("u, v\n1,2\n")
    with pytest.raises(ValueError, match=r"It has: u, ' v'\.$"):
        count_column("a.csv", "v")


def test_excessive_memory_option_is_refused(folder):
    with pytest.raises(ValueError, match=r"^memory must be below 2\^63 bytes, got '9999999999999TB'\.$"):
        count_column(write("a.csv", {"v": [1, 2]}), "v", memory="9999999999999TB")
