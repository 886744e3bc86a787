"""Reference results as files: tables as CSV, which can be compared line by line, and the environment of the run.

``reference/<paper>/<experiment>.csv`` and ``reference/<paper>/training/<run>.csv`` have the rows. ``jobs.csv`` has one
line per method with seed, repeats, data and the digests of the result files, and ``manifest.json`` machine, versions,
commits and settings of training. ``overall/`` has the tables of the pictures over all papers, from which smaller runs
draw these pictures. ``reference.sha256`` lists all files.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any

from shuffledp.pipeline.reference.snapshot import COLUMNS, CURVE, Key, Made, Part, Row, Snapshot
from shuffledp.storage import listed, publish, read_verified

CHECKSUM = "reference.sha256"
_JOBS = "jobs.csv"
_MANIFEST = "manifest.json"
_JOB_COLUMNS = (
    "paper",
    "experiment",
    "method",
    "seed",
    "repeats",
    "dataset",
    "source",
    "cells_sha256",
    "values_sha256",
)


def write(folder: Path, snapshot: Snapshot, others: Mapping[str, bytes] = MappingProxyType({})) -> list[Path]:
    """Write a snapshot as the reference, with other files by their names.

    Raise ``ValueError`` if its jobs have different machines or versions.
    """
    jobs = [snapshot.jobs[key] for key in sorted(snapshot.jobs)]
    made = {(job.made.machine, tuple(sorted(job.made.versions.items()))) for job in jobs}
    if len(made) != 1:
        raise ValueError(
            f"The results were made on {len(made)} different machines or with different versions: remove them "
            "(`make clean`) and run `make all` once."
        )
    files = {folder / name: content for name, content in others.items()}
    for (paper, experiment), methods in groupby(jobs, lambda job: job.key[:2]):
        rows = [row for job in methods for row in job.rows]
        files[folder / paper / f"{experiment}.csv"] = _csv(COLUMNS, rows)
    for training in snapshot.training.values():
        files[folder.joinpath(*training.key).with_suffix(".csv")] = _csv(CURVE, training.rows)
    files[folder / _JOBS] = _csv(_JOB_COLUMNS, map(_line, jobs))
    about = {
        "machine": jobs[0].made.machine,
        "versions": dict(jobs[0].made.versions),
        "commits": sorted({job.made.commit for job in jobs}),
        "data": {job.dataset: job.source for job in jobs if job.dataset},
        "training": {f"{run.key[0]}/{run.key[2]}": _about(run) for run in snapshot.training.values()},
    }
    files[folder / _MANIFEST] = (json.dumps(about, indent=2, sort_keys=True) + "\n").encode()
    checksum = folder / CHECKSUM
    outdated = set(listed(checksum)) - set(files) if checksum.is_file() else set()
    publish(checksum, files)
    for path in outdated:
        path.unlink(missing_ok=True)
    return sorted(files)


def _line(job: Part) -> Row:
    settings = (job.seed, job.scale.removeprefix("repeats="), job.dataset, job.source)
    return dict(zip(_JOB_COLUMNS, (*job.key, *settings, *job.sha256), strict=True))


def _about(run: Part) -> dict[str, Any]:
    about = {"seed": run.seed, "settings": run.scale, "dataset": run.dataset, "source": run.source}
    return {**about, "curve_sha256": run.sha256[0], **asdict(run.made)}


def _csv(names: Sequence[str], rows: Iterable[Mapping[str, str]]) -> bytes:
    sink = io.StringIO()
    writer = csv.DictWriter(sink, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return sink.getvalue().encode()


def read(folder: Path) -> Snapshot:
    """Read the reference in a folder after a check of its checksums. Raise ``ValueError`` without a reference."""
    checksum = folder / CHECKSUM
    if not checksum.is_file():
        raise ValueError(f"There is no reference in {folder}: {checksum} is missing.")
    about = json.loads(read_verified(folder / _MANIFEST, checksum))
    made = Made(about["machine"], about["versions"])
    rows: dict[Key, list[Row]] = {}
    lines = _read_csv(folder / _JOBS, checksum)
    for paper, experiment in dict.fromkeys((line["paper"], line["experiment"]) for line in lines):
        for row in _read_csv(folder / paper / f"{experiment}.csv", checksum):
            rows.setdefault((paper, experiment, row["method"]), []).append(row)
    jobs, training = {}, {}
    for line in lines:
        key = (line["paper"], line["experiment"], line["method"])
        scale = f"repeats={line['repeats']}" if line["repeats"] else ""
        settings = (line["seed"], scale, line["dataset"], line["source"])
        digests = (line["cells_sha256"], line["values_sha256"])
        jobs[key] = Part(key, *settings, digests, made, tuple(rows.get(key, ())))
    for name, run in about["training"].items():
        paper, _, id = name.partition("/")
        key = (paper, "training", id)
        settings = (run["seed"], run["settings"], run["dataset"], run["source"])
        own = Made(run["machine"], run["versions"], run["commit"])
        curve = _read_csv(folder.joinpath(*key).with_suffix(".csv"), checksum)
        training[key] = Part(key, *settings, (run["curve_sha256"],), own, tuple(curve))
    return Snapshot(jobs, training)


def _read_csv(path: Path, checksum: Path) -> list[Row]:
    return list(csv.DictReader(io.StringIO(read_verified(path, checksum).decode())))
