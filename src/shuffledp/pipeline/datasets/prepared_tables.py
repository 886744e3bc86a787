"""Conversion of raw files to prepared tables: counts of values, without records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from shuffledp.pipeline.datasets import parse
from shuffledp.pipeline.datasets.content import read_content
from shuffledp.pipeline.datasets.published_datasets import (
    ADULT_RECORDS,
    ADULT_SEX_COUNTS,
    IPUMS_RECORDS,
    MOVIELENS_MOVIES,
    MOVIELENS_RATINGS,
    MSNBC_RECORDS,
)
from shuffledp.pipeline.datasets.source_errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ADULT_COLUMNS", "MOVIE_COLUMNS", "Contents", "count_rows", "movie_csv", "read_raw", "to_csv"]

ADULT_COLUMNS = ("sex", "hours_per_week", "count")
MOVIE_COLUMNS = ("movieId", "numRatings")


@dataclass(frozen=True)
class Contents:
    """Prepared content of a data set."""

    table: pd.DataFrame | None
    n_records: int
    arrays: dict[str, NDArray[np.generic]] = field(default_factory=dict)


def to_csv(table: pd.DataFrame) -> bytes:
    """Return a table of whole numbers and words as comma-separated bytes, the same on every machine."""
    return table.to_csv(index=False, lineterminator="\n").encode("ascii")


def movie_csv(table: pd.DataFrame) -> bytes:
    """Return counts per movie in the format of ``data/raw/movielens``."""
    return to_csv(table.set_axis(list(MOVIE_COLUMNS), axis=1))


def count_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the distinct rows of `frame` in increasing order with their `count` (int64)."""
    columns = list(frame.columns)
    table = frame.groupby(columns, as_index=False, sort=True).size()
    table.columns = pd.Index([*columns, "count"])
    return table.astype({"count": "int64"})


def _expect(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise ParseError(
            f"{what} is {found}, expected {expected}. The raw files are not the published ones: delete them "
            "and run again to fetch them anew."
        )


def check_adult(table: pd.DataFrame) -> None:
    """Raise ``ParseError`` unless the numbers of records and sexes are the published ones."""
    by_sex = {str(sex): int(count) for sex, count in table.groupby("sex")["count"].sum().items()}
    _expect("adult: the number of persons", sum(by_sex.values()), ADULT_RECORDS)
    _expect("adult: the number of persons by sex", by_sex, ADULT_SEX_COUNTS)


def check_movielens(table: pd.DataFrame) -> None:
    """Raise ``ParseError`` unless the numbers of movies and ratings are the published ones."""
    _expect("movielens: the number of rated movies", len(table), MOVIELENS_MOVIES)
    _expect("movielens: the number of ratings", int(table["count"].sum()), MOVIELENS_RATINGS)


def _adult(files: Mapping[str, Path]) -> Contents:
    if "adult-counts.csv" in files:
        content = files["adult-counts.csv"].read_bytes()
        table = parse.parse_counts(content, "adult-counts.csv", ADULT_COLUMNS, text=("sex",))
    else:
        parts = [
            parse.parse_adult(content_of(files[name]), name, test=name == "adult.test")
            for name in ("adult.data", "adult.test")
        ]
        table = count_rows(pd.concat(parts, ignore_index=True))
    check_adult(table)
    return Contents(table, ADULT_RECORDS)


def _ipums(files: Mapping[str, Path]) -> Contents:
    codes = parse.parse_ipums_birthplace(content_of(files["ipums.la.97.gz"]), "ipums.la.97.gz")
    _expect("ipums: the number of persons", codes.size, IPUMS_RECORDS)
    return Contents(count_rows(pd.DataFrame({"birthplace": codes})), IPUMS_RECORDS)


def _msnbc(files: Mapping[str, Path]) -> Contents:
    masks, first, visits = parse.parse_msnbc(content_of(files["msnbc990928.seq.gz"]), "msnbc990928.seq.gz")
    _expect("msnbc: the number of users", masks.size, MSNBC_RECORDS)
    return Contents(
        count_rows(pd.DataFrame({"mask": masks, "first": first})), MSNBC_RECORDS, {"visits": visits}
    )


def _movielens(files: Mapping[str, Path]) -> Contents:
    name = "ml-20m-rating-counts.csv"
    table = parse.parse_counts(files[name].read_bytes(), name, MOVIE_COLUMNS)
    table = table.set_axis(["movie", "count"], axis=1)
    check_movielens(table)
    return Contents(table, MOVIELENS_RATINGS)


def _mnist(files: Mapping[str, Path]) -> Contents:
    def read(name: str, dimensions: int) -> NDArray[np.uint8]:
        return parse.parse_idx(content_of(files[name]), name, dimensions)

    arrays: dict[str, NDArray[np.generic]] = {
        "train_images": read("train-images-idx3-ubyte.gz", 3),
        "train_labels": read("train-labels-idx1-ubyte.gz", 1),
        "test_images": read("t10k-images-idx3-ubyte.gz", 3),
        "test_labels": read("t10k-labels-idx1-ubyte.gz", 1),
    }
    shapes = {name: array.shape for name, array in arrays.items()}
    expected = {
        "train_images": (60_000, 28, 28),
        "train_labels": (60_000,),
        "test_images": (10_000, 28, 28),
        "test_labels": (10_000,),
    }
    _expect("mnist: the shapes", shapes, expected)
    return Contents(None, 70_000, arrays)


_READERS = {"adult": _adult, "ipums": _ipums, "msnbc": _msnbc, "movielens": _movielens, "mnist": _mnist}


def content_of(path: Path) -> bytes:
    """Return the content of a raw file, plain or compressed."""
    try:
        return read_content(path)
    except ValueError as error:
        raise ParseError(f"{path.name}: {error}. Delete the file and run again to fetch it anew.") from None


def read_raw(name: str, files: Mapping[str, Path]) -> Contents:
    """Read the raw files of a data set."""
    return _READERS[name](files)
