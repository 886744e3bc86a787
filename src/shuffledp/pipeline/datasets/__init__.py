"""Published data sets: their sources, verification, and substitutes for unavailable data."""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.pipeline.datasets.preparation import make_summaries as make_summaries, prepare as prepare
    from shuffledp.pipeline.datasets.prepared import (
        Dataset as Dataset,
        Provenance as Provenance,
        SourceKind as SourceKind,
        columns_of as columns_of,
        data_file as data_file,
        load as load,
    )
    from shuffledp.pipeline.datasets.raw_files import without_login as without_login
    from shuffledp.pipeline.datasets.registry import (
        NAMES as NAMES,
        PublishedDataset as PublishedDataset,
        locations as locations,
        spec as spec,
    )
    from shuffledp.pipeline.datasets.sets.msnbc import (
        MSNBC_CATEGORIES as MSNBC_CATEGORIES,
        members as members,
    )
    from shuffledp.pipeline.datasets.source_errors import (
        DownloadError as DownloadError,
        LocalError as LocalError,
        NoNetworkError as NoNetworkError,
        SourceError as SourceError,
    )
else:
    __getattr__, __dir__ = door(__name__)
