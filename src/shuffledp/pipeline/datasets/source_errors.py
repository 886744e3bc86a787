"""Errors of getting a data set; data sets that were changed afterward raise a `storage.IntegrityError`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

__all__ = ["DownloadError", "LocalError", "NoNetworkError", "ParseError", "SourceError", "local"]


class LocalError(Exception):
    """Error of a file of this machine that cannot be written or read.

    Another source would not help, so that the job ends.
    """


@contextlib.contextmanager
def local(path: Path) -> Iterator[None]:
    """Raise errors of the operating system as a `LocalError` about `path`, so that no other data are used."""
    try:
        yield
    except OSError as error:
        raise LocalError(
            f"{error.filename or path}: cannot be written or read ({error.strerror or error}). Free some disk space or "
            "correct the permissions, and run again."
        ) from error


class DownloadError(RuntimeError):
    """Error of a file that could not be fetched; the message names the URL, the event and the remedy."""


class NoNetworkError(DownloadError):
    """Error of a host that cannot be reached at all (name not resolved, connection refused, no route)."""


class ParseError(ValueError):
    """Error of a raw file without its documented format; the message names file and line (from 1)."""


class SourceError(RuntimeError):
    """Error of a data set that no permitted source could supply; the message lists the attempts and the remedy."""
