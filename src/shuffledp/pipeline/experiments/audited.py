"""Parts of the configuration that the audit depends on, as plain data with few imports."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from shuffledp.pipeline.experiments.grid import variables
from shuffledp.pipeline.experiments.job_parts import Job
from shuffledp.pipeline.experiments.sources import OWN
from shuffledp.pipeline.experiments.sources.user_file import with_domain
from shuffledp.protocols.registry import built_ins, is_plugin, module_path
from shuffledp.tasks import TASK_KINDS

#: Audit of protocols without experiment (1 or 0), claims per protocol and accounting (0: all), random settings per
#: protocol, and runs of each setting.
EFFORT: Final[Mapping[str, Mapping[str, int]]] = {
    "full": {"every": 1, "points": 0, "settings": 4, "runs": 1000},
    "quick": {"every": 0, "points": 1, "settings": 1, "runs": 60},
}
#: Families whose protocols have a job each, because each searches for designs of its noise.
SEARCHED: Final = ("correlated",)
_SEED = 1


def plan(job: Job) -> dict[str, Any]:
    """Return the parts of a built-in protocol's job that determine its claims, without variables of errors."""
    parts: dict[str, Any] = {"population": job.population, "budget": job.budget, "options": job.options}
    task = with_domain(job.task, job.data) if job.data["name"] == OWN else job.task
    parts["task"] = {k: v for k, v in task.items() if k not in ("truth", "metrics")}
    parts["split"] = job.data.get("split", "")
    used = variables(parts)
    grid = {name: values for name, values in job.grid.items() if name in used}
    return {
        "name": job.name,
        "protocol": job.protocol,
        "accounting": job.accounting,
        "grid": grid,
        **parts,
    }


@cache
def family(task_kind: str, name: str) -> str:
    """Return the private module with a built-in protocol's base class, or the protocol's name without one."""
    tree = ast.parse(module_path(task_kind, name).read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    bases = {base.id for node in classes for base in node.bases if isinstance(base, ast.Name)}
    beside = f"shuffledp.protocols.{task_kind}._"
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and bases & {alias.name for alias in node.names}:
            module = node.module or ""
            if module.startswith(beside):
                return module.removeprefix(beside)
    return name


def audit_shares(effort: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the (task kind, name) of the protocols in each audit job: one family, or one task in a quick run."""
    shares: dict[str, list[tuple[str, str]]] = {}
    for kind in TASK_KINDS:
        for name in built_ins(kind):
            group = family(kind, name)
            share = kind if effort == "quick" else f"{kind}_{name if group in SEARCHED else group}"
            shares.setdefault(share, []).append((kind, name))
    return {share: tuple(protocols) for share, protocols in shares.items()}


def audit_jobs(jobs: Iterable[Job], effort: str) -> dict[str, dict[str, Any]]:
    """Return the jobs of the audit by name, with all the data that they depend on.

    Functions and protocols outside this library are skipped, and so are files of the user whose domain is unknown
    before they are counted.
    """
    built_in_jobs = [job for job in jobs if job.protocol and not is_plugin(job.protocol) and _has_domain(job)]
    return {
        name: {
            "protocols": [list(protocol) for protocol in protocols],
            "methods": [plan(job) for job in built_in_jobs if (job.task["kind"], job.protocol) in protocols],
            "seed": _SEED,
            **EFFORT[effort],
        }
        for name, protocols in audit_shares(effort).items()
    }


def _has_domain(job: Job) -> bool:
    if job.data["name"] != OWN or job.task["kind"] == "summation":
        return True
    return "domain_size" in with_domain(job.task, job.data)
