"""Blocks of rows of files and data frames."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyarrow import parquet

from shuffledp.userdata.reading import Faults, blocks, columns_of, faults_of


def test_names_of_columns(tmp_path):
    (tmp_path / "a.csv").write_text("\ufeffa,b\n1,2\n", encoding="utf-8")
    assert columns_of(tmp_path / "a.csv") == ["a", "b"]
    parquet.write_table(pa.table({"c": [1], "d": [2]}), tmp_path / "a.parquet")
    assert columns_of(tmp_path / "a.parquet") == ["c", "d"]
    with pytest.raises(ValueError, match="There is no file"):
        columns_of(tmp_path / "b.csv")
    (tmp_path / "c.csv").write_bytes(b"\xff\xff\n")
    with pytest.raises(ValueError, match="not UTF-8"):
        columns_of(tmp_path / "c.csv")


def test_lines_are_those_of_the_file_where_cells_have_line_breaks(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a,b\n"x\ny\r\nz",1\nz,2\n\nw,\n')
    faults = faults_of(path)
    (block,) = blocks(path, ["b", "a"], faults)
    assert list(block.lines) == [4, 5]
    assert block.columns == (["1", "2"], ["x\ny\r\nz", "z"])
    assert faults.named == (f"{path}, line 7: empty",)


def test_a_row_with_several_missing_cells_is_one_fault(tmp_path):
    parquet.write_table(
        pa.table({"a": [1, None, 3, None], "b": ["x", None, "", "y"]}), tmp_path / "a.parquet"
    )
    faults = faults_of(tmp_path / "a.parquet")
    (block,) = blocks(tmp_path / "a.parquet", ["a", "b"], faults)
    assert [list(cells) for cells in block.columns] == [["1"], ["x"]]
    assert faults.count == 3
    assert [fault.rpartition(", ")[2] for fault in faults.named] == [f"row {row}: empty" for row in (2, 3, 4)]


def test_the_first_faults_are_named_whatever_their_order():
    faults = Faults()
    for line in range(100, 0, -1):
        faults.add(line, "no")
    assert faults.count == 100
    assert faults.named == tuple(f"row {line}: no" for line in range(1, 6))


def test_names_of_columns_stay_on_one_line(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text('"age\n0\n1",' + ",".join(f"c{i}" for i in range(40)) + "," + "x" * 3000 + "\n1\n")
    with pytest.raises(ValueError, match="has no column 'age'") as caught:
        list(blocks(path, ["age"], faults_of(path)))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("damage", [slice(4, 40), slice(-60, -8)])
def test_a_damaged_parquet_file_is_one_line(tmp_path, damage):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": ["red", "green"] * 50}), path)
    content = bytearray(path.read_bytes())
    content[damage] = bytes(255 for _ in content[damage])
    path.write_bytes(bytes(content))
    with pytest.raises(ValueError, match="Parquet file") as caught:
        list(blocks(path, ["x"], faults_of(path)))
    assert type(caught.value) is ValueError
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
