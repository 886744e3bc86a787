"""Tables of drawings as CSV files."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from shuffledp.storage import verified


def as_csv(table: pd.DataFrame) -> bytes:
    """Return a table as CSV with at most ten digits."""
    return table.to_csv(index=False, float_format="%.10g", lineterminator="\n").encode()


def table_of_texts(path: Path) -> pd.DataFrame:
    """Return a CSV file of texts after a check against the checksum list beside it."""
    return pd.read_csv(verified(path, path.with_suffix(".sha256")), dtype=str, keep_default_na=False)
