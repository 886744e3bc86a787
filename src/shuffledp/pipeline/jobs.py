"""Common setup of all jobs of the workflow: a log file, the planned code, and an end with the run.

With a storage provider of Snakemake the inputs of a job are local copies below a folder of their own, and its outputs
are uploaded from there. A job works in that folder, so that its relative paths do not change with the storage.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import json
import logging
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shuffledp import storage
from shuffledp.pipeline.code_keys import PlannedCode

#: Environment variable with the number of the run's main process, for jobs on the same machine.
MAIN = "SHUFFLEDP_MAIN_PROCESS"
#: Environment variable with the folder of the files of jobs, relative to the folder of the run.
FILES = "SHUFFLEDP_FILES"
#: Environment variable with the keys of the code that the run was planned with, for jobs that begin later.
PLANNED = "SHUFFLEDP_PLANNED_CODE"
_PR_SET_PDEATHSIG = 1
_run_folder = Path()


@dataclass(frozen=True)
class Job:
    """Log, inputs and outputs of a job; the paths are relative to the folder of its files."""

    log: logging.Logger
    input: Any
    output: Any


def end_with_main_process() -> None:
    """End this process if its run has ended; Linux also ends it together with its parent.

    A killed run does not end its scripts, and such a script could publish an outdated result. Nothing is half-written:
    results are renamed into place only when complete. On another machine the variable `MAIN` is not set.
    """
    with suppress(AttributeError, OSError):  # not Linux
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        os.kill(int(os.environ.get(MAIN, "0")), 0)  # signal 0 only asks whether the process is there
    except ProcessLookupError:
        os._exit(1)


@contextmanager
def job(log_file: str) -> Iterator[logging.Logger]:
    """Log to the rule's log file and the terminal in this context; a traceback goes to the file only."""
    end_with_main_process()
    begin = time.monotonic()
    # At Python's own threshold a tenth of a drawing's time goes into collections. No collection searches what is
    # imported, also not the one at the end, which takes a quarter of a short job's time.
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
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
        # Left by a user's class; Python would wait for their end.
        for child in multiprocessing.active_children():
            child.terminate()
        handlers[0].handle(
            logger.makeRecord(logger.name, logging.INFO, "", 0, _cost(time.monotonic() - begin), (), None)
        )
        logging.captureWarnings(False)
        logging.getLogger("py.warnings").removeHandler(handlers[0])
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()


def _cost(seconds: float) -> str:
    """Return the seconds, CPU seconds and memory of this process and its children, the last line of a log."""
    usages = [resource.getrusage(processes) for processes in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    memory = max(usage.ru_maxrss for usage in usages) / (2**20 if sys.platform == "darwin" else 1024)
    return f"{seconds:.2f} s, {cpu:.2f} CPU s, {memory:.0f} MiB"


def cost_of_job(log: str) -> tuple[float, float, float]:
    """Return the seconds, CPU seconds and MiB in the last line of a job's log."""
    seconds, cpu, memory = (float(part.split()[0]) for part in log.splitlines()[-1].split(", "))
    return seconds, cpu, memory


@contextmanager
def job_of(snakemake: Any) -> Iterator[Job]:
    """Run a script in the folder of its job's files, with a log as in `job`.

    Nothing is published after the end of the run, nor if the code is not the planned code.
    """
    global _run_folder
    with job(snakemake.log[0]) as logger:
        at_start = json.loads(os.environ.get(PLANNED, "{}"))
        planned = {name: at_start.get(name, key) for name, key in snakemake.params.get("code", {}).items()}
        code = PlannedCode(planned, Path(snakemake.params.get("root", ".")))
        code.check()

        def check() -> None:
            end_with_main_process()
            code.check()

        storage.ask_before_publishing(check)
        folder, start = Path(os.environ.get(FILES, ".")), Path.cwd()
        inside = {
            name: type(files)(toclone=files, custom_map=lambda file: os.path.relpath(file, folder))
            for name, files in (("input", snakemake.input), ("output", snakemake.output))
        }
        folder.mkdir(parents=True, exist_ok=True)
        os.chdir(folder)
        _run_folder = Path(os.path.relpath(start))
        try:
            yield Job(logger, inside["input"], inside["output"])
        finally:
            os.chdir(start)
            _run_folder = Path()


def source(name: str | Path) -> Path:
    """Return the path, from a job's folder, of a file that no storage provider copies, such as a caption."""
    return _run_folder / name
