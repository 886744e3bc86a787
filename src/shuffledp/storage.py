"""Files that are either complete or absent: atomic publication, checksums, verified reading.

A *bundle* is a set of files that belong together. Each is written under a unique temporary name and renamed. A file
``<bundle>.sha256`` in the format of ``sha256sum`` is published last. A bundle without this file was never finished. A
bundle that does not match it was not finished or was changed later.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import hashlib
import os
import platform
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

_FOR = "# "  # sha256sum passes over such lines
REBUILD = "run `make repair` (or `shuffledp repair`), then the same command as before: only what is missing is rebuilt"


_HOST = re.sub(r"[^A-Za-z0-9]", "", platform.node()) or "unnamed"
_STALE_SECONDS = 3600.0
_TEMPORARY = re.compile(r"\..+\.(?:[A-Za-z0-9]+-)?\d+-[0-9a-f]{8}\.tmp|.+\.\d+-[0-9a-f]{8}\.part")


#: Functions to call right before a file gets its final name.
_asked: list[Callable[[], None]] = []


class IntegrityError(RuntimeError):
    """Error for a file without a checksum, or with another content than its checksum."""


def sha256_of(path: Path) -> str:
    """Return the hexadecimal sha256 of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def ask_before_publishing(permission: Callable[[], None]) -> None:
    """Set a check that runs before every publication, for jobs whose workflow may have ended.

    `permission` returns when publication is allowed, and otherwise does not return. It replaces an earlier check.
    """
    _asked[:] = [permission]


def _ask() -> None:
    for permission in _asked:
        permission()


