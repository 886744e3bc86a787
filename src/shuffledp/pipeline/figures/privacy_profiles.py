"""Privacy profiles of the ranked protocols: delta by central eps around the budget, at the first setting of a task."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from shuffledp.pipeline.experiments.bundle import PROFILE_METRICS
from shuffledp.pipeline.experiments.results import Bundle, read
from shuffledp.pipeline.figures.drawing_jobs import RankedJob
from shuffledp.pipeline.figures.names import TRUST
from shuffledp.pipeline.figures.numerals import power
from shuffledp.pipeline.figures.overall_sheets import APART, REST, SIZE, setting_words
from shuffledp.pipeline.figures.ranking import SETTING, at, first_setting, records, with_identities
from shuffledp.pipeline.figures.selected_rows import matching

LEAST = 1e-12
"""Lower end of the axis of delta."""
SAME = 0.2
"""Decades of delta within which curves coincide."""
STEEP = 1e-4
"""Delta at `SHOULDER` of the budget's eps, above which a curve falls abruptly at the budget."""
BESIDE = 1e-9
"""Delta at the right edge, above which the name of a curve is there."""
SHOULDER, HALF = 0.8, 0.5
_COLUMNS = [*SETTING, "trust", "label", "front", "guarantee", "curve", "at_eps", "found_delta"]
_WRAPPED = 44


def profiles(jobs: Sequence[RankedJob], rows: pd.DataFrame) -> pd.DataFrame:
    """Return delta of the ranked protocols at the first setting, with the number of the curve that they share."""
    found = [
        deltas for job in jobs if len(rows) and job["task"] == rows["task"].iloc[0] for deltas in _of(job)
    ]
    if not found:
        return pd.DataFrame(columns=_COLUMNS)
    own = rows[rows["task"] == rows["task"].iloc[0]]
    ranked = at(own, first_setting(own))
    here = pd.concat(found).drop_duplicates(["label", "at_eps"])
    wanted = ranked[ranked["rank"].notna()].assign(place=lambda some: range(len(some)))
    key = ["users", "values", "eps", "delta", "label"]
    every = wanted.merge(here, on=key, how="inner").sort_values(["place", "at_eps"])
    wide = every.pivot(index="place", columns="at_eps", values="found_delta")
    numbers = dict(zip(wide.index, _shared(wide.to_numpy(float)), strict=True))
    table = every.assign(curve=every["place"].map(numbers))[_COLUMNS].reset_index(drop=True)
    return table if (table["trust"] == TRUST["shuffler"]).any() else table.head(0)


def _of(job: RankedJob) -> list[pd.DataFrame]:
    """Return the deltas of an experiment in long form, if it has any."""
    bundles = {m: Bundle.of(Path(job["results"]), job["paper"], job["experiment"], m) for m in job["methods"]}
    known = read(bundles)
    values = known.values[known.values["metric"].isin(list(PROFILE_METRICS))]
    cells = with_identities(matching(known.cells, job["where"]))
    some = values.merge(cells, on="cell")
    if some.empty:
        return []
    return [
        pd.DataFrame(
            {
                "users": some["users_expected"],
                "values": some["domain_size"],
                "eps": some["eps"],
                "delta": some["delta"],
                "label": some["label"],
                "at_eps": some["metric"].map(PROFILE_METRICS) * some["eps"],
                "found_delta": some["value"],
            }
        )
    ]


def _shared(deltas: NDArray[np.float64]) -> list[int]:
    """Return the number of each curve, from 1; curves that coincide in the picture share it."""
    heights = np.log10(np.maximum(deltas, LEAST))
    first: list[int] = []
    numbers = []
    for i, height in enumerate(heights):
        same = (n for n, j in enumerate(first) if np.max(np.abs(heights[j] - height)) <= SAME)
        number = next(same, len(first))
        if number == len(first):
            first.append(i)
        numbers.append(number + 1)
    return numbers


def _named(table: pd.DataFrame) -> list[int]:
    """Return the curves with a color: of the curator, of the local model, and of the front, best first."""
    rows = table.drop_duplicates("label")
    curator, nobody = (rows[rows["trust"] == TRUST[trust]].head(1) for trust in ("central", "local"))
    front = rows[rows["front"] == "yes"]
    order = pd.concat([curator, nobody, front, rows])["curve"]
    return [int(number) for number in dict.fromkeys(order)][: len(APART)]


def draw_profiles(table: pd.DataFrame) -> Figure:
    """Draw delta by eps: a curve per group of protocols, six in color, the others gray with a number."""
    figure = Figure(figsize=(8.6, 4.6))
    ax = figure.add_axes((0.075, 0.105, 0.545, 0.875))
    setting = records(table)[0]
    eps, delta = float(setting["eps"]), float(setting["delta"])
    end = float(table["at_eps"].max())
    ax.set(xlim=(0, end), ylim=(LEAST, 1.0), yscale="log")
    ax.set_xlabel("central privacy budget eps (nats)")
    ax.set_ylabel("delta")
    exponents = range(round(math.log10(LEAST)), 1, 2)
    ax.set_yticks([10.0**e for e in exponents], [power(10.0**e) if e else "1" for e in exponents])
    ax.minorticks_off()
    named = dict(zip(_named(table), APART, strict=False))
    curves = {int(number): table[table["curve"] == number] for number in table["curve"].unique().tolist()}
    others = {number: place for place, number in enumerate((n for n in curves if n not in named), start=1)}
    for number, own in curves.items():
        line = own.drop_duplicates("at_eps")
        x, y = line["at_eps"].to_numpy(float), np.maximum(line["found_delta"].to_numpy(float), LEAST / 100)
        color = named.get(number, REST)
        ax.plot(x, y, color=color, lw=1.6 if number in named else 0.9, zorder=3 if number in named else 2)
        if number in others:
            _numbered(ax, x, y, others[number], len(others))
    smooth = 0
    for number, color in named.items():
        own = curves[number]
        words = _words(own)
        smooth += _labeled(ax, own.drop_duplicates("at_eps"), words, color, smooth, eps)
    ax.plot([eps], [delta], "o", mfc="white", mec="black", ms=6, zorder=5)
    ax.annotate("the budget", (eps, delta), (7, 7), textcoords="offset points", fontsize=SIZE)
    _listed(figure, curves, named, others)
    return figure


