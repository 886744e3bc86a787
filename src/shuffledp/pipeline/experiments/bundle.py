"""The two result tables of an (experiment, method) job: ``cells``, and ``values`` by metric, kind and repeat."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from shuffledp.guarantees import GUARANTEES, NEED_A_NOTE
from shuffledp.pipeline import table_files
from shuffledp.storage import publish

_TEXT, _NUMBER = pa.string(), pa.float64()


def _columns(kind: pa.DataType, names: str) -> list[tuple[str, pa.DataType]]:
    return [(name, kind) for name in names.split()]


#: Columns of the cost of a calibrated protocol.
COST = ("messages_per_user", "extra_messages", "bits_per_message", "bits_per_user", "shuffler_messages")
CELLS = pa.schema(
    [
        *_columns(_TEXT, "cell paper experiment method label protocol task accounting reduction guarantee"),
        *_columns(_TEXT, "guarantee_note trust point dataset data_source"),
        *_columns(_NUMBER, "users_expected domain_size eps delta eps_local"),
        *_columns(_TEXT, "status reason parameters"),
        *_columns(_NUMBER, " ".join(COST)),
    ]
)
VALUES = pa.schema(
    [("cell", _TEXT), ("metric", _TEXT), ("kind", _TEXT), ("repeat", pa.int32()), ("value", _NUMBER)]
)
CELL_NUMBERS = tuple(f.name for f in CELLS if f.type == _NUMBER)
#: Columns of the cells that describe a method in words.
CELL_TEXTS = ("label", "protocol", "accounting", "trust", "reduction", "guarantee")
#: Prefix of an entry of the column ``parameters``, as in ``parameters.dummies``.
PARAMETER_PREFIX = "parameters."
#: Values of the column ``guarantee``, from the strongest to the weakest; infeasible cells have none.
GUARANTEE_LABELS: tuple[str, ...] = GUARANTEES
#: Guarantees whose reason is in ``guarantee_note``.
IN_DOUBT = NEED_A_NOTE
#: Columns that a training run adds to the cells of a method; absent without training.
TRAINED_METRICS = ("accuracy",)
#: Share of the users who collude or drop out, and number of fake users, for the robustness of a protocol.
ABSENT, FAKES = 0.1, 10
#: Spent and unspent eps of a calibrated protocol, eps with absent users, gain of fake users; present on request.
SPENT_METRICS = ("eps_spent", "slack", "eps_colluding", "eps_dropped", "poisoning_gain")
_NEAR_BUDGET = (0.98, 0.99, 0.995, 0.999, 1.01, 1.02)  # where delta may fall abruptly
#: Delta of a protocol under exact accounting, by the share of the budget's eps; present on request.
PROFILE_METRICS = {
    f"delta_at_{share:g}": share for share in sorted([*(i / 20 for i in range(31)), *_NEAR_BUDGET])
}
#: Column names that a grid variable must not have.
RESERVED = frozenset(
    {*CELLS.names, *VALUES.names, "mean", "count", "standard_error", "curve"} - set(CELL_NUMBERS)
)


@dataclass(frozen=True)
class Bundle:
    """File names of one (experiment, method) job."""

    cells: Path
    values: Path
    provenance: Path
    checksum: Path

    @staticmethod
    def locate(results: Path, paper: str, experiment: str, method: str) -> Bundle:
        """Return the file names below the results folder."""
        stem = f"{results}/runs/{paper}/{experiment}/{method}"
        return Bundle(
            *(Path(f"{stem}.{end}") for end in ("cells.parquet", "values.parquet", "json", "sha256"))
        )


def table(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """Return an Arrow table with the columns of the schema. Raise ValueError for a missing or surplus key."""
    for row in rows:
        if set(row) != set(schema.names):
            raise ValueError(
                f"Result row has keys {sorted(set(row) ^ set(schema.names))} too many or too few."
            )
    return pa.Table.from_pylist(rows, schema)


def write(bundle: Bundle, cells: pa.Table, values: pa.Table, provenance: Mapping[str, Any]) -> None:
    """Publish the results of a job atomically."""
    about = json.dumps(provenance, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    publish(
        bundle.checksum,
        {
            bundle.cells: table_files.to_bytes(cells),
            bundle.values: table_files.to_bytes(values),
            bundle.provenance: about.encode(),
        },
        folders=3,
    )
