"""Common setup of all jobs of the workflow: a log file, and an end for jobs whose workflow has ended.

A killed workflow does not end its running scripts. Such a script would consume time and, after a change of the code,
could publish an outdated result; it therefore ends within a second. On another machine of a cluster, signs of life
arrive later; a script there publishes a result only after one has arrived.

With a storage provider of Snakemake the inputs of a job are local copies below a folder of their own, and its outputs
are uploaded from there. A job works in that folder, so that its relative paths do not change with the storage.
"""

from __future__ import annotations

import atexit
import gc
import logging
import math
import os
import platform
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shuffledp import storage

MAIN = "SHUFFLEDP_MAIN_PROCESS"
"""Environment variable in which the main process identifies itself (`shuffledp.pipeline.main_process`)."""
FILES = "SHUFFLEDP_FILES"
"""Environment variable with the folder of the files of jobs, relative to the folder of the run."""
BEAT_SECONDS = 2.0
"""Seconds between two signs of life of the main process for jobs on other machines."""
FRESH_SECONDS = 2 * BEAT_SECONDS
"""Largest age of the last sign of life at which a job on another machine publishes; otherwise the job waits."""
SILENT_SECONDS = 120.0
"""Seconds without a sign of life after which a job ends itself: a file server may be unavailable for a while."""
_POLL_SECONDS = 0.5
_run_folder = Path()


@contextmanager
def job(log_file: str) -> Iterator[logging.Logger]:
    """Log to the rule's log file and the terminal in this context; a traceback goes to the file only."""
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


@contextmanager
def job_of(snakemake: Any) -> Iterator[logging.Logger]:
    """Run a script in the folder of its job's files, with relative inputs and outputs, and a log as in `job`."""
    global _run_folder
    with job(snakemake.log[0]) as logger:
        folder, start = Path(os.environ.get(FILES, ".")), Path.cwd()
        for name in ("input", "output"):
            files = getattr(snakemake, name)
            inside = type(files)(toclone=files, custom_map=lambda file: os.path.relpath(file, folder))
            setattr(snakemake, name, inside)
        folder.mkdir(parents=True, exist_ok=True)
        os.chdir(folder)
        _run_folder = Path(os.path.relpath(start))
        try:
            yield logger
        finally:
            os.chdir(start)
            _run_folder = Path()


def source(name: str | Path) -> Path:
    """Return the path, from a job's folder, of a file that no storage provider copies, such as a caption."""
    return _run_folder / name


def place() -> str:
    """Return the scope of process numbers: machine, boot and container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{platform.node()}/{boot}/{Path('/proc/self/ns/pid').readlink()}".replace(" ", "")
    except OSError:  # not Linux
        return platform.node().replace(" ", "")


def born(pid: int) -> str | None:
    """Return the start of a local process, which together with its number identifies it; None if it has ended."""
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
    """Return the identity of a running process on this machine: place, number and start."""
    return f"{place()} {pid} {born(pid)}"


def silence_of_main_process(said: str, now: Callable[[], float] = time.monotonic) -> Callable[[], float]:
    """Return a function that gives the seconds since the main process's last sign of life; infinity after its end.

    `said` is the value of the environment variable `MAIN`. On the same machine the process is checked directly. On
    another machine the result is the age of the last change of the main process's file, by this machine's clock, so
    that clocks of two machines are never compared. The age begins at `FRESH_SECONDS`, as the main process may have
    ended long ago. A later run writes its identity into that file, which ends the jobs of an earlier run at once.
    """
    where, pid, start, beat = said.split(" ", 3)
    if where == place():
        return lambda: 0.0 if born(int(pid)) == start else math.inf
    who, lock = f"{where} {pid} {start}", threading.Lock()
    stamp, since = _read_beat(Path(beat))[1], now() - FRESH_SECONDS

    def silence() -> float:
        nonlocal stamp, since
        with lock:
            name, changed = _read_beat(Path(beat))
            if name not in (None, who):
                return math.inf
            if changed not in (None, stamp):
                stamp, since = changed, now()
            return now() - since

    return silence


def _read_beat(beat: Path) -> tuple[str | None, int | None]:
    """Return a file's content and its modification time by the file server's clock; None if it is unreadable."""
    try:
        with beat.open(encoding="utf-8") as stream:  # opening asks a network's file server anew
            return stream.read(), os.fstat(stream.fileno()).st_mtime_ns
    except OSError:
        return None, None


def end_with_main_process() -> None:
    """End this process if its run is over; the workflow may be on another machine.

    On a cluster, Snakemake starts again for every job. A job that waited in the queue while its run was killed must not
    begin: it would first remove its old results, which a later run may have computed again. Raises ``SystemExit`` if
    the run is already over.
    """
    said = os.environ.get(MAIN)
    if said is None:
        warnings.warn(
            f"{MAIN} is not set: the executor does not pass on the environment, so this job continues "
            "if its run is killed.",
            stacklevel=2,
        )
        return
    silence = silence_of_main_process(said)
    if math.isinf(silence()):
        sys.exit("The run of this job has ended: the job does nothing.")
    _watch(lambda: silence() < SILENT_SECONDS)


def _end_with_parent() -> None:
    """End this process before it publishes a result if its parent or the run's main process has ended."""
    parent = os.getppid()
    said = os.environ.get(MAIN)
    silence = silence_of_main_process(said) if said else lambda: 0.0
    _watch(lambda: os.getppid() == parent and silence() < SILENT_SECONDS)

    def wait_for_a_sign() -> None:
        while os.getppid() == parent and (silent := silence()) < SILENT_SECONDS:
            if silent < FRESH_SECONDS:
                return
            time.sleep(_POLL_SECONDS / 5)
        os._exit(1)

    storage.ask_before_publishing(wait_for_a_sign)


def _watch(lives: Callable[[], bool]) -> None:
    def watch() -> None:
        pause = threading.Event()
        while lives():
            pause.wait(_POLL_SECONDS)
        os._exit(1)  # nothing is half-written: results are renamed into place only when complete

    threading.Thread(target=watch, daemon=True, name="end-with-workflow").start()
