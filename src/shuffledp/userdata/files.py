"""Files at a path of the user: a file, a folder, a pattern or hive partitions, on this machine or on S3."""

from __future__ import annotations

import glob
import gzip
import hashlib
import os
import re
import stat
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shuffledp.optional_dependencies import needed

#: Formats by the suffix of a file, without the suffix of its packing.
_FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".jsonl", ".ndjson"), "json"),
}
#: Suffixes of the accepted packed files.
_PACKINGS = (".gz", ".zst")


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


def plain(path: Path) -> Path:
    """Return the path without the suffix of a packed file."""
    return path.with_suffix("") if path.suffix.lower() in _PACKINGS else path


def format_of(path: Path) -> str | None:
    """Return csv, parquet or json for the suffix of a file; None for another suffix."""
    return _FORMATS.get(plain(path).suffix.lower())


def files_of(path: Path) -> list[Path]:
    """Return the files of a path in the order of their names. Raise ValueError if there is no file."""
    if is_remote(path):
        files = _on_s3(path)
        if files != [path] and not glob.has_magic(str(path)):
            files = _with_data(path, files)
    elif path.is_dir():
        files = _with_data(path, list(_walked(path)))
    elif not path.exists() and glob.has_magic(str(path)):
        files = _matching(path)
    else:
        if not path.exists():
            raise ValueError(f"There is no file {path}.")
        files = [path]
    _check_places(files)
    if any(file.suffix.lower() == ".json" for file in files):
        raise ValueError(f"{address(path)}: lines of JSON need the suffix .jsonl or .ndjson.")
    kinds = {format_of(member) or "csv" for member in files}
    if len(kinds) > 1:
        raise ValueError(
            f"{address(path)} has files of several formats ({', '.join(sorted(kinds))}): name the files of one format."
        )
    return sorted(files)


def _check_places(files: Sequence[Path]) -> None:
    """Raise ValueError for a pipe or device, and for a file that is named twice, for example by a link."""
    places: dict[tuple[int, int], Path] = {}
    for file in files:
        if is_remote(file):
            continue
        try:
            about = file.stat()
        except OSError as error:
            raise ValueError(f"{file} cannot be read: {error.strerror}.") from None
        if not stat.S_ISREG(about.st_mode):
            raise ValueError(f"{file} is no regular file: save the data first.")
        other = places.setdefault((about.st_dev, about.st_ino), file)
        if other != file:
            raise ValueError(f"{other} and {file} are the same file, whose users would be counted twice.")


def _walked(folder: Path) -> Iterator[Path]:
    """Yield all files below a folder, also behind links. Raise ValueError for a folder that cannot be read."""
    folders_read: set[str] = set()
    for place, folders, names in os.walk(folder, onerror=_refuse, followlinks=True):
        if os.path.realpath(place) in folders_read:
            raise ValueError(f"{place} leads to a folder that is already read.")
        folders_read.add(os.path.realpath(place))
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        for path in (Path(place, name) for name in names if not name.startswith((".", "_"))):
            try:  # a link may lead to a folder that is not mounted
                path.stat()
            except OSError as error:
                _refuse(error)
            yield path


def _matching(pattern: Path) -> list[Path]:
    """Return the files that match a pattern. Raise ValueError for a folder that cannot be read."""
    base, parts = Path(pattern.anchor), pattern.relative_to(pattern.anchor).parts
    for i in range(1, len(parts)):
        for folder in base.glob(str(Path(*parts[:i]))):
            if folder.is_dir() and not os.access(folder, os.R_OK | os.X_OK):
                raise ValueError(f"{folder} cannot be read.")
    files = [file for file in base.glob(str(Path(*parts))) if not file.is_dir()]
    if not files:
        raise ValueError(f"There is no file {pattern}.")
    return files


def _refuse(error: OSError) -> None:
    raise ValueError(f"{error.filename} cannot be read: {error.strerror}.") from None


def _with_data(folder: Path, files: Sequence[Path]) -> list[Path]:
    """Return the files of a folder in a format for data. Raise ValueError if there is no such file."""
    data_files = [
        file
        for file in files
        if format_of(file) and not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    ]
    if not data_files:
        raise ValueError(f"{address(folder)} has no .csv, .tsv, .parquet or .jsonl file.")
    return data_files


