"""Pareto pictures: an error against a cost, with one panel and one front per trust model.

Methods that another method beats in error and cost are hollow and pale, methods on the front are filled, and the front
is a step line. Controls, which are drawn in a ring, and methods with an unproven or violated claim are not part of the
front.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from shuffledp.pipeline.figures import layout, legend, palette, sheet
from shuffledp.pipeline.figures.axes import Axis, Ticks, horizontal, ticks
from shuffledp.pipeline.figures.drawing_jobs import DrawingJob, Fields
from shuffledp.pipeline.figures.drawn_curves import SAME, Together, grouped
from shuffledp.pipeline.figures.files import as_csv
from shuffledp.pipeline.figures.fronts import Offer, by_trust, front, legend_names, offers
from shuffledp.pipeline.figures.leaderboard import CONTROL
from shuffledp.pipeline.figures.names import TRUST
from shuffledp.pipeline.figures.palette import DARK, GRAY, Look, Looks, lighter
from shuffledp.pipeline.figures.picture import looks_like
from shuffledp.pipeline.figures.selected_rows import chosen
from shuffledp.pipeline.figures.sheet import Made
from shuffledp.pipeline.figures.style import SETTINGS
from shuffledp.pipeline.manifest import Chart

FRONT = "front"
TOLERANCE = 0.01
"""Relative advantage in error or cost up to which a method is not on the front for this advantage."""
_RING = 11.0  # points
_ON_FRONT, _OFF_FRONT = 6.0, 5.0
_STEPS = Look(DARK, "", "-")
_RINGED = Look(GRAY, "o", "")
_MOST_TICKS = 5
_BESIDE_TITLES, _NARROWEST = 0.12, 1.15  # inches


def pareto(job: DrawingJob, cells: pd.DataFrame, summary: pd.DataFrame, mark: str) -> Made:
    """Return the picture of a job."""
    entry = job["entry"]
    here = chosen(cells, job["where"])
    shown = offers(here, summary, entry, str(entry["y"]))
    labels = legend_names(job, here)
    looks = palette.told_apart({o.method: palette.look(job["looks"].get(o.method, 0)) for o in shown})
    controls = list(entry.get("controls", ()))
    known = by_trust(shown)
    fronts = {trust: [o.method for o in front(some, controls, TOLERANCE)] for trust, some in known.items()}
    return Made(
        partial(_draw, entry, shown, labels, looks, mark),
        _numbers(entry, shown, fronts, controls),
        _chart(entry, shown, labels, looks),
        questions={"front": lambda trust: [labels[m] for m in fronts.get(trust, [])], "tolerance": TOLERANCE},
    )


def _numbers(
    entry: Fields,
    shown: Sequence[Offer],
    fronts: Mapping[str, Sequence[str]],
    controls: Sequence[str],
) -> bytes:
    rows = [
        {
            "method": o.method,
            "accounting": o.accounting,
            "curve": o.method,
            "trust": TRUST[o.trust],
            "guarantee": o.guarantee,
            "kind": "computed",
            entry["x"]: o.cost,
            entry["y"]: o.error,
            "front": o.method in fronts[o.trust],
            CONTROL: o.method in controls,
        }
        for o in shown
    ]
    columns = [
        "method",
        "accounting",
        "curve",
        "trust",
        "guarantee",
        "kind",
        entry["x"],
        entry["y"],
        FRONT,
        CONTROL,
    ]
    frame = pd.DataFrame(rows, columns=columns)
    return as_csv(frame)


def _chart(entry: Fields, shown: Sequence[Offer], labels: Mapping[str, str], looks: Looks) -> Chart | None:
    if not shown:
        return None
    return Chart(
        x=entry["x"],
        y=entry["y"],
        x_label=entry.get("x_label", entry["x"]),
        y_label=entry.get("y_label", entry["y"]),
        x_scale="log",
        y_scale="log",
        panels="trust",
        panel_label="{}",
        curves=tuple(looks_like(o.method, labels[o.method], looks[o.method]) for o in shown),
    )


# -- drawing -------------------------------------------------------------------------------------------------------


def _draw(
    entry: Fields,
    shown: Sequence[Offer],
    labels: Mapping[str, str],
    looks: Looks,
    mark: str,
) -> Figure:
    if not shown:
        return sheet.said(sheet.INFEASIBLE)
    known, controls = by_trust(shown), list(entry.get("controls", ()))
    across = horizontal((), "log", [o.cost for o in shown])
    up = horizontal((), "log", [o.error for o in shown])
    up_ticks = ticks(up, _MOST_TICKS)
    items = _legend(shown, known, labels, looks, controls)
    page = sheet.Sheet.of(entry, len(known), items, up_ticks.labels, mark, entry["title"], titles=True)
    boxes = _boxes(known, page.plan)
    for (trust, some), place, box in zip(known.items(), page.plan.places, boxes, strict=True):
        ax = page.panel(box)
        sheet.framed(ax, across, up)
        _panel(ax, some, looks, controls, up)
        sheet.ticked(ax, _few(across, box.width), up_ticks, below=place.last, left=place.first)
        ax.set_title(TRUST[trust])
        if place.first:
            page.label_rows(box)
    return page.finish()


def _boxes(known: Mapping[str, Sequence[Offer]], plan: layout.Layout) -> list[layout.Box]:
    """Return panels side by side; their widths fit the titles and grow with the number of methods."""
    gaps = layout.GAP * (len(known) - 1)
    places = [place.box for place in plan.places]
    inner = places[-1].left + places[-1].width - places[0].left - gaps
    size = SETTINGS["axes.titlesize"]
    least = [max(layout.text_inches(TRUST[t], size) + _BESIDE_TITLES, _NARROWEST) for t in known]
    rest = max(inner - sum(least), 0.0)
    methods = sum(map(len, known.values()))
    boxes, left = [], places[0].left
    for box, narrowest, some in zip(places, least, known.values(), strict=True):
        width = narrowest * min(1.0, inner / sum(least)) + rest * len(some) / methods
        boxes.append(replace(box, left=left, width=width))
        left += width + layout.GAP
    return boxes


def _few(axis: Axis, inches: float) -> Ticks:
    return ticks(axis, 6 if inches > 3 else 4 if inches > 2 else 3)


def _panel(ax: Axes, some: Sequence[Offer], looks: Looks, controls: Sequence[str], up: Axis) -> None:
    best = front(some, controls, TOLERANCE)
    if best:
        x = [best[0].cost, *(o.cost for o in best), ax.get_xlim()[1]]
        y = [up.high, *(o.error for o in best), best[-1].error]
        ax.add_artist(
            Line2D(x, y, color=_STEPS.color, lw=0.9, drawstyle="steps-post", zorder=1.5, label=FRONT)
        )
    for offer in some:
        look, on = looks[offer.method], offer in best
        pale = not on and offer.method not in controls
        color = lighter(look.color) if pale else look.color
        size = _ON_FRONT if on else _OFF_FRONT
        if offer.method in controls:
            ring = replace(_RINGED, dash="")
            sheet.add(ax, [offer.cost], [offer.error], ring, ms=_RING, mew=0.8, zorder=2.5)
        sheet.add(
            ax,
            [offer.cost],
            [offer.error],
            Look(color, look.marker, ""),
            ms=size,
            mfc=color if on else "none",
            zorder=4 if on else 3,
            label=offer.method,
        )


def _same(a: Offer, b: Offer) -> bool:
    return a.trust == b.trust and all(
        math.isclose(x, y, rel_tol=SAME) for x, y in ((a.cost, b.cost), (a.error, b.error))
    )


def _legend(
    shown: Sequence[Offer],
    known: Mapping[str, Sequence[Offer]],
    labels: Mapping[str, str],
    looks: Looks,
    controls: Sequence[str],
) -> list[legend.Item]:
    together = [Together(tuple(o.method for o in group), equal=True) for group in grouped(shown, _same)]
    plain = {method: replace(look, dash="") for method, look in looks.items()}
    parts = []
    if any(front(some, controls, TOLERANCE) for some in known.values()):
        parts.append(legend.Item("front (controls and unproven methods apart)", (_STEPS,)))
    if any(o.method in controls for o in shown):
        parts.append(legend.Item("in a ring: control", (replace(_RINGED, dash=""),)))
    return legend.items(together, labels, plain, parts)
