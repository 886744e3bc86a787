"""Errors of the protocols at the first setting of a task, by the year in which their sources were published."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from shuffledp.guarantees import OURS
from shuffledp.pipeline.figures.axes import Axis, ticks
from shuffledp.pipeline.figures.names import TRUST
from shuffledp.pipeline.figures.overall_sheets import APART, SIZE, setting_words, write_keys
from shuffledp.pipeline.figures.ranking import SETTING, at, first_setting, records
from shuffledp.pipeline.figures.sheet import framed

SHOWN = {"shuffler": (APART[0], "o"), "shuffler_adds": (APART[3], "s"), "secure_sum": (APART[2], "^")}
"""Color and marker by trust; the least error of a curator is a line."""
GAIN = 0.99
"""Factor that the running best error falls by at least."""
_COLUMNS = [*SETTING, "year", "trust", "label", "error", "accounting", "guarantee", "running_best"]
_CURATOR = "#6a6a6a"
_NEAR = 0.15  # decades of error between two points of less than a year, of which one name is lower


def by_year(rows: pd.DataFrame, years: Mapping[str, Mapping[str, int | str]]) -> pd.DataFrame:
    """Return the ranked protocols of the first task at its first setting with years, this project's own ones last.

    The table is empty if no protocol of the shuffle model has a year.
    """
    if rows.empty:
        return pd.DataFrame(columns=_COLUMNS)
    task = str(rows["task"].iloc[0])
    here = at(rows[rows["task"] == task], first_setting(rows[rows["task"] == task]))
    here = here[here["rank"].notna() & (here["trust"] != TRUST["local"])]
    dated = here.assign(year=here["protocol"].map(years[task])).dropna(subset="year")
    order = dated.assign(place=[_place(year, dated["year"]) for year in dated["year"]])
    order = order.sort_values(["place", "error"], kind="stable")
    best, running = np.inf, []
    for row in records(order):
        better = row["trust"] == TRUST["shuffler"] and row["error"] < GAIN * best
        best = row["error"] if better else best
        running.append("yes" if better else "")
    table = order.assign(running_best=running)[_COLUMNS].reset_index(drop=True)
    return table if "yes" in running else table.head(0)


def _place(year: int | str, years: pd.Series) -> float:
    """Return the position of a year; this project stands two years behind the last one."""
    return max((float(y) for y in years if y != OURS), default=0.0) + 2 if year == OURS else float(year)


def draw_years(table: pd.DataFrame) -> Figure:
    """Draw the errors by year, the running best of the shuffle model as steps, and the curator's error as a line."""
    shown = table[table["trust"].isin([TRUST[trust] for trust in SHOWN])]
    places = np.array([_place(year, table["year"]) for year in table["year"]])
    curator = table[table["trust"] == TRUST["central"]]
    figure = Figure(figsize=(8.6, 4.0))
    ax = figure.add_axes((0.085, 0.12, 0.9, 0.8))
    low, high = shown["error"].min(), shown["error"].max()
    first = places[shown.index].min()
    across, up = Axis("linear", first - 0.7, places.max() + 1.6), Axis("log", low / 1.8, high * 1.6)
    framed(ax, across, up)
    found = ticks(up, 6)
    ax.set_yticks(found.major, found.labels)
    years = sorted({int(year) for year in shown["year"] if year != OURS})
    numbers = list(range(years[0], years[-1] + 1)) if years else []
    own = [places.max()] if OURS in set(table["year"]) else []
    ax.set_xticks([*numbers, *own], [*map(str, numbers), *[OURS for _ in own]])
    ax.set_xlabel("year in which the source was published")
    ax.set_ylabel("squared error")
    if len(curator):
        least = curator["error"].min()
        ax.axhline(least, color=_CURATOR, lw=1.0, ls=(0, (4, 2)), zorder=1)
        ax.annotate(
            "curator", (across.low, least), (4, 2), textcoords="offset points", fontsize=SIZE, color=_CURATOR
        )
    for trust, (color, marker) in SHOWN.items():
        group = table["trust"] == TRUST[trust]
        x = places[group] + _spread(places[group])
        ax.plot(x, table.loc[group, "error"], marker, color=color, ms=4.6, mfc="white", zorder=3)
        if trust != "shuffler" and group.any():
            best = int(np.argmin(table.loc[group, "error"]))
            name, error = table.loc[group, ["label", "error"]].iloc[best]
            _name(ax, (float(x[best]), float(error)), str(name), color, (5, -2), "left")
    _running(ax, table, places, across.high)
    keys = tuple((TRUST[trust], color) for trust, (color, _) in SHOWN.items())
    write_keys(figure, keys, "filled: the least error so far, shuffler permutes")
    return figure


def _spread(places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the shifts of points of one year, which keep them apart."""
    shifts = np.zeros(len(places))
    for place in np.unique(places):
        same = np.flatnonzero(places == place)
        shifts[same] = 0.09 * (np.arange(len(same)) - (len(same) - 1) / 2)
    return shifts


def _running(ax: Axes, table: pd.DataFrame, places: np.ndarray[Any, Any], end: float) -> None:
    group = (table["trust"] == TRUST["shuffler"]).to_numpy()
    x = places.copy()
    x[group] += _spread(places[group])
    steps = table[(table["running_best"] == "yes").to_numpy()]
    at_x, error = x[steps.index], steps["error"].to_numpy(float)
    color, marker = SHOWN["shuffler"]
    ax.step([*at_x, end], [*error, error[-1]], where="post", color=color, lw=1.1, zorder=2)
    ax.plot(at_x, error, marker, color=color, ms=5.4, zorder=4)
    for i, (px, py, label) in enumerate(zip(at_x, error, steps["label"], strict=True)):
        near = i and math.log10(error[i - 1] / py) < _NEAR and px - at_x[i - 1] < 1
        _name(ax, (px, py), str(label), color, (-4, -13 if near else -2), "right")


def _name(
    ax: Axes, point: tuple[float, float], label: str, color: str, away: tuple[int, int], side: str
) -> None:
    """Write the name of a protocol below its point."""
    box = {"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8}
    text: dict[str, Any] = {"textcoords": "offset points", "ha": side, "va": "top", "bbox": box, "zorder": 5}
    ax.annotate(label, point, away, fontsize=SIZE, color=color, **text)


def facts_of_years(table: pd.DataFrame) -> dict[str, Any]:
    """Return facts for the caption: the setting, numbers of protocols, running best errors, and the curator's error."""
    best = records(table[table["running_best"] == "yes"])
    curator = table.loc[table["trust"] == TRUST["central"], "error"].min()
    shown = table[table["trust"] != TRUST["central"]]
    return {
        "protocols": len(shown),
        "inexact": int((shown["accounting"] != "exact").sum()),
        "ours": int((shown["year"] == OURS).sum()),
        "setting": setting_words(records(table)[0]),
        "task": str(table["task"].iloc[0]),
        "steps": best,
        "ratio": best[0]["error"] / best[-1]["error"],
        "over_curator": best[-1]["error"] / curator if curator > 0 else None,
    }
