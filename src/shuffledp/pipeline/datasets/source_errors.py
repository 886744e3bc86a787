"""Errors of retrieving a data set; a later change of the data is a `storage.IntegrityError`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


class LocalError(Exception):
    """Error of a local file that cannot be written or read; no other source can help."""


@contextlib.contextmanager
def local(path: Path) -> Iterator[None]:
    """Turn errors of the operating system in the body into a `LocalError` about `path`."""
    try:
        yield
    except OSError as error:
        raise LocalError(
            f"{error.filename or path}: cannot be written or read ({error.strerror or error}). Free some disk space or "
            "correct the permissions, and run again."
        ) from error


class DownloadError(RuntimeError):
    """Error of a failed download; the message has the URL, the failure and the remedy."""


class NoNetworkError(DownloadError):
    """Error of an unreachable host: the name is not resolved, the connection is refused, or there is no route."""


class SourceError(RuntimeError):
    """Error of a data set that no permitted source supplies; the message has the attempts and the remedy."""
