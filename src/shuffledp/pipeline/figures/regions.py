"""Region maps: the method with the least error for every position and every bound on its cost.

At each position of the horizontal axis the best method changes only at the cost of a method on the front, so that the
fronts determine the map. The color of a position extends halfway to its neighbors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from shuffledp.pipeline.figures import legend, palette, sheet
from shuffledp.pipeline.figures.axes import Axis, ticks
from shuffledp.pipeline.figures.captions import Share
from shuffledp.pipeline.figures.drawing_jobs import DrawingJob
from shuffledp.pipeline.figures.files import as_csv
from shuffledp.pipeline.figures.fronts import Column, Offer, columns, legend_names
from shuffledp.pipeline.figures.palette import Look, Looks, lighter
from shuffledp.pipeline.figures.selected_rows import chosen
from shuffledp.pipeline.figures.sheet import Made

_ROOM = 3.0
"""Ratio of the highest bound to the largest cost of a winner."""
_BELOW = 1.25
"""Ratio of the cost of the cheapest method to the lowest bound."""
_MARKED_FROM = 0.035
"""Share of a panel's height from which a region has the marker of its method."""
_HATCHES = ("", "////", "....", "xxxx")


@dataclass(frozen=True)
class Region:
    """Best method at one position, from one bound on the cost to the next bound."""

    column: Column
    offer: Offer
    low: float
    high: float


def regions(job: DrawingJob, cells: pd.DataFrame, summary: pd.DataFrame, mark: str) -> Made:
    """Return the region map of a job, with the parameters of `shuffledp.pipeline.figures.pareto.pareto`."""
    entry = job["entry"]
    here = chosen(cells, job["where"])
    fronts = columns(job, cells, summary)
    every = regions_of(fronts)
    labels = legend_names(job, here)
    won = [m for m in entry["methods"] if any(r.offer.method == m for r in every)]
    looks = palette.told_apart({m: Look(**job["looks"][m]) for m in won})

    def wins(method: str, **at: Any) -> Share:
        """Count the positions and panels where a method is the best under some bound."""
        some = [c for c in fronts if all(c.point.get(name) == value for name, value in at.items())]
        return Share(sum(any(o.method == method for o in c.front) for c in some), len(some), "columns")

    return Made(
        partial(_draw, entry, every, labels, looks, mark),
        _numbers(entry, every),
        None,
        questions={"wins": wins, "winners": [labels[m] for m in won]},
    )


def regions_of(fronts: Sequence[Column]) -> list[Region]:
    """Return the regions at all positions, from the lowest bound to the highest; the last one is unbounded."""
    return [
        Region(column, offer, offer.cost, after)
        for column in fronts
        for offer, after in zip(column.front, [*(o.cost for o in column.front), math.inf][1:], strict=True)
    ]


def _numbers(entry: Mapping[str, Any], every: Sequence[Region]) -> bytes:
    """Return a row per region: its position, the bounds between which its method is best, and the error there."""
    panels = entry.get("panels")
    rows = [
        {
            **{name: value for name, value in r.column.point.items() if name != panels},
            **({panels: r.column.panel} if panels else {}),
            "place": r.column.place,
            "method": r.offer.method,
            "accounting": r.offer.accounting,
            "from": r.low,
            "to": r.high,
            entry["value"]: r.offer.error,
        }
        for r in every
    ]
    ends = ["place", "method", "accounting", "from", "to", entry["value"]]
    frame = pd.DataFrame(rows, columns=None if rows else ends)
    return as_csv(frame)


# -- drawing -------------------------------------------------------------------------------------------------------


def _draw(
    entry: Mapping[str, Any],
    every: Sequence[Region],
    labels: Mapping[str, str],
    looks: Looks,
    mark: str,
) -> Figure:
    if not every:
        return sheet.said(sheet.INFEASIBLE)
    panels = list(dict.fromkeys(r.column.panel for r in every))
    edges = _edges(sorted({r.column.place for r in every}))
    ends = list(edges.values())
    across = Axis("log", ends[0][0], ends[-1][1])
    up = Axis("log", min(r.low for r in every) / _BELOW, max(r.low for r in every) * _ROOM)
    up_ticks = ticks(up, 5)
    hatches = _hatches(looks)
    items = [
        legend.Item(labels[m], (replace(look, dash=""),), (lighter(look.color), hatches[m]))
        for m, look in looks.items()
    ]
    page = sheet.Sheet.of(
        entry, len(panels), items, up_ticks.labels, mark, entry["title"], titles="panels" in entry
    )
    for value, place in zip(panels, page.plan.places, strict=True):
        ax = page.panel(place.box)
        sheet.framed(ax, across, up)
        ax.grid(visible=False)
        for region in every:
            if region.column.panel == value:
                _region(ax, region, edges[region.column.place], up, looks[region.offer.method], hatches)
        across_ticks = ticks(across, 5 if place.box.width > 2.3 else 4)
        sheet.ticked(ax, across_ticks, up_ticks, below=place.last, left=place.first)
        page.name_panel(ax, value)
        if place.first:
            page.label_rows(place.box)
    return page.finish()


def _edges(places: Sequence[float]) -> dict[float, tuple[float, float]]:
    """Return both edges of each position, halfway to the neighbors on a logarithmic axis."""
    if len(places) == 1:
        return {places[0]: (places[0] / 2, places[0] * 2)}
    between = [math.sqrt(a * b) for a, b in pairwise(places)]
    lows = [places[0] ** 2 / between[0], *between]
    highs = [*between, places[-1] ** 2 / between[-1]]
    return {place: (low, high) for place, low, high in zip(places, lows, highs, strict=True)}


def _hatches(looks: Looks) -> dict[str, str]:
    seen: dict[str, int] = {}
    found = {}
    for method, look in looks.items():
        found[method] = _HATCHES[seen.get(look.color, 0) % len(_HATCHES)]
        seen[look.color] = seen.get(look.color, 0) + 1
    return found


def _region(
    ax: Axes,
    region: Region,
    edges: tuple[float, float],
    up: Axis,
    look: Look,
    hatches: Mapping[str, str],
) -> None:
    low, high = region.low, min(region.high, up.high)
    ax.add_artist(
        Rectangle(
            (edges[0], low),
            edges[1] - edges[0],
            high - low,
            facecolor=lighter(look.color),
            edgecolor="white",
            linewidth=0.6,
            hatch=hatches[region.offer.method],
            zorder=1,
            label=region.offer.method,
        )
    )
    if up.share(high) - up.share(low) >= _MARKED_FROM:
        middle = math.sqrt(low * high)
        sheet.add(ax, [region.column.place], [middle], replace(look, dash=""), ms=4, zorder=3)
