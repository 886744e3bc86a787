"""Files at a path of the user: a file, a folder, a pattern or hive partitions, on this machine or on S3."""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shuffledp.optional_dependencies import needed
from shuffledp.storage import sha256_of

#: Formats by the suffix of a file, without the suffix of its packing.
_FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".jsonl", ".ndjson"), "json"),
}
_NAMES = {"csv": "CSV file", "parquet": "Parquet file", "json": "file of JSON lines"}
#: Suffixes of the accepted packed files.
PACKINGS = (".gz", ".zst")
#: Bytes of one plain CSV file up to which the standard library's reader names the line of every bad row.
SMALL = 16 << 20


def is_remote(path: Path) -> bool:
    """Return True for an address on S3; as a path, it has only one slash after ``s3:``."""
    return str(path).startswith("s3:/")


def address(path: Path | str) -> str:
    """Return a path as text, with both slashes of ``s3://``."""
    return re.sub(r"^s3:/+", "s3://", str(path))


def located(root: Path, name: str) -> Path:
    """Return the path of a name in a folder; absolute paths and addresses on S3 stay unchanged."""
    return Path(name) if is_remote(Path(name)) else root / name


def s3() -> Any:
    """Return the file system of S3 for DuckDB; the environment variables of AWS give server, region and keys."""
    with needed():
        from fsspec.implementations.arrow import ArrowFSWrapper
        from pyarrow.fs import S3FileSystem

    class _S3Files(ArrowFSWrapper):  # type: ignore[misc, unused-ignore]
        protocol = "s3"

        @classmethod
        def _strip_protocol(cls, path: str) -> str:  # keeps "?" and "#", which are no parts of a URL here
            return address(path).removeprefix("s3://").rstrip("/")

    server = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    return _S3Files(S3FileSystem(endpoint_override=server))


def format_of(path: Path) -> str | None:
    """Return csv, parquet or json for the suffix of a file; None for another suffix."""
    plain = path.with_suffix("") if path.suffix.lower() in PACKINGS else path
    return _FORMATS.get(plain.suffix.lower())


def files_of(path: Path) -> list[Path]:
    """Return the files of a path in the order of their names. Raise ValueError if there is no file."""
    if is_remote(path):
        found = _on_s3(path)
        if found != [path] and not glob.has_magic(str(path)):
            found = _with_data(path, found)
    elif path.is_dir():
        found = _with_data(
            path, [Path(folder) / name for folder, _, names in os.walk(path) for name in names]
        )
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
            f"{address(path)} has files of several formats ({', '.join(sorted(kinds))}): name the files of one format."
        )
    return sorted(found)


def _with_data(folder: Path, files: Sequence[Path]) -> list[Path]:
    """Return the files of a folder in a format for data. Raise ValueError if there is no such file."""
    found = [
        one
        for one in files
        if format_of(one) and not any(part.startswith((".", "_")) for part in one.relative_to(folder).parts)
    ]
    if not found:
        raise ValueError(f"{address(folder)} has no .csv, .tsv, .parquet or .jsonl file.")
    return found


def _on_s3(path: Path) -> list[Path]:
    """Return the files of an address: one file, the files of a folder, or the matches of a pattern."""
    name, files = address(path), s3()
    try:
        found = files.find(name) or [
            one for one, about in files.glob(name, detail=True).items() if about["type"] == "file"
        ]
        bucket = name.split("/")[2]
        if not found and not files.exists(bucket):
            raise ValueError(f"There is no bucket {bucket!r} for {name}.")
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {_reason(str(error))}.") from None
    if not found:
        raise ValueError(f"There is no file {name}.")
    return [Path(f"s3:/{one}") for one in found]


def _reason(error: str) -> str:
    """Return the reason of an error of S3, by default from the first line of its message."""
    if re.search("ACCESS_DENIED|INVALID_ACCESS_KEY|INVALID_CLIENT_TOKEN|SIGNATURE|HTTP status 40[13]", error):
        return "access is denied; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
    return error.splitlines()[0].rpartition("Details: ")[2].rstrip(". ")


def state_of(file: Path) -> tuple[Any, int]:
    """Return the time of the last change of a file, and the file's size."""
    if is_remote(file):
        about = s3().info(address(file))
        return about["mtime"], about["size"]
    found = file.stat()
    return found.st_mtime_ns, found.st_size


def files_or_path(path: Path) -> list[Path]:
    """Return the files of a path, or the path itself if it has no file."""
    try:
        return files_of(path)
    except ValueError:
        return [path]


def checksums(files: Sequence[Path]) -> list[str]:
    """Return the sha256 of every file."""
    return [_sha256(file) if is_remote(file) else sha256_of(file) for file in files]


def _sha256(file: Path) -> str:
    with s3().open(address(file)) as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def together(sums: Sequence[str]) -> str:
    """Return one sha256 for several files: the checksum of a single file, or of the list of all checksums."""
    return sums[0] if len(sums) == 1 else hashlib.sha256("\n".join(sums).encode()).hexdigest()


def is_small(path: Path) -> bool:
    """Return True for a pipe or a plain small CSV file, which the standard library reads."""
    if is_remote(path):
        return False
    if path.is_dir() or not path.exists():
        return not path.exists() and not glob.has_magic(str(path))
    if path.suffix.lower() in (*PACKINGS, ".tsv") or format_of(path) in ("parquet", "json"):
        return False
    return not path.is_file() or path.stat().st_size <= SMALL or find_spec("duckdb") is None
