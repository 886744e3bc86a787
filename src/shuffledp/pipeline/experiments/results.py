"""Reader and summary of the two result tables; `shuffledp.pipeline.experiments.bundle` lists their columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from shuffledp.pipeline import table_files
from shuffledp.pipeline.experiments.bundle import (
    CELL_NUMBERS as CELL_NUMBERS,
    CELLS as CELLS,
    GUARANTEE_LABELS as GUARANTEE_LABELS,
    IN_DOUBT as IN_DOUBT,
    PARAMETER_PREFIX as PARAMETER_PREFIX,
    RESERVED as RESERVED,
    SPENT_METRICS as SPENT_METRICS,
    TRAINED_METRICS as TRAINED_METRICS,
    VALUES as VALUES,
    Bundle as Bundle,
    table as table,
    write as write,
)
from shuffledp.storage import verified


@dataclass(frozen=True)
class Results:
    """Results of some methods of one experiment, which match their checksums."""

    cells: pd.DataFrame
    values: pd.DataFrame
    provenance: Mapping[str, Mapping[str, Any]]

    def summary(self) -> pd.DataFrame:
        """Return one row per cell, metric and kind: mean, standard error, number of repeats and the cell's columns."""
        return summarize(self.cells, self.values)


def read(bundles: Mapping[str, Bundle]) -> Results:
    """Return the results by method id. Raise `IntegrityError` with the name of a file whose checksum differs."""
    cells, values, provenance = [], [], {}
    for method, bundle in bundles.items():
        cells.append(_frame(verified(bundle.cells, bundle.checksum)))
        values.append(_frame(verified(bundle.values, bundle.checksum)))
        provenance[method] = json.loads(
            verified(bundle.provenance, bundle.checksum).read_text(encoding="utf-8")
        )
    all_cells = pd.concat(cells, ignore_index=True)
    # A grid variable may be called eps: then the column holds the coordinate, empty where a method has none.
    points = pd.DataFrame([json.loads(p) for p in all_cells["point"]], index=all_cells.index)
    plain_cells = all_cells.drop(columns=[c for c in points.columns if c in all_cells.columns])
    return Results(pd.concat([plain_cells, points], axis=1), pd.concat(values, ignore_index=True), provenance)


def read_methods(folder: Path, paper: str, experiment: str, methods: Iterable[str]) -> Results:
    """Return the results of some methods of an experiment below the results folder; see `read`."""
    return read({method: Bundle.locate(folder, paper, experiment, method) for method in methods})


def _frame(path: Path) -> pd.DataFrame:
    return pd.DataFrame(table_files.read(path).to_pandas(use_threads=False))


def summarize(cells: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Return mean, standard error (nan for fewer than two repeats) and count per cell, metric and kind."""
    grouped = values.groupby(["cell", "metric", "kind"], sort=False)["value"]
    statistics = grouped.agg(["mean", "std", "count"]).reset_index()
    statistics["standard_error"] = statistics["std"] / np.sqrt(statistics["count"])
    return statistics.drop(columns="std").merge(cells, on="cell", how="left", validate="many_to_one")
