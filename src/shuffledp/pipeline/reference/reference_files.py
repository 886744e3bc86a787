"""The reference as files: tables as CSV, for a diff by lines, and the environment of the run.

``reference/<paper>/<experiment>.csv`` and ``reference/<paper>/training/<run>.csv`` have the rows. ``jobs.csv`` has one
line per method with seed, repeats, data and the digests of the result files, and ``manifest.json`` machine, versions,
commits and settings of training. ``reference.sha256`` lists all files.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from shuffledp.pipeline.reference.snapshot import COLUMNS, CURVE, Job, Made, Row, Snapshot, Training
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
_RUN_KEYS = ("seed", "settings", "dataset", "source", "curve_sha256")


def write(folder: Path, snapshot: Snapshot) -> list[Path]:
    """Write a snapshot as the reference; raise ``ValueError`` if jobs have different machines or versions."""
    made = {(job.made.machine, tuple(sorted(job.made.versions.items()))) for job in snapshot.jobs.values()}
    if len(made) != 1:
        raise ValueError(
            f"The results were made on {len(made)} different machines or with different versions: remove them "
            "(`make clean`) and run `make all` once."
        )
    files: dict[Path, bytes] = {}
    by_table = groupby(sorted(snapshot.jobs.items()), lambda item: item[0][:2])
    for (paper, experiment), items in by_table:
        rows = [row for _, job in items for row in job.rows]
        files[folder / paper / f"{experiment}.csv"] = _csv(COLUMNS, rows)
    for (paper, run), training in snapshot.training.items():
        files[folder / paper / "training" / f"{run}.csv"] = _csv(CURVE, training.rows)
    files[folder / _JOBS] = _csv(_JOB_COLUMNS, [_line(job) for _, job in sorted(snapshot.jobs.items())])
    files[folder / _MANIFEST] = (json.dumps(_manifest(snapshot), indent=2, sort_keys=True) + "\n").encode()
    checksum = folder / CHECKSUM
    outdated = set(listed(checksum)) - set(files) if checksum.is_file() else set()
    publish(checksum, files)
    for path in outdated:
        path.unlink(missing_ok=True)
    return sorted(files)


def _line(job: Job) -> Row:
    return {name: getattr(job, name) for name in _JOB_COLUMNS}


def _manifest(snapshot: Snapshot) -> dict[str, Any]:
    jobs = list(snapshot.jobs.values())
    return {
        "machine": jobs[0].made.machine,
        "versions": dict(jobs[0].made.versions),
        "commits": sorted({job.made.commit for job in jobs}),
        "data": {job.dataset: job.source for job in jobs if job.dataset},
        "training": {
            f"{paper}/{run}": {
                **{key: getattr(training, key) for key in _RUN_KEYS},
                **asdict(training.made),
            }
            for (paper, run), training in snapshot.training.items()
        },
    }


def _csv(names: Sequence[str], rows: Iterable[Mapping[str, str]]) -> bytes:
    sink = io.StringIO()
    writer = csv.DictWriter(sink, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return sink.getvalue().encode()


def read(folder: Path) -> Snapshot:
    """Read the reference in a folder after verifying its checksums; raise ``ValueError`` without a reference."""
    checksum = folder / CHECKSUM
    if not checksum.is_file():
        raise ValueError(f"There is no reference in {folder}: {checksum} is missing.")
    about = json.loads(read_verified(folder / _MANIFEST, checksum))
    made = Made(about["machine"], about["versions"])
    rows: dict[tuple[str, str, str], list[Row]] = {}
    lines = _read_csv(folder / _JOBS, checksum)
    for paper, experiment in dict.fromkeys((line["paper"], line["experiment"]) for line in lines):
        for row in _read_csv(folder / paper / f"{experiment}.csv", checksum):
            rows.setdefault((paper, experiment, row["method"]), []).append(row)
    jobs = {
        key: Job(**line, made=made, rows=tuple(rows.get(key, ())))
        for line in lines
        for key in [(line["paper"], line["experiment"], line["method"])]
    }
    training = {}
    for name, run in about["training"].items():
        paper, _, id = name.partition("/")
        found = tuple(_read_csv(folder / paper / "training" / f"{id}.csv", checksum))
        own = Made(run["machine"], run["versions"], run["commit"])
        training[paper, id] = Training(paper, id, **{k: run[k] for k in _RUN_KEYS}, made=own, rows=found)
    return Snapshot(jobs, training)


def _read_csv(path: Path, checksum: Path) -> list[Row]:
    return list(csv.DictReader(io.StringIO(read_verified(path, checksum).decode())))
