"""Conversion of raw files to prepared tables, which have counts of values but no records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from shuffledp.pipeline.datasets import parse
from shuffledp.pipeline.datasets.content import read_content
from shuffledp.pipeline.datasets.published_datasets import (
    ADULT_RECORDS,
    IPUMS_RECORDS,
    MOVIELENS_RATINGS,
    MSNBC_RECORDS,
)

_MNIST_FILES = {
    "train_images": "train-images-idx3",
    "train_labels": "train-labels-idx1",
    "test_images": "t10k-images-idx3",
    "test_labels": "t10k-labels-idx1",
}


@dataclass(frozen=True)
class Contents:
    """Prepared content of a data set."""

    table: pd.DataFrame | None
    n_records: int
    arrays: dict[str, NDArray[np.generic]] = field(default_factory=dict)


def to_csv(table: pd.DataFrame) -> bytes:
    """Return a table of whole numbers and words as CSV bytes that are the same on every machine."""
    return table.to_csv(index=False, lineterminator="\n").encode("ascii")


def movie_csv(table: pd.DataFrame) -> bytes:
    """Return counts per movie as a CSV file of ``data/raw/movielens``."""
    return to_csv(table.set_axis(["movieId", "numRatings"], axis=1))


def count_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the distinct rows of `frame` in increasing order with their `count` (int64)."""
    columns = list(frame.columns)
    table = frame.groupby(columns, as_index=False, sort=True).size()
    table.columns = pd.Index([*columns, "count"])
    return table.astype({"count": "int64"})


def _adult(files: Mapping[str, Path]) -> Contents:
    if "adult-counts.csv" in files:
        table = pd.read_csv(files["adult-counts.csv"])
    else:
        parts = [
            parse.parse_adult(read_content(files[name]), test=name == "adult.test")
            for name in ("adult.data", "adult.test")
        ]
        table = count_rows(pd.concat(parts, ignore_index=True))
    return Contents(table, ADULT_RECORDS)


def _ipums(files: Mapping[str, Path]) -> Contents:
    persons = parse.parse_ipums_birthplace(read_content(files["ipums.la.97.gz"]))
    return Contents(count_rows(persons), IPUMS_RECORDS)


def _msnbc(files: Mapping[str, Path]) -> Contents:
    masks, first, visits = parse.parse_msnbc(read_content(files["msnbc990928.seq.gz"]))
    users = pd.DataFrame({"mask": masks, "first": first})
    return Contents(count_rows(users), MSNBC_RECORDS, {"visits": visits})


def _movielens(files: Mapping[str, Path]) -> Contents:
    table = pd.read_csv(files["ml-20m-rating-counts.csv"]).set_axis(["movie", "count"], axis=1)
    return Contents(table, MOVIELENS_RATINGS)


def _mnist(files: Mapping[str, Path]) -> Contents:
    arrays: dict[str, NDArray[np.generic]] = {
        name: parse.parse_idx(read_content(files[f"{file}-ubyte.gz"])) for name, file in _MNIST_FILES.items()
    }
    return Contents(None, 70_000, arrays)


_READERS = {"adult": _adult, "ipums": _ipums, "msnbc": _msnbc, "movielens": _movielens, "mnist": _mnist}


def read_raw(name: str, files: Mapping[str, Path]) -> Contents:
    """Read the raw files of a data set."""
    return _READERS[name](files)
