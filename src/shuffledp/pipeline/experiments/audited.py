"""What of the configuration the audit depends on, as plain data: light enough to be asked while a workflow is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from shuffledp.pipeline.experiments.grid import variables
from shuffledp.pipeline.experiments.job_parts import name_of
from shuffledp.pipeline.experiments.sources import OWN
from shuffledp.pipeline.experiments.sources.user_file import with_domain
from shuffledp.protocols.registry import available, is_plugin, module_path
from shuffledp.tasks import TASK_KINDS

SHARES: Final[Mapping[str, tuple[str, ...]]] = {
    "frequency": ("frequency",),
    "other_tasks": tuple(kind for kind in TASK_KINDS if kind != "frequency"),
}
"""Jobs of about the same size, by name, and the tasks that each of them audits."""
EFFORT: Final[Mapping[str, Mapping[str, int]]] = {
    "full": {"every": 1, "points": 0, "settings": 4, "runs": 1000},
    "quick": {"every": 0, "points": 1, "settings": 1, "runs": 60},
}
"""Whether protocols are audited that no experiment of the run has, claims of experiments per protocol and accounting
(0: all of them), random settings per protocol, runs of each."""
_SEED = 1


def plan(job: Mapping[str, Any]) -> dict[str, Any]:
    """What of the job of a method its claims depend on; grid variables that only errors depend on are left out.

    Parameters
    ----------
    job : mapping
        As `Experiment.job` makes it, of a method with a built-in protocol.
    """
    said = {part: job[part] for part in ("population", "budget", "options")}
    task = with_domain(job["task"], job["data"]) if job["data"]["name"] == OWN else job["task"]
    said["task"] = {k: v for k, v in task.items() if k not in ("truth", "metrics")}
    said["split"] = job["data"].get("split", "")
    used = variables(said)
    grid = {name: values for name, values in job["grid"].items() if name in used}
    return {
        "name": name_of(job),
        "protocol": job["protocol"],
        "accounting": job["accounting"],
        "grid": grid,
        **said,
    }


def audit_jobs(jobs: Iterable[Mapping[str, Any]], effort: str) -> dict[str, dict[str, Any]]:
    """The jobs of the audit, everything they depend on but code.

    Parameters
    ----------
    jobs : iterable of mapping
        Of the methods of all experiments, as `Experiment.job` makes them. Passed over are functions, plug-ins, and
        methods on a file of the user's own in which the domain is only found when it is counted.
    effort : {"full", "quick"}
        See `EFFORT`.

    Returns
    -------
    dict
        By name, as `shuffledp.pipeline.audit.table.lines_of` takes them.
    """
    own = [job for job in jobs if job["protocol"] and not is_plugin(job["protocol"]) and _has_domain(job)]
    return {
        name: {
            "tasks": list(kinds),
            "methods": [plan(job) for job in own if job["task"]["kind"] in kinds],
            "seed": _SEED,
            **EFFORT[effort],
        }
        for name, kinds in SHARES.items()
    }


def _has_domain(job: Mapping[str, Any]) -> bool:
    """Whether the domain of a method's task is known before any data are read."""
    if job["data"]["name"] != OWN or job["task"]["kind"] == "summation":
        return True
    return "domain_size" in with_domain(job["task"], job["data"])


def audit_entries(share: str) -> tuple[Path, ...]:
    """Files of all protocols that a job of the audit loads by name."""
    return tuple(module_path(kind, name) for kind in SHARES[share] for name in available(kind))
