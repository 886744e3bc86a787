"""Results of a run in the form of the reference: texts with ten digits, and digests.

A snapshot is made from the result tables of a run (`of_results`) or read from the reference
(`shuffledp.pipeline.reference.reference_files`), so that both sides of a comparison have the same rounding. Accuracies
of a training run are only in its own curve, as training changes no other number.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from shuffledp.pipeline import table_files
from shuffledp.pipeline.experiments.bundle import CELL_NUMBERS, TRAINED_METRICS, Bundle
from shuffledp.pipeline.experiments.trained import TrainingFiles
from shuffledp.storage import read_verified, sha256_of

KEY = ("method", "point", "accounting", "metric")
"""Key of a row of a table; ``point`` has the grid variables, such as ``eps=0.1 k=50``."""
TEXTS = ("status", "reason", "guarantee", "reduction")
CLAIMED = ("eps", "delta", "eps_local")
COST = ("messages_per_user", "extra_messages", "bits_per_user", "shuffler_messages")
MEASURED = ("expected", "mean", "standard_error", "count")
PARAMETERS = "parameters"
"""Column of calibrated parameters, for readers; the digest covers them, and flat optima have no tolerance."""
DIGEST = "digest"
"""Digest of all numbers of a row at full precision, which distinguishes equal bytes from equal digits."""
COLUMNS = (*KEY, *TEXTS, *CLAIMED, *COST, *MEASURED, PARAMETERS, DIGEST)
CURVE = ("round", "accuracy", "loss", "participants")
UNKNOWN = ""
"""Text for a machine that the provenance does not name."""
_NUMERIC_PACKAGES = ("python", "numpy", "scipy", "pandas", "pyarrow", "jax", "jaxlib")

Row = dict[str, str]


@dataclass(frozen=True)
class Made:
    """Machine, versions and commit of results, as far as the last digits depend on them."""

    machine: str
    versions: Mapping[str, str]
    commit: str = ""

    def same_machine(self, other: Made) -> bool:
        """Return whether the same code must give the same bytes in both environments."""
        known = self.machine != UNKNOWN
        return known and (self.machine, dict(self.versions)) == (other.machine, dict(other.versions))

    @staticmethod
    def of(provenance: Mapping[str, Any]) -> Made:
        """Return the environment in a result's provenance."""
        versions = provenance.get("versions", {})
        machine = provenance.get("machine") or {}
        return Made(
            ", ".join(f"{name} {value}" for name, value in machine.items()) or UNKNOWN,
            {name: versions[name] for name in _NUMERIC_PACKAGES if name in versions},
            provenance.get("commit", ""),
        )


Key = tuple[str, str, str]
"""Paper, experiment and method; or paper, ``training`` and run."""


@dataclass(frozen=True)
class Part:
    """One method of one experiment, or one training run: its compared settings, its rows, and its files' digests.

    `scale` has the number of repeats, or the settings of training, as ``name=value`` separated by spaces.
    """

    key: Key
    seed: str
    scale: str
    dataset: str
    source: str
    sha256: tuple[str, ...]
    made: Made
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        """Name of the method or the run."""
        return ".".join(self.key)


@dataclass(frozen=True)
class Snapshot:
    """Methods of experiments, and training runs, by their keys."""

    jobs: Mapping[Key, Part]
    training: Mapping[Key, Part]


def of_results(results: Path) -> Snapshot:
    """Return a snapshot of a folder of results after a check of checksums. Raise ``ValueError`` without results."""
    jobs = [_job(results, path) for path in sorted(results.glob("runs/*/*/*.sha256"))]
    if not jobs:
        raise ValueError(f"There are no results in {results}/runs: run `make all` or `make verify`.")
    runs = [_training(results, path) for path in sorted(results.glob("training/*/*.sha256"))]
    return Snapshot({job.key: job for job in jobs}, {run.key: run for run in runs})


