"""Parquet files of small tables."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def read(source: Path | bytes) -> pa.Table:
    """Return the table of a Parquet file without thread pools, which can abort the interpreter while it exits."""
    content = pa.BufferReader(source) if isinstance(source, bytes) else source
    return pq.read_table(content, use_threads=False, pre_buffer=False)


def to_bytes(table: pa.Table) -> bytes:
    """Return Parquet bytes that depend on the content alone."""
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd", version="2.6", store_schema=False)
    return sink.getvalue()
