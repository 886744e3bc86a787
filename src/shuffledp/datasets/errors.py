"""The ways in which getting a data set fails; one that was changed afterward is a `storage.IntegrityError`."""

from __future__ import annotations

__all__ = ["DownloadError", "NoNetworkError", "ParseError", "SourceError"]


class DownloadError(RuntimeError):
    """A file could not be fetched; the message names the URL, what happened and what to do."""


class NoNetworkError(DownloadError):
    """The host cannot be reached at all (name not resolved, connection refused, no route)."""


class ParseError(ValueError):
    """A raw file does not have its documented format; the message names file and line (from 1)."""


class SourceError(RuntimeError):
    """No permitted source could supply a data set; the message lists what was tried and what to do."""
