"""Privacy profiles of the ranked protocols: delta by central eps around the budget, at the first setting of a task."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from shuffledp.identities import identities
from shuffledp.pipeline.experiments.bundle import PROFILE_METRICS
from shuffledp.pipeline.figures.drawing_jobs import RankedJob
from shuffledp.pipeline.figures.drawn_curves import grouped
from shuffledp.pipeline.figures.names import TRUST
from shuffledp.pipeline.figures.palette import GRAY, Look, look_of, told_apart
from shuffledp.pipeline.figures.ranking import (
    SETTING,
    at_first_setting,
    records,
    results_of,
    setting_words,
    with_identities,
)
from shuffledp.pipeline.figures.selected_rows import matching
from shuffledp.pipeline.figures.style import SIZE

#: Lower end of the axis of delta.
LEAST = 1e-12
#: Decades of delta within which curves coincide.
SAME = 0.2
HALF = 0.5
#: Look of a protocol without an identity.
OTHER = Look(GRAY, "", "-")
_COLUMNS = [*SETTING, "trust", "label", "front", "guarantee", "curve", "at_eps", "found_delta"]
_KEY = ["users", "values", "eps", "delta", "label"]
_WRAPPED = 46


def profiles(jobs: Sequence[RankedJob], rows: pd.DataFrame) -> pd.DataFrame:
    """Return delta of the ranked protocols at the first setting, with the number of the curve that they share."""
    tables = [
        deltas for job in jobs if len(rows) and job["task"] == rows["task"].iloc[0] for deltas in _of(job)
    ]
    if not tables:
        return pd.DataFrame(columns=_COLUMNS)
    ranked = at_first_setting(rows)
    profile_rows = pd.concat(tables).drop_duplicates(["label", "at_eps"])
    placed = ranked.assign(place=range(len(ranked)))
    merged = placed.merge(profile_rows, on=_KEY, how="inner").sort_values(["place", "at_eps"])
    wide = merged.pivot(index="place", columns="at_eps", values="found_delta")
    numbers = dict(zip(wide.index, _shared(wide.to_numpy(float)), strict=True))
    table = merged.assign(curve=merged["place"].map(numbers))[_COLUMNS].reset_index(drop=True)
    return table if (table["trust"] == TRUST["shuffler"]).any() else table.head(0)


def _of(job: RankedJob) -> list[pd.DataFrame]:
    """Return the deltas of an experiment in long form, if it has any."""
    results = results_of(job)
    values = results.values[results.values["metric"].isin(list(PROFILE_METRICS))]
    cells = with_identities(matching(results.cells, job["where"]))
    some = values.merge(cells, on="cell")
    if some.empty:
        return []
    named = some.assign(
        users=some["users_expected"],
        values=some["domain_size"],
        at_eps=some["metric"].map(PROFILE_METRICS) * some["eps"],
        found_delta=some["value"],
    )
    return [named[[*_KEY, "at_eps", "found_delta"]]]


def _shared(deltas: NDArray[np.float64]) -> list[int]:
    """Return the number of each curve, from 1; curves that coincide in the picture share it."""
    heights = np.log10(np.maximum(deltas, LEAST))
    groups = grouped(range(len(heights)), lambda i, j: np.max(np.abs(heights[i] - heights[j])) <= SAME)
    numbers = {i: number for number, group in enumerate(groups, 1) for i in group}
    return [numbers[i] for i in range(len(heights))]


def draw_profiles(table: pd.DataFrame) -> Figure:
    """Draw delta by eps: a curve per group of protocols that coincide, with the look of the group's first protocol."""
    figure = Figure(figsize=(8.6, 4.6), layout="constrained")
    ax = figure.subplots()
    eps, delta = table[["eps", "delta"]].iloc[0]
    looks = {i.label: look_of(i) for i in identities().values()}
    groups = {
        tuple(dict.fromkeys(curve["label"])): curve.drop_duplicates("at_eps")
        for _, curve in table.groupby("curve")
    }
    unlike = told_apart({labels[0]: looks.get(labels[0], OTHER) for labels in groups})
    for labels, curve in groups.items():
        look = unlike[labels[0]]
        heights = curve["found_delta"].clip(lower=LEAST / 100)
        name = textwrap.fill(" = ".join(labels), _WRAPPED)
        ax.plot(curve["at_eps"], heights, color=look.color, ls=look.dash, lw=1.5, label=name)
    ax.plot([eps], [delta], "o", mfc="white", mec="black", ms=6, ls="", zorder=5, label="the budget")
    ax.set(xlim=(0, float(table["at_eps"].max())), ylim=(LEAST, 1.0), yscale="log")
    ax.set(xlabel="central privacy budget eps (nats)", ylabel="delta")
    ax.minorticks_off()
    figure.legend(loc="outside right center", fontsize=SIZE)
    return figure


def facts_of_profiles(table: pd.DataFrame) -> dict[str, Any]:
    """Return facts for the caption: the setting, the numbers of curves, and delta at half of the budget's eps."""
    protocols = table.drop_duplicates("label")
    eps = float(table["eps"].iloc[0])
    halfway = table[np.isclose(table["at_eps"], HALF * eps)].sort_values("found_delta")
    shuffled = halfway[halfway["trust"] == TRUST["shuffler"]]
    return {
        "protocols": len(protocols),
        "bounds": int((protocols["guarantee"] != "exact").sum()),
        "curves": int(protocols["curve"].max()),
        "setting": setting_words(records(table)[0]),
        "half": HALF * eps,
        "eps": eps,
        "delta": float(table["delta"].iloc[0]),
        "low": records(shuffled)[0],
        "high": records(shuffled)[-1],
        "ratio": float(shuffled["found_delta"].iloc[-1] / shuffled["found_delta"].iloc[0]),
    }
