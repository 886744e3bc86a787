"""Protocol with the least error at each number of users, number of values and eps, and its margin to the second one."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from shuffledp.identities import identities
from shuffledp.pipeline.figures.names import TRUST
from shuffledp.pipeline.figures.numerals import power
from shuffledp.pipeline.figures.overall_sheets import APART, REST, SIZE
from shuffledp.pipeline.figures.ranking import records

MESSAGES = (math.inf, 2.0, 1.0)
"""Largest mean number of messages per user of the compared protocols, a row of panels each."""
CLOSE = 1.1
"""Ratio of the second to the least error up to which the second is close."""
GROUPS = ("shuffler", "shuffler_adds", "secure_sum")
"""Groups of trust within which protocols are compared."""
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
_WHITE, _DARK = 0.35, 0.45  # share of white in a cell; brightness below which its number is white


def best_protocols(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the best and the second protocol of the first task at the delta with the most settings.

    The table is empty without several users, values and eps, which the map needs.
    """
    if rows.empty:
        return pd.DataFrame(columns=_COLUMNS)
    own = rows[(rows["task"] == rows["task"].iloc[0]) & rows["rank"].notna()]
    own = own[_complete(own)]
    settings = own.drop_duplicates([*_POINT, "delta"]).groupby("delta").size()
    delta = max(settings.index, key=lambda one: (settings[one], one))
    found = []
    for most in MESSAGES:
        some = own[(own["delta"] == delta) & (own["messages"] <= most * (1 + _ROUNDING))]
        for trust in GROUPS:
            group = some[some["trust"] == TRUST[trust]]
            for point, ranked in group.sort_values("error", kind="stable").groupby(_POINT):
                first, second = [*records(ranked.head(2)), None][:2]
                found.append(_row(str(own["task"].iloc[0]), point, delta, TRUST[trust], most, first, second))
    table = pd.DataFrame(found, columns=_COLUMNS)
    return table if _drawn(table)[_POINT].nunique().min() > 1 else table.head(0)


def _complete(rows: pd.DataFrame) -> pd.Series:
    """Return whether the number of values of each row was computed at every number of users and eps that any was."""
    settings = rows.drop_duplicates([*_POINT, "delta"]).groupby(["values", "delta"]).size()
    keys = pd.MultiIndex.from_frame(rows[["values", "delta"]])
    return pd.Series(settings.loc[keys].to_numpy() == settings.max(), index=rows.index)


def _row(
    task: str, point: Any, delta: float, trust: str, most: float, first: Any, second: Any
) -> dict[str, Any]:
    least = first["error"]
    next_one = {} if second is None else {"second": second["label"], "second_error": second["error"]}
    return {
        **dict(zip(_POINT, point, strict=True)),
        "task": task,
        "delta": delta,
        "trust": trust,
        "most_messages": most,
        "best": first["label"],
        "error": least,
        **next_one,
        **({"margin": second["error"] / least} if second is not None else {}),
    }


def _drawn(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["trust"] == TRUST["shuffler"]]


def draw_best(table: pd.DataFrame) -> Figure:
    """Draw the best protocols as colored cells with their margins; a hatched cell has a close second."""
    shown = _drawn(table)
    users, values, eps = (sorted(shown[name].unique()) for name in _POINT)
    winners, bounds = list(dict.fromkeys(shown["best"])), list(dict.fromkeys(shown["most_messages"]))
    colors = colors_of(winners)
    wide, tall, left, below, gap = 0.52 * len(values), 0.27 * len(eps), 1.55, 0.3, 0.14
    width = left + len(users) * (wide + gap) + 0.1
    height = 0.55 + len(bounds) * (tall + gap) + below
    figure = Figure(figsize=(width, height))
    for i, most in enumerate(bounds):
        for j, n in enumerate(users):
            place = (left + j * (wide + gap), height - 0.5 - (i + 1) * tall - i * gap)
            box = (place[0] / width, place[1] / height, wide / width, tall / height)
            ax = figure.add_axes(box)
            own = shown[(shown["most_messages"] == most) & (shown["users"] == n)]
            _panel(ax, own, values, eps, colors)
            last = i == len(bounds) - 1
            ax.set_xticks(range(len(values)), [f"{v:,.0f}" for v in values] if last else [""] * len(values))
            ax.set_yticks(range(len(eps)), [f"{e:g}" for e in eps] if j == 0 else [""] * len(eps))
            if i == 0:
                ax.set_title(f"n = {n:,.0f}", fontsize=8)
            if last:
                ax.set_xlabel("number of values k", fontsize=8)
            if j == 0:
                ax.set_ylabel("eps (nats)", fontsize=8)
                words = "\n".join(textwrap.wrap(_words(most), 15))
                figure.text(0.1 / width, (place[1] + tall / 2) / height, words, fontsize=8, va="center")
    x, y = 0.1, 1 - 0.13 / height
    for label in winners:
        figure.text(x / width, y, "■", color=fill_of(colors[label]), fontsize=11, va="center")
        figure.text((x + 0.16) / width, y, label, fontsize=8, va="center")
        x += 0.3 + 0.068 * len(label)
    return figure


