"""Errors of the retrieval of a data set; data sets changed later raise a `storage.IntegrityError`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


class LocalError(Exception):
    """Error of a local file that cannot be written or read, which no other source can help."""


@contextlib.contextmanager
def local(path: Path) -> Iterator[None]:
    """Raise errors of the operating system in a context as a `LocalError` about `path`."""
    try:
        yield
    except OSError as error:
        raise LocalError(
            f"{error.filename or path}: cannot be written or read ({error.strerror or error}). Free some disk space or "
            "correct the permissions, and run again."
        ) from error


class DownloadError(RuntimeError):
    """Error of a failed download; the message has the URL, the event and the remedy."""


class NoNetworkError(DownloadError):
    """Error of an unreachable host (name not resolved, connection refused, no route)."""


class SourceError(RuntimeError):
    """Error of a data set that no permitted source could supply; the message has the attempts and the remedy."""
