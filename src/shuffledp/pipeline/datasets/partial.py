"""Temporary file of a transfer, locked while in use and kept if the transfer can resume."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

KEEP_PART = 1 << 20
"""Least number of bytes of a partial file that is kept after a failed transfer."""


@dataclass
class Part:
    """Locked file of a transfer, with a note on the origin of its bytes in the same folder."""

    path: Path
    handle: BinaryIO
    resumable: bool

    @property
    def note(self) -> Path:
        """Path of the note."""
        return self.path.with_name(self.path.name + ".json")

    def size(self) -> int:
        """Return the number of received bytes."""
        return self.handle.seek(0, os.SEEK_END)

    def origin(self) -> dict[str, str]:
        """Return the URL and the validator of the received bytes; empty if unknown."""
        try:
            note = json.loads(self.note.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return note if isinstance(note, dict) else {}

    def begin(self, url: str, validator: str) -> None:
        """Empty the file, and note the origin of its next bytes."""
        self.discard()
        if self.resumable:
            self.note.write_text(json.dumps({"url": url, "validator": validator}), encoding="utf-8")

    def discard(self) -> None:
        """Delete all received bytes."""
        self.handle.seek(0)
        self.handle.truncate()
        self.note.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the file and the note."""
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)


def _lock(path: Path) -> BinaryIO | None:
    while True:
        handle = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            handle.close()
            return None
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(handle.fileno()).st_ino:
                return handle
        handle.close()  # renamed or removed between open and lock: try again


@contextlib.contextmanager
def part_of(target: Path) -> Iterator[Part]:
    """Yield ``<target>.part``, or a file of this process if another process has a lock on it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    path = target.with_name(target.name + ".part")
    handle = _lock(path)
    shared = handle is not None
    if handle is None:
        path = target.with_name(f"{target.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}.part")
        handle = path.open("w+b")
    part = Part(path, handle, resumable=shared)
    done = False
    try:
        yield part
        done = True
    finally:
        # Keep what is worth resuming; `done` parts have been renamed, so only the note is left of them.
        if done or not shared or part.size() < KEEP_PART or not part.note.exists():
            part.remove()
        handle.close()
