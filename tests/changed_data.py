"""Prepared, raw and user data in the working directory, and a change of one byte that keeps the time."""

import hashlib
import os
from pathlib import Path

import pytest

from shuffledp.pipeline.datasets import raw_files
from shuffledp.pipeline.datasets.registry import Location
from shuffledp.pipeline.experiments import user_files
from shuffledp.pipeline.experiments.sources.user_file import files_of, key_of, request
from shuffledp.storage import publish


def data_files(patch: pytest.MonkeyPatch) -> tuple[Path, Path, Path, Path]:
    """Create a prepared data set, a raw file, a user's file, and the numbers counted from it."""
    prepared, raw, mine = Path("data/prepared"), Path("data/raw/movielens"), Path("visits.csv")
    data, counts = prepared / "adult.parquet", raw / "ml-20m-rating-counts.csv"
    publish(prepared / "adult.sha256", {data: b"1"})
    raw.mkdir(parents=True)
    counts.write_bytes(b"as published")
    digest, size = hashlib.sha256(b"as published").hexdigest(), len(b"as published")
    item = Location("movielens", "1", "here", counts.name, "", digest, size, "free", "published", "")
    patch.setattr(raw_files, "locations", lambda name: (item,) if name == item.name else ())
    mine.write_text("color\n" + "red\nblue\n" * 5)
    asked = request({"kind": "frequency"}, {"name": "file", "path": str(mine), "column": "color"})
    user_files.prepare(asked, Path(), prepared)
    return data, counts, mine, files_of(prepared, key_of(asked))[0]


def flip_a_byte(path: Path) -> None:
    """Change the last byte and keep the modification time."""
    before = path.stat()
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