def _job(results: Path, checksum: Path) -> Part:
    paper, experiment = checksum.parts[-3:-1]
    key = (paper, experiment, checksum.stem)
    bundle = Bundle.of(results, *key)
    about = json.loads(read_verified(bundle.provenance, checksum))
    job = about["job"]
    simulated = bool(job.get("protocol"))
    return Part(
        key,
        # A function draws nothing and reads no data; its provenance names those of the training run, if there is one.
        seed=text(about["seed"]) if simulated else "",
        scale=point({"repeats": job["repeats"]}) if simulated else "",
        dataset=str(job["data"]["name"]) if simulated else "",
        source=str(about["data"]["source"]) if simulated else "",
        sha256=(sha256_of(bundle.cells), sha256_of(bundle.values)),
        made=Made.of(about),
        rows=tuple(_rows(_frame(bundle.cells, checksum), _frame(bundle.values, checksum), _metrics(job))),
    )


def _frame(path: Path, checksum: Path) -> pd.DataFrame:
    table = table_files.read(read_verified(path, checksum))
    return pd.DataFrame(table.to_pandas(use_threads=False))


def _metrics(job: Mapping[str, Any]) -> list[str]:
    if not job.get("protocol"):
        return [job["returns"]] if "returns" in job else []
    return list((job.get("task") or {}).get("metrics", ()))


def _rows(cells: pd.DataFrame, values: pd.DataFrame, metrics: Sequence[str]) -> Iterator[Row]:
    values = values[~values["metric"].isin(TRAINED_METRICS)]
    numbers_of = values["value"].to_numpy()
    found = {
        key: numbers_of[where]
        for key, where in values.groupby(["cell", "metric", values["kind"] == "simulated"]).indices.items()
    }
    nothing = np.empty(0)
    measured = [*metrics, *sorted(set(values["metric"]) - set(metrics))] or [""]
    for cell in cells.to_dict("records"):
        for metric in measured:
            exact, drawn = (found.get((cell["cell"], metric, kind), nothing) for kind in (False, True))
            numbers = [cell[name] for name in CELL_NUMBERS]
            yield {
                "method": cell["method"],
                "point": point(json.loads(cell["point"])),
                "accounting": cell["accounting"],
                "metric": metric,
                **{name: text(cell[name]) for name in (*TEXTS, *CLAIMED, *COST)},
                "expected": text(exact[0]) if len(exact) else "",
                "mean": text(drawn.mean()) if len(drawn) else "",
                "standard_error": text(_standard_error(drawn)),
                "count": text(len(drawn)) if len(drawn) else "",
                PARAMETERS: point(json.loads(text(cell["parameters"]) or "{}")),
                DIGEST: _digest(numbers, cell["parameters"], [*exact, *drawn]),
            }


def _standard_error(drawn: NDArray[np.float64]) -> float:
    return float(drawn.std(ddof=1) / math.sqrt(len(drawn))) if len(drawn) > 1 else math.nan


def _digest(numbers: Iterable[Any], parameters: Any, values: Iterable[float]) -> str:
    """Return a digest of twelve hexadecimal digits for all numbers at full precision; None and all nan are equal."""
    every = [math.nan if number is None else float(number) for number in (*numbers, *values)]
    packed = np.array([math.nan if math.isnan(number) else number for number in every], "<f8").tobytes()
    return hashlib.sha256(packed + text(parameters).encode()).hexdigest()[:12]


def point(variables: Mapping[str, Any]) -> str:
    """Return the grid variables and their values as one text."""
    return " ".join(f"{name}={text(variables[name])}" for name in sorted(variables))


def text(value: Any) -> str:
    """Return a value as text: ten significant digits of a number, empty for None and nan."""
    if value is None or (isinstance(value, float | np.floating) and math.isnan(value)):
        return ""
    if isinstance(value, float | np.floating):
        return f"{value:.10g}"
    return str(value)


def _training(results: Path, checksum: Path) -> Part:
    paper, run = checksum.parts[-2], checksum.stem
    files = TrainingFiles.of(results, paper, run)
    about = json.loads(read_verified(files.provenance, checksum))
    curve = table_files.read(read_verified(files.curve, checksum)).to_pylist()
    return Part(
        (paper, "training", run),
        seed=text(about["seed"]),
        scale=point(about["job"]["settings"]),
        dataset=about["job"]["data"],
        source=about["data"]["source"],
        sha256=(sha256_of(files.curve),),
        made=Made.of(about),
        rows=tuple({name: text(point[name]) for name in CURVE} for point in curve),
    )