def colors_of(labels: Sequence[str]) -> dict[str, str]:
    """Return the color of each protocol's identity; a color that is taken, or no identity, gives a spare color."""
    known = {identity.label: identity.color for identity in identities().values()}
    colors: dict[str, str] = {}
    for label in labels:
        spare = (color for color in APART if color not in colors.values())
        color = known.get(label, "")
        colors[label] = color if color and color not in colors.values() else next(spare, REST)
    return colors


def fill_of(color: str) -> str:
    """Return the color of the cells of a protocol."""
    red, green, blue = (part + _WHITE * (1 - part) for part in to_rgb(color))
    return to_hex((red, green, blue))


def _words(most: float) -> str:
    """Return the bound on the messages in words."""
    if most == math.inf:
        return "any number of messages"
    return f"at most {most:g} message{'s' if most > 1 else ''} per user"


def _panel(
    ax: Axes, own: pd.DataFrame, values: list[float], eps: list[float], colors: dict[str, str]
) -> None:
    ax.set(xlim=(-0.5, len(values) - 0.5), ylim=(-0.5, len(eps) - 0.5))
    ax.tick_params(length=0, labelsize=7.5)
    ax.grid(visible=False)
    for row in records(own):
        x, y = values.index(row["values"]), eps.index(row["eps"])
        close, fill = row["margin"] <= CLOSE, fill_of(colors[row["best"]])
        cell = Rectangle(
            (x - 0.5, y - 0.5), 1, 1, facecolor=fill, edgecolor="white", linewidth=0.8,
            hatch="////" if close else "", zorder=1,
        )  # fmt: skip
        ax.add_artist(cell)
        text = "" if pd.isna(row["margin"]) else f"{row['margin']:.2f}"
        box: dict[str, Any] = {"boxstyle": "square,pad=0.1", "fc": fill, "ec": "none"}
        ink = "white" if sum(to_rgb(fill)) / 3 < _DARK else "black"
        ax.text(
            x,
            y,
            text,
            fontsize=SIZE,
            ha="center",
            va="center",
            color=ink,
            bbox=box if close else None,
            zorder=2,
        )


def facts_of_best(table: pd.DataFrame) -> dict[str, Any]:
    """Return the names in the caption: the winners with their shares, the margins, and the close seconds."""
    shown = _drawn(table)
    rows = []
    for most in dict.fromkeys(shown["most_messages"]):
        own = shown[shown["most_messages"] == most]
        margins, winner = own["margin"].dropna(), own["best"].mode()[0]
        rows.append(
            {
                "most": _words(most),
                "winner": winner,
                "wins": int((own["best"] == winner).sum()),
                "settings": len(own),
                "margins": (float(margins.min()), float(margins.max())) if len(margins) else None,
            }
        )
    other = table[(table["trust"] == TRUST["shuffler_adds"]) & (table["most_messages"] == math.inf)]
    return {
        "settings": rows[0]["settings"],
        "task": str(table["task"].iloc[0]),
        "delta": power(float(table["delta"].iloc[0])),
        "rows": rows,
        "close_cells": int((shown["margin"] <= CLOSE).sum()),
        "close": f"{100 * (CLOSE - 1):.0f} %",
        "adding": list(dict.fromkeys(other["best"])),
    }
