"""The one runner: a job is plain data, its result the two tables.

All cells of one (experiment, method) run in one process, vectorised over repeats. Nothing here knows a protocol, a
paper or a figure.
"""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import shuffledp.accounting
from shuffledp.accounting import Infeasible
from shuffledp.experiments.grid import cells_of, resolve
from shuffledp.experiments.participants import (
    LastDraw,
    Typical,
    budget_from,
    participants,
    population_from,
    task_from,
    typical,
)
from shuffledp.experiments.results import CELLS, VALUES, table
from shuffledp.experiments.seeds import canonical_json, digest, generator
from shuffledp.experiments.sources import Source, source_from
from shuffledp.experiments.training import Trained, TrainingFiles
from shuffledp.experiments.training import read as read_training
from shuffledp.populations import Law
from shuffledp.protocols import ProtocolBase, get
from shuffledp.tasks import ABSOLUTE_METRICS, METRICS, Participants, Public, Task, expected_metric

log = logging.getLogger(__name__)
Row = dict[str, Any]


@dataclass
class _Inputs:
    """Data of a job, loaded once, and the participants of the grid point at hand, who serve several cells in a row."""

    prepared: Path
    trained: Trained | None = None
    sources: dict[str, Source] = field(default_factory=dict)
    _last: LastDraw = field(default_factory=LastDraw)
    _drawn: tuple[Source, str, Participants] | None = None

    def source(self, config: Mapping[str, Any], task: Task) -> Source:
        """The data of a configuration for a task."""
        key = canonical_json([config, repr(task)])
        if key not in self.sources:
            self.sources[key] = source_from(config, task, self.prepared)
        return self.sources[key]

    def participants(self, task: Task, source: Source, law: Law, **how: Any) -> Participants:
        """Participants as `participants` draws them; those of the last call are kept."""
        key = canonical_json([repr(law), how])
        if self._drawn is None or self._drawn[0] is not source or self._drawn[1] != key:
            self._drawn = None  # the old ones are not needed any more
            self._drawn = (source, key, participants(task, source, law, **how, last=self._last))
        return self._drawn[2]


@dataclass(frozen=True)
class JobResult:
    """Tables of one job and what is known about the data it used."""

    cells: pa.Table
    values: pa.Table
    data_source: str
    data_note: str


def run(
    job: Mapping[str, Any], *, prepared: Path, root: Path, results: Path | None = None, every: float = 5.0
) -> JobResult:
    """Run all cells of one method of one experiment.

    Parameters
    ----------
    job : mapping
        As `Experiment.job` makes it.
    prepared : Path
        Folder of the prepared data sets.
    root : Path
        Folder that plug-in paths start from.
    results : Path, optional
        Folder of results, where a method with training finds its curve.
    every : float
        Seconds between two lines of progress.
    """
    pairs = [(p, a) for p, a in cells_of(job) if a in _accountings(job, root)]
    cells: list[Row] = []
    values: list[Row] = []
    inputs = _Inputs(prepared, _trained(job, results))
    spoken = started = time.monotonic()
    for done, (point, accounting) in enumerate(pairs):
        cell, rows = _cell(job, point, accounting, root, inputs)
        cells.append(cell)
        values += rows
        if time.monotonic() - spoken >= every:
            spoken = time.monotonic()
            left = (spoken - started) / (done + 1) * (len(pairs) - done - 1)
            log.info("%s: %d of %d cells, about %.0f s left", name_of(job), done + 1, len(pairs), left)
    log.info("%s: %d cells in %.1f s", name_of(job), len(pairs), time.monotonic() - started)
    cells.sort(key=lambda c: (c["point"], c["accounting"]))
    order = {c["cell"]: i for i, c in enumerate(cells)}
    values.sort(key=lambda v: (order[v["cell"]], v["metric"], v["kind"], v["repeat"]))
    used = inputs.trained or next(iter(inputs.sources.values()), None)
    without = job.get("training", {}).get("left_out")
    return JobResult(
        table(cells, CELLS),
        table(values, VALUES),
        used.data_source if used else "none",
        f"Training is left out ({without}): there is no accuracy." if without else used.note if used else "",
    )


