"""The five data sets: where they come from, how they are verified, what is used when they cannot be had."""

from shuffledp.datasets.catalogue import CATALOGUE, MSNBC_CATEGORIES, NAMES, DatasetSpec, RawFile, spec
from shuffledp.datasets.download import fetch
from shuffledp.datasets.errors import (
    DownloadError,
    IntegrityError,
    NoNetworkError,
    ParseError,
    SourceError,
)
from shuffledp.datasets.prepared import (
    Dataset,
    Provenance,
    SourceKind,
    columns_of,
    data_file,
    load,
    members,
    prepare,
)
from shuffledp.datasets.summaries import SUMMARY_FILES, make_summaries

__all__ = [
    "CATALOGUE",
    "MSNBC_CATEGORIES",
    "NAMES",
    "SUMMARY_FILES",
    "Dataset",
    "DatasetSpec",
    "DownloadError",
    "IntegrityError",
    "NoNetworkError",
    "ParseError",
    "Provenance",
    "RawFile",
    "SourceError",
    "SourceKind",
    "columns_of",
    "data_file",
    "fetch",
    "load",
    "make_summaries",
    "members",
    "prepare",
    "spec",
]
