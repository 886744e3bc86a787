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
from shuffledp.pipeline.figures import end_labels, legend, panels, sheet
from shuffledp.pipeline.figures.axes import Ticks, ticks, typeset
from shuffledp.pipeline.figures.drawn_curves import Together
from shuffledp.pipeline.figures.palette import THIN, Look
from shuffledp.pipeline.figures.picture import Picture

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
        return sheet.said(sheet.INFEASIBLE)
    up = ticks(what.y_axis, MOST_TICKS)
    strip = panels.strip_axis(what) if panels.ratios(what) else None
    up_strip = ticks(strip, 3) if strip is not None else Ticks((), ())
    beside = end_labels.of(what)
    page = sheet.Sheet.of(
        what.drawing,
        len(what.panels),
        _legend_items(what, {label.name for label in beside}),
        ("0", *up.labels, *up_strip.labels),
        what.mark,
        what.title,
        titles="panels" in what.drawing,
        strips=strip is not None,
        room=0.0 if strip is not None else 0.2,
        right=end_labels.width(beside),
    )
    for value, place in zip(what.panels, page.plan.places, strict=True):
        ax = page.panel(place.box)
        panels.panel(ax, what, value, place.box)
        panels.ticked(ax, what, place, up, place.last and place.strip is None)
        if place.first:
            page.label_rows(place.box)
        page.name_panel(ax, value)
        if place.strip is not None and strip is not None:
            below = page.panel(place.strip)
            panels.strip(below, what, value, strip)
            panels.ticked(below, what, place, up_strip, place.last)
            if place.first:
                page.label_rows(place.strip, panels.ratio_label(what), points=7)
    end_labels.write(page, beside, what.y_axis)
    return page.finish()


# -- the legend ----------------------------------------------------------------------------------------------------


def _legend_items(what: Picture, beside: Collection[str] = ()) -> list[legend.Item]:
    """Return the legend entries of names with a number that are not ``beside`` the panels."""
    kinds: dict[str, set[str]] = {}
    for strand in what.strands:
        name = strand.curve.rpartition("|")[0] if what.parts else strand.curve
        kinds.setdefault(name, set()).add(strand.kind)
    below = [one for one in what.together if what.drawn_of(one) not in beside]
    shown = {name: in_the_legend(what, name, kinds[name]) for name in map(what.drawn_of, below)}
    parts = [legend.Item(part.text, (part.look,)) for part in what.parts.values()]
    if what.points:
        parts.append(legend.Item(what.points_label, (legend.POINTS,)))
    own = [
        legend.Item(text, (shown[name],))
        for name, text in zip(shown, (_text(what, one) for one in below), strict=True)
    ]
    return [*own, *parts]


def _text(what: Picture, one: Together) -> str:
    """Return the name of coinciding curves, after its number if it has one."""
    text = typeset(legend.joined(one, what.labels))
    number = what.numbered.get(what.drawn_of(one))
    return text if number is None else f"{number}  {text}"


def in_the_legend(what: Picture, name: str, kinds: Collection[str]) -> Look:
    """Return the look of a name, without a dash if it is drawn as points and without a marker if as level lines."""
    own = _of_name(what, name)
    if all(strand.level for strand in what.strands if what.name_of(strand.curve) == name):
        return replace(own, marker="")
    if "along" in what.drawing or what.parts or own.width == THIN:
        return own
    if kinds == {"expected"}:
        return replace(own, marker="")
    return own if set(kinds) - {"simulated"} else replace(own, dash="")


def _of_name(what: Picture, name: str) -> Look:
    """Return the look of a name: the look of its curve, or of its most exact part."""
    if not what.parts:
        return what.drawn_looks[name]
    drawn = {strand.curve for strand in what.strands}
    return next(
        what.drawn_looks[f"{name}|{part}"] for part in reversed(list(what.parts)) if f"{name}|{part}" in drawn
    )
