"""The ways in which getting a data set fails; one that was changed afterward is a `storage.IntegrityError`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

__all__ = ["DownloadError", "LocalError", "NoNetworkError", "ParseError", "SourceError", "local"]


class LocalError(Exception):
    """A file of this machine cannot be written or read; another source would not help, so that the job ends."""


@contextlib.contextmanager
def local(path: Path) -> Iterator[None]:
    """Inside, what the operating system refuses is a `LocalError` about `path`, never a reason for other data."""
    try:
        yield
    except OSError as error:
        raise LocalError(
            f"{error.filename or path}: cannot be written or read ({error.strerror or error}). Free some disk space or "
            "correct the permissions, and run again."
        ) from error


class DownloadError(RuntimeError):
    """A file could not be fetched; the message names the URL, what happened and what to do."""


class NoNetworkError(DownloadError):
    """The host cannot be reached at all (name not resolved, connection refused, no route)."""


class ParseError(ValueError):
    """A raw file does not have its documented format; the message names file and line (from 1)."""


class SourceError(RuntimeError):
    """No permitted source could supply a data set; the message lists what was tried and what to do."""
