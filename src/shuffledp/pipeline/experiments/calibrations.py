"""Calibrations that several jobs of a run need, such as an experiment and its audit, computed once.

The folder belongs to one run of the workflow on one machine and is removed with it, so that no code changes while it is
in use. Without the folder every job calibrates for itself, with the same results.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from shuffledp.accounting.errors import Infeasible
from shuffledp.pipeline.experiments.seeds import canonical_json
from shuffledp.populations.base import Population
from shuffledp.protocols.base import ProtocolBase
from shuffledp.storage import write_atomically
from shuffledp.tasks import Budget, Task

#: Environment variable in which the main process names the folder.
FOLDER = "SHUFFLEDP_CALIBRATIONS"
#: CPU seconds of the fastest calibration that is stored: reading one takes a tenth of it.
LEAST_SECONDS = 0.01
_PREFIX = "calibrations."


def share_calibrations(beside: Path) -> None:
    """Remove old folders below `beside` and make a folder for this run, which is removed when the process ends."""
    for leftover in beside.glob(f"{_PREFIX}*"):
        shutil.rmtree(leftover)
    folder = Path(mkdtemp(prefix=_PREFIX, dir=beside)).absolute()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ[FOLDER] = str(folder)


def calibrated(
    protocol: type[ProtocolBase],
    budget: Budget,
    population: Population,
    task: Task,
    accounting: str,
    options: Mapping[str, Any],
) -> ProtocolBase:
    """Return the calibrated protocol, read from the folder if it is there; raises the errors of its ``calibrate``."""
    folder = os.environ.get(FOLDER)
    if folder is None or not protocol.__module__.startswith("shuffledp."):
        return protocol.calibrated(budget, population, task, accounting=accounting, **options)
    request = [protocol.__module__, protocol.__qualname__, *map(repr, (budget, population, task)), accounting]
    path = Path(folder) / hashlib.sha256(canonical_json([*request, options]).encode()).hexdigest()
    outcome: ProtocolBase | Infeasible
    if path.is_file():
        outcome = pickle.loads(path.read_bytes())
    else:
        started = time.process_time()
        try:
            outcome = protocol.calibrated(budget, population, task, accounting=accounting, **options)
        except Infeasible as reason:
            outcome = reason
        if time.process_time() - started >= LEAST_SECONDS:
            write_atomically(path, pickle.dumps(outcome))
    if isinstance(outcome, Infeasible):
        raise outcome
    return outcome
