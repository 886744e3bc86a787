"""The five data sets: their sources, verification, and substitutes for unavailable data."""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.pipeline.datasets.download import fetch
    from shuffledp.pipeline.datasets.preparation import prepare
    from shuffledp.pipeline.datasets.prepared import (
        Dataset,
        Provenance,
        SourceKind,
        columns_of,
        data_file,
        load,
        members,
    )
    from shuffledp.pipeline.datasets.published_datasets import (
        CATALOGUE,
        MSNBC_CATEGORIES,
        NAMES,
        DatasetSpec,
        RawFile,
        spec,
    )
    from shuffledp.pipeline.datasets.raw_files import without_login
    from shuffledp.pipeline.datasets.source_errors import (
        DownloadError,
        LocalError,
        NoNetworkError,
        SourceError,
    )
    from shuffledp.pipeline.datasets.summaries import SUMMARY_FILES, make_summaries
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "CATALOGUE",
    "MSNBC_CATEGORIES",
    "NAMES",
    "SUMMARY_FILES",
    "Dataset",
    "DatasetSpec",
    "DownloadError",
    "LocalError",
    "NoNetworkError",
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
    "without_login",
]
