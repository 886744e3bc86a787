"""Files of tables (Parquet) and arrays (NumPy's npz), with bytes that depend on the content alone."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray


def read(source: Path | bytes) -> pa.Table:
    """Return the table of a Parquet file, without thread pools, which can crash the interpreter at its exit."""
    content = pa.BufferReader(source) if isinstance(source, bytes) else source
    return pq.read_table(content, use_threads=False, pre_buffer=False)


def to_bytes(table: pa.Table) -> bytes:
    """Return Parquet bytes that depend only on the content."""
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd", version="2.6", store_schema=False)
    return sink.getvalue()


def npz(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return arrays in NumPy's ``savez`` format with a fixed date."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as bundle:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)
            bundle.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue())
    return sink.getvalue()
