"""Adult: sex and hours per week of every person."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.datasets.registry import (
    Contents,
    Description,
    Prepared,
    PublishedDataset,
    Substitute,
    count_rows,
    to_csv,
)

if TYPE_CHECKING:
    import pandas as pd

_RECORDS = 48_842
_HOURS = 100


def persons_of(content: bytes, *, test: bool = False) -> pd.DataFrame:
    """Read ``adult.data`` or ``adult.test``, whose first line is not a person."""
    import pandas as pd

    persons = pd.read_csv(
        io.BytesIO(content), header=None, usecols=[9, 12], skipinitialspace=True, skiprows=int(test)
    )
    return persons.set_axis(["sex", "hours_per_week"], axis=1)


class Adult(PublishedDataset):
    """Training and test part of Adult."""

    title = "Adult"
    citation = "Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. doi:10.24432/C5XW20"
    description = Description(
        content="UCI Adult, training and test part",
        records=f"{_RECORDS:,} persons",
        used="`sex` (16,192 women, 32,650 men), `hours_per_week`",
        transfer="1 to 6 MB",
        prepared="`sex` (Female, Male), `hours_per_week` (1..99)",
        substituted="shipped counts",
        exact="sex counts; counts of hours per week",
        lost="the joint distribution of the two",
    )
    columns = ("sex", "hours_per_week")
    summaries: ClassVar = {
        "adult_sex.csv": "45869ae775042e17ec086939e320bac9d567c1bdc4887c13266e4534b4aedc45",
        "adult_hours_per_week.csv": "4bb781237ffd054c1424c2a8967117d3ef1fc00aa4779802d0275f4fa17ad362",
    }

    def derive(self, published: Any) -> bytes:
        """Return the persons per sex and hours from the table of ucimlrepo."""
        import pandas as pd

        persons = {"sex": published["sex"].str.strip()}
        persons["hours_per_week"] = published["hours-per-week"].astype("int64")
        return to_csv(count_rows(pd.DataFrame(persons)))

    def parse(self, files: Mapping[str, Path]) -> Contents:
        """Return the persons per sex and hours."""
        import pandas as pd

        if "adult-counts.csv" in files:
            return Contents(pd.read_csv(files["adult-counts.csv"]), _RECORDS)
        parts = [
            persons_of(files[name].read_bytes(), test=name == "adult.test")
            for name in ("adult.data", "adult.test")
        ]
        return Contents(count_rows(pd.concat(parts, ignore_index=True)), _RECORDS)

    def counts(self, data: Prepared, column: str) -> NDArray[np.int64]:
        """Return the persons per sex (Female, Male) or number of hours."""
        cells = data.cells(column)
        counts: dict[str, Callable[[], NDArray[np.int64]]] = {
            "sex": lambda: data.spread(cells == "Male", 2),
            "hours_per_week": lambda: data.spread(cells, _HOURS),
        }
        return counts[column]()

    def summarize(self, contents: Contents) -> dict[str, pd.DataFrame]:
        """Return the two marginals."""
        table = contents.table
        assert table is not None
        return {
            f"adult_{name}.csv": table.groupby(name)["count"].sum().reset_index() for name in self.columns
        }

    def substitute(self, folder: Path) -> Substitute:
        """Return Adult with two exact marginals; the joint distribution is their rounded product."""
        import pandas as pd

        sexes, hours = (self.summary(file, folder) for file in self.summaries)
        by_hour = hours["count"].to_numpy()
        female = int(sexes.loc[sexes["sex"] == "Female", "count"].sum())
        # Largest remainders: each hour gets its share of women rounded down, the rest goes to the largest fractions.
        whole, rest = np.divmod(by_hour * female, _RECORDS)
        whole[np.argsort(-rest, kind="stable")[: female - int(whole.sum())]] += 1
        parts = [
            pd.DataFrame({"sex": sex, "hours_per_week": hours["hours_per_week"], "count": count})
            for sex, count in (("Female", whole), ("Male", by_hour - whole))
        ]
        table = pd.concat(parts, ignore_index=True)
        return Substitute(
            Contents(table[table["count"] > 0].reset_index(drop=True), _RECORDS),
            "summary",
            self.named_summaries(),
            "Adult: from the shipped summary counts (each marginal exact, dependence between columns not kept).",
        )


DATASET = Adult()