def _trained(job: Mapping[str, Any], results: Path | None) -> Trained | None:
    """The training run of a job, if it has one that took place."""
    if "training" not in job or job["training"]["left_out"]:
        return None
    if results is None:
        raise ValueError(f"{name_of(job)}: training is read from the folder of results, which is not given.")
    return read_training(TrainingFiles.of(results, job["paper"], job["training"]["run"]))


def name_of(job: Mapping[str, Any]) -> str:
    """``paper.experiment.method``, as progress lines show it."""
    return f"{job['paper']}.{job['experiment']}.{job['method']}"


def _protocol(job: Mapping[str, Any], root: Path) -> type[ProtocolBase]:
    return get(job["task"]["kind"], job["protocol"], root=root)


def _accountings(job: Mapping[str, Any], root: Path) -> tuple[str, ...]:
    """The accountings that apply; a function without such an argument gives the same curve under each."""
    return _protocol(job, root).accountings if job["protocol"] else tuple(job["accounting"])


def _function(job: Mapping[str, Any]) -> Any:
    return getattr(shuffledp.accounting, job["function"])


def _cell(
    job: Mapping[str, Any],
    point: Mapping[str, Any],
    accounting: str,
    root: Path,
    inputs: _Inputs,
) -> tuple[Row, list[Row]]:
    parts = ("task", "data", "population", "budget", "options", "arguments")
    resolved = resolve({part: job[part] for part in parts if part in job}, point)
    key = {"seed": job["seed"], "job": name_of(job), "accounting": accounting, "point": point, **resolved}
    cell: Row = dict.fromkeys(CELLS.names)
    cell |= {
        "cell": digest({**key, "repeats": job["repeats"]})[:20],
        "paper": job["paper"],
        "experiment": job["experiment"],
        "method": job["method"],
        "accounting": accounting,
        "point": canonical_json(point),
        "status": "ok",
    }
    run_one = _run_protocol if job["protocol"] else _run_function
    try:
        described, rows = run_one(job, point, accounting, resolved, root, inputs)
    except Infeasible as error:
        described, rows = {"status": "infeasible", "reason": error.reason}, []
    return cell | _labels(job, root) | described, [{"cell": cell["cell"], **row} for row in rows]


def _labels(job: Mapping[str, Any], root: Path) -> Row:
    if not job["protocol"]:
        return {"label": job["method"], "protocol": job["function"]}
    found = _protocol(job, root)
    return {
        "label": found.label,
        "protocol": found.name,
        "task": found.task_kind,
        "reduction": found.reduction,
        "guarantee": found.guarantee,
        "dataset": job["data"]["name"],
        "eps": None,
    }


def _run_function(
    job: Mapping[str, Any],
    point: Mapping[str, Any],
    accounting: str,
    resolved: Mapping[str, Any],
    root: Path,
    inputs: _Inputs,
) -> tuple[Row, list[Row]]:
    """A curve without simulation: one number per cell, and the accuracy of the round where a run was trained."""
    function = _function(job)
    arguments = dict(resolved["arguments"])
    if "population" in arguments:
        arguments["population"] = population_from(arguments["population"])
    if "accounting" in inspect.signature(function).parameters:
        arguments["accounting"] = accounting
    value = float(function(**arguments))
    rows = [{"metric": job["returns"], "kind": "computed", "repeat": 0, "value": value}]
    known: Row = {k: float(arguments[k]) for k in ("eps_local", "delta") if k in arguments}
    if job["returns"] == "eps":
        known["eps"] = value
    if inputs.trained is not None:
        known |= {"dataset": inputs.trained.data, "data_source": inputs.trained.data_source}
        accuracy = inputs.trained.accuracy[point[job["training"]["round"]]]
        rows.append({"metric": "accuracy", "kind": "simulated", "repeat": 0, "value": accuracy})
    return known | {"parameters": canonical_json({})}, rows


def _run_protocol(
    job: Mapping[str, Any],
    point: Mapping[str, Any],
    accounting: str,
    resolved: Mapping[str, Any],
    root: Path,
    inputs: _Inputs,
) -> tuple[Row, list[Row]]:
    """Calibrate, simulate all repeats, and add the closed-form expectation where there is one."""
    task, law = task_from(resolved["task"]), population_from(resolved["population"])
    source = inputs.source(resolved["data"], task)
    budget = budget_from(resolved["budget"], law)
    known: Row = {
        "data_source": source.data_source,
        "users_expected": 1 + law.mean,
        "domain_size": float(task.counts_shape[-1]),
        "eps": budget.largest_eps,
        "delta": budget.delta,
    }
    try:
        protocol = _protocol(job, root).calibrate(
            budget, law, task, accounting=accounting, **resolved["options"]
        )
    except Infeasible as error:
        return known | {"status": "infeasible", "reason": error.reason}, []
    if not isinstance(law, Law):
        raise ValueError(
            f"{name_of(job)}: {law!r} only bounds the number of users; a simulation needs a law."
        )
    truth = resolved["task"].get("truth", "participants")
    support = typical(task, source, law, truth=truth)
    usual = protocol if support is None else protocol.refine(_most_likely(support))
    cost, parameters = usual.cost(), usual.parameters()
    known |= {
        "eps_local": parameters.get("eps_local"),
        "parameters": canonical_json(parameters),
        "messages_per_user": cost.messages_per_user,
        "extra_messages": cost.extra_messages,
        "bits_per_message": cost.bits_per_message,
        "bits_per_user": cost.bits_per_user,
        "shuffler_messages": cost.shuffler_messages,
    }
    metrics = resolved["task"].get("metrics", [task.default_metric])
    rows = list(_expected(protocol, support, truth, metrics))
    if source.drawable:
        who = inputs.participants(task, source, law, repeats=job["repeats"], seed=job["seed"], truth=truth)
        rng = generator(
            job["seed"], "mechanism", job["paper"], job["experiment"], job["method"], accounting, point
        )
        estimate = protocol.simulate(who, rng)
        for metric in metrics:
            errors = METRICS[metric](estimate, who.truth)
            rows += [
                {"metric": metric, "kind": "simulated", "repeat": r, "value": float(e)}
                for r, e in enumerate(errors)
            ]
    return known, rows


def _most_likely(support: Typical) -> Public:
    """What the server expects to be told in a public first round."""
    return support.participants.public.of_repeat(int(np.argmax(support.weights)))


def _expected(
    protocol: ProtocolBase, support: Typical | None, truth: str, metrics: list[str]
) -> Iterator[Row]:
    if support is None or (protocol.biased and truth != "participants"):
        return  # the bias and the error of sampling do not simply add up
    counts = support.participants.counts
    if protocol.biased and not np.all(counts == np.floor(counts)):
        return  # the error is no linear function of the counts: their expectation says nothing, nor do unknown ones
    variance = protocol.expectation("squared_error", support.participants)
    if variance is None:
        return
    absolute = protocol.expectation("absolute_error", support.participants)
    for metric in metrics:
        if protocol.biased and metric in ABSOLUTE_METRICS and absolute is None:
            continue  # not normal around the truth: no closed form
        if absolute is None or metric not in ABSOLUTE_METRICS:
            errors = expected_metric(metric, variance + support.sampling_variance)
        elif truth == "participants":
            errors = absolute.reshape(len(absolute), -1).sum(axis=1)
        else:
            continue  # neither normal nor alone: no closed form
        yield {
            "metric": metric,
            "kind": "expected",
            "repeat": 0,
            "value": float(np.dot(support.weights, errors)),
        }
