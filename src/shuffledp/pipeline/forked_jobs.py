"""Jobs of the workflow as forks of Python's fork server, which has already imported the modules of jobs."""

from __future__ import annotations

import atexit
import multiprocessing
import multiprocessing.forkserver
import os
import resource
import runpy
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from functools import cache
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
#: Lock that prevents two threads of `multiprocessing` from waiting for the same process: only one would see its end.
_LOCK = threading.Lock()


@cache
def _context() -> ForkServerContext:
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    # The main process waits for its end, so that the CPU seconds of all jobs count to the run's.
    atexit.register(multiprocessing.forkserver._forkserver._stop)  # type: ignore[attr-defined]
    context = multiprocessing.get_context("forkserver")
    # Each fork runs the file of the main process's command, which imports Snakemake's.
    context.set_forkserver_preload(["snakemake.cli", "shuffledp.pipeline.preloaded"])
    return context


def execute_script(script: Any, path: str, edit: bool = False) -> None:
    """Run a script in a fork; this function replaces the method of `snakemake.script.PythonScript`."""
    told, tell = Pipe(duplex=False)
    folder = script.resources.get("tmpdir")
    began = time.monotonic()
    with _LOCK:
        process = _context().Process(target=_run, args=(path, {"TMPDIR": folder} if folder else {}, tell))
        process.start()
    tell.close()
    wait([process.sentinel])
    with _LOCK:
        process.join()
    if process.exitcode:
        raise subprocess.CalledProcessError(process.exitcode, [sys.executable, path])
    if (
        record := script.bench_record
    ):  # exact, and at no cost: Snakemake's own looks at the process twice a second
        record.running_time = time.monotonic() - began
        record.cpu_time, record.max_rss = told.recv()
        record.cpu_usage, record.data_collected = 100 * record.cpu_time, True


def _run(path: str, environment: Mapping[str, str], tell: Connection) -> None:
    os.environ.update(environment)
    sys.argv = [path]
    if (name := Path("/proc/self/comm")).exists():
        name.write_text(Path(path).name.split(".")[1][:15], encoding="utf-8")  # for ps and top
    try:
        runpy.run_path(path, run_name="__main__")
    finally:
        own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        unit = 1 if sys.platform == "darwin" else 1024  # bytes of ru_maxrss
        tell.send((sum(own[:2]) + sum(children[:2]), own.ru_maxrss * unit / 2**20))
