"""Retrieval of raw files from ``data/raw/<name>``, the mirror or the official sources."""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd

from shuffledp.pipeline.datasets import prepared_tables
from shuffledp.pipeline.datasets.content import content_problem
from shuffledp.pipeline.datasets.download import fetch
from shuffledp.pipeline.datasets.hosts import probe
from shuffledp.pipeline.datasets.parse import count_ratings
from shuffledp.pipeline.datasets.published_datasets import (
    CATALOGUE,
    Archive,
    DatasetSpec,
    Files,
    RatingsArchive,
    RawFile,
    Source,
    UciRepo,
)
from shuffledp.pipeline.datasets.source_errors import (
    DownloadError,
    LocalError,
    NoNetworkError,
    SourceError,
    local,
)
from shuffledp.pipeline.datasets.transfer_limits import ARCHIVE_SLACK, SLACK, blocks_of_file, bounded_urlopen
from shuffledp.storage import sha256_of, sweep, temporary_beside, write_atomically

_ORIGIN = "origin.json"
_UCI_TIMEOUT = 20.0  # seconds between bytes; ucimlrepo sets none


@dataclass(frozen=True)
class Raw:
    """Verified raw files."""

    files: dict[str, Path]
    source: str
    origin: str
    sha256: dict[str, str]


# ---- what is there already -----------------------------------------------------------------------


