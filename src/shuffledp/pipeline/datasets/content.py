"""Content of downloaded files, plain or compressed with gzip."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from pathlib import Path


def read_content(path: Path, limit: int | None = None) -> bytes:
    """Return a file's bytes, decompressed if they begin with the gzip signature."""
    amount = -1 if limit is None else limit
    with path.open("rb") as handle:
        if handle.read(2) != b"\x1f\x8b":
            handle.seek(0)
            return handle.read(amount)
        handle.seek(0)
        try:
            with gzip.GzipFile(fileobj=handle) as stream:
                return stream.read(amount)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"damaged gzip file ({error})") from error


def content_problem(path: Path, sha256: str, size: int) -> str | None:
    """Return the difference between a file's content and the expected content, or None if they agree."""
    try:
        content = read_content(path, size + 1)
    except ValueError as error:
        return str(error)
    if len(content) != size:
        found = f"more than {size}" if len(content) > size else str(len(content))
        return f"the content has {found} bytes, expected {size}"
    digest = hashlib.sha256(content).hexdigest()
    return None if digest == sha256 else f"the content has sha256 {digest}, expected {sha256}"