@contextlib.contextmanager
def temporary_beside(target: Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of `target`, to be renamed to `target`; remove it at the end if it remains.

    An OSError without a file name, for example on a full disk, gets the name of `target`.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    path = target.with_name(f".{target.name}.{_HOST}-{os.getpid()}-{uuid.uuid4().hex[:8]}.tmp")
    try:
        yield path
    except OSError as error:
        if error.filename is None:
            error.filename = str(target)
        raise
    finally:
        path.unlink(missing_ok=True)


def write_atomically(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Write a file that readers see complete or not at all; ``mode`` replaces the usual permissions."""
    with temporary_beside(path) as temporary:
        opener = functools.partial(os.open, mode=0o666 if mode is None else mode)
        with open(temporary, "xb", opener=opener) as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            temporary.chmod(mode)
        _ask()
        temporary.replace(path)


def is_temporary(name: str) -> bool:
    """Return True for the names that this package gives to unfinished files."""
    return _TEMPORARY.fullmatch(name) is not None


def sweep(folder: Path) -> None:
    """Remove temporary files of killed processes from a folder, but not from its subfolders.

    Files of ended processes of this machine are removed at once, and all other temporary files after an hour.
    """
    for path in (file for file in folder.glob("*") if is_temporary(file.name)):
        with contextlib.suppress(FileNotFoundError):
            if _is_orphan(path.name) or time.time() - path.stat().st_mtime > _STALE_SECONDS:
                path.unlink()


def _is_orphan(name: str) -> bool:
    """Return True for a temporary file of an ended process of this machine."""
    match = re.search(rf"\.{_HOST}-(\d+)-[0-9a-f]{{8}}\.tmp$", name)
    if match is None:
        return False
    try:
        os.kill(int(match[1]), 0)  # signal 0 only asks whether the process is there
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False


def publish(
    checksum: Path, files: Mapping[Path, bytes], folders: int = 0, *, mode: int | None = None
) -> None:
    """Publish a bundle: every file, then its checksum list, whose first line identifies the bundle.

    All files get the permissions `mode`, by default the usual ones.

    Temporary files of killed processes beside the files are removed. The folder of the ``.sha256`` file contains all
    files, and the list names them relative to it. `folders` is the number of folders above the list that identify the
    bundle among lists of the same file name. They reveal exchanged bundles; a moved folder of results remains valid.
    """
    _ask()
    for folder in {path.parent for path in (checksum, *files)}:
        sweep(folder)
    checksum.unlink(missing_ok=True)
    for path, content in files.items():
        write_atomically(path, content, mode=mode)
    lines = [
        f"{hashlib.sha256(content).hexdigest()}  {path.relative_to(checksum.parent).as_posix()}\n"
        for path, content in sorted(files.items())
    ]
    name = "/".join(checksum.absolute().with_suffix("").parts[-folders - 1 :])
    write_atomically(checksum, "".join([f"{_FOR}{name}\n", *lines]).encode(), mode=mode)


def listed(checksum: Path) -> dict[Path, str]:
    """Return the files of a bundle and their expected sha256.

    Raises IntegrityError if the list is unreadable or empty, names a file outside its folder, or belongs to another
    bundle.
    """
    expected = {}
    first, _, rest = checksum.read_text(encoding="utf-8", errors="replace").partition("\n")
    place = first.removeprefix(_FOR).split("/")
    if not first.startswith(_FOR) or list(checksum.absolute().with_suffix("").parts[-len(place) :]) != place:
        raise IntegrityError(
            f"{checksum}: must begin with the name of its result, got {first[:80]!r}. To rebuild, {REBUILD}."
        )
    for number, line in enumerate(rest.splitlines(), start=2):
        digest, separator, name = line.partition("  ")
        if len(digest) != 64 or not separator:
            raise IntegrityError(
                f"{checksum}, line {number}: not a line of a checksum list. To rebuild, {REBUILD}."
            )
        if not name or Path(name).is_absolute() or ".." in Path(name).parts:
            raise IntegrityError(
                f"{checksum}, line {number}: {name!r} is not below its folder. To rebuild, {REBUILD}."
            )
        expected[checksum.parent / name] = digest
    if not expected:
        raise IntegrityError(f"{checksum}: an empty checksum list. To rebuild, {REBUILD}.")
    return expected


def damaged(checksum: Path) -> list[Path]:
    """Return the missing or changed files of a bundle, or the checksum list if it is unreadable."""
    try:
        expected = listed(checksum)
    except IntegrityError:
        return [checksum]
    return [path for path, digest in expected.items() if not path.is_file() or sha256_of(path) != digest]


def verified(path: Path, checksum: Path) -> Path:
    """Return the path after a comparison of the file's content with the bundle's checksum list.

    Raises IntegrityError if the content differs, with the file and a way to rebuild it.
    """
    expected = _expected(path, checksum)
    _compare(path, checksum, sha256_of(path), expected)
    return path


def read_verified(path: Path, checksum: Path) -> bytes:
    """Return the content of a file, read once, after the check of :func:`verified`."""
    expected = _expected(path, checksum)
    content = path.read_bytes()
    _compare(path, checksum, hashlib.sha256(content).hexdigest(), expected)
    return content


def _expected(path: Path, checksum: Path) -> str:
    """Return the listed sha256 of a bundle's file. Raise IntegrityError if the file or its entry is missing."""
    if not checksum.is_file():
        raise IntegrityError(f"{path}: its checksum list {checksum} is missing. To rebuild, {REBUILD}.")
    digest = listed(checksum).get(path)
    if digest is None:
        raise IntegrityError(f"{path}: not in its checksum list {checksum}. To rebuild, {REBUILD}.")
    if not path.is_file():
        raise IntegrityError(f"{path}: listed in {checksum} but missing. To rebuild, {REBUILD}.")
    return digest


def _compare(path: Path, checksum: Path, found: str, expected: str) -> None:
    if found != expected:
        raise IntegrityError(
            f"{path}: content differs from its checksum in {checksum}. To rebuild, {REBUILD}."
        )


def verified_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file, verified by the file's own checksum file."""
    content = read_verified(path, path.with_suffix(".sha256")).decode("utf-8")
    return list(csv.DictReader(content.splitlines(keepends=True)))
