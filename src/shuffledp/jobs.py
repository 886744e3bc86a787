"""What every job of the workflow does first: write a log, and stop when the workflow is gone.

A workflow that is killed leaves its running scripts behind. Such an orphan would burn time and, with newer code
already running, could publish an older result; it therefore ends itself within a second.
"""

from __future__ import annotations

import atexit
import gc
import logging
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

MAIN = "SHUFFLEDP_MAIN_PROCESS"
"""Environment variable in which the main process says who it is (`shuffledp.main_process`)."""
SILENT_SECONDS = 120.0
_POLL_SECONDS = 0.5


@contextmanager
def job(log_file: str) -> Iterator[logging.Logger]:
    """Logging to a file and to the terminal; the traceback of a failure goes into the file.

    Parameters
    ----------
    log_file : str
        The rule's ``log:`` file.
    """
    _end_with_parent()
    # A process that ends searches all it has imported for garbage, which takes a quarter of a short job's time.
    atexit.register(gc.freeze)
    Path(log_file).parent.mkdir(parents=True, exist_ok=True)
    logger = logging.getLogger("shuffledp")
    logger.setLevel(logging.INFO)
    handlers: list[logging.Handler] = [
        logging.FileHandler(log_file, mode="w"),
        logging.StreamHandler(sys.stderr),
    ]
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)
    logging.captureWarnings(True)
    logging.getLogger("py.warnings").addHandler(handlers[0])
    try:
        yield logger
    except Exception as error:
        handlers[0].handle(
            logger.makeRecord(logger.name, logging.ERROR, "", 0, str(error), (), sys.exc_info())
        )
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.exit(1)
    finally:
        logging.captureWarnings(False)
        logging.getLogger("py.warnings").removeHandler(handlers[0])
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()


def place() -> str:
    """Where a process number means one process: machine, its start, and the container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{platform.node()}/{boot}/{Path('/proc/self/ns/pid').readlink()}".replace(" ", "")
    except OSError:  # not Linux
        return platform.node().replace(" ", "")


def born(pid: int) -> str | None:
    """When a process of this machine started, which tells it from a later one of its number; None if it has ended."""
    try:
        state, *rest = (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        )
        return None if state in "ZX" else rest[18]
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return None
    except ProcessLookupError:
        return None
    try:
        os.kill(pid, 0)  # signal 0 only asks whether the process is there
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return "unknown"


def identity(pid: int) -> str:
    """A running process of this machine in words: place, number, start."""
    return f"{place()} {pid} {born(pid)}"


def main_process_lives(said: str, now: Callable[[], float] = time.monotonic) -> Callable[[], bool]:
    """A question to be asked again and again: whether the main process is still there.

    Parameters
    ----------
    said : str
        What the main process put into the environment variable `MAIN`.
    now : callable
        A clock, in seconds.

    Returns
    -------
    callable
        Of this machine the process itself is looked at. Of another one it counts as gone when the file that it touches
        has not changed for `SILENT_SECONDS` by this machine's clock; clocks of two machines are never compared.
    """
    where, pid, start, beat = said.split(" ", 3)
    if where == place():
        return lambda: born(int(pid)) == start
    last: tuple[int | None, float] = (None, now())

    def touched() -> bool:
        nonlocal last
        try:
            with Path(beat).open("rb") as stream:  # opening asks a network's file server anew
                seen = os.fstat(stream.fileno()).st_mtime_ns
        except OSError:
            seen = last[0] or 0
        if seen != last[0]:
            last = (seen, now())
        return now() - last[1] < SILENT_SECONDS

    return touched


def _end_with_parent() -> None:
    """End this process as soon as its parent or the run's main process is gone.

    The parent alone does not do: a job whose workflow died while it was loading finds the system's first process.
    """
    parent = os.getppid()
    said = os.environ.get(MAIN)
    lives = main_process_lives(said) if said else lambda: True

    def watch() -> None:
        pause = threading.Event()
        while os.getppid() == parent and lives():
            pause.wait(_POLL_SECONDS)
        os._exit(1)  # nothing is half-written: results are renamed into place only when complete

    threading.Thread(target=watch, daemon=True, name="end-with-parent").start()
