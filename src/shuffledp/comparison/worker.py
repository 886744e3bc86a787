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

from shuffledp.comparison.comparing import Rows, failed_row, named, prepare_rows, repeat_best
from shuffledp.comparison.options import Options
from shuffledp.comparison.rows import Compared, in_order

Argument = TypeVar("Argument")
Result = TypeVar("Result")
#: Seconds between two reports of the progress.
_TICK = 0.1

# -- in the worker -------------------------------------------------------------------------------------------------

#: What all rows of this process share.
_rows: Rows


def _prepare(options: Options) -> int:
    """Prepare the rows in this process, and return its id."""
    global _rows
    os.dup2(2, 1)  # standard output is for results
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _rows = prepare_rows(options)
    return os.getpid()


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)


def _start_row(name: str) -> Compared | None:
    return _rows.start_row(name)


def _complete_row(row: Compared) -> Compared:
    return _rows.complete_row(row)


def _repeat_row(row: Compared) -> Compared:
    return _rows.repeat_row(row)


# -- in the main process -------------------------------------------------------------------------------------------


class _MissingResultError(Exception):
    """A call in the worker has no result; the text is the reason."""


class _Worker:
    """Worker process for one call after another; after a call without a result, the next call starts a new process."""

    def __init__(self, options: Options, seconds: float, waiting: Callable[[], None]) -> None:
        self._options, self._seconds, self._waiting = options, seconds, waiting
        self._pool: ProcessPoolExecutor | None = None
        self._pid = 0

    def start(self) -> ProcessPoolExecutor:
        """Start a process, and return its executor."""
        pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        try:
            self._pid = pool.submit(_prepare, self._options).result()
        except BrokenProcessPool:
            raise ValueError("The worker process ends, or is killed, before the first protocol.") from None
        self._pool = pool
        return pool

    def result(self, function: Callable[[Argument], Result], argument: Argument) -> Result:
        """Return the result of a function. Raise `_MissingResultError` after the limit, or if the process ends."""
        pool = self._pool or self.start()
        ends = time.monotonic() + self._seconds
        try:
            call = pool.submit(function, argument)
            while (remaining_seconds := ends - time.monotonic()) > 0:
                if wait([call], min(remaining_seconds, _TICK)).done:
                    return call.result()
                self._waiting()
        except BrokenProcessPool as error:
            self.end()
            unread = error.__cause__ is not None  # an error of this process that reads the result
            raise _MissingResultError(
                "Its result cannot be read." if unread else "Ends its process, or is killed."
            ) from None
        except Exception as error:  # the result cannot be sent
            raise _MissingResultError(f"{type(error).__name__}: {error}") from error
        self.end()
        raise _MissingResultError(f"Not finished within {self._seconds:g} s.")

    def end(self) -> None:
        """Kill the process."""
        pool, self._pool = self._pool, None
        if pool is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            pool.shutdown()


def compare_within(
    seconds: float,
    options: Options,
    begins: Callable[[int, int, str], None],
    waiting: Callable[[], None],
) -> tuple[tuple[Compared, ...], list[Compared]]:
    """Return the rows of `compare`, and the rows of protocols that cannot be imported or do not return.

    `seconds` limits the time of each protocol. `begins` is called before each protocol with its place, the number of
    protocols and its name, and `waiting` several times per second. Raises ValueError for wrong options.
    """
    worker = _Worker(options, seconds, waiting)
    assert options.task is not None  # the command names it
    task = options.task.kind
    started: list[Compared] = []
    rows: list[Compared] = []
    try:
        worker.start()  # which raises the errors of the options
        for name in named(task, options.protocols):
            try:
                row = worker.result(_start_row, name)
            except _MissingResultError as reason:
                row = failed_row(name, task, str(reason))
            started += [] if row is None else [row]
        failed = [row for row in started if row.status == "failed"]
        for place, row in enumerate(started):
            begins(place, len(started), row.protocol)
            try:
                rows.append(worker.result(_complete_row, row))
            except _MissingResultError as reason:
                rows.append(replace(row, status="failed", reason=str(reason)))
                failed.append(rows[-1])
        with contextlib.suppress(_MissingResultError):
            return repeat_best(in_order(rows), lambda row: worker.result(_repeat_row, row)), failed
    finally:
        worker.end()
    return in_order(rows), failed
