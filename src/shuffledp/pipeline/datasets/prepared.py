"""Prepared data sets, written by `shuffledp.pipeline.datasets.prepare` and read by `load`."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline import table_files
from shuffledp.pipeline.datasets.registry import spec
from shuffledp.pipeline.datasets.sets.msnbc import MSNBC_CATEGORIES, members
from shuffledp.storage import read_verified

SourceKind = Literal["official", "mirror", "summary", "stand_in"]
_K = len(MSNBC_CATEGORIES)


@dataclass(frozen=True)
class Provenance:
    """Origin of a prepared data set, also stored as ``<name>.json`` in its folder.

    `source` "official" or "mirror" is the published data, byte for byte; "summary" preserves the margins named in
    `note`; "stand_in" is generated. `origin` is a URL, the word "mirror", the summary files, or a description of a
    stand-in, but never a path on a machine. `sha256` has the checksums of the raw files or summary tables. Records are
    persons, users, ratings or images. `note` is a sentence for figures of other than the real data set, else empty.
    License and citation are the data set's, also for a substitute.
    """

    name: str
    title: str
    source: SourceKind
    origin: str
    sha256: dict[str, str]
    n_records: int
    note: str
    licence: str
    citation: str


def data_file(name: str) -> str:
    """Return the file name of a prepared data set, for example ``adult.parquet``."""
    return f"{name}.{spec(name).extension}"


# ---- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Dataset:
    """Prepared data set: a table of counts, arrays, and its origin.

    `table` has the distinct values with the int64 column `count`: Adult `sex`, `hours_per_week`; IPUMS `birthplace`;
    MovieLens `movie`; MSNBC `mask` (int32, bit c-1 set for category c), `first` (1..17). MNIST has no table.

    `arrays` has MNIST's uint8 `train_images` (60000, 28, 28), `train_labels`, `test_images`, `test_labels` (other
    shapes for the stand-in), and MSNBC's int64 `visits` (17,). Other data sets have no arrays.
    """

    name: str
    table: Mapping[str, NDArray[np.generic]] | None
    arrays: dict[str, NDArray[np.generic]]
    provenance: Provenance

    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns that `histogram` accepts."""
        return spec(self.name).columns

    def histogram(self, column: str, domain_size: int | None = None) -> NDArray[np.int64]:
        """Return the number of records with each value of a column, (k,) int64; values beyond the column's size get 0.

        The columns are Adult `sex` (0 = Female, 1 = Male) and `hours_per_week` (index = hours, 0..99); IPUMS
        `birthplace` (index = code - 1, 900 values); MovieLens `movie` (index = rank of the movie number, 26,744 values,
        records are ratings) and `sampled_movie` (2,000 values, 494,352 records, see `sample_ratings`); MNIST
        `train_labels` and `test_labels` (10 values). MSNBC has 17 values each: `category` (users whose set has category
        index + 1), `first` (users by category of their first page), `visits` (page visits) and `set_size` (users with
        index + 1 distinct categories).

        Raises ``ValueError`` for an unknown column or a domain smaller than the column's.
        """
        if column not in self.columns():
            raise ValueError(f"{self.name} has no column {column!r}. Known: {', '.join(self.columns())}.")
        counts = spec(self.name).counts(self, column)
        size = counts.size if domain_size is None else domain_size
        if size < counts.size:
            raise ValueError(
                f"domain_size is {size}, but {column!r} of {self.name} has {counts.size} values: give at "
                f"least that."
            )
        return np.concatenate((counts, np.zeros(size - counts.size, np.int64)))

    def cells(self, column: str) -> NDArray[Any]:
        """Return a column of the table, a value per row."""
        assert self.table is not None
        return np.asarray(self.table[column])

    def spread(self, index: NDArray[Any], size: int) -> NDArray[np.int64]:
        """Return the number of records by the index of each row of the table, (size,)."""
        result = np.zeros(size, np.int64)
        np.add.at(result, np.asarray(index, np.int64), self.cells("count").astype(np.int64))
        return result

    def sets(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the distinct sets, as increasing bit masks, and the number of users with each set; MSNBC only."""
        if self.name != "msnbc" or self.table is None:
            raise ValueError(f"{self.name} has no sets; only msnbc has.")
        masks, index = np.unique(self.cells("mask").astype(np.int32), return_inverse=True)
        return masks, self.spread(index, masks.size)

    def first_and_size(self) -> NDArray[np.int64]:
        """Return users by first category - 1 and number of distinct categories, (17, 18); MSNBC only."""
        self.sets()
        size = members(self.cells("mask")).sum(axis=1)
        place = (self.cells("first").astype(np.int64) - 1) * (_K + 1) + size
        return self.spread(place, _K * (_K + 1)).reshape(_K, _K + 1)

    def sample_sets(self, n: int, rng: np.random.Generator, *, replace: bool = False) -> NDArray[np.int32]:
        """Draw the sets of `n` users in random order; MSNBC only."""
        masks, count = self.sets()
        total = int(count.sum())
        if n < 0 or (n > total and not replace):
            raise ValueError(f"n must be in [0, {total}] without replacement, got {n}.")
        if replace:
            counts = rng.multinomial(n, count / total)
        else:
            counts = rng.multivariate_hypergeometric(count, n, method="marginals")
        return rng.permutation(np.repeat(masks, counts))


def columns_of(name: str) -> tuple[str, ...]:
    """Return the columns of a data set that `Dataset.histogram` accepts."""
    return spec(name).columns


def load(name: str, prepared_dir: Path) -> Dataset:
    """Read a prepared data set after a check of its checksums; `IntegrityError` names the command that rebuilds it."""
    extension, folder = spec(name).extension, Path(prepared_dir)
    checksum = folder / f"{name}.sha256"
    note = json.loads(read_verified(folder / f"{name}.json", checksum))
    provenance = Provenance(**{item.name: note[item.name] for item in fields(Provenance)})
    data = read_verified(folder / data_file(name), checksum)
    if extension == "npz":
        with np.load(io.BytesIO(data), allow_pickle=False) as bundle:
            return Dataset(name, None, {key: bundle[key] for key in bundle.files}, provenance)
    table = table_files.read(data)
    extra = json.loads((table.schema.metadata or {}).get(b"shuffledp", b"{}"))
    arrays: dict[str, NDArray[np.generic]] = {key: np.array(value, np.int64) for key, value in extra.items()}
    columns = {key: table.column(key).to_numpy() for key in table.column_names}
    return Dataset(name, columns, arrays, provenance)
