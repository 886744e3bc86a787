"""Errors of the protocols at the first setting of a task, by the year in which their sources were published."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from shuffledp.guarantees import OURS
from shuffledp.identities import identities
from shuffledp.pipeline.figures.names import TRUST
from shuffledp.pipeline.figures.ranking import SETTING, at_first_setting, records, setting_words

#: Factor that the running best error falls by at least.
GAIN = 0.99
_COLUMNS = [*SETTING, "year", "trust", "label", "error", "accounting", "guarantee", "running_best"]


def by_year(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the ranked protocols of the first task at its first setting with years, this project's own ones last.

    The table is empty if no protocol of the shuffle model has a year.
    """
    published = at_first_setting(rows)
    built_in = published[
        published["protocol"].isin(list(identities())) & (published["trust"] != TRUST["local"])
    ]
    dated = built_in.assign(year=[identities()[name].year or OURS for name in built_in["protocol"]])
    order = dated.assign(place=pd.to_numeric(dated["year"], errors="coerce"))
    order = order.sort_values(["place", "error"], kind="stable")  # this project's own ones last
    best, running = np.inf, []
    for row in records(order):
        better = row["trust"] == TRUST["shuffler"] and row["error"] < GAIN * best
        best = row["error"] if better else best
        running.append("yes" if better else "")
    table = order.assign(running_best=running)[_COLUMNS].reset_index(drop=True)
    return table if "yes" in running else table.head(0)


def facts_of_years(table: pd.DataFrame) -> dict[str, Any]:
    """Return facts for the caption: the setting, numbers of protocols, running best errors, and the curator's error."""
    best = records(table[table["running_best"] == "yes"])
    curator = table.loc[table["trust"] == TRUST["central"], "error"].min()
    protocols = table[table["trust"] != TRUST["central"]]
    return {
        "protocols": len(protocols),
        "inexact": int((protocols["accounting"] != "exact").sum()),
        "ours": int((protocols["year"] == OURS).sum()),
        "setting": setting_words(records(table)[0]),
        "task": str(table["task"].iloc[0]),
        "steps": best,
        "ratio": best[0]["error"] / best[-1]["error"],
        "over_curator": best[-1]["error"] / curator if curator > 0 else None,
    }
