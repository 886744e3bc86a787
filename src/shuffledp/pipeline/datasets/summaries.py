"""The small aggregate tables in ``data/summaries``: writer and reader."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from shuffledp.pipeline.datasets.parse import parse_counts
from shuffledp.pipeline.datasets.prepared_tables import Contents, read_raw, to_csv
from shuffledp.pipeline.datasets.published_datasets import (
    ADULT_RECORDS,
    IPUMS_RECORDS,
    MSNBC_CATEGORIES,
    MSNBC_RECORDS,
    spec,
)
from shuffledp.pipeline.datasets.raw_files import obtain
from shuffledp.pipeline.datasets.source_errors import ParseError, SourceError
from shuffledp.pipeline.jobs import source
from shuffledp.storage import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SUMMARY_COLUMNS", "SUMMARY_FILES", "default_summaries_dir", "make_summaries", "read_summary"]

_K = len(MSNBC_CATEGORIES)

SUMMARY_COLUMNS: dict[str, tuple[str, ...]] = {
    "adult_sex.csv": ("sex", "count"),
    "adult_hours_per_week.csv": ("hours_per_week", "count"),
    "ipums_birthplace.csv": ("birthplace", "count"),
    "msnbc_sets.csv": ("set_size", "users", *(f"category_{c}" for c in range(1, _K + 1))),
    "msnbc_categories.csv": ("category", "name", "users_count", "first_pages", "visits"),
}
SUMMARY_FILES: dict[str, tuple[str, ...]] = {
    "adult": ("adult_sex.csv", "adult_hours_per_week.csv"),
    "ipums": ("ipums_birthplace.csv",),
    "msnbc": ("msnbc_sets.csv", "msnbc_categories.csv"),
}
_TEXT = ("sex", "name")


def default_summaries_dir() -> Path:
    """Return ``data/summaries`` of this repository, or of the working directory if installed elsewhere."""
    here = Path(__file__).resolve().parents[4] / "data" / "summaries"
    return here if here.is_dir() else source("data/summaries")


def _tables(name: str, contents: Contents) -> dict[str, pd.DataFrame]:
    table = contents.table
    assert table is not None, name
    if name == "adult":
        return {
            f"adult_{column}.csv": table.groupby(column)["count"].sum().reset_index()
            for column in ("sex", "hours_per_week")
        }
    if name == "ipums":
        return {"ipums_birthplace.csv": table}
    masks, count = table["mask"].to_numpy(), table["count"].to_numpy()
    visited = (masks[:, None] >> np.arange(_K)) & 1
    size = visited.sum(axis=1)
    users = np.bincount(size, weights=count, minlength=_K + 1)[1:].astype(np.int64)
    by_size = np.zeros((_K + 1, _K), np.int64)
    np.add.at(by_size, size, visited * count[:, None])
    sets = pd.DataFrame(by_size[1:], columns=list(SUMMARY_COLUMNS["msnbc_sets.csv"][2:]))
    sets.insert(0, "users", users)
    sets.insert(0, "set_size", np.arange(1, _K + 1))
    first = np.bincount(table["first"], weights=count, minlength=_K + 1)[1:].astype(np.int64)
    columns = (np.arange(1, _K + 1), MSNBC_CATEGORIES, by_size.sum(axis=0), first, contents.arrays["visits"])
    names = SUMMARY_COLUMNS["msnbc_categories.csv"]
    return {
        "msnbc_sets.csv": sets,
        "msnbc_categories.csv": pd.DataFrame(dict(zip(names, columns, strict=True))),
    }


def make_summaries(
    out: Path,
    *,
    raw_dir: Path,
    mirror: str | None = None,
    progress: bool = True,
    say: Callable[[str], None] = print,
) -> list[Path]:
    """Make the summary tables from the raw files of Adult, IPUMS and MSNBC."""
    written = []
    for name in SUMMARY_FILES:
        try:
            raw = obtain(spec(name), raw_dir, mirror, progress=progress, say=say)
        except SourceError as error:
            raise SourceError(
                f"{spec(name).title}: summaries are made from the raw files, which could not be "
                f"obtained:\n{error}\n"
                "Connect to the network, or set SHUFFLEDP_MIRROR."
            ) from None
        for file, table in _tables(name, read_raw(name, raw.files)).items():
            write_atomically(out / file, to_csv(table))
            written.append(out / file)
    return written


def _require(condition: bool, file: str, what: str) -> None:
    if not condition:
        raise ParseError(f"{file}: {what}. Restore the file (git checkout data/summaries) and run again.")


def read_summary(file: str, folder: Path) -> pd.DataFrame:
    """Read one summary table and check its totals."""
    path = folder / file
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SourceError(
            f"{path}: cannot be read ({error.strerror}). Run git checkout data/summaries."
        ) from error
    table = parse_counts(content, file, SUMMARY_COLUMNS[file], text=_TEXT)
    if file.startswith(("adult", "ipums")):
        total, expected = int(table["count"].sum()), ADULT_RECORDS if file[0] == "a" else IPUMS_RECORDS
        _require(total == expected, file, f"the counts add up to {total}, expected {expected}")
    elif file == "msnbc_sets.csv":
        users, by_size = table["users"].to_numpy(), table.iloc[:, 2:].to_numpy()
        _require(list(table["set_size"]) == list(range(1, _K + 1)), file, "expected set sizes 1 to 17")
        total = int(users.sum())
        _require(total == MSNBC_RECORDS, file, f"users add up to {total}, expected {MSNBC_RECORDS}")
        good = (by_size.sum(axis=1) == users * np.arange(1, _K + 1)) & (by_size <= users[:, None]).all(axis=1)
        line = int((~good).argmax()) + 2
        _require(
            bool(good.all()),
            f"{file}, line {line}",
            "frequencies must be <= users and add up to size x users",
        )
    else:
        total = int(table["first_pages"].sum())
        _require(len(table) == _K, file, f"found {len(table)} categories, expected {_K}")
        _require(total == MSNBC_RECORDS, file, f"first pages add up to {total}, expected {MSNBC_RECORDS}")
    return table
