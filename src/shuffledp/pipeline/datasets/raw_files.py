"""Raw files of a data set: from ``data/raw/<name>``, the mirror, or the addresses of ``data/datasets.csv``."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, groupby
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import urlsplit

from shuffledp.pipeline.datasets.content import content_of, problem_of
from shuffledp.pipeline.datasets.download import TIMEOUT, answer_of, fetch, is_address
from shuffledp.pipeline.datasets.registry import NAMES, Location, locations, spec
from shuffledp.pipeline.datasets.source_errors import (
    DownloadError,
    LocalError,
    NoNetworkError,
    SourceError,
    local,
)
from shuffledp.storage import sweep, write_atomically

_ORIGIN = "origin.json"
_UCIMLREPO = "ucimlrepo"


@dataclass(frozen=True)
class Raw:
    """Verified files, unpacked, with the kind and the name of their source."""

    files: dict[str, Path]
    source: Literal["official", "mirror"]
    origin: str


def without_login(text: str) -> str:
    """Return a text whose addresses lack user names and passwords, because results contain the text."""
    return re.sub(r"(?i)(https?://)[^/\s]*@", r"\1", text)


# ---- what is there already -----------------------------------------------------------------------


def changed_files(raw_dir: Path) -> Iterator[tuple[str, Path, str]]:
    """Yield data set, path and problem of every stored raw file whose content has changed."""
    for name in NAMES:
        for item in _files(locations(name)):
            path = raw_dir / name / item.file
            if path.is_file() and (problem := _problem(path, item)) is not None:
                yield name, path, problem


def _files(items: Sequence[Location]) -> list[Location]:
    """Return a location of every file."""
    return list({item.file: item for item in reversed(items)}.values())[::-1]


def _problem(path: Path, item: Location) -> str | None:
    with path.open("rb") as stream:
        try:
            return problem_of(content_of(stream, item.bytes + 1), item)
        except ValueError as error:
            return str(error)


def _names(item: Location) -> list[str]:
    """Return the names of a file on a mirror and in ``data/raw``: its name when published, and unpacked."""
    published = [
        PurePosixPath(location.url).name for location in locations(item.name) if location.file == item.file
    ]
    return list(dict.fromkeys([*(name for name in published if name.startswith(item.file)), item.file]))


def _stored(item: Location, folder: Path, say: Callable[[str], None]) -> bool:
    """Return True if a folder has the file, unpacked if need be. Set aside a file with other content.

    Such a file may be the user's only copy.
    """
    for path in (folder / item.file, *(folder / name for name in _names(item))):
        if not path.is_file():
            continue
        if (problem := _problem(path, item)) is None:
            fetch(item, folder, str(path))
            return True
        names = (f"{path.name}.rejected{'' if i == 1 else f'-{i}'}" for i in count(1))
        aside = path.rename(next(file for file in map(path.with_name, names) if not os.path.lexists(file)))
        say(f"{spec(item.name).title}: {path} is set aside as {aside.name}: {problem}. It is fetched again.")
    return False


def _cached(name: str, folder: Path, say: Callable[[str], None]) -> Raw | None:
    stored = {item.file for item in _files(locations(name)) if _stored(item, folder, say)}
    for _, items in groupby(locations(name), lambda item: item.source):
        files = {item.file: folder / item.file for item in items}
        if files.keys() <= stored:
            try:
                note = json.loads((folder / _ORIGIN).read_text(encoding="utf-8"))
                if note["source"] == "official":
                    return Raw(files, "official", str(note["origin"]))
            except (OSError, ValueError, RecursionError, LookupError, TypeError):
                pass  # files without a readable note are those of a mirror
            return Raw(files, "mirror", "mirror")
    return None


# ---- the mirror and the official addresses -------------------------------------------------------


def _of_mirror(name: str, folder: Path, mirror: str) -> Raw:
    items = _files([item for item in locations(name) if item.source != _UCIMLREPO])
    for item in items:
        places = [f"{mirror.rstrip('/')}/{name}/{file}" for file in _names(item)]
        if not is_address(mirror):
            places = [place for place in places if Path(place).exists()] or places[:1]
        for place in places:
            try:
                fetch(item, folder, place)
                break
            except NoNetworkError:
                raise
            except DownloadError:
                if place == places[-1]:
                    raise
    return Raw({item.file: folder / item.file for item in items}, "mirror", "mirror")


def _place_of(mirror: str) -> str:
    """Return the mirror with its folder of the user. Raise `LocalError` if it is no place."""
    try:
        if not is_address(mirror):
            return str(Path(mirror).expanduser())
        urlsplit(mirror).port  # noqa: B018  (raises an error)
    except (ValueError, RuntimeError) as error:  # no address; no such home folder
        problem = f"SHUFFLEDP_MIRROR is {mirror!r}: {str(error).rstrip('.')}."
        raise LocalError(without_login(problem)) from None
    return mirror


def _of_ucimlrepo(item: Location, folder: Path) -> None:
    from ucimlrepo import fetch_ucirepo

    previous = socket.getdefaulttimeout()
    socket.setdefaulttimeout(TIMEOUT[1])  # the package sets none
    try:
        with answer_of(item.url):
            frame = fetch_ucirepo(id=int(PurePosixPath(item.url).parts[-2])).data.original
        content = spec(item.name).derive(frame)
    except DownloadError as error:
        raise type(error)(f"{item.url}: {error}") from error
    # The package turns some failures into its own errors and lets others through: time-outs, keys, JSON, CSV.
    except Exception as error:
        raise DownloadError(f"{item.url}: ucimlrepo failed ({type(error).__name__}: {error}).") from error
    finally:
        socket.setdefaulttimeout(previous)
    if (problem := problem_of(content, item)) is not None:
        raise DownloadError(f"{item.url}: the table read by ucimlrepo is not the published one: {problem}.")
    write_atomically(folder / item.file, content)


def _official(items: Sequence[Location], folder: Path) -> Raw:
    """Return the files of one source."""
    for item in items:
        if item.source == _UCIMLREPO:
            _of_ucimlrepo(item, folder)
        else:
            fetch(item, folder, item.url)
    origin = items[0].url.partition("#")[0]
    write_atomically(folder / _ORIGIN, json.dumps({"source": "official", "origin": origin}).encode())
    return Raw({item.file: folder / item.file for item in items}, "official", origin)


# ---- in order ------------------------------------------------------------------------------------


def obtain(name: str, raw_dir: Path, mirror: str | None, say: Callable[[str], None]) -> Raw:
    """Return verified raw files: from `raw_dir`, otherwise from the mirror, otherwise from the official sources."""
    folder = raw_dir / name
    with local(folder):
        folder.mkdir(parents=True, exist_ok=True)
        sweep(folder)
        return _cached(name, folder, say) or _obtained(name, folder, mirror, say)


def _obtained(name: str, folder: Path, mirror: str | None, say: Callable[[str], None]) -> Raw:
    failures: list[str] = []
    unreachable: set[str | None] = set()
    (folder / _ORIGIN).unlink(missing_ok=True)
    if mirror:
        try:
            return _of_mirror(name, folder, _place_of(mirror))
        except DownloadError as error:
            failures.append(f"mirror: {without_login(str(error))}")
            say(f"{spec(name).title}: the mirror failed: {without_login(str(error))}")
    for _, group in groupby(locations(name), lambda item: item.source):
        items = list(group)
        host = urlsplit(items[0].url).hostname
        try:
            if host in unreachable:
                raise NoNetworkError(f"{items[0].url}: no connection to {host}.")
            return _official(items, folder)
        except NoNetworkError as error:
            unreachable.add(host)
            failures.append(str(error))
        except DownloadError as error:
            failures.append(str(error))
            say(f"{spec(name).title}: {error}")
    raise SourceError("\n".join(f"  - {line}" for line in failures))
