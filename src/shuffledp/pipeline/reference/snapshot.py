"""Results of a run in the form of the reference: numbers with ten digits, and digests.

A snapshot is made from the result tables of a run (`of_results`) or read from the reference
(`shuffledp.pipeline.reference.reference_files`), so that both sides of a comparison have the same rounding. Accuracies
of a training run are only in its own curve, as training changes no other number.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from shuffledp.pipeline import table_files
from shuffledp.pipeline.experiments.bundle import CELL_NUMBERS, TRAINED_METRICS, Bundle
from shuffledp.pipeline.experiments.trained import TrainingFiles
from shuffledp.storage import read_verified

#: Key of a row of a method; ``point`` has the grid variables, such as ``eps=0.1 k=50``, or the round of a curve.
PLACE = ("point", "accounting", "metric")
#: Column of calibrated parameters, for readers; the digest covers them, and flat optima have no tolerance.
PARAMETERS = "parameters"
#: Digest of all numbers of a row at full precision, which distinguishes equal bytes from equal digits.
DIGEST = "digest"
_TEXTS = ("status", "reason", "guarantee", "reduction", PARAMETERS, DIGEST)
_CELL = (
    "status",
    "reason",
    "guarantee",
    "reduction",
    "users_expected",
    "domain_size",
    "eps",
    "delta",
    "eps_local",
    "messages_per_user",
    "extra_messages",
    "bits_per_user",
    "shuffler_messages",
)
_CURVE = ("accuracy", "loss", "participants")
COLUMNS = (*_CELL, "expected", "mean", "standard_error", "count", *_CURVE, PARAMETERS, DIGEST)
#: Second part of the key of a training run.
TRAINING = "training"
_NUMERIC_PACKAGES = ("python", "numpy", "scipy", "pandas", "pyarrow", "jax", "jaxlib")

#: Paper, experiment and method; or paper, ``training`` and run.
Key = tuple[str, str, str]
Place = tuple[str, str, str]
#: Values of a row by column, without absent ones, by the row's place.
Rows = dict[Place, dict[str, str | float]]


@dataclass(frozen=True)
class ReferencePart:
    """One method of one experiment, or one training run: its compared settings, its environment, and its rows.

    `scale` has the number of repeats, or the settings of training, as ``name=value`` separated by spaces. `environment`
    is JSON with the machine and the versions on which the last digits depend.
    """

    seed: str
    scale: str
    dataset: str
    source: str
    environment: str
    commit: str
    rows: Rows


#: Methods of experiments, and training runs, by their keys.
Snapshot = Mapping[Key, ReferencePart]


def of_results(results: Path) -> Snapshot:
    """Return a snapshot of a folder of results after a check of checksums. Raise ``ValueError`` without results."""
    jobs = {_key(path): _job(results, path) for path in sorted(results.glob("runs/*/*/*.sha256"))}
    if not jobs:
        raise ValueError(f"There are no results in {results}/runs: run `make all` or `make verify`.")
    for path in sorted(results.glob("training/*/*.sha256")):
        jobs[path.parts[-2], TRAINING, path.stem] = _training(results, path)
    return jobs


def _key(checksum: Path) -> Key:
    return checksum.parts[-3], checksum.parts[-2], checksum.stem


def _job(results: Path, checksum: Path) -> ReferencePart:
    bundle = Bundle.locate(results, *_key(checksum))
    about = json.loads(read_verified(bundle.provenance, checksum))
    job = about["job"]
    if not job.get("protocol"):
        # A function draws nothing and reads no data; its provenance names those of the training run, if there is one.
        return ReferencePart(
            "", "", "", "", *_made(about), _rows(bundle, [job["returns"]] if "returns" in job else [])
        )
    scale, data = point({"repeats": job["repeats"]}), str(job["data"]["name"])
    rows = _rows(bundle, job["task"].get("metrics", []))
    return ReferencePart(str(about["seed"]), scale, data, about["data"]["source"], *_made(about), rows)


def _made(provenance: Mapping[str, Any]) -> tuple[str, str]:
    """Return the environment and the commit in a result's provenance."""
    versions = {name: provenance["versions"].get(name) for name in _NUMERIC_PACKAGES}
    return json.dumps({"machine": provenance["machine"], "versions": versions}, sort_keys=True), provenance[
        "commit"
    ]


def _rows(bundle: Bundle, metrics: Sequence[str]) -> Rows:
    cells, values = (
        table_files.read(read_verified(path, bundle.checksum)).to_pandas(use_threads=False)
        for path in (bundle.cells, bundle.values)
    )
    values = values[~values["metric"].isin(TRAINED_METRICS)]
    by = ["cell", "metric", values["kind"] == "simulated"]
    numbers_by_key, nothing = dict(iter(values.groupby(by)["value"])), pd.Series(dtype=float)
    rows = {}
    for cell in cells.to_dict("records"):
        for metric in dict.fromkeys((*metrics, *sorted(set(values["metric"])))) or [""]:
            exact, sampled = (
                numbers_by_key.get((cell["cell"], metric, simulated), nothing) for simulated in (False, True)
            )
            rows[point(json.loads(cell["point"])), cell["accounting"], metric] = kept(
                {name: cell[name] for name in _CELL}
                | {"expected": next(iter(exact), None), "count": len(sampled) or None}
                | {"mean": sampled.mean(), "standard_error": sampled.sem()}
                | {PARAMETERS: point(json.loads(text(cell["parameters"]) or "{}"))}
                | {DIGEST: _digest([*(cell[n] for n in CELL_NUMBERS), *exact, *sampled], cell["parameters"])}
            )
    return rows


def _digest(numbers: Sequence[float | None], parameters: Any) -> str:
    """Return a digest of twelve hexadecimal digits for all numbers at full precision; None and all nan are equal."""
    packed = np.array(
        [math.nan if number is None or number != number else number for number in numbers], "<f8"
    )
    return hashlib.sha256(packed.tobytes() + text(parameters).encode()).hexdigest()[:12]


def kept(row: Mapping[str, Any]) -> dict[str, str | float]:
    """Return the present values of a row, with numbers of ten digits."""
    texts = {name: text(value) for name, value in row.items()}
    return {name: entry if name in _TEXTS else float(entry) for name, entry in texts.items() if entry}


def point(variables: Mapping[str, Any]) -> str:
    """Return the grid variables and their values as one text."""
    return " ".join(f"{name}={text(variables[name])}" for name in sorted(variables))


def text(value: Any) -> str:
    """Return a value as text: ten significant digits of a number, empty for None and nan."""
    if isinstance(value, float | np.floating):
        return "" if math.isnan(value) else f"{value:.10g}"
    return "" if value is None else str(value)


def _training(results: Path, checksum: Path) -> ReferencePart:
    files = TrainingFiles.locate(results, checksum.parts[-2], checksum.stem)
    about = json.loads(read_verified(files.provenance, checksum))
    curve = table_files.read(read_verified(files.curve, checksum)).to_pylist()
    rows: Rows = {
        (point({"round": evaluation["round"]}), "", ""): kept({n: evaluation[n] for n in _CURVE})
        for evaluation in curve
    }
    settings, source = about["job"]["settings"], about["data"]["source"]
    return ReferencePart(
        str(about["seed"]), point(settings), about["job"]["data"], source, *_made(about), rows
    )
