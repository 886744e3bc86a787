"""Protocol with the least error at each number of users, number of values and eps, and its margin to the second one."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from shuffledp.identities import identities
from shuffledp.pipeline.figures.names import TRUST
from shuffledp.pipeline.figures.numerals import power
from shuffledp.pipeline.figures.palette import COLORS, GRAY
from shuffledp.pipeline.figures.style import SIZE

#: Largest mean number of messages per user of the compared protocols, a row of panels each.
MESSAGES = (math.inf, 2.0, 1.0)
#: Ratio of the second to the least error up to which the second is close.
CLOSE = 1.1
#: Groups of trust within which protocols are compared.
GROUPS = [TRUST[trust] for trust in ("shuffler", "shuffler_adds", "secure_sum")]
_POINT = ["users", "values", "eps"]
_COLUMNS = [
    "task",
    *_POINT,
    "delta",
    "trust",
    "most_messages",
    "best",
    "error",
    "second",
    "second_error",
    "margin",
]
_ROUNDING = 1e-9
_WHITE = 0.12  # share of white in a cell


def best_protocols(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the best and the second protocol of the first task at the delta with the most settings.

    The table is empty without several users, values and eps, which the map needs.
    """
    if rows.empty:
        return pd.DataFrame(columns=_COLUMNS)
    ranked_rows = rows[(rows["task"] == rows["task"].iloc[0]) & rows["rank"].notna()]
    ranked_rows = ranked_rows[_complete(ranked_rows)]
    settings = ranked_rows.drop_duplicates([*_POINT, "delta"]).groupby("delta").size()
    delta = max(settings.index, key=lambda value: (settings[value], value))
    compared = ranked_rows[(ranked_rows["delta"] == delta) & ranked_rows["trust"].isin(GROUPS)]
    compared = compared.assign(group=compared["trust"].map(GROUPS.index)).sort_values("error", kind="stable")
    bounded = [
        _first_two(compared[compared["messages"] <= most * (1 + _ROUNDING)]).assign(most_messages=most)
        for most in MESSAGES
    ]
    table = pd.concat(bounded).reset_index().rename(columns={"label": "best", "second_label": "second"})
    margin = table["second_error"] / table["error"]
    table = table.assign(task=ranked_rows["task"].iloc[0], delta=delta, margin=margin)[_COLUMNS]
    return table if _drawn(table)[_POINT].nunique().min() > 1 else table.head(0)


