"""Pareto pictures: an error against a cost, with one panel and one front per trust model.

Methods on the front are filled and have their names, and the front is a step line. All others are gray and have a
number. Controls, which are drawn in a ring, and methods with an unproven or violated claim are not part of the front. A
trust model that has controls only has no panel: its controls are level lines in the first panel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from shuffledp.pipeline.figures import layout, legend, palette, sheet
from shuffledp.pipeline.figures.axes import Axis, Ticks, horizontal, short, ticks
from shuffledp.pipeline.figures.drawing_jobs import DrawingJob, Fields
from shuffledp.pipeline.figures.drawn_curves import SAME, Together, grouped
from shuffledp.pipeline.figures.end_labels import spread
from shuffledp.pipeline.figures.files import as_csv
from shuffledp.pipeline.figures.fronts import Offer, by_trust, front, legend_names, offers
from shuffledp.pipeline.figures.leaderboard import CONTROL
from shuffledp.pipeline.figures.names import TRUST
from shuffledp.pipeline.figures.palette import DARK, GRAY, Look, Looks
from shuffledp.pipeline.figures.picture import looks_like
from shuffledp.pipeline.figures.selected_rows import chosen
from shuffledp.pipeline.figures.sheet import Made
from shuffledp.pipeline.figures.style import SETTINGS
from shuffledp.pipeline.manifest import Chart

FRONT = "front"
TOLERANCE = 0.01
"""Relative advantage in error or cost up to which a method is not on the front for this advantage."""
_RING = 11.0  # points
_ON_FRONT, _CONTROL, _OFF_FRONT = 6.0, 5.0, 3.0
_NAME_POINTS, _NUMBER_POINTS, _NAME_INCHES = 6.5, 5.5, 1.2
_DOT = 0.085  # inches that a point keeps free from texts
_FAR = 10.0  # times the other errors: a control beyond has an arrow
_STEPS = Look(DARK, "", "-")
_RINGED = Look(GRAY, "o", "")
_BEHIND = Look(GRAY, "o", "")
_CONTROLS = Look(GRAY, "", (0, (1.5, 1.5)), 0.9)
_MOST_TICKS = 5
_BESIDE_TITLES, _NARROWEST = 0.12, 1.15  # inches


def pareto(job: DrawingJob, cells: pd.DataFrame, summary: pd.DataFrame, mark: str) -> Made:
    """Return the picture of a job."""
    entry = job["entry"]
    here = chosen(cells, job["where"])
    shown = offers(here, summary, entry, str(entry["y"]))
    labels = legend_names(job, here)
    looks = palette.told_apart({o.method: Look(**job["looks"][o.method]) for o in shown})
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
    every, controls = by_trust(shown), list(entry.get("controls", ()))
    known = {t: some for t, some in every.items() if not _all_in(some, controls)} or every
    levels = [offer for trust, some in every.items() if trust not in known for offer in some]
    drawn = [offer for some in known.values() for offer in some]
    across = horizontal((), "log", [o.cost for o in drawn])
    errors = [o.error for o in drawn]
    near = [o.error for o in levels if min(errors) / _FAR < o.error < _FAR * max(errors)]
    below = [error / 1.4 for error in near]  # a name may be below its line
    up = horizontal((), "log", [*errors, *near, *below])
    up_ticks = ticks(up, _MOST_TICKS)
    fronts = {trust: front(some, controls, TOLERANCE) for trust, some in known.items()}
    groups = {trust: grouped(some, _same) for trust, some in known.items()}
    numbers = _numbered(groups, fronts, controls)
    items = _legend(groups, fronts, numbers, labels, controls)
    page = sheet.Sheet.of(entry, len(known), items, up_ticks.labels, mark, entry["title"], titles=True)
    boxes = _boxes(known, page.plan)
    for (trust, some), place, box in zip(groups.items(), page.plan.places, boxes, strict=True):
        ax = page.panel(box)
        sheet.framed(ax, across, up)
        best = fronts[trust]
        points = [next((o for o in group if o in best), group[0]) for group in some]
        widest = min(_NAME_INCHES, 0.7 * box.width)
        texts = {
            point.method: str(numbers[point.method])
            if point.method in numbers
            else layout.wrapped(legend.joined(_together(group), labels), _NAME_POINTS, widest)
            for point, group in zip(points, some, strict=True)
        }
        beside = levels if place is page.plan.places[0] else []
        _panel(ax, points, best, looks, controls, up)
        taken = [*_steps(best, across, up, box), *_dots(points, across, up, box)]
        taken += _levels(ax, beside, labels, taken, up, box)
        _name(ax, points, texts, best, taken, across, up, box)
        sheet.ticked(ax, _few(across, box.width), up_ticks, below=place.last, left=place.first)
        ax.set_title(TRUST[trust])
        if place.first:
            page.label_rows(box)
    return page.finish()


def _all_in(some: Sequence[Offer], controls: Sequence[str]) -> bool:
    return all(offer.method in controls for offer in some)


def _together(group: Sequence[Offer]) -> Together:
    return Together(tuple(offer.method for offer in group), equal=True)


def _numbered(
    groups: Mapping[str, Sequence[Sequence[Offer]]],
    fronts: Mapping[str, Sequence[Offer]],
    controls: Sequence[str],
) -> dict[str, int]:
    """Return a number per method, except for controls and methods of a front, which are labeled by name."""
    behind = [
        group[0].method
        for trust, some in groups.items()
        for group in some
        if group[0].method not in controls and not any(offer in fronts[trust] for offer in group)
    ]
    return {method: number for number, method in enumerate(behind, 1)}


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


def _panel(
    ax: Axes, some: Sequence[Offer], best: Sequence[Offer], looks: Looks, controls: Sequence[str], up: Axis
) -> None:
    if best:
        x = [best[0].cost, *(o.cost for o in best), ax.get_xlim()[1]]
        y = [up.high, *(o.error for o in best), best[-1].error]
        ax.add_artist(
            Line2D(x, y, color=_STEPS.color, lw=0.9, drawstyle="steps-post", zorder=1.5, label=FRONT)
        )
    for offer in some:
        look, on = looks[offer.method], offer in best
        named = on or offer.method in controls
        if offer.method in controls:
            ring = replace(_RINGED, dash="")
            sheet.add(ax, [offer.cost], [offer.error], ring, ms=_RING, mew=0.8, zorder=2.5)
        sheet.add(
            ax,
            [offer.cost],
            [offer.error],
            Look(look.color, look.marker, "") if named else replace(_BEHIND, dash=""),
            ms=_ON_FRONT if on else _CONTROL if named else _OFF_FRONT,
            mfc=look.color if on else "none",
            zorder=4 if on else 3,
            label=offer.method,
        )


@dataclass(frozen=True)
class _Text:
    """Text at a point in inches, which its size keeps free from others."""

    left: float
    bottom: float
    width: float
    height: float

    def meets(self, other: _Text) -> bool:
        apart = self.left + self.width <= other.left or other.left + other.width <= self.left
        return not (
            apart or self.bottom + self.height <= other.bottom or other.bottom + other.height <= self.bottom
        )


def _levels(
    ax: Axes,
    levels: Sequence[Offer],
    labels: Mapping[str, str],
    others: Sequence[_Text],
    up: Axis,
    box: layout.Box,
) -> list[_Text]:
    """Draw controls of other panels as level lines, with an arrow beyond the axis; return the places of their names.

    A name is above the right end of its line, or left of or below the front and the points that it would meet there.
    """
    own: dict[str, Any] = {"transform": ax.transAxes, "zorder": 2}
    found = [_Text(0.0, up.share(o.error) * box.height - 0.01, box.width, 0.02) for o in levels]
    groups = grouped(levels, lambda a, b: math.isclose(a.error, b.error, rel_tol=SAME))
    high = _NAME_POINTS / 72 * 1.2
    wanted = [up.share(group[0].error) * box.height + high / 2 + 0.01 for group in groups]
    places = spread(wanted, [high] * len(groups), 0.0, box.height)
    for group, place in zip(groups, places, strict=True):
        share, text = up.share(group[0].error), legend.joined(_together(group), labels)
        inside = 0 <= share <= 1
        if inside:
            sheet.add(ax, [0.0, 1.0], [share] * 2, _CONTROLS, label=group[0].method, **own)
        else:
            arrow = Look(GRAY, "^" if share > 1 else "v", "")
            sheet.add(ax, [0.98], [place / box.height], arrow, ms=4, mfc=GRAY, **own)
            text = f"{text}: {short(group[0].error)}"
        wide = layout.text_inches(text, _NAME_POINTS)
        ends = np.arange(0.97, 0.5 if inside else 0.96, -0.02) * box.width
        middles = [place, share * box.height - high / 2 - 0.015] if inside else [place]
        around = [_Text(end - wide, middle - high / 2, wide, high) for middle in middles for end in ends]
        free = [p for p in around if p.left > 0 and p.bottom > 0 and not any(map(p.meets, [*others, *found]))]
        name = next(iter(free), around[0])
        found.append(name)
        end, middle = (name.left + wide) / box.width, name.bottom + high / 2
        style: dict[str, Any] = {"fontsize": _NAME_POINTS, "color": DARK, "ha": "right", **own}
        ax.text(end, middle / box.height, text, va="center_baseline", **style)
    return found


def _name(
    ax: Axes,
    some: Sequence[Offer],
    texts: Mapping[str, str],
    best: Sequence[Offer],
    others: Sequence[_Text],
    across: Axis,
    up: Axis,
    box: layout.Box,
) -> None:
    """Label points without overlaps: methods of the front and controls by name, all further methods by number."""
    at = {o.method: (across.share(o.cost) * box.width, up.share(o.error) * box.height) for o in some}
    taken = list(others)
    for offer in sorted(some, key=lambda o: (o not in best, len(texts[o.method]) < 3)):
        text, (x, y) = texts[offer.method], at[offer.method]
        points = _NAME_POINTS if not text.isdigit() else _NUMBER_POINTS
        wide = max(layout.text_inches(line, points) for line in text.split("\n"))
        high = (text.count("\n") + 1) * points / 72 * 1.25
        places = [p for p in _around(x, y, wide, high) if _fits(p, box) and not any(map(p.meets, taken))]
        chosen = next(iter(places), _Text(x + _DOT / 2, y - high / 2, wide, high))
        taken.append(chosen)
        middle = chosen.left + wide / 2, chosen.bottom + high / 2
        if math.hypot(max(abs(middle[0] - x) - wide / 2, 0), max(abs(middle[1] - y) - high / 2, 0)) > 0.09:
            nearest = (
                min(max(x, chosen.left), chosen.left + wide),
                min(max(y, chosen.bottom), chosen.bottom + high),
            )
            across_x, upward = (
                [x / box.width, nearest[0] / box.width],
                [y / box.height, nearest[1] / box.height],
            )
            sheet.add(ax, across_x, upward, Look(GRAY, "", "-"), lw=0.4, transform=ax.transAxes, zorder=1.4)
        ax.text(
            chosen.left / box.width,
            middle[1] / box.height,
            text,
            transform=ax.transAxes,
            fontsize=points,
            linespacing=1.1,
            color=DARK,
            va="center_baseline",
            zorder=5,
        )


def _dots(some: Sequence[Offer], across: Axis, up: Axis, box: layout.Box) -> Iterator[_Text]:
    """Yield the places of the points."""
    for offer in some:
        x, y = across.share(offer.cost) * box.width, up.share(offer.error) * box.height
        yield _Text(x - _DOT / 2, y - _DOT / 2, _DOT, _DOT)


def _steps(best: Sequence[Offer], across: Axis, up: Axis, box: layout.Box) -> Iterator[_Text]:
    """Yield the pieces of the front's line."""
    corners = [(across.share(o.cost) * box.width, up.share(o.error) * box.height) for o in best]
    ends = [*corners[1:], (box.width, 0.0)]
    for (x, y), (right, _) in zip(corners, ends, strict=False):
        yield _Text(x, y - 0.01, right - x, 0.02)
    for (x, y), above in zip(corners, [box.height, *(y for _, y in corners)], strict=False):
        yield _Text(x - 0.01, y, 0.02, above - y)


def _fits(text: _Text, box: layout.Box) -> bool:
    inside = text.left >= 0.02 and text.left + text.width <= box.width - 0.02
    return inside and text.bottom >= 0.02 and text.bottom + text.height <= box.height - 0.02


def _around(x: float, y: float, wide: float, high: float) -> Iterator[_Text]:
    """Yield places of a text around a point, nearer ones first."""
    for far in (0.07, 0.1, 0.15, 0.22, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.95, 1.1, 1.3, 1.5, 1.8):
        for angle in (0, 45, -45, 90, -90, 180, 135, -135, 20, -20, 65, -65, 10, -10):
            dx, dy = far * math.cos(math.radians(angle)), far * math.sin(math.radians(angle))
            left = x + dx if dx > 0.02 else x + dx - wide if dx < -0.02 else x - wide / 2
            bottom = y + dy if dy > 0.04 else y + dy - high if dy < -0.04 else y + dy - high / 2
            yield _Text(left, bottom, wide, high)


def _same(a: Offer, b: Offer) -> bool:
    return a.trust == b.trust and all(
        math.isclose(x, y, rel_tol=SAME) for x, y in ((a.cost, b.cost), (a.error, b.error))
    )


def _legend(
    groups: Mapping[str, Sequence[Sequence[Offer]]],
    fronts: Mapping[str, Sequence[Offer]],
    numbers: Mapping[str, int],
    labels: Mapping[str, str],
    controls: Sequence[str],
) -> list[legend.Item]:
    plain = replace(_BEHIND, dash="")
    items = [
        legend.Item(f"{numbers[group[0].method]}  {legend.joined(_together(group), labels)}", (plain,))
        for some in groups.values()
        for group in some
        if group[0].method in numbers
    ]
    if any(fronts.values()):
        items.append(legend.Item("front (controls and unproven methods apart)", (_STEPS,)))
    if any(o.method in controls for some in groups.values() for group in some for o in group):
        items.append(legend.Item("in a ring: control", (replace(_RINGED, dash=""),)))
    return items