def _on_s3(path: Path) -> list[Path]:
    """Return the files of an address: one file, the files of a folder, or the matches of a pattern."""
    name, files = address(path), s3()
    try:
        names = files.find(name) or [
            match for match, about in files.glob(name, detail=True).items() if about["type"] == "file"
        ]
        bucket = name.split("/")[2]
        if not names and not files.exists(bucket):
            raise ValueError(f"There is no bucket {bucket!r} for {name}.")
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {reason_of(str(error))}.") from None
    if not names:
        raise ValueError(f"There is no file {name}.")
    return [Path(f"s3:/{match}") for match in names]


def reason_of(error: str) -> str:
    """Return the reason of an error of S3, by default from the first line of its message."""
    if re.search("ACCESS_DENIED|INVALID_ACCESS_KEY|INVALID_CLIENT_TOKEN|SIGNATURE|HTTP status 40[13]", error):
        return "access is denied; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
    return error.splitlines()[0].rpartition("Details: ")[2].rstrip(". ")


@contextmanager
def opened(file: Path) -> Iterator[Any]:
    """Open a file of this machine or of S3 for reading bytes. Raise ValueError if it cannot be read."""
    try:
        with s3().open(address(file)) if is_remote(file) else file.open("rb") as content:
            yield content
    except gzip.BadGzipFile:
        raise
    except OSError as error:
        raise ValueError(f"{address(file)} cannot be read: {reason_of(str(error))}.") from None


def state_of(file: Path) -> tuple[Any, int]:
    """Return the time of the last change of a file, and the file's size."""
    if is_remote(file):
        about = s3().info(address(file))
        return about["mtime"], about["size"]
    status = file.stat()
    return status.st_mtime_ns, status.st_size


@contextmanager
def unchanged(path: Path) -> Iterator[list[Path]]:
    """Yield the files of a path. Raise ValueError if they are others at the end, or have another time or size."""
    before = {file: state_of(file) for file in files_of(path)}
    yield list(before)
    if before != {file: state_of(file) for file in files_of(path)}:
        raise ValueError(f"{address(path)} changed while it was read. Run again.")


def files_or_path(path: Path) -> list[Path]:
    """Return the files of a path, or the path itself if it has no file."""
    try:
        return files_of(path)
    except ValueError:
        return [path]


def checksums(files: Sequence[Path]) -> list[str]:
    """Return the sha256 of every file."""
    digests = []
    for file in files:
        with opened(file) as content:
            digests.append(hashlib.file_digest(content, "sha256").hexdigest())
    return digests


@contextmanager
def intact(path: Path) -> Iterator[None]:
    """Check packed files in another thread. Raise ValueError for what DuckDB ignores: checksums of gzip, cut files."""
    with ThreadPoolExecutor(1) as thread:
        check = thread.submit(_check_packed, files_of(path))
        try:
            yield
        finally:
            check.result()


def _check_packed(files: Sequence[Path]) -> None:
    checks = {".gz": _check_gzip, ".zst": _check_zstd}
    for file in files:
        if (check := checks.get(file.suffix.lower())) is not None:
            try:
                with opened(file) as content:
                    check(content)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                reason = str(error).partition(" (")[0]  # without the first bytes of the file
                raise ValueError(f"{address(file)} is damaged: {reason}.") from None


def _check_gzip(content: Any) -> None:
    with gzip.open(content) as unpacked:
        while unpacked.read(1 << 20):
            pass


def _check_zstd(content: Any) -> None:
    """Raise EOFError for an incomplete frame of zstd (RFC 8878); DuckDB compares the checksums of frames."""

    def read(size: int) -> int:
        part = content.read(size)
        if len(part) < size:
            raise EOFError("the last frame is cut")
        return int.from_bytes(part, "little")

    while magic := content.read(4):
        number = int.from_bytes(magic, "little")
        if number >> 4 == 0x184D2A5:  # a frame without data
            read(read(4))
            continue
        if number != 0xFD2FB528:
            raise EOFError("not a frame of zstd")
        flags = read(1)
        single = flags >> 5 & 1
        read(1 - single + (0, 1, 2, 4)[flags & 3] + (single, 2, 4, 8)[flags >> 6])
        last = 0
        while not last:
            block = read(3)
            last = block & 1
            read(1 if block >> 1 & 3 == 1 else block >> 3)
        read(flags & 4)


def together(sums: Sequence[str]) -> str:
    """Return one sha256 for several files: the checksum of a single file, or of the list of all checksums."""
    return sums[0] if len(sums) == 1 else hashlib.sha256("\n".join(sums).encode()).hexdigest()
