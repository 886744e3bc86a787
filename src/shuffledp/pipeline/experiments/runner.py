"""Runner of a job: all cells of an (experiment, method) in one process, vectorized over repeats."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from shuffledp.accounting.errors import Infeasible
from shuffledp.pipeline.experiments.bundle import CELLS, VALUES, table
from shuffledp.pipeline.experiments.cell_work import Row, Work
from shuffledp.pipeline.experiments.job_parts import Job
from shuffledp.pipeline.experiments.seeds import canonical_json, digest

log = logging.getLogger(__name__)


def kind_of(job: Job) -> str:
    """Return the module that runs this kind of job; modules of other kinds are not imported."""
    if job.protocol:
        return "shuffledp.pipeline.experiments.simulated"
    return (
        "shuffledp.pipeline.experiments.accuracy"
        if job.training
        else "shuffledp.pipeline.experiments.computed"
    )


@dataclass(frozen=True)
class JobResult:
    """Tables of one job, with the source and the notes of its data."""

    cells: pa.Table
    values: pa.Table
    data_source: str
    data_note: str
    data_details: Mapping[str, Any] = field(default_factory=dict)


def run(
    job: Job, *, prepared: Path, root: Path, results: Path | None = None, every: float = 5.0
) -> JobResult:
    """Run all cells of one method in one experiment, and report progress about every ``every`` seconds."""
    work: Work = import_module(kind_of(job)).work(job, prepared, root, results)
    offered = work.accountings
    pairs = [(p, a) for p, a in job.cells() if a in offered]
    cells: list[Row] = []
    values: list[Row] = []
    spoken = started = time.monotonic()
    for place, (point, accounting) in enumerate(pairs):
        cell, rows = _cell(work, point, accounting)
        cells.append(cell)
        values += rows
        if time.monotonic() - spoken >= every:
            spoken = time.monotonic()
            remaining_seconds = (spoken - started) / (place + 1) * (len(pairs) - place - 1)
            log.info(
                "%s: %d of %d cells, about %.0f s left", job.name, place + 1, len(pairs), remaining_seconds
            )
    log.info("%s: %d cells in %.1f s", job.name, len(pairs), time.monotonic() - started)
    cells.sort(key=lambda c: (c["point"], c["accounting"]))
    order = {c["cell"]: i for i, c in enumerate(cells)}
    values.sort(key=lambda v: (order[v["cell"]], v["metric"], v["kind"], v["repeat"]))
    source, note = work.data
    return JobResult(table(cells, CELLS), table(values, VALUES), source, note, work.details)


def _cell(work: Work, point: Mapping[str, Any], accounting: str) -> tuple[Row, list[Row]]:
    job = work.job
    resolved = job.resolve_point(point)
    key = {"seed": job.seed, "job": job.name, "accounting": accounting, "point": point, **resolved}
    cell: Row = dict.fromkeys(CELLS.names)
    cell |= {
        "cell": digest({**key, "repeats": job.repeats})[:20],
        "paper": job.paper,
        "experiment": job.experiment,
        "method": job.method,
        "accounting": accounting,
        "point": canonical_json(point),
        "status": "ok",
    }
    try:
        described, rows = work.cell(point, accounting, resolved)
    except Infeasible as error:
        described, rows = {"status": "infeasible", "reason": error.reason}, []
    return cell | work.labels() | described, [{"cell": cell["cell"], **row} for row in rows]
