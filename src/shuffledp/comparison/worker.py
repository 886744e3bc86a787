"""Rows of a comparison, computed in a worker process with a time limit for each protocol.

A protocol of the user may hang or end its process. Its row then has the status ``failed``, and a new worker process
continues with the next protocol.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context, parent_process
from typing import TypeVar

from shuffledp.comparison.comparing import Rows, lost, prepared
from shuffledp.comparison.options import Options
from shuffledp.comparison.rows import Compared, in_order

Argument = TypeVar("Argument")
Result = TypeVar("Result")
#: Seconds between two reports of the progress.
_TICK = 0.1

# -- in the worker -------------------------------------------------------------------------------------------------

#: What all rows of this process share.
_rows: Rows


def _prepare(asked: Options) -> tuple[int, str, tuple[str, ...]]:
    """Prepare this process; return its id, the task, and the names of the protocols."""
    global _rows
    os.dup2(2, 1)  # standard output is for results
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _rows = prepared(asked)
    return os.getpid(), _rows.where.task.kind, _rows.names


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)


def _begun(name: str) -> Compared | None:
    return _rows.begun(name)


def _measured(row: Compared) -> Compared:
    return _rows.measured(row)


# -- in the main process -------------------------------------------------------------------------------------------


class _Lost(Exception):  # noqa: N818  (a reason, not an error)
    """A call in the worker has no result; the text is the reason."""


class _Worker:
    """Worker process for one call after another; after a lost call, the next call starts a new process."""

    def __init__(self, asked: Options, seconds: float, waiting: Callable[[], None]) -> None:
        self._asked, self._seconds, self._waiting = asked, seconds, waiting
        self._pool: ProcessPoolExecutor | None = None
        self._pid = 0

    def start(self) -> tuple[ProcessPoolExecutor, str, tuple[str, ...]]:
        """Start a process; return its executor, the task, and the names of the protocols."""
        pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        try:
            self._pid, task, names = pool.submit(_prepare, self._asked).result()
        except BrokenProcessPool:
            raise ValueError("The worker process ends, or is killed, before the first protocol.") from None
        self._pool = pool
        return pool, task, names

    def result(self, function: Callable[[Argument], Result], argument: Argument) -> Result:
        """Return the result of a function. Raise `_Lost` after the limit, or if the process ends."""
        pool = self._pool or self.start()[0]
        ends = time.monotonic() + self._seconds
        try:
            call = pool.submit(function, argument)
            while (left := ends - time.monotonic()) > 0:
                if wait([call], min(left, _TICK)).done:
                    return call.result()
                self._waiting()
        except BrokenProcessPool:
            self.end()
            raise _Lost("Ends its process, or is killed.") from None
        except Exception as error:  # the result cannot be sent
            raise _Lost(f"{type(error).__name__}: {error}") from error
        self.end()
        raise _Lost(f"Not finished within {self._seconds:g} s.")

    def end(self) -> None:
        """Kill the process."""
        pool, self._pool = self._pool, None
        if pool is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            pool.shutdown()


def compared_within(
    seconds: float,
    asked: Options,
    begins: Callable[[int, int, str], None],
    waiting: Callable[[], None],
) -> tuple[tuple[Compared, ...], list[Compared]]:
    """Return the rows of `compare`, and the rows of protocols that cannot be imported or do not return.

    `seconds` limits the time of each protocol. `begins` is called before each protocol with its place, the number of
    protocols and its name, and `waiting` several times per second. Raises ValueError for wrong options.
    """
    worker = _Worker(asked, seconds, waiting)
    begun: list[Compared] = []
    rows: list[Compared] = []
    try:
        _, task, names = worker.start()
        for name in names:
            try:
                row = worker.result(_begun, name)
            except _Lost as reason:
                row = lost(name, task, str(reason))
            begun += [] if row is None else [row]
        failed = [row for row in begun if row.status == "failed"]
        for place, row in enumerate(begun):
            begins(place, len(begun), row.protocol)
            try:
                rows.append(worker.result(_measured, row))
            except _Lost as reason:
                rows.append(replace(row, status="failed", reason=str(reason)))
                failed.append(rows[-1])
    finally:
        worker.end()
    return in_order(rows), failed
