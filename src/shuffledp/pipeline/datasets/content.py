"""Content of downloaded files: plain, compressed with gzip, or members of zip files."""

from __future__ import annotations

import gzip
import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO

from shuffledp.pipeline.datasets.registry import Location


def content_of(stream: IO[bytes], limit: int = -1) -> bytes:
    """Return a file's bytes, at most `limit`, decompressed if they begin with the gzip signature."""
    start = stream.read(2)
    stream.seek(0)
    if start != b"\x1f\x8b":
        return stream.read(limit)
    try:
        with gzip.GzipFile(fileobj=stream) as unpacked:
            return unpacked.read(limit)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"damaged gzip file ({error})") from error


def contents_of(stream: IO[bytes], name: str, member: str = "") -> Iterator[tuple[str, str, bytes]]:
    """Yield the name, the end of the address, and the content of a file, or of each member of a zip file.

    Contents are decompressed; a zip file in a zip file is unpacked.
    """
    if not zipfile.is_zipfile(stream):
        stream.seek(0)
        yield name.removesuffix(".gz"), member, content_of(stream)
        return
    with zipfile.ZipFile(stream) as bundle:
        for info in bundle.infolist():
            if not info.is_dir():
                file = PurePosixPath(info.filename).name
                with bundle.open(info) as inside:
                    yield from contents_of(inside, file, f"{member}#{file.removesuffix('.gz')}")


def problem_of(content: bytes, item: Location) -> str | None:
    """Return the difference between a content and the published content, or None if they agree."""
    if len(content) != item.bytes:
        size = f"more than {item.bytes}" if len(content) > item.bytes else str(len(content))
        return f"the content has {size} bytes, expected {item.bytes}"
    digest = hashlib.sha256(content).hexdigest()
    return None if digest == item.sha256 else f"the content has sha256 {digest}, expected {item.sha256}"
