"""Output files at a user's paths, which replace no input and no other output and are complete or absent.

Texts of third-party code, such as labels and reasons of plug-ins, are escaped for terminals and spreadsheets.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from shuffledp.storage import write_atomically

#: Least and largest number of characters of a printed line.
_NARROW, _WIDE = 60, 120

#: Name of standard output as the path of an output.
DASH = Path("-")
_STANDARD = {1: "standard output", 2: "standard error"}


@dataclass(frozen=True)
class Output:
    """Output path given by the user, checked before any computation.

    `descriptor` belongs to a pipe, a terminal or a device. It stays open after the check, so that a waiting reader does
    not lose its writer.
    """

    path: Path
    descriptor: int | None = None

    def write(self, content: bytes, mode: int | None = None) -> None:
        """Write all of the content, or raise OSError; a file is replaced in one step or stays unchanged.

        A file gets the permissions `mode`, by default those of the file that it replaces.
        """
        if self.descriptor is not None:
            try:
                with os.fdopen(self.descriptor, "wb") as stream:
                    stream.write(content)
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(self.path)) from None
            return
        place = Path(os.path.realpath(self.path))  # a link stays a link
        if mode is None and place.exists():
            mode = stat.S_IMODE(place.stat().st_mode)
        write_atomically(place, content, mode=mode)


def checked(outputs: Mapping[str, Path], inputs: Iterable[Path] = ()) -> dict[str, Output]:
    """Check all outputs, by option, and open pipes and devices; the path ``-`` is standard output.

    Raises ValueError if an output is an input or another output under any name, cannot be written, or is a pipe without
    a reader.
    """
    for path in outputs.values():
        folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
        if not folder.is_dir():
            raise ValueError(f"There is no folder {folder} for {path}.")
    check_distinct(outputs.items(), inputs)
    return {option: Output(path, _opened(option, path)) for option, path in outputs.items()}


def check_distinct(outputs: Iterable[tuple[str, Path]], inputs: Iterable[Path]) -> None:
    """Raise ValueError if an output, named by its option, is the same file as an input or another output."""
    owners = {same: f"{path}, which is read" for path in inputs if (same := _identity(path)) is not None}
    for option, path in outputs:
        same = _identity(path)
        if same in owners:
            raise ValueError(f"{option} {path} is the file {owners[same]}: give another one.")
        if same is not None:
            owners[same] = f"of {option}"


def _identity(path: Path) -> object:
    """Return a value that two names of one file share; None for terminals and devices that store nothing."""
    if path == DASH:
        return DASH
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return os.path.realpath(path)
    return None if stat.S_ISCHR(status.st_mode) else (status.st_dev, status.st_ino)


def _opened(option: str, path: Path) -> int | None:
    """Open a pipe or a device; return None for a file, which need not exist."""
    if path == DASH:
        return os.dup(1)
    try:
        status = path.stat()
    except FileNotFoundError:
        _check_permitted(option, path)
        return None
    for number, name in _STANDARD.items():
        if _is_open_as(number, status):
            if stat.S_ISREG(status.st_mode) and path.parts[1:2] not in (("dev",), ("proc",)):
                raise ValueError(f"{option} {path} is the target of {name}: give another file.")
            return os.dup(number)  # a file that is opened twice is written over from its beginning
    if stat.S_ISREG(status.st_mode):
        _check_permitted(option, path)
        return None
    if not (stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode)):
        raise ValueError(f"{option} {path} is neither a file nor a pipe.")
    try:
        number = os.open(path, os.O_WRONLY | os.O_NONBLOCK)  # which does not wait for a reader
    except OSError as error:
        why = "no process reads this pipe" if error.errno == errno.ENXIO else error.strerror
        raise ValueError(f"{option} {path} cannot be written: {why}.") from None
    os.set_blocking(number, True)
    return number


def _is_open_as(number: int, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.fstat(number), status)
    except OSError:  # it is closed
        return False


def _check_permitted(option: str, path: Path) -> None:
    """Raise ValueError for a file that may not be replaced."""
    place = Path(os.path.realpath(path))
    for location in (place, place.parent):
        if location.exists() and not os.access(location, os.W_OK):
            raise ValueError(f"{option} {path} cannot be written: {location} is read-only.")


def printable(text: str) -> str:
    """Return a text with escaped control characters, except line breaks and tabs."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


def cell(text: str) -> str:
    """Return a text as a CSV cell; an apostrophe keeps spreadsheets from evaluating a formula."""
    return f"'{text}" if text.lstrip()[:1] in ("=", "+", "-", "@") else text


def line_width() -> int:
    """Return the characters of a printed line: the variable ``COLUMNS``, the width of the terminal, or 80."""
    return min(max(shutil.get_terminal_size((80, 24)).columns, _NARROW), _WIDE)


def wrapped(lines: Iterable[str], first: str = "", rest: str = "  ") -> list[str]:
    """Return the lines broken at the width of a printed line; `first` and `rest` are indents."""
    broken = (
        textwrap.wrap(
            line, line_width(), initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
        )
        for line in lines
    )
    return [part for parts in broken for part in parts]
