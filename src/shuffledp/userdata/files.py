"""Files that a path of the user names: a file, a folder, a pattern or the folders of hive partitions."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from shuffledp.storage import sha256_of

#: Formats by the suffix of a file, without the suffix of its packing.
_FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".jsonl", ".ndjson"), "json"),
}
_NAMES = {"csv": "CSV file", "parquet": "Parquet file", "json": "file of JSON lines"}
#: Suffixes of packed files that are read.
PACKINGS = (".gz", ".zst")
#: Bytes of one plain CSV file up to which the reader of the standard library names the line of every bad row.
SMALL = 16 << 20


def format_of(path: Path) -> str | None:
    """Return csv, parquet or json by the suffix of a file; None for another suffix."""
    plain = path.with_suffix("") if path.suffix.lower() in PACKINGS else path
    return _FORMATS.get(plain.suffix.lower())


def files_of(path: Path) -> list[Path]:
    """Return the files of a path in the order of their names; raise ValueError if there is none."""
    if path.is_dir():
        found = [Path(folder) / name for folder, _, names in os.walk(path) for name in names]
        found = [
            one
            for one in found
            if format_of(one) and not any(part.startswith((".", "_")) for part in one.relative_to(path).parts)
        ]
        if not found:
            raise ValueError(f"{path} has no .csv, .tsv, .parquet or .jsonl file.")
    elif not path.exists() and glob.has_magic(str(path)):
        base = Path(path.anchor)
        found = [one for one in base.glob(str(path.relative_to(path.anchor))) if one.is_file()]
        if not found:
            raise ValueError(f"There is no file {path}.")
    else:
        if not path.exists():
            raise ValueError(f"There is no file {path}.")
        if not path.is_file() and not is_small(path):
            raise ValueError(
                f"{path} is no regular file; a {_NAMES[format_of(path) or 'csv']} is read twice: save it first."
            )
        found = [path]
    kinds = {format_of(one) or "csv" for one in found}
    if len(kinds) > 1:
        raise ValueError(
            f"{path} has files of several formats ({', '.join(sorted(kinds))}): name those of one."
        )
    return sorted(found)


def files_or_path(path: Path) -> list[Path]:
    """Return the files of a path; the path itself if it names none."""
    try:
        return files_of(path)
    except ValueError:
        return [path]


def checksums(files: Sequence[Path]) -> list[str]:
    """Return the sha256 of every file."""
    return [sha256_of(file) for file in files]


def together(sums: Sequence[str]) -> str:
    """Return one sha256 for several files: that of a single file, or that of the list of all."""
    return sums[0] if len(sums) == 1 else hashlib.sha256("\n".join(sums).encode()).hexdigest()


def is_small(path: Path) -> bool:
    """Return True for a plain CSV file or a pipe that the reader of the standard library reads."""
    if path.is_dir() or not path.exists():
        return not path.exists() and not glob.has_magic(str(path))
    if path.suffix.lower() in (*PACKINGS, ".tsv") or format_of(path) in ("parquet", "json"):
        return False
    return not path.is_file() or path.stat().st_size <= SMALL or find_spec("duckdb") is None
