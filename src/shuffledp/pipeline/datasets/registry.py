"""Published data sets: a module of `sets` for each, and the addresses of their files in ``data/datasets.csv``."""

from __future__ import annotations

import csv
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.datasets import sets
from shuffledp.pipeline.datasets.source_errors import SourceError
from shuffledp.pipeline.jobs import source
from shuffledp.storage import sha256_of

if TYPE_CHECKING:
    import pandas as pd

#: Names of the data sets, which are the modules of `sets`.
NAMES: tuple[str, ...] = tuple(sorted(module.name for module in pkgutil.iter_modules(sets.__path__)))


@dataclass(frozen=True)
class Contents:
    """Prepared content of a data set."""

    table: pd.DataFrame | None
    n_records: int
    arrays: dict[str, NDArray[np.generic]] = field(default_factory=dict)


class Prepared(Protocol):
    """Prepared data set, of which columns are counted."""

    @property
    def arrays(self) -> Mapping[str, NDArray[np.generic]]:
        """Arrays by name."""

    def cells(self, column: str) -> NDArray[Any]:
        """Return a column of the table."""

    def spread(self, index: NDArray[Any], size: int) -> NDArray[np.int64]:
        """Return the number of records by the index of each row of the table, (size,)."""


@dataclass(frozen=True)
class Substitute:
    """Content of a substitute, with its label."""

    contents: Contents
    source: Literal["summary", "stand_in"]
    origin: str
    note: str


@dataclass(frozen=True)
class Location:
    """Row of ``data/datasets.csv``: address of a file, and checksum and size of its unpacked content.

    A name behind ``#`` in the address is a member of a zip file. The content of a derived file is computed from the
    published one, by `PublishedDataset.derive`.
    """

    name: str
    version: str
    source: str
    file: str
    url: str
    sha256: str
    bytes: int
    license: str
    status: Literal["published", "derived"]
    note: str


class Description(NamedTuple):
    """Entries of a data set in docs/data.md, in Markdown.

    `content` is what it contains, `records` what it counts and how many, and `used` the columns and their use.
    `transfer` is the size of the download. `prepared` are the columns of the prepared file. A substitute has
    `substituted` content, of which some properties are `exact` and some are `lost`.
    """

    content: str
    records: str
    used: str
    transfer: str
    prepared: str
    substituted: str
    exact: str
    lost: str


class PublishedDataset(ABC):
    """Description, parser, columns and substitute of a data set.

    Attributes
    ----------
    title, citation : str
        Name and source for figures and files.
    description : Description
        Entries of docs/data.md.
    extension : str
        Suffix of the prepared file: ``parquet`` for a table, ``npz`` for arrays.
    columns : tuple of str
        Columns that a histogram accepts.
    summaries : mapping of str to str
        Files of ``data/summaries`` with their sha256.
    """

    title: ClassVar[str]
    citation: ClassVar[str]
    description: ClassVar[Description]
    extension: ClassVar[str] = "parquet"
    columns: ClassVar[tuple[str, ...]]
    summaries: ClassVar[Mapping[str, str]] = {}

    def derive(self, published: Any) -> bytes:
        """Return the content of a derived file from the published content, a stream or the table of ucimlrepo."""
        raise NotImplementedError(f"{self.title} has no derived file.")

    @abstractmethod
    def parse(self, files: Mapping[str, Path]) -> Contents:
        """Return the content of the verified files of one source."""

    @abstractmethod
    def counts(self, data: Prepared, column: str) -> NDArray[np.int64]:
        """Return the number of records with each value of a column, (k,)."""

    def summarize(self, contents: Contents) -> dict[str, pd.DataFrame]:
        """Return the tables of `summaries`, by file."""
        return {}

    @abstractmethod
    def substitute(self, folder: Path) -> Substitute:
        """Return the substitute, without network or mirror; `folder` has the summaries."""

    def summary(self, file: str, folder: Path) -> pd.DataFrame:
        """Read one summary table. Raise `SourceError` unless it is the published table."""
        path = folder / file
        if not path.is_file() or sha256_of(path) != self.summaries[file]:
            raise SourceError(
                f"{path}: missing, or not the published file. Run git checkout data/summaries, and run again."
            )
        import pandas as pd

        return pd.read_csv(path)

    def named_summaries(self) -> str:
        """Return the files of the summaries as the origin of a substitute."""
        return " and ".join(f"data/summaries/{file}" for file in self.summaries)


def spec(name: str) -> PublishedDataset:
    """Return the data set with this name. Raise ``ValueError`` with the known names otherwise."""
    if name not in NAMES:
        raise ValueError(f"No data set named {name!r}. Known: {', '.join(NAMES)}.")
    data_set: PublishedDataset = import_module(f"{sets.__name__}.{name}").DATASET
    return data_set


def describe_datasets() -> dict[str, list[str]]:
    """Return the tables of docs/data.md in Markdown: data sets, substitutes, columns, and sizes."""
    tables: dict[str, list[str]] = {
        "data sets": ["name | data set | records | used for | license", "--- | --- | ---: | --- | ---"],
        "substitutes": ["data set | source | content | exact | not preserved", "--- | --- | --- | --- | ---"],
        "columns": ["data set | columns", "--- | ---"],
        "sizes": ["data set | transfer | `data/raw`", "--- | ---: | ---:"],
    }
    for name in NAMES:
        data_set, rows = spec(name), locations(name)
        words = data_set.description
        files = {row.file: row.bytes for row in rows if row.status == "published" or len(rows) == 1}
        origin = "summary" if data_set.summaries else "stand_in"
        for table, cells in {
            "data sets": (f"`{name}`", words.content, words.records, words.used, rows[0].license),
            "substitutes": (f"`{name}`", f"`{origin}`", words.substituted, words.exact, words.lost),
            "columns": (f"`{name}`", words.prepared),
            "sizes": (f"`{name}`", words.transfer, f"{sum(files.values()) / 1e6:.1f} MB"),
        }.items():
            tables[table].append(" | ".join(cells))
    return {table: [f"| {line} |" for line in lines] for table, lines in tables.items()}


def summaries_folder() -> Path:
    """Return ``data/summaries`` of this repository, or of the working directory for an installed package."""
    folder = Path(__file__).resolve().parents[4] / "data" / "summaries"
    return folder if folder.is_dir() else source("data/summaries")


@cache
def locations(name: str) -> tuple[Location, ...]:
    """Return the locations of the files of a data set, in the order in which they are tried."""
    with Path(__file__).with_name("datasets.csv").open(encoding="utf-8", newline="") as table:
        rows: list[dict[str, Any]] = [row for row in csv.DictReader(table) if row["name"] == name]
    return tuple(Location(**{**row, "bytes": int(row["bytes"])}) for row in rows)


def count_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the distinct rows of `frame` in increasing order with their `count` (int64)."""
    columns = list(frame.columns)
    table = frame.groupby(columns, as_index=False, sort=True).size()
    return table.set_axis([*columns, "count"], axis=1).astype({"count": "int64"})


def to_csv(table: pd.DataFrame) -> bytes:
    """Return a table of whole numbers and words as CSV bytes that are the same on every machine."""
    return table.to_csv(index=False, lineterminator="\n").encode("ascii")