def _words(own: pd.DataFrame) -> str:
    """Return the name of a curve: the curator if its profile is this curve, otherwise the best protocol."""
    rows = own.drop_duplicates("label")
    return str(pd.concat([rows[rows["trust"] == TRUST["central"]], rows])["label"].iloc[0])


def _numbered(ax: Axes, x: NDArray[np.float64], y: NDArray[np.float64], number: int, count: int) -> None:
    """Write the number of a gray curve on it, each number at another height."""
    height = 10 ** (math.log10(LEAST) * (0.97 - 0.2 * number / (count + 1)))
    place = min(_crossing(x, y, height), float(x[-1]) * 0.97)
    style: dict[str, Any] = {"boxstyle": "circle,pad=0.12", "fc": "white", "ec": REST, "lw": 0.6}
    at_height = height if place < float(x[-1]) * 0.97 else float(np.interp(place, x, y))
    ax.text(place, at_height, str(number), fontsize=6, ha="center", va="center", bbox=style, zorder=4)


def _crossing(x: NDArray[np.float64], y: NDArray[np.float64], height: float) -> float:
    """Return the eps at which a falling curve has a height."""
    return float(np.interp(-math.log10(height), -np.log10(y), x))


def _labeled(ax: Axes, line: pd.DataFrame, words: str, color: str, place: int, eps: float) -> bool:
    """Write the name of a curve where nothing is drawn; return whether it took a place left of the curves."""
    x, y = line["at_eps"].to_numpy(float), np.maximum(line["found_delta"].to_numpy(float), LEAST / 100)
    text: dict[str, Any] = {"fontsize": SIZE, "color": color, "va": "center"}
    if y[-1] > LEAST:  # it ends well above the lower end
        if y[-1] > BESIDE:
            ax.annotate(words, (x[-1], y[-1]), (-2, 6), textcoords="offset points", ha="right", **text)
        else:
            _pointed(ax, (_crossing(x, y, 3 * y[-1]), 3 * y[-1]), 0.93 * eps, words, "right", text)
        return False
    shoulder = float(np.interp(SHOULDER * eps, x, y))
    if shoulder > STEEP:
        _pointed(ax, (SHOULDER * eps, shoulder), 1.03 * eps, words, "left", text)
        return False
    height = 10.0 ** (-5.6 - 0.8 * place)
    _pointed(ax, (_crossing(x, y, height), height), (0.58 + 0.045 * place) * eps, words, "right", text)
    return True


def _pointed(
    ax: Axes, point: tuple[float, float], x: float, words: str, side: str, text: Mapping[str, Any]
) -> None:
    """Write words beside a curve with a thin line to one of its points."""
    line = {"arrowstyle": "-", "color": text["color"], "lw": 0.6, "shrinkA": 1, "shrinkB": 0}
    ax.annotate(words, point, (x, point[1]), ha=side, arrowprops=line, zorder=4, **text)
    ax.plot(*([part] for part in point), "o", color=text["color"], ms=3, zorder=4)


def _listed(
    figure: Figure, curves: Mapping[int, pd.DataFrame], named: Mapping[int, str], others: Mapping[int, int]
) -> None:
    """List the protocols of the gray curves by number, and the protocols that share a colored curve."""
    height = figure.get_size_inches()[1]
    y = height - 0.15

    def line(mark: str, words: str, color: str) -> None:
        nonlocal y
        for i, part in enumerate(textwrap.wrap(words, _WRAPPED)):
            if not i:
                figure.text(0.64, y / height, mark, fontsize=SIZE, color=color, va="center")
            figure.text(0.662, y / height, part, fontsize=SIZE, color=color, va="center")
            y -= 0.145
        y -= 0.03

    for number, place in others.items():
        line(str(place), ", ".join(dict.fromkeys(curves[number]["label"])), "#6a6a6a")
    y -= 0.08
    for number, color in named.items():
        names = list(dict.fromkeys(curves[number]["label"]))
        if len(names) > 1:
            line("●", ", ".join(names), color)


def facts_of_profiles(table: pd.DataFrame) -> dict[str, Any]:
    """Return facts for the caption: the setting, the numbers of curves, and delta at half of the budget's eps."""
    one = table.drop_duplicates("label")
    eps = float(table["eps"].iloc[0])
    halfway = table[np.isclose(table["at_eps"], HALF * eps)].sort_values("found_delta")
    shuffled = halfway[halfway["trust"] == TRUST["shuffler"]]
    return {
        "protocols": len(one),
        "bounds": int((one["guarantee"] != "exact").sum()),
        "curves": int(one["curve"].max()),
        "setting": setting_words(records(table)[0]),
        "half": HALF * eps,
        "eps": eps,
        "delta": float(table["delta"].iloc[0]),
        "low": records(shuffled)[0],
        "high": records(shuffled)[-1],
        "ratio": float(shuffled["found_delta"].iloc[-1] / shuffled["found_delta"].iloc[0]),
    }
