"""The two result tables of every (experiment, method) job, and their one summary.

``cells`` has a row per accounting and grid point, ``values`` a row per cell, metric, kind and repeat. Accounting-only
curves, tables and training runs write the same two tables.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from shuffledp.accounting.standing import GUARANTEES, NEED_A_NOTE
from shuffledp.storage import publish, verified

_TEXT, _NUMBER = pa.string(), pa.float64()
CELLS = pa.schema(
    [
        *((name, _TEXT) for name in ("cell", "paper", "experiment", "method", "label", "protocol", "task")),
        *(
            (name, _TEXT)
            for name in (
                *("accounting", "reduction", "guarantee", "guarantee_note", "trust"),
                *("point", "dataset", "data_source"),
            )
        ),
        *((name, _NUMBER) for name in ("users_expected", "domain_size", "eps", "delta", "eps_local")),
        *((name, _TEXT) for name in ("status", "reason", "parameters")),
        *((name, _NUMBER) for name in ("messages_per_user", "extra_messages", "bits_per_message")),
        *((name, _NUMBER) for name in ("bits_per_user", "shuffler_messages")),
    ]
)
VALUES = pa.schema(
    [("cell", _TEXT), ("metric", _TEXT), ("kind", _TEXT), ("repeat", pa.int32()), ("value", _NUMBER)]
)
CELL_NUMBERS = tuple(f.name for f in CELLS if f.type == _NUMBER)
PARAMETER_PREFIX = "parameters."
"""``parameters.dummies`` stands for an entry of the column ``parameters``."""
GUARANTEE_LABELS: tuple[str, ...] = GUARANTEES
"""Values of the column ``guarantee``, from the strongest to the weakest; none for infeasible cells."""
IN_DOUBT = NEED_A_NOTE
"""Those of them whose reason stands in ``guarantee_note``."""
TRAINED_METRICS = ("accuracy",)
"""What a training run adds to the cells of a method; absent where training is left out."""
RESERVED = frozenset(
    {*CELLS.names, *VALUES.names, "mean", "count", "standard_error", "curve"} - set(CELL_NUMBERS)
)
"""Column names that a grid variable must not have."""


@dataclass(frozen=True)
class Bundle:
    """The files of one (experiment, method) job."""

    cells: Path
    values: Path
    provenance: Path
    checksum: Path

    @staticmethod
    def of(results: Path, paper: str, experiment: str, method: str) -> Bundle:
        """File names below the results folder."""
        stem = f"{results}/runs/{paper}/{experiment}/{method}"
        return Bundle(
            *(Path(f"{stem}.{end}") for end in ("cells.parquet", "values.parquet", "json", "sha256"))
        )


def table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """An Arrow table with exactly the schema's columns; a missing or surplus key is an error."""
    for row in rows:
        if set(row) != set(schema.names):
            raise ValueError(
                f"Result row has keys {sorted(set(row) ^ set(schema.names))} too many or too few."
            )
    return pa.Table.from_pylist(list(rows), schema=schema)


def to_parquet(arrow: pa.Table) -> bytes:
    """Parquet bytes that depend on the content alone."""
    sink = io.BytesIO()
    pq.write_table(arrow, sink, compression="zstd", version="2.6", store_schema=False)
    return sink.getvalue()


def write(bundle: Bundle, cells: pa.Table, values: pa.Table, provenance: Mapping[str, Any]) -> None:
    """Publish a job's results; no reader ever sees a part of them."""
    about = json.dumps(provenance, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    publish(
        bundle.checksum,
        {
            bundle.cells: to_parquet(cells),
            bundle.values: to_parquet(values),
            bundle.provenance: about.encode(),
        },
    )


@dataclass(frozen=True)
class Results:
    """Results of some methods of one experiment, verified against their checksums.

    ``cells`` has the grid variables as columns of their own; ``values`` is the long table; ``provenance`` is keyed by
    method.
    """

    cells: pd.DataFrame
    values: pd.DataFrame
    provenance: Mapping[str, Mapping[str, Any]]

    def summary(self) -> pd.DataFrame:
        """One row per cell, metric and kind: mean, standard error and number of repeats, with the cell's columns."""
        return summarise(self.cells, self.values)


def read(bundles: Mapping[str, Bundle]) -> Results:
    """Results by method id.

    Raises
    ------
    IntegrityError
        If a file does not match its checksum, naming it and the command that rebuilds it.
    """
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
    known = all_cells.drop(columns=[c for c in points.columns if c in all_cells.columns])
    return Results(pd.concat([known, points], axis=1), pd.concat(values, ignore_index=True), provenance)


def _frame(path: Path) -> pd.DataFrame:
    # No thread pools for small tables: they now and then abort the interpreter while it exits.
    arrow = pq.read_table(path, use_threads=False, pre_buffer=False)
    return pd.DataFrame(arrow.to_pandas(use_threads=False))


def summarise(cells: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Mean, standard error (nan for fewer than two repeats) and count per cell, metric and kind."""
    grouped = values.groupby(["cell", "metric", "kind"], sort=False)["value"]
    statistics = grouped.agg(["mean", "std", "count"]).reset_index()
    statistics["standard_error"] = statistics["std"] / np.sqrt(statistics["count"])
    return statistics.drop(columns="std").merge(cells, on="cell", how="left", validate="many_to_one")
