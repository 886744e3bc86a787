"""Counts of columns of files."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from shuffledp.userdata import counting
from shuffledp.userdata.counting import count_column

CSV = "color,x\nred,1\nblue,2.5\nred,-3\n\nred\nblue,9\n,4\nblue,nan\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(CSV)
    return "a.csv"


def test_the_number_of_values_is_bounded(file, monkeypatch):
    monkeypatch.setattr(counting, "MOST_VALUES", 1)
    with pytest.raises(ValueError, match="more than 1 different values"):
        count_column(file, "color")


@pytest.mark.parametrize(
    "text, options, says",
    [
        ("v\n1\n", {}, "has a single value; a domain needs"),
        ("v\n\n", {}, "no row that can be counted"),
        ("", {}, "no column 'v'. It has: none"),
        ("w\n1\n", {}, "no column 'v'. It has: w"),
        ("v,v\n1,2\n", {}, "several columns 'v'"),
        ("v\n1\n", {"domain_size": 3, "max_value": 2}, "not both"),
        ("v\n1\n", {"levels": 3}, "levels is for sums and needs max_value"),
        ("v\n1\n", {"max_value": 2.5}, "must be an integer"),
        ("v\n1\n", {"max_value": -2}, "max_value must be"),
        ("v\n1\n", {"domain_size": 1}, "domain_size must be"),
        ("v\n1\n", {"user": "v", "per_user": "sum"}, "needs max_value"),
        ("v\n1\n", {"values": ["a"]}, "at least 2, got 1"),
        ("v\n1\n", {"values": ["a", 1, "1"]}, "'1' twice"),
        ("v\n1\n", {"values": ["a", "b"], "domain_size": 2}, "Give either values or"),
        ("v\n1\n", {"low": 1}, "low is for sums and needs max_value"),
        ("v\n1\n", {"low": 3, "max_value": 2}, "above low 3"),
        ("v\nq\n", {"max_value": 2}, "1 not a finite number"),
        ("v;w\n1;2\n", {}, "has a single value"),
        ("v\n0\n1\n", {"delimiter": ",,"}, "delimiter must be one character, got ',,'"),
        ("v\n0\n1\n", {"memory": "abc"}, "memory must be a size such as 4GB, got 'abc'"),
        ("v\n0\n1\n", {"memory": "-1GB"}, "memory must be a size such as 4GB, got '-1GB'"),
        (
            "v\n1\n",
            {"max_value": 1e12},
            "max_value must be at most 10,000,000, got 1,000,000,000,000; give",
        ),
        ("v\n1\n", {"max_value": 1e300}, r"got 1e\+300; give fewer levels"),
        ("v\n1\n", {"max_value": 1, "levels": 10**9}, "levels must be at most 10,000,000"),
        ("v\n1\n", {"domain_size": 10**9}, "domain_size must be at most 10,000,000"),
    ],
)
def test_mistakes_are_named(tmp_path, text, options, says):
    (tmp_path / "b.csv").write_text(text)
    with pytest.raises(ValueError, match=says) as caught:
        count_column(tmp_path / "b.csv", "v", **options)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("begins", [b"\x1f\x8b\x08\x00", b"PK\x03\x04\x14\xff", b"\xfd7zXZ\x00"])
def test_disguised_packed_files_are_one_line(tmp_path, begins):
    (tmp_path / "b.csv").write_bytes(begins + b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"^[^\n]*b\.csv[^\n]*$"):
        count_column(tmp_path / "b.csv", "v")


@pytest.mark.parametrize("end", ["", '"3"\n', '2"3\n'])
@pytest.mark.parametrize("before", [0, 512, 2000])
def test_open_quote_hides_no_rows(tmp_path, before, end):
    path = tmp_path / "q.csv"
    path.write_text("v,w\n" + "1,1\n" * before + '"2,1\n' + "0,1\n" * 1500 + end)
    with pytest.raises(
        ValueError, match=f"^{path}, line {before + 2}: a cell of this row opens with a quote"
    ):
        count_column(path, "v", domain_size=3)


def test_continuous_numbers_need_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "MOST_VALUES", 10)
    numbers = np.random.default_rng(1).uniform(-1, 2, 5000)
    pd.DataFrame({"x": numbers}).to_csv(tmp_path / "x.csv", index=False)
    parquet.write_table(pa.table({"x": numbers}), tmp_path / "x.parquet")
    wanted = np.bincount(np.rint(np.clip(numbers, 0, 1) * 100).astype(int), minlength=101)
    for data in (tmp_path / "x.csv", tmp_path / "x.parquet", pd.DataFrame({"x": numbers})):
        counted = count_column(data, "x", max_value=1, levels=100)
        assert counted.counts.tolist() == wanted.tolist()
        assert counted.clipped == ((numbers < 0) | (numbers > 1)).sum()


# -- data frames -----------------------------------------------------------------------------------------------------


def test_a_column_of_a_data_frame(file):
    frame = pd.read_csv(file)  # fills up the row that is too short
    assert count_column(frame, "color").counts.tolist() == [3, 3]
    with pytest.raises(ValueError, match=r"has no column 'size'\. It has: color, x"):
        count_column(frame, "size")
    with pytest.raises(ValueError, match="needs the name of a column"):
        count_column(frame)
    with pytest.raises(ValueError, match="belongs to a file or a data frame, not to list"):
        count_column([1, 2], "color")
    with pytest.raises(ValueError, match="the data, column 'x' has no row that can be counted"):
        count_column(pd.DataFrame({"x": [None, None]}), "x")
