"""Pictures over all papers with a row per method: errors, gaps, years, robustness, and verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from shuffledp.identities import colors
from shuffledp.pipeline.experiments.bundle import ABSENT
from shuffledp.pipeline.figures.names import TRUST
from shuffledp.pipeline.figures.ranking import records, setting_words
from shuffledp.pipeline.figures.style import SETTINGS, SIZE
from shuffledp.pipeline.formatters import number

BLUE, GOLD, RED = colors()["blue"], colors()["gold"], colors()["crimson"]
DARK, PALE = SETTINGS["axes.edgecolor"], "#c4c4c4"
NO_GUARANTEE = "no guarantee"
#: Verdicts on claims with their colors.
VERDICTS = {"holds": "#009E73", "in part": "#E69F00", "fails": "#B2182B", "untestable": "#b8b8b8"}
ABSENT_SHARE = f"{100 * ABSENT:g} %"
#: Height of a row and width of a picture in inches.
_ROW, _WIDTH = 0.19, 8.6
#: Relative difference up to which a printed number counts as equal to the exact number.
_EQUAL = 0.01


def draw_errors(table: pd.DataFrame) -> Figure:
    """Draw errors as printed and with exact accounting in units of the curator's error, and the bits per user."""
    task, setting = str(table["task"].iloc[0]), setting_words(records(table)[0])
    label = f"squared error / that of a trusted curator ({task}, {setting})"
    figure, ax = _rows_of(table["label"], label)
    exact, printed, place = table["over_curator"], table["printed_over_curator"], table.index.to_series()
    differs = printed.notna() & (abs(printed / exact - 1) > _EQUAL)
    weak = differs & (printed < exact)
    ax.hlines(place[differs], printed[differs], exact[differs], color=PALE, lw=2, zorder=1)
    for some, color in ((differs & ~weak, DARK), (weak, RED)):
        _dots(ax, printed[some], place[some], "white", color)
    _dots(ax, exact, place, BLUE, BLUE)
    for i, row in enumerate(records(table)):
        words, end = f"{number(row['over_curator'])}×", row["over_curator"]
        if differs[i]:
            words += f", printed {number(row['printed_over_curator'])}×" + (
                f": {NO_GUARANTEE}" if weak[i] else ""
            )
            end = max(end, row["printed_over_curator"])
        _beside(ax, words, end, i, RED if weak[i] else DARK)
        sent = number(row["bits"])
        changed = abs(row["printed_bits"] / row["bits"] - 1) > 0.05
        _in_margin(ax, f"{number(row['printed_bits'])} → {sent}" if changed else sent, i)
    _in_margin(ax, "bits per user", -1.0, weight="bold")
    ax.set_xlim(0.8, exact.max() * 60)
    keys = {"exact": (BLUE, BLUE), "as printed": ("white", DARK)}
    return _with_keys(
        figure, ax, keys | ({f"as printed, {NO_GUARANTEE}": ("white", RED)} if weak.any() else {})
    )


def draw_gaps(table: pd.DataFrame) -> Figure:
    """Draw ratios of printed to exact numbers, the largest median first: a line over the range, a dot at the median."""
    order = table.sort_values("median", ascending=False, kind="stable", ignore_index=True)
    papers = order["method"].duplicated(keep=False)
    names = order["method"].where(~papers, order["method"] + " (" + order["paper"] + ")")
    figure, ax = _rows_of(names, f"{order['quantity'].iloc[0]} as printed / with exact accounting")
    shades = [_shade(median) for median in order["median"]]
    ax.hlines(order.index, order["least"], order["greatest"], color=shades, lw=1.6, zorder=2)
    _dots(ax, order["median"], order.index.to_series(), shades, shades)
    for i, row in enumerate(records(order)):
        words = f"{number(row['median'])}×" + (f" {NO_GUARANTEE}" if shades[i] == RED else "")
        _beside(ax, words, row["greatest"], i, RED if shades[i] == RED else DARK)
    low = order["least"].min() / 1.3
    ax.axvspan(low, 1.0, color=RED, alpha=0.07, lw=0)
    ax.set_xlim(low, order["greatest"].max() * 12)
    keys = {BLUE: "the paper asks for more noise than needed", RED: "the paper asks for too little noise"}
    return _with_keys(figure, ax, {text: (shade, shade) for shade, text in keys.items() if shade in shades})


def _shade(ratio: float) -> str:
    if abs(ratio - 1) <= _EQUAL:
        return str(DARK)
    return BLUE if ratio > 1 else RED


def draw_years(table: pd.DataFrame) -> Figure:
    """Draw errors by year of publication, and the least error so far of a shuffler that permutes as steps."""
    protocols = table[table["trust"] != TRUST["central"]].reset_index(drop=True)
    curator = table.loc[table["trust"] == TRUST["central"], "error"].min()
    task, setting = str(table["task"].iloc[0]), setting_words(records(table)[0])
    first = ~protocols["year"].duplicated()
    figure, ax = _rows_of(protocols["label"], f"squared error ({task}, {setting})")
    place = protocols.index.to_series()
    permutes = protocols["trust"] == TRUST["shuffler"]
    best = protocols["running_best"] == "yes"
    _dots(ax, protocols["error"][permutes & ~best], place[permutes & ~best], "white", BLUE)
    _dots(ax, protocols["error"][~permutes], place[~permutes], "white", GOLD, marker="s")
    _dots(ax, protocols["error"][best], place[best], BLUE, BLUE)
    steps = protocols["error"].where(best).ffill()
    ax.step(steps, place, where="pre", color=BLUE, lw=1.2, zorder=1)
    box = {"fc": "white", "ec": "none", "pad": 0.6}
    for i in place[best]:
        error = protocols["error"][i]
        _beside(ax, number(error), error, i, DARK, -6, ha="right", bbox=box)
    _groups(ax, protocols["year"][first].map(str))
    if np.isfinite(curator):
        ax.axvline(curator, color="black", ls=":", lw=1)
        _beside(ax, "curator", curator, -0.6, DARK, 3, va="bottom")
    keys = {"least error so far, shuffler permutes": (BLUE, BLUE), "not the least": ("white", BLUE)}
    return _with_keys(figure, ax, keys, unit=False, squares={"other trust": ("white", GOLD)})


