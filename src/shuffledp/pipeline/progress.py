"""Progress of a run: a line after each part, with the number of finished parts, name, time and remaining time."""

from __future__ import annotations

import csv
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

#: Unprinted messages of Snakemake: its own lines for jobs, each pass of its scheduler, and each copy of a file.
_SILENT = ("JOB_STARTED", "JOB_FINISHED")
_UNPRINTED = (
    *("Select jobs to execute...", "Storing in storage:", "Retrieving from storage:"),
    *("Removing local copy of storage file:", "Finished upload.", "Finished download."),
)
_STORED = " (send to storage)"
#: Remaining seconds up to which the remaining time is printed in seconds.
_SHORT = 90


def seconds_before(benchmark: Path) -> float | None:
    """Return the seconds that a job took in an earlier run, from Snakemake's file; None without the file."""
    try:
        rows = list(csv.DictReader(benchmark.read_text(encoding="utf-8").splitlines(), delimiter="\t"))
        return float(rows[-1]["s"])
    except (OSError, IndexError, KeyError, ValueError):
        return None


class Progress(logging.Filter):
    """Progress of a run, from the records of Snakemake's logger and the times of jobs in an earlier run."""

    def __init__(
        self,
        before: Mapping[int, float | None],
        folders: tuple[str, ...],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        known = [seconds for seconds in before.values() if seconds is not None]
        usual = sum(known) / len(known) if known else 1.0
        self._left = {job: usual if seconds is None else seconds for job, seconds in before.items()}
        self._folders, self._now, self._start = folders, now, now()
        self._begun: dict[int, tuple[str, float]] = {}
        self._last, self._done = "", 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        """Note a job's start or end; return False for records that a progress line replaces."""
        event = getattr(getattr(record, "event", None), "name", "")
        told = vars(record)
        if event == "JOB_INFO":
            self._begun[told["jobid"]] = self._name(told), self._now()
        if event == "JOB_FINISHED":
            name, begun = self._begun.get(told["job_id"], ("", self._now()))
            self._last = f"{name} {self._now() - begun:.1f} s"
            self._done += self._left.pop(told["job_id"], 0.0)
        return event not in _SILENT and not str(record.msg).startswith(_UNPRINTED)

    def _name(self, told: Mapping[str, Any]) -> str:
        if not told["log"]:
            return str(told["rule_name"])
        name = str(told["log"][0]).removesuffix(_STORED)
        for folder in self._folders:
            name = name.removeprefix(f"{folder}/")
        return name.removesuffix(".log")

    def line(self, told: Mapping[str, Any]) -> str:
        """Return the progress line after the last finished part, with Snakemake's counts."""
        text = f"{told['done']} of {told['total']} done, {self._last}"
        if told["done"] >= told["total"] or not self._done:
            return text
        left = (self._now() - self._start) * sum(self._left.values()) / self._done
        return f"{text}, about {_in_words(left)} left"


def _in_words(seconds: float) -> str:
    return f"{max(10 * round(seconds / 10), 10)} s" if seconds < _SHORT else f"{round(seconds / 60)} min"


def show(logger: logging.Logger, progress: Progress) -> None:
    """Print progress lines on the terminal; Snakemake's handler prints all other records."""
    for handler in logger.handlers:
        if handler.name == "DefaultStreamHandler":
            handler.filters.insert(0, progress)  # before the one that leaves out the start of a job
            setattr(handler.formatter, "format_progress", progress.line)  # noqa: B010  (one of Snakemake's class)
