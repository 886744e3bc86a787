"""Columns without pandas are those that pyarrow makes."""

from __future__ import annotations

import io
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shuffledp.pipeline import arrow_columns

SCHEMA = pa.schema(
    [("text", pa.string()), ("number", pa.float64()), ("small", pa.int32()), ("large", pa.int64())]
)
ROWS = [
    {"text": "a", "number": 1.5, "small": 3, "large": 2**40},
    {"text": None, "number": None, "small": -1, "large": 0},
    {"text": "Ä €", "number": math.inf, "small": 2**31 - 1, "large": -(2**63)},
    {"text": "", "number": np.float64(0.1), "small": np.int32(7), "large": np.int64(5)},
]


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd", version="2.6", store_schema=False)
    return sink.getvalue()


@pytest.mark.parametrize("rows", [ROWS, ROWS[:1], ROWS[1:2], [], ROWS * 25])
def test_tables_and_bytes_equal_those_of_pyarrow(rows):
    ours, theirs = arrow_columns.table(rows, SCHEMA), pa.Table.from_pylist(rows, schema=SCHEMA)
    ours.validate(full=True)
    assert ours.equals(theirs)
    assert parquet(ours) == parquet(theirs)


def test_nan_is_a_number_and_not_empty():
    assert arrow_columns.column([math.nan], pa.float64()).null_count == 0


@pytest.mark.parametrize(
    ("values", "kind", "error"),
    [
        ([1], pa.string(), TypeError),
        (["1"], pa.float64(), TypeError),
        ([True], pa.float64(), TypeError),
        ([1.5], pa.int32(), ValueError),
        ([2**31], pa.int32(), ValueError),
    ],
)
def test_values_of_another_kind_are_an_error(values, kind, error):
    with pytest.raises(error, match="Expected"):
        arrow_columns.column(values, kind)


def test_reading_gives_what_was_written(tmp_path):
    rows = [row for row in ROWS if row["text"] is not None]
    path = tmp_path / "t.parquet"
    pq.write_table(arrow_columns.table(rows, SCHEMA).replace_schema_metadata({"about": "x"}), path)
    for source in (path.read_bytes(), path):
        found, metadata = arrow_columns.read(source)
        assert metadata[b"about"] == b"x"
        assert {name: values.tolist() for name, values in found.items()} == {
            name: [row[name] for row in rows] for name in SCHEMA.names
        }
        assert found["small"].dtype == np.int32


def test_empty_entries_and_other_types_are_an_error():
    with pytest.raises(ValueError, match="'text' has 1 empty"):
        arrow_columns.read(parquet(arrow_columns.table(ROWS[:2], SCHEMA)))
    with pytest.raises(ValueError, match="'flag' is of type bool"):
        arrow_columns.read(parquet(pa.table({"flag": [True]})))
