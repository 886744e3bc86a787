"""The general plotter of curves: x, y, panels and curves of an experiment's summary.

Lines are closed-form expectations and computed curves, and separate markers are simulated means. A filled marker has a
bar of one standard error; a marker is open if few repeats determine this error
(`shuffledp.pipeline.figures.drawn_curves.FEWEST_BEHIND_A_BAR`). Infeasible cells are gaps. Titles, notes and reasons of
gaps are in the manifest, not in the picture.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from shuffledp.pipeline.experiments.bundle import CELL_NUMBERS, PARAMETER_PREFIX, TRAINED_METRICS
from shuffledp.pipeline.figures import legend, panels, sheet
from shuffledp.pipeline.figures.axes import Ticks, ticks, typeset
from shuffledp.pipeline.figures.palette import GRAY, Look
from shuffledp.pipeline.figures.picture import Picture

UNTRAINED = "Nothing was trained in this run: there is no accuracy to draw."
RATIO = "printed /\nexact"
MOST_TICKS = 6


def long_form(cells: pd.DataFrame, summary: pd.DataFrame, y: str) -> pd.DataFrame:
    """Return the rows of a quantity that are drawn, from the summary or from the cells."""
    shown: pd.DataFrame = summary[summary["metric"] == y]
    if not shown.empty or y in TRAINED_METRICS or (cells["status"] != "ok").all():
        return shown
    feasible = cells[cells["status"] == "ok"]
    if y in CELL_NUMBERS:
        return feasible.assign(kind="computed", mean=feasible[y], standard_error=np.nan, count=1)
    parameters = [json.loads(p) for p in feasible["parameters"]]
    name = y.removeprefix(PARAMETER_PREFIX)
    if not y.startswith(PARAMETER_PREFIX) or not any(name in p for p in parameters):
        named = (f"{PARAMETER_PREFIX}{parameter}" for p in parameters for parameter in p)
        known = sorted({*summary["metric"], *CELL_NUMBERS, *named})
        raise ValueError(f"No quantity {y!r} in these results. Known: {', '.join(known)}.")
    numbers = pd.Series([p.get(name, np.nan) for p in parameters], index=feasible.index)
    return feasible.assign(kind="computed", mean=numbers, standard_error=np.nan, count=1)


def draw(what: Picture) -> Figure:
    """Draw one picture."""
    if what.selection.empty:
        return sheet.said(UNTRAINED if what.drawing["y"] in TRAINED_METRICS else sheet.INFEASIBLE)
    up = ticks(what.y_axis, MOST_TICKS)
    strip = panels.strip_axis(what) if what.ratios else None
    up_strip = ticks(strip, 3) if strip is not None else Ticks((), ())
    page = sheet.Sheet.of(
        what.drawing,
        len(what.panels),
        _legend_items(what),
        ("0", *up.labels, *up_strip.labels),
        what.mark,
        what.title,
        titles="panels" in what.drawing,
        strips=strip is not None,
        room=0.0 if what.ratios else 0.2,
    )
    for value, place in zip(what.panels, page.plan.places, strict=True):
        ax = page.panel(place.box)
        panels.panel(ax, what, value)
        panels.ticked(ax, what, place, up, place.last and place.strip is None)
        if place.first:
            page.label_rows(place.box)
        page.name_panel(ax, value)
        if place.strip is not None and strip is not None:
            below = page.panel(place.strip)
            panels.strip(below, what, value, strip)
            panels.ticked(below, what, place, up_strip, place.last)
            if place.first:
                page.label_rows(place.strip, RATIO, points=7)
    return page.finish()


# -- the legend ----------------------------------------------------------------------------------------------------


def _legend_items(what: Picture) -> list[legend.Item]:
    """Return the legend entries of names that have a number."""
    kinds: dict[str, set[str]] = {}
    for strand in what.strands:
        name = strand.curve.rpartition("|")[0] if what.parts else strand.curve
        kinds.setdefault(name, set()).add(strand.kind)
    shown = {name: _in_the_legend(what, name, kinds[name]) for one in what.together for name in one.curves}
    parts = [legend.Item(part.text, (part.look,)) for part in what.parts.values()]
    if what.points:
        parts.append(legend.Item(legend.READ_OFF, (legend.POINTS,)))
    labels = {curve: typeset(text) for curve, text in what.labels.items()}
    return legend.items(what.together, labels, shown, parts)


def _in_the_legend(what: Picture, name: str, kinds: Collection[str]) -> Look:
    """Return the look of a name in the legend: no line if only points are drawn, no marker if only levels are."""
    own = _of_name(what, name)
    if "along" in what.drawing or what.parts:
        return own
    if all(strand.level for strand in what.strands if strand.curve == name) and own.color != GRAY:
        return replace(own, marker="")
    return own if set(kinds) - {"simulated"} else replace(own, dash="")


def _of_name(what: Picture, name: str) -> Look:
    """Return the look of a name: the look of its curve, or of its most exact part."""
    if not what.parts:
        return what.looks[name]
    drawn = {strand.curve for strand in what.strands}
    return next(
        what.looks[f"{name}|{part}"] for part in reversed(list(what.parts)) if f"{name}|{part}" in drawn
    )
