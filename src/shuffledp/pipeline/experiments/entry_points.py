"""Modules that a method's job imports by name, which source code does not show."""

from __future__ import annotations

from pathlib import Path

from shuffledp.lazy_api import homes
from shuffledp.pipeline.experiments.job_parts import Job
from shuffledp.pipeline.experiments.runner import kind_of
from shuffledp.pipeline.experiments.sources import module_of
from shuffledp.pipeline.rerun_digests.digest import Entry
from shuffledp.protocols.registry import module_path


def entries(job: Job, root: Path) -> tuple[Entry, ...]:
    """Return the modules and files that a job loads by name, in addition to the runner's imports."""
    if not job["protocol"]:
        return kind_of(job), homes("shuffledp.accounting")[str(job["function"])][0]
    kind = job["task"]["kind"]
    return kind_of(job), module_of(kind, job["data"]["name"]), module_path(kind, job["protocol"], root=root)
