"""Jobs of the workflow as forks of one process that has imported what they need.

A Python process of its own spends more time on imports than most jobs compute. The parent of the forks is Python's own
fork server: one thread, started with the first job, ended with the main process.
"""

from __future__ import annotations

import atexit
import multiprocessing
import multiprocessing.forkserver
import os
import runpy
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import nullcontext
from functools import cache
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

from snakemake.benchmark import benchmarked

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
#: Keeps `multiprocessing` from looking for the end of a process in two threads at once: one of them would not find it.
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
    """Run a script in a fork; replaces the method of this name of `snakemake.script.PythonScript`.

    Parameters
    ----------
    script : snakemake.script.PythonScript
    path : str
        The script with the preamble of its job.
    edit : bool
        Ignored, as in the method.

    Raises
    ------
    subprocess.CalledProcessError
        If the script fails.
    """
    ready, begin = Pipe(duplex=False)
    folder = script.resources.get("tmpdir")
    with _LOCK:
        process = _context().Process(target=_run, args=(path, {"TMPDIR": folder} if folder else {}, ready))
        process.start()
    ready.close()
    with benchmarked(process.pid, script.bench_record) if script.bench_record else nullcontext():
        begin.send(None)  # now that it is measured
        wait([process.sentinel])
    begin.close()
    with _LOCK:
        process.join()
    if process.exitcode:
        raise subprocess.CalledProcessError(process.exitcode, [sys.executable, path])


def _run(path: str, environment: Mapping[str, str], ready: Connection) -> None:
    ready.recv()
    os.environ.update(environment)
    sys.argv = [path]
    if (name := Path("/proc/self/comm")).exists():
        name.write_text(Path(path).name.split(".")[1][:15], encoding="utf-8")  # for ps and top
    runpy.run_path(path, run_name="__main__")
