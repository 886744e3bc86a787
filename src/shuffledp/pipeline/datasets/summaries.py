"""The small aggregate tables in ``data/summaries``: their writer and reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from shuffledp.pipeline.datasets.prepared_tables import Contents, read_raw, to_csv
from shuffledp.pipeline.datasets.published_datasets import MSNBC_CATEGORIES, spec
from shuffledp.pipeline.datasets.raw_files import obtain
from shuffledp.pipeline.datasets.source_errors import SourceError
from shuffledp.pipeline.jobs import source
from shuffledp.storage import sha256_of, write_atomically

_K = len(MSNBC_CATEGORIES)

SUMMARY_SHA256 = {
    "adult_sex.csv": "45869ae775042e17ec086939e320bac9d567c1bdc4887c13266e4534b4aedc45",
    "adult_hours_per_week.csv": "4bb781237ffd054c1424c2a8967117d3ef1fc00aa4779802d0275f4fa17ad362",
    "ipums_birthplace.csv": "b9d704d3c6ee273fa5ed7498a6aecfb7f327c25fcc1e182dd7583ca76cb1607e",
    "msnbc_sets.csv": "8d3507c5ddaefc8a0b7067b82ce107f0def89f8ce99d0a79571748cc93a1f83f",
    "msnbc_categories.csv": "ee45eb48319d1981f8fbffc410f260736ff49bf5ddc7df33ee2ec1533b6717cd",
}
SUMMARY_FILES = {
    name: tuple(file for file in SUMMARY_SHA256 if file.startswith(name))
    for name in ("adult", "ipums", "msnbc")
}


def default_summaries_dir() -> Path:
    """Return ``data/summaries`` of this repository, or of the working directory for an installed package."""
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
    sets = pd.DataFrame(by_size[1:], columns=[f"category_{c}" for c in range(1, _K + 1)])
    sets.insert(0, "users", users)
    sets.insert(0, "set_size", np.arange(1, _K + 1))
    first = np.bincount(table["first"], weights=count, minlength=_K + 1)[1:].astype(np.int64)
    categories = {
        "category": np.arange(1, _K + 1),
        "name": MSNBC_CATEGORIES,
        "users_count": by_size.sum(axis=0),
        "first_pages": first,
        "visits": contents.arrays["visits"],
    }
    return {"msnbc_sets.csv": sets, "msnbc_categories.csv": pd.DataFrame(categories)}


def make_summaries(
    out: Path,
    *,
    raw_dir: Path,
    mirror: str | None = None,
    progress: bool = True,
    say: Callable[[str], None] = print,
) -> list[Path]:
    """Write the summary tables from the raw files of Adult, IPUMS and MSNBC."""
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


def read_summary(file: str, folder: Path) -> pd.DataFrame:
    """Read one summary table. Raise `SourceError` unless it is the published table."""
    path = folder / file
    if not path.is_file() or sha256_of(path) != SUMMARY_SHA256[file]:
        raise SourceError(
            f"{path}: missing, or not the published file. Run git checkout data/summaries, and run again."
        )
    return pd.read_csv(path)
