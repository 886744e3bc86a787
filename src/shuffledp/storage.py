"""Files that are either whole or absent: atomic publication, checksums, verified reading.

A *bundle* is a set of files that belong together. Each is written under a unique temporary name and renamed; a file
``<bundle>.sha256`` in the format of ``sha256sum`` is published last, so a bundle without it, or one that does not
match it, was never finished or was changed afterwards.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

REBUILD = "run `make repair` (or `shuffledp repair`), then the same command as before: only what is missing is rebuilt"


class IntegrityError(RuntimeError):
    """A file is missing its checksum or does not match it."""


def sha256_of(path: Path) -> str:
    """Hex sha256 of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that no reader ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def publish(checksum: Path, files: Mapping[Path, bytes]) -> None:
    """Publish a bundle: every file, then its checksum list.

    Parameters
    ----------
    checksum : Path
        The ``.sha256`` file; it must lie in a folder that contains all files, and lists them relative to itself.
    files : mapping of Path to bytes
        Final names and contents.
    """
    checksum.unlink(missing_ok=True)
    for path, content in files.items():
        write_atomically(path, content)
    lines = [
        f"{hashlib.sha256(content).hexdigest()}  {path.relative_to(checksum.parent).as_posix()}\n"
        for path, content in sorted(files.items())
    ]
    write_atomically(checksum, "".join(lines).encode())


def listed(checksum: Path) -> dict[Path, str]:
    """Files of a bundle and their expected sha256.

    Raises
    ------
    IntegrityError
        If the list itself cannot be read as one, or is empty.
    """
    expected = {}
    for number, line in enumerate(
        checksum.read_text(encoding="utf-8", errors="replace").splitlines(), start=1
    ):
        digest, separator, name = line.partition("  ")
        if len(digest) != 64 or not separator:
            raise IntegrityError(
                f"{checksum}, line {number}: not a line of a checksum list. To rebuild, {REBUILD}."
            )
        expected[checksum.parent / name] = digest
    if not expected:
        raise IntegrityError(f"{checksum}: an empty checksum list. To rebuild, {REBUILD}.")
    return expected


def damaged(checksum: Path) -> list[Path]:
    """Files of a bundle that are missing or differ from their checksum; the list itself if it is unreadable."""
    try:
        expected = listed(checksum)
    except IntegrityError:
        return [checksum]
    return [path for path, digest in expected.items() if not path.is_file() or sha256_of(path) != digest]


def verified(path: Path, checksum: Path) -> Path:
    """The same path, once its content is known to match the bundle's checksum list.

    Raises
    ------
    IntegrityError
        Naming the file and how to rebuild it.
    """
    if not checksum.is_file():
        raise IntegrityError(f"{path}: its checksum list {checksum} is missing. To rebuild, {REBUILD}.")
    digest = listed(checksum).get(path)
    if digest is None:
        raise IntegrityError(f"{path}: not in its checksum list {checksum}. To rebuild, {REBUILD}.")
    if not path.is_file():
        raise IntegrityError(f"{path}: listed in {checksum} but missing. To rebuild, {REBUILD}.")
    if sha256_of(path) != digest:
        raise IntegrityError(
            f"{path}: content differs from its checksum in {checksum}. To rebuild, {REBUILD}."
        )
    return path