def draw_robustness(table: pd.DataFrame) -> Figure:
    """Draw the claimed eps, and the proven eps if users drop out or collude, with a line above each task."""
    figure, ax = _rows_of(table["label"], "central privacy budget eps (nats)")
    place = table.index.to_series()
    claimed = table["eps"]
    dropped = table["eps_dropped"]
    colluding = table["eps_colluding"]
    finite = pd.concat([column[np.isfinite(column)] for column in (claimed, dropped, colluding)])
    low, high = 0.97 * finite.min(), 1.12 * finite.max()
    ax.set(xscale="linear", xlim=(low, high))
    proven = colluding.where(np.isfinite(colluding))
    ax.hlines(place, claimed, proven.fillna(dropped), color=PALE, lw=2, zorder=1)
    _dots(ax, claimed, place, "white", DARK)
    _dots(ax, proven, place, "white", GOLD, marker="s")
    _dots(ax, dropped, place, BLUE, BLUE)
    for i in place[proven.isna()]:
        _beside(ax, f"{NO_GUARANTEE} if they collude", dropped[i], i, RED)
    first = ~table[["task", "trust"]].duplicated()
    words = [f"{row['task']} (k = {row['values']:,.0f}), {row['trust']}" for row in records(table[first])]
    _groups(ax, pd.Series(words, place[first]))
    keys = {"claimed": ("white", DARK), f"{ABSENT_SHARE} send nothing": (BLUE, BLUE)}
    return _with_keys(figure, ax, keys, unit=False, squares={f"{ABSENT_SHARE} collude": ("white", GOLD)})


def draw_verdicts(table: pd.DataFrame) -> Figure:
    """Draw the numbers of claims by verdict, with a bar per paper."""
    figure = Figure(figsize=(7.2, 0.3 * table["paper"].nunique() + 0.9), layout="constrained")
    ax = figure.subplots()
    counts = table.pivot(index="paper", columns="verdict", values="claims").loc[table["paper"].unique()[::-1]]
    starts = np.zeros(len(counts))
    for verdict, color in VERDICTS.items():
        widths = counts[verdict].to_numpy(int)
        bars = ax.barh(counts.index, widths, left=starts, color=color, height=0.68, label=verdict, ec="white")
        ink = "white" if verdict in ("holds", "fails") else "black"
        ax.bar_label(bars, [str(width or "") for width in widths], label_type="center", color=ink)
        starts += widths
    ax.set(xlabel="number of claims", ylabel="")
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    ax.spines["left"].set_visible(False)
    figure.legend(loc="outside lower center", ncols=len(VERDICTS))
    return figure


def _rows_of(names: pd.Series, label: str) -> tuple[Figure, Axes]:
    """Return a picture with a logarithmic axis and a named row per method, the first at the top."""
    figure = Figure(
        figsize=(_WIDTH, _ROW * len(names) + 1.4), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.06)
    )
    ax = figure.subplots()
    ax.set(xscale="log", xlabel=label, ylim=(len(names) - 0.4, -0.6))
    ax.set_yticks(range(len(names)), names, fontsize=SIZE + 0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    ax.spines["left"].set_visible(False)
    ax.xaxis.set_major_locator(LogLocator(numticks=8))
    ax.xaxis.set_minor_locator(NullLocator())
    return figure, ax


def _dots(ax: Axes, x: pd.Series, y: pd.Series, fill: Any, edge: Any, marker: str = "o") -> None:
    ax.scatter(x, y, s=26, c=fill, edgecolors=edge, marker=marker, zorder=3)


def _beside(ax: Axes, text: str, x: float, y: float, color: str, away: float = 6, **more: Any) -> None:
    style: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": SIZE, "color": color}
    ax.annotate(text, (x, y), (away, 0), **style | more)


def _groups(ax: Axes, texts: pd.Series) -> None:
    """Draw a line above the first row of each group, and write the group's text beside this row."""
    ax.hlines(texts.index - 0.5, 0, 1, color=PALE, lw=0.6, zorder=0, transform=ax.get_yaxis_transform())
    for place, text in zip(texts.index, texts, strict=True):
        _in_margin(ax, text, place)


def _in_margin(ax: Axes, text: str, y: float, weight: str = "normal") -> None:
    """Write a text to the right of the axes."""
    style: dict[str, Any] = {"va": "center", "fontsize": SIZE, "color": DARK, "annotation_clip": False}
    ax.annotate(text, (1.02, y), xycoords=("axes fraction", "data"), weight=weight, **style)


def _with_keys(
    figure: Figure,
    ax: Axes,
    keys: Mapping[str, tuple[str, str]],
    *,
    unit: bool = True,
    squares: Mapping[str, tuple[str, str]] | None = None,
) -> Figure:
    """Write a legend of dots and squares below the axes, and draw a line at the ratio 1."""
    if unit:
        ax.axvline(1.0, color=DARK, lw=0.8, zorder=0.5)
    handles = [
        Line2D([], [], mfc=fill, mec=edge, label=text, ls="", marker=marker, ms=5)
        for marker, entries in (("o", keys), ("s", squares or {}))
        for text, (fill, edge) in entries.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure
