"""Columns of files, counted."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyarrow import parquet

from shuffledp.comparison import counting
from shuffledp.comparison.counting import count_column

CSV = "color,x\nred,1\nblue,2.5\nred,-3\n\nred\nblue,9\n,4\nblue,nan\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(CSV)
    return "a.csv"


def test_values_found_are_the_domain_with_a_warning(file):
    counted = count_column(file, "color")
    assert counted.values == ("blue", "red")
    assert counted.counts.tolist() == [3, 2]
    assert counted.users == 5
    assert counted.bad_rows == 2
    assert counted.faults == ("a.csv, line 6: 1 cells where the header has 2", "a.csv, line 8: empty")
    domain, rows = counted.remarks()
    assert "A domain must be public" in domain
    assert rows == f"2 rows left out: {'; '.join(counted.faults)}."


def test_numbers_are_clipped_and_rounded_to_levels(file):
    counted = count_column(file, "x", max_value=5)
    assert counted.values == (0, 1, 2, 3, 4, 5)
    assert counted.counts.tolist() == [1, 1, 1, 0, 1, 1]  # 2.5 goes to the even neighbor
    assert (counted.clipped, counted.step, counted.bad_rows) == (2, 1.0, 2)
    assert counted.remarks()[-1] == "2 numbers were clipped to the range."
    fine = count_column(file, "x", max_value=5, levels=2)
    assert fine.values == (0, 2.5, 5)
    assert fine.counts.tolist() == [2, 1, 2]
    assert fine.step == 2.5


def test_integers_of_a_given_domain(tmp_path):
    (tmp_path / "b.csv").write_text("\ufeffv\n0\n2\n 2 \n3\n1.0\n-1\n", encoding="utf-8")
    counted = count_column(tmp_path / "b.csv", "v", domain_size=3)
    assert counted.counts.tolist() == [1, 0, 2]
    assert not counted.found
    assert [fault.rpartition(", ")[2] for fault in counted.faults] == [
        f"line {line}: {text!r} is not one of 0..2" for line, text in ((5, "3"), (6, "1.0"), (7, "-1"))
    ]


def test_only_the_first_bad_rows_are_named(tmp_path):
    (tmp_path / "b.csv").write_text("v\n1\n" + "x\n" * 9)
    counted = count_column(tmp_path / "b.csv", "v", domain_size=2)
    assert (counted.bad_rows, len(counted.faults)) == (9, counting.NAMED)
    assert counted.remarks()[0].endswith("; and 4 more.")


def test_parquet_is_counted_alike(tmp_path):
    path = tmp_path / "c.parquet"
    parquet.write_table(pa.table({"v": pa.array([1, 0, None, 1, 5])}), path)
    counted = count_column(path, "v", domain_size=3)
    assert counted.counts.tolist() == [1, 2, 0]
    assert [fault.rpartition(", ")[2] for fault in counted.faults] == [
        "line 3: empty",
        "line 5: '5' is not one of 0..2",
    ]
    (tmp_path / "d.parquet").write_text("no")
    with pytest.raises(ValueError, match="is not a Parquet file"):
        count_column(tmp_path / "d.parquet", "v")


def test_progress_is_told_and_memory_is_bounded(file, monkeypatch):
    monkeypatch.setattr(counting, "CHUNK", 3)
    told = []
    count_column(file, "color", progress=told.append)
    assert told == [3, 6]
    monkeypatch.setattr(counting, "MOST_VALUES", 1)
    with pytest.raises(ValueError, match="more than 1 different values"):
        count_column(file, "color")


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("v\n1\n", {}, "a single value, '1'"),
        ("v\n\n", {}, "no row that can be counted"),
        ("", {}, "no column 'v'. It has: none"),
        ("w\n1\n", {}, "no column 'v'. It has: w"),
        ("v,v\n1,2\n", {}, "several columns 'v'"),
        ("v\n1\n", {"domain_size": 3, "max_value": 2}, "not both"),
        ("v\n1\n", {"levels": 3}, "give max_value too"),
        ("v\n1\n", {"max_value": 2.5}, "must be an integer"),
        ("v\n1\n", {"max_value": -2}, "max_value must be"),
        ("v\n1\n", {"domain_size": 1}, "domain_size must be"),
        ("v\nq\n", {"max_value": 2}, "'q' is no finite number"),
        ("v\n" + "x" * 200_000 + "\n", {}, "field larger than field limit"),
    ],
)
def test_mistakes_are_named(tmp_path, text, options, says):
    (tmp_path / "b.csv").write_text(text)
    with pytest.raises(ValueError, match=says):
        count_column(tmp_path / "b.csv", "v", **options)


def test_files_that_are_none(tmp_path):
    with pytest.raises(ValueError, match="There is no file"):
        count_column(tmp_path / "b.csv", "v")
    (tmp_path / "b.csv").write_bytes(b"v\n\xff\n")
    with pytest.raises(ValueError, match="not UTF-8"):
        count_column(tmp_path / "b.csv", "v")
