"""Check of the folders of a run."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path


def check_writable(folders: Iterable[Path]) -> None:
    """Raise ``OSError`` before a run writes to a read-only folder, or to a path that is not a folder."""
    for folder in folders:
        existing = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
        if not existing.is_dir():
            raise NotADirectoryError(
                errno.ENOTDIR, "a run writes there, but it is not a folder", str(existing)
            )
        if not os.access(existing, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "a run writes there, but it is read-only", str(existing))