def _first_two(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the best protocol of each group at each setting, with the second one beside it."""
    key = ["group", *_POINT]
    first, second = (rows.groupby(key).nth(place).set_index(key) for place in (0, 1))
    others = second[["label", "error"]].add_prefix("second_")
    return first[["trust", "label", "error"]].join(others).sort_index()


def _complete(rows: pd.DataFrame) -> pd.Series:
    """Return whether the number of values of each row was computed at every number of users and eps that any was."""
    settings = rows.drop_duplicates([*_POINT, "delta"]).groupby(["values", "delta"]).size()
    keys = pd.MultiIndex.from_frame(rows[["values", "delta"]])
    return pd.Series(settings.loc[keys].to_numpy() == settings.max(), index=rows.index)


def _drawn(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["trust"] == TRUST["shuffler"]]


def draw_best(table: pd.DataFrame) -> Figure:
    """Draw the best protocols as colored cells with their margins; a hatched cell has a close second."""
    cells = _drawn(table)
    users, bounds = sorted(cells["users"].unique()), list(dict.fromkeys(cells["most_messages"]))
    winners = list(dict.fromkeys(cells["best"]))
    fills = {label: fill_of(color) for label, color in colors_of(winners).items()}
    rows = cells["eps"].nunique() * len(bounds)
    figure = Figure(figsize=(8.6, 0.27 * rows + 0.3 * len(bounds) + 0.9), layout="constrained")
    panels = figure.subplots(len(bounds), len(users), sharex=True, sharey=True, squeeze=False)
    for row, most in zip(panels, bounds, strict=True):
        for ax, n in zip(row, users, strict=True):
            _draw_cells(ax, cells[(cells["most_messages"] == most) & (cells["users"] == n)], fills)
        row[0].set_ylabel(f"{textwrap.fill(_words(most), 16)}\n\neps (nats)")
    for ax, n in zip(panels[0], users, strict=True):
        ax.set_title(f"n = {n:,.0f}")
    for ax in panels[-1]:
        ax.set_xlabel("number of values k")
    keys = [Patch(color=fill, label=label) for label, fill in fills.items()]
    figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))
    return figure


def _draw_cells(ax: Axes, rows: pd.DataFrame, fills: Mapping[str, str]) -> None:
    """Draw a cell per eps and number of values, with the margin of its best protocol."""
    coded = rows.assign(code=rows["best"].map(list(fills).index))
    codes, margins = (coded.pivot(index="eps", columns="values", values=name) for name in ("code", "margin"))
    seaborn.heatmap(
        codes,
        cmap=ListedColormap(list(fills.values())),
        vmin=-0.5,
        vmax=len(fills) - 0.5,
        cbar=False,
        linewidths=1,
        annot=margins.map("{:.2f}".format).replace("nan", ""),
        fmt="",
        annot_kws={"fontsize": SIZE},
        xticklabels=[f"{k:,.0f}" for k in codes],
        yticklabels=[f"{eps:g}" for eps in codes.index],
        ax=ax,
    )
    close = np.ma.masked_array(np.ones(margins.shape), ~(margins <= CLOSE))
    ax.pcolor(close, hatch="////", facecolor="none", edgecolor="white", lw=0)
    ax.invert_yaxis()
    ax.set(xlabel="", ylabel="")
    ax.tick_params(length=0, rotation=0)


def colors_of(labels: Sequence[str]) -> dict[str, str]:
    """Return the color of each protocol's identity; a color that is taken, or no identity, gives a spare color."""
    identity_colors = {i.label: i.color for i in identities().values() if i.label in labels}
    colors: dict[str, str] = {}
    for label in labels:
        spare = (color for color in COLORS if color not in (*colors.values(), *identity_colors.values()))
        color = identity_colors.get(label, "")
        colors[label] = color if color and color not in colors.values() else next(spare, GRAY)
    return colors


def fill_of(color: str) -> str:
    """Return the color of the cells of a protocol."""
    red, green, blue = np.array(to_rgb(color)) * (1 - _WHITE) + _WHITE
    return to_hex((red, green, blue))


def _words(most: float) -> str:
    """Return the bound on the messages in words."""
    if most == math.inf:
        return "any number of messages"
    return f"at most {most:g} message{'s' if most > 1 else ''} per user"


def facts_of_best(table: pd.DataFrame) -> dict[str, Any]:
    """Return the names in the caption: the winners with their shares, the margins, and the close seconds."""
    cells = _drawn(table)
    rows = []
    for most in dict.fromkeys(cells["most_messages"]):
        bounded = cells[cells["most_messages"] == most]
        margins, winner = bounded["margin"].dropna(), bounded["best"].mode()[0]
        rows.append(
            {
                "most": _words(most),
                "winner": winner,
                "wins": int((bounded["best"] == winner).sum()),
                "settings": len(bounded),
                "margins": (float(margins.min()), float(margins.max())) if len(margins) else None,
            }
        )
    other = table[(table["trust"] == TRUST["shuffler_adds"]) & (table["most_messages"] == math.inf)]
    return {
        "settings": rows[0]["settings"],
        "task": str(table["task"].iloc[0]),
        "delta": power(float(table["delta"].iloc[0])),
        "rows": rows,
        "close_cells": int((cells["margin"] <= CLOSE).sum()),
        "close": f"{100 * (CLOSE - 1):.0f} %",
        "adding": list(dict.fromkeys(other["best"])),
    }
