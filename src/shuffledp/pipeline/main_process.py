"""Start of a run's main process: its identity for jobs, its signs of life, and its end."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Iterable
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any

from shuffledp.pipeline.jobs import BEAT_SECONDS, MAIN, identity
from shuffledp.storage import write_atomically


def check_writable(folders: Iterable[Path]) -> None:
    """Raise ``OSError`` before a run writes to a read-only folder, or to a path that is not a folder."""
    for folder in folders:
        there = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
        if not there.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "a run writes there, but it is not a folder", str(there))
        if not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "a run writes there, but it is read-only", str(there))


def announce(beat: Path) -> None:
    """Write the identity of the main process into the file `beat`, and touch the file regularly for other machines."""
    name = identity(os.getpid())
    write_atomically(beat, name.encode())
    os.environ[MAIN] = f"{name} {beat.absolute()}"

    def live() -> None:
        pause = threading.Event()  # time.sleep fails under faketime when the clock goes back
        while not pause.wait(BEAT_SECONDS):
            with contextlib.suppress(OSError):  # jobs of this machine do not need it
                os.utime(beat)

    threading.Thread(target=live, daemon=True, name="show-life").start()


def once_per_state(
    checksum: Callable[..., Awaitable[str | None]],
) -> Callable[..., Awaitable[str | None]]:
    """Make Snakemake compute the checksum of a local input once, until the file changes.

    Otherwise it is computed for every output of every job that reads it: a job that draws has hundreds of both.
    """
    known: dict[tuple[object, ...], str | None] = {}

    @wraps(checksum)
    async def remembered(file: Any, *args: Any, **options: Any) -> str | None:
        if file.is_storage or not (local := Path(file)).exists():
            return await checksum(file, *args, **options)
        now = local.stat()
        state = (str(file), now.st_ino, now.st_mtime_ns, now.st_size, args, *options.items())
        if state not in known:
            known[state] = await checksum(file, *args, **options)
        return known[state]

    return remembered


def once(signum: signal.Signals) -> None:
    """Replace a signal's handler by one that runs it once, in a thread, however often the signal arrives.

    A second signal can deadlock Snakemake's handler, which holds a lock. In a thread the handler waits for the main
    program instead.
    """
    original = signal.getsignal(signum)
    if not callable(original):
        return
    handler: Callable[[int, FrameType | None], object] = original
    came = False

    def first(number: int, frame: FrameType | None) -> None:
        nonlocal came
        if came:
            return
        came = True
        threading.Thread(target=handler, args=(number, frame), name="end-in-order").start()

    signal.signal(signum, first)
