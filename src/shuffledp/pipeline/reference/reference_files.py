"""Reference results as files: tables as CSV, which can be compared line by line, and the environment of the run.

``reference/<paper>/<experiment>.csv`` has the rows, and ``reference/<paper>/training.csv`` those of training runs.
``jobs.csv`` has one line per method and training run with seed, repeats or settings, data, commit and environment, and
``manifest.json`` the environments. ``overall/`` has the tables of the pictures over all papers, from which smaller runs
draw these pictures. ``reference.sha256`` lists all files.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any

from shuffledp.pipeline.reference.snapshot import COLUMNS, PLACE, Key, ReferencePart, Snapshot, kept, text
from shuffledp.storage import listed, publish, read_verified

CHECKSUM = "reference.sha256"
_JOBS = "jobs.csv"
_MANIFEST = "manifest.json"
_KEY = ("paper", "experiment", "method")
_SETTINGS = tuple(field.name for field in fields(ReferencePart) if field.name != "rows")


def write(folder: Path, snapshot: Snapshot, others: Mapping[str, bytes] = MappingProxyType({})) -> list[Path]:
    """Write a snapshot as the reference, with other files by their names."""
    files = {folder / name: content for name, content in others.items()}
    environments = sorted({part.environment for part in snapshot.values()})
    jobs = [
        dict(zip(_KEY, key, strict=True)) | vars(part) | {"environment": environments.index(part.environment)}
        for key, part in sorted(snapshot.items())
    ]
    files[folder / _JOBS] = _csv((*_KEY, *_SETTINGS), jobs)
    files[folder / _MANIFEST] = f"{json.dumps(list(map(json.loads, environments)), indent=2)}\n".encode()
    for (paper, experiment), keys in groupby(sorted(snapshot), lambda key: key[:2]):
        rows = [
            {"method": key[2], **dict(zip(PLACE, place, strict=True)), **row}
            for key in keys
            for place, row in snapshot[key].rows.items()
        ]
        present = [name for name in COLUMNS if any(name in row for row in rows)]
        files[folder / paper / f"{experiment}.csv"] = _csv(("method", *PLACE, *present), rows)
    checksum = folder / CHECKSUM
    outdated = set(listed(checksum)) - set(files) if checksum.is_file() else set()
    publish(checksum, files)
    for path in outdated:
        path.unlink(missing_ok=True)
    return sorted(files)


def _csv(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    sink = io.StringIO()
    writer = csv.DictWriter(sink, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: text(value) for name, value in row.items()} for row in rows)
    return sink.getvalue().encode()


def read(folder: Path) -> Snapshot:
    """Read the reference in a folder after a check of its checksums. Raise ``ValueError`` without a reference."""
    checksum = folder / CHECKSUM
    if not checksum.is_file():
        raise ValueError(f"There is no reference in {folder}: {checksum} is missing.")
    environments = json.loads(read_verified(folder / _MANIFEST, checksum))
    parts: dict[Key, ReferencePart] = {}
    for line in _read_csv(folder / _JOBS, checksum):
        key = (line.pop("paper"), line.pop("experiment"), line.pop("method"))
        environment = json.dumps(environments[int(line.pop("environment"))], sort_keys=True)
        parts[key] = ReferencePart(**line, environment=environment, rows={})
    for paper, experiment in dict.fromkeys(key[:2] for key in parts):
        for row in _read_csv(folder / paper / f"{experiment}.csv", checksum):
            part = parts[paper, experiment, row.pop("method")]
            place = (row.pop("point"), row.pop("accounting"), row.pop("metric"))
            part.rows[place] = kept(row)
    return parts


def _read_csv(path: Path, checksum: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(read_verified(path, checksum).decode())))