def _remembered(folder: Path) -> dict[str, Any]:
    try:
        note = json.loads((folder / _ORIGIN).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return note if isinstance(note, dict) else {}


def _raw_problem(file: RawFile, path: Path) -> str | None:
    return content_problem(path, file.sha256, file.bytes)


def _store(target: Path, content: bytes, file: RawFile) -> str | None:
    with temporary_beside(target) as temporary:
        temporary.write_bytes(content)
        problem = _raw_problem(file, temporary)
        if problem is None:
            temporary.replace(target)
        return problem


def _changed(file: RawFile, path: Path, note: dict[str, Any]) -> str | None:
    problem = _raw_problem(file, path)
    if problem is not None and note.get("source") == "official":
        # Counts made here from an official archive are accepted on their totals; from then on
        # their own bytes are the ones to compare with.
        digests = note.get("sha256")
        if isinstance(digests, dict) and digests.get(file.name) == sha256_of(path):
            return None
    return problem


def changed_files(raw_dir: Path) -> Iterator[tuple[str, Path, str]]:
    """Yield data set, path and problem of every stored raw file whose content has changed."""
    for name, spec in CATALOGUE.items():
        note = _remembered(raw_dir / name)
        for file in dict.fromkeys(file for variant in spec.variants for file in variant):
            path = raw_dir / name / file.name
            if path.is_file() and (problem := _changed(file, path, note)) is not None:
                yield name, path, problem


def _collect(folder: Path, variant: tuple[RawFile, ...], source: str, origin: str) -> Raw:
    files = {file.name: folder / file.name for file in variant}
    raw = Raw(files, source, origin, {name: sha256_of(path) for name, path in files.items()})
    note = {"source": source, "origin": origin, "sha256": raw.sha256}
    write_atomically(folder / _ORIGIN, (json.dumps(note, indent=2, sort_keys=True) + "\n").encode())
    return raw


def _set_aside(path: Path) -> Path:
    """Rename a file that differs from the published one, as it may be the user's only copy."""
    names = (f"{path.name}.rejected{'' if i == 1 else f'-{i}'}" for i in count(1))
    aside = next(file for file in map(path.with_name, names) if not os.path.lexists(file))
    return path.rename(aside)


def _cached(spec: DatasetSpec, folder: Path, say: Callable[[str], None]) -> Raw | None:
    note = _remembered(folder)
    for variant in spec.variants:
        for file in variant:
            path = folder / file.name
            if path.is_file() and (problem := _changed(file, path, note)) is not None:
                aside = _set_aside(path)
                say(f"{spec.title}: {path} is set aside as {aside.name}: {problem}. It is fetched again.")
        if all((folder / file.name).is_file() for file in variant):
            known = note.get("source") in ("official", "mirror") and isinstance(note.get("origin"), str)
            source, origin = (note["source"], note["origin"]) if known else ("mirror", "mirror")
            return _collect(folder, variant, source, origin)
    return None


# ---- the mirror ----------------------------------------------------------------------------------


def _is_url(mirror: str) -> bool:
    return mirror.lower().startswith(("http://", "https://"))


def without_login(text: str) -> str:
    """Return a text whose addresses lack user names and passwords, because results contain the text."""
    return re.sub(r"(?i)(https?://)[^/\s]*@", r"\1", text)


def _missing(spec: DatasetSpec, folder: Path) -> Iterator[RawFile]:
    """Yield the raw files that a folder lacks, or whose content there is not the published content."""
    for file in spec.raw_files:
        path = folder / file.name
        if not path.is_file() or _raw_problem(file, path) is not None:
            yield file


def _fetch_all(spec: DatasetSpec, folder: Path, base: str, progress: bool) -> None:
    for file in _missing(spec, folder):
        check, limit = partial(_raw_problem, file), file.bytes + SLACK
        fetch(f"{base}/{file.name}", folder / file.name, limit=limit, check=check, progress=progress)


def _copy(source: Path, target: Path, file: RawFile) -> None:
    with temporary_beside(target) as temporary:
        with temporary.open("xb") as stream:
            for block in blocks_of_file(source, file.bytes + SLACK):
                stream.write(block)
        if (problem := _raw_problem(file, temporary)) is not None:
            raise DownloadError(f"{source}: wrong content: {problem}. Correct the mirror.")
        temporary.replace(target)


def _from_mirror(spec: DatasetSpec, folder: Path, mirror: str, progress: bool) -> Raw:
    try:
        reason = probe([mirror])[mirror] if _is_url(mirror) else None
        place = Path(mirror).expanduser()
    except (ValueError, RuntimeError) as error:  # no address; no such home folder
        problem = f"SHUFFLEDP_MIRROR is {mirror!r}: {str(error).rstrip('.')}."
        raise LocalError(without_login(problem)) from None
    if reason is not None:
        raise NoNetworkError(f"{mirror}: no connection ({reason}). Correct SHUFFLEDP_MIRROR.")
    if _is_url(mirror):
        _fetch_all(spec, folder, f"{mirror.rstrip('/')}/{spec.name}", progress)
    else:
        for file in _missing(spec, folder):
            _copy(place / spec.name / file.name, folder / file.name, file)
    return _collect(folder, spec.raw_files, "mirror", "mirror")


# ---- official sources ----------------------------------------------------------------------------


def _ucimlrepo(spec: DatasetSpec, folder: Path, source: UciRepo) -> Raw:
    from ucimlrepo import fetch_ucirepo

    previous = socket.getdefaulttimeout()
    socket.setdefaulttimeout(_UCI_TIMEOUT)
    try:
        with bounded_urlopen(_most(spec)):
            frame = fetch_ucirepo(id=source.id).data.original
    # The package turns some failures into its own errors and lets others through: time-outs, keys, JSON, CSV.
    except Exception as error:
        raise DownloadError(
            f"{source.page}: ucimlrepo could not read data set {source.id} ({type(error).__name__}: {error})."
        ) from error
    finally:
        socket.setdefaulttimeout(previous)
    (file,) = spec.variants[1]
    try:
        persons = pd.DataFrame(
            {"sex": frame["sex"].str.strip(), "hours_per_week": frame["hours-per-week"].astype("int64")}
        )
        counts = prepared_tables.to_csv(prepared_tables.count_rows(persons))
        problem = _store(folder / file.name, counts, file)
    except (KeyError, ValueError, AttributeError, TypeError) as error:
        problem = str(error)
    if problem is not None:
        raise DownloadError(
            f"{source.page}: the table read by ucimlrepo is not the published one: {problem}."
        )
    return _collect(folder, spec.variants[1], "official", f"{source.page} (ucimlrepo, id {source.id})")


def _extract(spec: DatasetSpec, archive: Archive, path: Path, folder: Path) -> str | None:
    """Extract and check the required members of a zip; return the problem, or None.

    Only members with expected names are read, to fixed targets and up to a fixed size. Paths stored in the zip are
    never used as paths.
    """
    try:
        with zipfile.ZipFile(path) as bundle:
            members = {Path(info.filename).name: info for info in bundle.infolist() if not info.is_dir()}
            for name, candidates in archive.members:
                file = spec.raw_file(name)
                found = [members[candidate] for candidate in candidates if candidate in members]
                if not found:
                    return f"the zip has none of {', '.join(candidates)}"
                for info in found:
                    with bundle.open(info) as stream:
                        problem = _store(folder / name, stream.read(file.bytes + SLACK), file)
                    if problem is None:
                        break
                else:
                    return f"member {found[-1].filename}: {problem}"
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        return f"not a readable zip file ({error})"
    except OSError as error:
        if error.errno != errno.EINVAL:  # a zip file that names a place before its beginning
            raise
        return f"not a readable zip file ({error})"
    return None


def _most(spec: DatasetSpec) -> int:
    """Return the largest total size of all raw files in bytes, in an archive or as a table."""
    return sum(file.bytes for file in spec.raw_files) + ARCHIVE_SLACK


def _archive(spec: DatasetSpec, folder: Path, source: Archive, progress: bool) -> Raw:
    bundle = folder / f".{spec.name}.zip"  # hidden: a user may keep a file of the plain name
    try:
        fetch(
            source.url,
            bundle,
            limit=_most(spec),
            check=lambda path: _extract(spec, source, path, folder),
            progress=progress,
        )
    finally:
        bundle.unlink(missing_ok=True)  # its members are kept
    return _collect(folder, spec.raw_files, "official", source.url)


def _files(spec: DatasetSpec, folder: Path, source: Files, progress: bool) -> Raw:
    _fetch_all(spec, folder, source.base, progress)
    return _collect(folder, spec.raw_files, "official", source.base)


def _ratings(spec: DatasetSpec, folder: Path, source: RatingsArchive, progress: bool) -> Raw:
    (file,) = spec.raw_files
    bundle = folder / ".ml-20m.zip"
    fetch(source.url, bundle, sha256=source.sha256, size=source.bytes, progress=progress)
    try:
        with zipfile.ZipFile(bundle) as archive, archive.open(source.member) as stream:
            table = count_ratings(stream)
    finally:
        bundle.unlink(missing_ok=True)
    write_atomically(folder / file.name, prepared_tables.movie_csv(table))
    return _collect(folder, spec.raw_files, "official", source.url)


def _from_official(spec: DatasetSpec, folder: Path, source: Source, progress: bool) -> Raw:
    match source:
        case UciRepo():
            return _ucimlrepo(spec, folder, source)
        case Archive():
            return _archive(spec, folder, source, progress)
        case Files():
            return _files(spec, folder, source, progress)
        case RatingsArchive():
            return _ratings(spec, folder, source, progress)


# ---- in order ------------------------------------------------------------------------------------


def obtain(
    spec: DatasetSpec, raw_dir: Path, mirror: str | None, *, progress: bool, say: Callable[[str], None]
) -> Raw:
    """Return verified raw files: from `raw_dir`, otherwise from the mirror, otherwise from the official sources."""
    with local(raw_dir / spec.name):
        return _obtain(spec, raw_dir / spec.name, mirror, progress, say)


def _obtain(
    spec: DatasetSpec, folder: Path, mirror: str | None, progress: bool, say: Callable[[str], None]
) -> Raw:
    folder.mkdir(parents=True, exist_ok=True)
    sweep(folder)
    if (raw := _cached(spec, folder, say)) is not None:
        return raw
    tried: list[str] = []
    if mirror:
        try:
            return _from_mirror(spec, folder, mirror, progress)
        except DownloadError as error:
            reason = without_login(str(error))
            tried.append(f"mirror: {reason}")
            say(f"{spec.title}: the mirror failed: {reason}")
    down = probe([url for source in spec.sources for url in source.urls])
    for source in spec.sources:
        unreachable = next((down[url] for url in source.urls if down[url] is not None), None)
        try:
            if unreachable is not None:
                raise NoNetworkError(f"{source.urls[0]}: no connection ({unreachable}).")
            return _from_official(spec, folder, source, progress)
        except NoNetworkError as error:
            tried.append(str(error))
        except DownloadError as error:
            tried.append(str(error))
            say(f"{spec.title}: {error}")
    raise SourceError("\n".join(f"  - {line}" for line in tried))
