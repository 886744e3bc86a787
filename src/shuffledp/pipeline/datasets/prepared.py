"""Prepared data sets, written by `shuffledp.pipeline.datasets.prepare` and read by `load`."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline import table_files
from shuffledp.pipeline.datasets.published_datasets import BIRTHPLACE_DOMAIN, MSNBC_CATEGORIES, spec
from shuffledp.storage import read_verified

SourceKind = Literal["official", "mirror", "summary", "stand_in"]
_K = len(MSNBC_CATEGORIES)
_HOURS = 100
_SEXES = ("Female", "Male")


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


def members(masks: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return, for bit sets (m,), a table (m, 17) of the categories in each set."""
    held: NDArray[np.bool_] = ((np.asarray(masks)[:, None] >> np.arange(_K)) & 1).astype(bool)
    return held


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
        return _COLUMNS[self.name]

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
        counts = self._counts(column)
        size = counts.size if domain_size is None else domain_size
        if size < counts.size:
            raise ValueError(
                f"domain_size is {size}, but {column!r} of {self.name} has {counts.size} values: give at "
                f"least that."
            )
        return np.concatenate((counts, np.zeros(size - counts.size, np.int64)))

    def _counts(self, column: str) -> NDArray[np.int64]:
        if self.name == "mnist":
            return np.bincount(self.arrays[column].astype(np.int64), minlength=10).astype(np.int64)
        if column == "visits":
            return self.arrays["visits"].astype(np.int64)
        assert self.table is not None
        count = np.asarray(self.table["count"], np.int64)
        if column == "movie":
            return count
        if column == "sampled_movie":
            return sample_ratings(count)
        if column in ("category", "set_size"):
            held = members(self._masks)
            if column == "category":
                return (count @ held).astype(np.int64)
            index, size = held.sum(axis=1) - 1, _K
        elif column == "sex":
            index, size = (np.asarray(self.table["sex"]) == _SEXES[1]).astype(np.int64), len(_SEXES)
        else:
            offset, size = {
                "birthplace": (1, BIRTHPLACE_DOMAIN),
                "hours_per_week": (0, _HOURS),
                "first": (1, _K),
            }[column]
            index = np.asarray(self.table[column], np.int64) - offset
        result = np.zeros(size, np.int64)
        np.add.at(result, index, count)
        return result

    def sets(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the distinct sets, as increasing bit masks, and the number of users with each set; MSNBC only."""
        if self.name != "msnbc" or self.table is None:
            raise ValueError(f"{self.name} has no sets; only msnbc has.")
        masks, index = np.unique(self._masks, return_inverse=True)
        total = np.zeros(masks.size, np.int64)
        np.add.at(total, index, np.asarray(self.table["count"], np.int64))
        return masks, total

    @property
    def _masks(self) -> NDArray[np.int32]:
        assert self.table is not None
        return np.asarray(self.table["mask"], np.int32)

    def first_and_size(self) -> NDArray[np.int64]:
        """Return users by first category - 1 and number of distinct categories, (17, 18); MSNBC only."""
        self.sets()
        assert self.table is not None
        size = members(self._masks).sum(axis=1)
        result = np.zeros((_K, _K + 1), np.int64)
        np.add.at(result, (np.asarray(self.table["first"]) - 1, size), np.asarray(self.table["count"]))
        return result

    def sample_sets(self, n: int, rng: np.random.Generator, *, replace: bool = False) -> NDArray[np.int32]:
        """Draw the sets of `n` users in random order; MSNBC only."""
        masks, count = self.sets()
        total = int(count.sum())
        if n < 0 or (n > total and not replace):
            raise ValueError(f"n must be in [0, {total}] without replacement, got {n}.")
        if replace:
            drawn = rng.multinomial(n, count / total)
        else:
            drawn = rng.multivariate_hypergeometric(count, n, method="marginals")
        return rng.permutation(np.repeat(masks, drawn))


_COLUMNS: dict[str, tuple[str, ...]] = {
    "adult": ("sex", "hours_per_week"),
    "ipums": ("birthplace",),
    "movielens": ("movie", "sampled_movie"),
    "msnbc": ("category", "first", "visits", "set_size"),
    "mnist": ("train_labels", "test_labels"),
}


def columns_of(name: str) -> tuple[str, ...]:
    """Return the columns of a data set that `Dataset.histogram` accepts."""
    return _COLUMNS[name]


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


SAMPLED_MOVIES = 2_000
SAMPLED_RATINGS = 494_352
_SAMPLE_SEED = 2009_13738


def sample_ratings(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a fixed sample of ratings, with the DUMP paper's numbers of ratings and movies.

    The paper does not name the ratings that it took from MovieLens. Here 2,000 movies are drawn uniformly, then 494,352
    of their ratings, both without replacement. The draw has its own seed, so that the sample is the same in every run.
    """
    if counts.size < SAMPLED_MOVIES:
        raise ValueError(f"Sampling needs at least {SAMPLED_MOVIES} movies, got {counts.size}.")
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(_SAMPLE_SEED)))
    chosen = counts[np.sort(rng.choice(counts.size, SAMPLED_MOVIES, replace=False))]
    if chosen.sum() < SAMPLED_RATINGS:
        raise ValueError(
            f"Sampling needs at least {SAMPLED_RATINGS} ratings of the chosen movies, got {int(chosen.sum())}."
        )
    return rng.multivariate_hypergeometric(chosen, SAMPLED_RATINGS, method="marginals").astype(np.int64)
