"""Trials of a protocol: calibration and simulation at the smallest cells of its task's experiments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from shuffledp.pipeline.config.settings import Experiment, Method, Settings
from shuffledp.pipeline.experiments import runner
from shuffledp.pipeline.experiments.job_parts import Job, population_from, task_from
from shuffledp.pipeline.experiments.seeds import canonical_json
from shuffledp.pipeline.experiments.sources import OWN
from shuffledp.pipeline.experiments.sources.user_file import completed, files_of
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.plugin_errors import format_error

REPEATS = 2


@dataclass(frozen=True)
class Trial:
    """Outcome of one cell; not tried without a common accounting or without prepared data."""

    where: str
    status: str
    note: str

    def __str__(self) -> str:
        return f"{self.where}: {self.status}, {self.note}"


def trials(
    protocol: type[ProtocolBase], name: str, settings: Settings, *, prepared: Path, root: Path
) -> Iterator[Trial]:
    """Run the smallest cell of every experiment of the protocol's task, with two repeats."""
    for paper in settings.papers.values():
        for experiment in paper.experiments.values():
            if experiment.task and experiment.task.kind == protocol.task_kind and experiment.budget:
                yield _trial(protocol, name, experiment, settings.seed, prepared, root)


def _trial(
    protocol: type[ProtocolBase], name: str, experiment: Experiment, seed: int, prepared: Path, root: Path
) -> Trial:
    where = f"{experiment.paper}.{experiment.id}"
    shared = tuple(a for a in experiment.accounting if a in protocol.accountings)
    if not shared:
        offered = ", ".join(experiment.accounting)
        return Trial(where, "not tried", f"it is run under {offered}, which the class does not offer")
    data = experiment.dataset
    if data is not None and not list(prepared.glob(f"{data}*")):
        return Trial(where, "not tried", f"the data are not here: run `shuffledp data {data}` first")
    if any(not p.is_file() for key in experiment.own_requests for p in files_of(prepared, key)):
        return Trial(where, "not tried", "its file is not counted yet: run the pipeline first")
    method = Method.model_construct(id="tried", protocol=name, accounting=shared[-1:])
    alone = experiment.model_copy(update={"methods": {"tried": method}, "repeats": REPEATS})
    job = alone.job("tried", seed)
    points = [point for point, _ in job.cells()]
    places = job.simulated_at.items()  # elsewhere there are closed forms alone
    points_in_figures = [point for point in points if all(point[name] in values for name, values in places)]
    point = min(points_in_figures or points, key=lambda candidate: _size(job, candidate, prepared))
    where = f"{where} at {canonical_json(point)} ({shared[-1]})" if point else f"{where} ({shared[-1]})"
    small = replace(job, grid={variable: [value] for variable, value in point.items()})
    try:
        result = runner.run(small, prepared=prepared, root=root)
    except (Exception, SystemExit) as error:  # whatever a class of the user's does
        return Trial(where, "failed", format_error(error, name.rpartition(":")[0]))
    cell = result.cells.to_pylist()[0]
    if cell["status"] != "ok":
        return Trial(where, str(cell["status"]), str(cell["reason"]))
    rows = [row for row in result.values.to_pylist() if row["kind"] == "simulated"]
    errors = {m: np.mean([r["value"] for r in rows if r["metric"] == m]) for m in {r["metric"] for r in rows}}
    error_texts = ", ".join(f"{metric} {value:.3g}" for metric, value in sorted(errors.items()))
    return Trial(where, "ok", error_texts or "calibrated; nothing is drawn in this experiment")


def _size(job: Job, point: Mapping[str, Any], prepared: Path) -> float:
    parts = job.resolve_point(point)
    task = parts["task"]
    if parts["data"]["name"] == OWN:
        task, _ = completed(task, parts["data"], prepared)
    return (1 + population_from(parts["population"]).mean) * int(np.prod(task_from(task).counts_shape))
