"""Conversion of plain values to columns of Arrow tables and back, without the slow import of pandas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow.parquet.core import ParquetFile

_TEXT = pa.string()
_DTYPES = {pa.float64(): np.float64, pa.int32(): np.int32, pa.int64(): np.int64}


def column(values: Sequence[Any] | NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Return an Arrow array of texts or numbers; None is null. Raise for a value that is not of this type."""
    known = np.array([value is not None for value in values], bool)
    valid = None if known.all() else pa.py_buffer(np.packbits(known, bitorder="little"))
    buffers = _text_buffers(values) if kind == _TEXT else [_number_buffer(values, kind)]
    return pa.Array.from_buffers(kind, len(values), [valid, *buffers])


def _text_buffers(values: Sequence[Any] | NDArray[Any]) -> list[pa.Buffer]:
    for value in values:
        if value is not None and not isinstance(value, str):
            raise TypeError(f"Expected a text or None, got {value!r}.")
    encoded = [(value or "").encode() for value in values]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    if ends.size and ends[-1] > np.iinfo(np.int32).max:
        raise ValueError(f"A column of texts holds at most 2 GiB, got {ends[-1]} bytes.")
    return [pa.py_buffer(np.concatenate(([0], ends)).astype(np.int32)), pa.py_buffer(b"".join(encoded))]


def _number_buffer(values: Sequence[Any] | NDArray[Any], kind: pa.DataType) -> pa.Buffer:
    wanted = _DTYPES[kind]
    for value in values:
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating)
        ):
            raise TypeError(f"Expected a number or None, got {value!r}.")
    exact = np.array([0 if value is None else value for value in values])
    numbers = exact.astype(wanted)
    if kind != pa.float64() and not np.array_equal(numbers, exact):
        raise ValueError(f"Expected integers that fit {kind}, got others.")
    return pa.py_buffer(np.ascontiguousarray(numbers))


def table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Return an Arrow table of rows whose keys are the schema's names; see `column`."""
    return pa.Table.from_arrays(
        [column([row[f.name] for row in rows], f.type) for f in schema], schema=schema
    )


def read(source: Path | bytes) -> tuple[dict[str, NDArray[Any]], dict[bytes, bytes]]:
    """Return the columns of a Parquet file as arrays, texts of ``object``, and the metadata of its schema."""
    # No thread pools for small tables: they now and then abort the interpreter while it exits.
    opened = ParquetFile(pa.BufferReader(source) if isinstance(source, bytes) else source, pre_buffer=False)
    found = opened.read(use_threads=False).combine_chunks()
    columns = {name: _values(name, found.column(name)) for name in found.column_names}
    return columns, dict(found.schema.metadata or {})


def _values(name: str, chunked: pa.ChunkedArray) -> NDArray[Any]:
    if chunked.null_count:
        raise ValueError(f"Column {name!r} has {chunked.null_count} empty entries.")
    if chunked.type in (_TEXT, pa.large_string()):
        return np.array(chunked.to_pylist(), object)
    if chunked.type not in _DTYPES:
        raise ValueError(
            f"Column {name!r} is of type {chunked.type}; known: {', '.join(map(str, _DTYPES))}, texts."
        )
    dtype = _DTYPES[chunked.type]
    parts = [np.frombuffer(c.buffers()[1], dtype)[c.offset : c.offset + len(c)] for c in chunked.chunks]
    return np.concatenate(parts) if parts else np.empty(0, dtype)
