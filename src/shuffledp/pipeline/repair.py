"""Removal of damaged files, only in places where the pipeline publishes files.

A checksum list belongs to the pipeline if it is in a place where the pipeline publishes one. A listed file belongs to
the pipeline if it is part of that bundle. Other files are never removed, for any content of a list and any target of a
link.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from shuffledp import storage


def _beside(checksum: Path, path: Path) -> bool:
    """Return whether a file is beside ``<bundle>.sha256`` and has a name ``<bundle>.<anything>``."""
    return path.parent == checksum.parent and path.name.startswith(f"{checksum.stem}.")


def _in_folder(checksum: Path, path: Path) -> bool:
    """Return whether a file is in the list's folder, which only has files of the pipeline."""
    return path.parent == checksum.parent


def _of_site(checksum: Path, path: Path) -> bool:
    """Return whether a file belongs to the site, whose list is in the results folder beside other files."""
    parts = path.relative_to(checksum.parent).parts
    return parts == ("index.html",) or parts[0] in ("pages", "site")


@dataclass(frozen=True)
class Place:
    """Place of checksum lists, a test whether a list may contain a file, and the files that need a list."""

    lists: str
    belongs: Callable[[Path, Path], bool]
    unlisted: tuple[str, ...] = ()


#: Places in a folder of results.
RESULTS = (
    Place("runs/*/*/*.sha256", _beside, ("runs/*/*/*.cells.parquet", "runs/*/*/*.values.parquet")),
    Place("training/*/*.sha256", _beside, ("training/*/*.parquet",)),
    Place("claims/*.sha256", _beside),
    Place("claims/*/*.sha256", _beside),
    Place("figures/*/figures.sha256", _in_folder),
    Place("site.sha256", _of_site),
)
#: Places in the folder of prepared data.
PREPARED = (Place("*.sha256", _beside, ("*.parquet", "*.npz")),)


@dataclass(frozen=True)
class Finding:
    """Description of a file that was removed, or that could not be removed."""

    text: str
    removed: bool = True


def repair(folder: Path, places: tuple[Place, ...]) -> Iterator[Finding]:
    """Remove files that differ from their checksum list, and leftovers of killed jobs; yield each removal."""
    if not folder.is_dir():
        return
    yield from _leftovers(folder, places)
    known_files: set[Path] = set()  # vouched for, or dealt with
    for place in places:
        for checksum in sorted(folder.glob(place.lists)):
            damaged = [checksum] if checksum.is_dir() else storage.damaged(checksum)
            if damaged:
                yield from _bundle(folder, place, checksum, damaged)
                known_files |= set(damaged)
            else:
                known_files |= set(storage.listed(checksum))
    for place in places:
        for path in sorted({p for pattern in place.unlisted for p in folder.glob(pattern)} - known_files):
            yield _remove(folder, path, f"removed {path} (no checksum)")


def _leftovers(folder: Path, places: tuple[Place, ...]) -> Iterator[Finding]:
    patterns = {place.lists.rpartition("/")[0] for place in places}
    if places is RESULTS:
        patterns |= {"pages", "site", "site/*"}
    folders = {match for pattern in patterns for match in (folder.glob(pattern) if pattern else [folder])}
    for beside in sorted(folders):
        for path in sorted(beside.glob(".*.tmp")):
            if storage.is_temporary(path.name):
                yield _remove(folder, path, f"removed {path} (left by a killed job)")


def _bundle(folder: Path, place: Place, checksum: Path, damaged: list[Path]) -> Iterator[Finding]:
    own_files = [path for path in damaged if path != checksum and place.belongs(checksum, path)]
    foreign = [path for path in damaged if path != checksum and not place.belongs(checksum, path)]
    for path in filter(
        os.path.lexists, foreign
    ):  # of a name that was damaged itself there is nothing to leave
        yield Finding(f"left {path}: {checksum} lists it, but it is no part of that result", removed=False)
    for path in own_files:
        yield _remove(folder, path, f"removed {path} (differs from its checksum)")
    yield _remove(folder, checksum, f"removed the checksum list {checksum}")


def _remove(folder: Path, path: Path, text: str) -> Finding:
    if not path.parent.resolve().is_relative_to(folder.resolve()):
        return Finding(f"left {path}: a link leads out of {folder}", removed=False)
    if path.is_dir() and not path.is_symlink():
        return Finding(
            f"left {path}: a folder stands where a file belongs; remove it yourself", removed=False
        )
    path.unlink(missing_ok=True)
    return Finding(text)
