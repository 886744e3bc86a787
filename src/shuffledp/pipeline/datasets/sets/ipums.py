"""IPUMS Los Angeles 1970: birthplace of every person."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.datasets.registry import (
    Contents,
    Description,
    Prepared,
    PublishedDataset,
    Substitute,
    count_rows,
)

if TYPE_CHECKING:
    import pandas as pd

_RECORDS = 70_187
_CODES = 900


class Ipums(PublishedDataset):
    """IPUMS census of Los Angeles and Long Beach, 1970."""

    title = "IPUMS Los Angeles 1970"
    citation = (
        "Ruggles, S., Sobek, M. et al. (1997). Integrated Public Use Microdata Series: Version 2.0. "
        "Minneapolis: Historical Census Projects, University of Minnesota. http://www.ipums.umn.edu/"
    )
    description = Description(
        content="IPUMS census, Los Angeles and Long Beach, 1970",
        records=f"{_RECORDS:,} persons",
        used="`birthplace` (column 34, `bplg`)",
        transfer="up to 10 MB",
        prepared="`birthplace` (1..900)",
        substituted="shipped counts",
        exact="all counts that the experiments use",
        lost="none",
    )
    columns = ("birthplace",)
    summaries: ClassVar = {
        "ipums_birthplace.csv": "b9d704d3c6ee273fa5ed7498a6aecfb7f327c25fcc1e182dd7583ca76cb1607e"
    }

    def parse(self, files: Mapping[str, Path]) -> Contents:
        """Return the persons per general birthplace code (`bplg`, column 34)."""
        import pandas as pd

        persons = pd.read_csv(files["ipums.la.97"], header=None, usecols=[33])
        return Contents(count_rows(persons.set_axis(["birthplace"], axis=1)), _RECORDS)

    def counts(self, data: Prepared, column: str) -> NDArray[np.int64]:
        """Return the persons per code; the index is the code - 1."""
        return data.spread(data.cells(column) - 1, _CODES)

    def summarize(self, contents: Contents) -> dict[str, pd.DataFrame]:
        """Return the table itself."""
        assert contents.table is not None
        return {"ipums_birthplace.csv": contents.table}

    def substitute(self, folder: Path) -> Substitute:
        """Return the shipped counts."""
        return Substitute(
            Contents(self.summary("ipums_birthplace.csv", folder), _RECORDS),
            "summary",
            self.named_summaries(),
            "IPUMS Los Angeles 1970: from the shipped summary counts (equal to the real birthplace counts).",
        )


DATASET = Ipums()
