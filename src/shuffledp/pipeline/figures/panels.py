"""Drawing of a panel, and of the strip below it with the ratios of printed to exact numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.transforms import ScaledTranslation, Transform

from shuffledp.pipeline.figures import end_labels, layout, legend, sheet
from shuffledp.pipeline.figures.axes import Axis, Ticks, short, ticks, vertical
from shuffledp.pipeline.figures.drawn_curves import Numbers, Strand, leading, sidesteps
from shuffledp.pipeline.figures.palette import THIN, Look, Looks
from shuffledp.pipeline.figures.picture import Picture
from shuffledp.pipeline.figures.style import SETTINGS
from shuffledp.pipeline.manifest import Scale

MARKERS_PER_CURVE = 12  # upper limit, about: on dense curves markers hide each other
_JUMP = 0.15  # share of the axis from which a step of a curve along a variable interrupts the line
_ROOM = 0.08  # of a strip's height, for half a marker
_ROOM_FOR_NUMBERS = 0.4  # of the width
_NEAR = 3.0  # median ratio up to which a curve is in the strips
_SMALL = 6.5  # points: letters beside arrows


def ticked(ax: Axes, what: Picture, place: layout.Place, up: Ticks, labels_below: bool) -> None:
    """Draw the ticks of a panel; a horizontal axis without numbers has a tick at each value."""
    if what.places is None:
        across = ticks(what.x_axis, 6 if place.box.width > 2 else 4)
    else:
        across = Ticks(tuple(what.places.values()), tuple(map(str, what.places)))
    sheet.ticked(ax, across, up, below=labels_below, left=place.first)


def _in(value: Any, every: Iterable[Strand]) -> list[Strand]:
    """Return the curves of a panel; a curve that does not depend on the panels' variable is in every panel."""
    return [s for s in every if value is None or s.panel is None or s.panel == value]


def _in_order(what: Picture, here: Sequence[Strand], axis: Axis) -> Iterator[tuple[Strand, Look, int, float]]:
    """Yield the curves of a panel in the legend's order, each with its look, its index and the shift of its markers."""
    steps = sidesteps(here, axis.units, axis.span)
    for number, (curve, look) in enumerate(what.drawn_looks.items()):
        for strand in here:
            if strand.curve == curve:
                yield strand, look, number, steps.get(curve, 0.0)


def panel(ax: Axes, what: Picture, value: Any, box: layout.Box) -> None:
    """Draw the panel of one value of the panels' variable."""
    sheet.framed(ax, what.x_axis, what.y_axis)
    here = _in(value, what.drawn)
    lines = {strand.curve for strand in here if strand.kind != "simulated"}
    for strand, look, number, step in _in_order(what, here, what.y_axis):
        if strand.level:
            if strand.kind != "simulated" or strand.curve not in lines:
                _level(ax, strand, look)
        elif look.width == THIN and strand.kind == "simulated" and strand.curve in lines:
            continue
        elif strand.kind != "simulated" or "along" in what.drawing or what.parts or look.width == THIN:
            _line(ax, what, strand, look, number, step)
        else:
            _means(ax, strand, look, step)
    for strand in _in(value, what.simulated):
        _means(ax, strand, what.drawn_looks[strand.curve], 0.0)
    _marks(ax, leading(here), what.drawn_looks, what.y_axis)
    if what.numbered:
        end_labels.number(ax, what, here, box)
    read = [(x, y) for at, x, y in what.points if at in (None, str(value))]
    if read:
        x, y = zip(*read, strict=True)
        sheet.add(ax, x, y, legend.POINTS, ms=legend.POINT_SIZE, label=legend.PAPER, zorder=5)


def _above(look: Look) -> float:
    """Return the drawing order of a line: dashed lines over solid lines, wide lines over all others."""
    if look.width:
        return 2.5 if look.width > THIN else 1.9
    return 2.0 if look.dash == "-" else 2.1


def _level(ax: Axes, strand: Strand, look: Look) -> None:
    """Draw a level line, which has no marker."""
    own = {"label": strand.curve, "zorder": _above(look), "transform": ax.get_yaxis_transform()}
    sheet.add(ax, [0.0, 1.0], [float(strand.y[0])] * 2, replace(look, marker=""), **own)


def _aside(ax: Axes, step: float) -> Transform:
    """Return the transform of data coordinates with a sideways shift in points."""
    if not step or ax.figure is None:
        return ax.transData
    return ax.transData + ScaledTranslation(step / 72, 0, ax.figure.dpi_scale_trans)


def _line(ax: Axes, what: Picture, strand: Strand, look: Look, number: int, step: float) -> None:
    """Draw a line through computed numbers, with gaps at infeasible cells."""
    x, y = _with_gaps(what, strand)
    alone = look.width == THIN and np.count_nonzero(np.isfinite(y)) == 1  # no line, and no marker of its own
    sheet.add(ax, x, y, replace(look, marker="." if alone else ""), zorder=_above(look), label=strand.curve)
    if strand.kind == "expected" and not what.parts:
        return  # a closed form has no points
    every = max(1, len(x) // MARKERS_PER_CURVE)
    shown = slice(number % every, None, every)
    own = {"label": f"{strand.curve} markers", "zorder": 3, "transform": _aside(ax, step)}
    sheet.add(ax, x[shown], y[shown], replace(look, dash=""), **own)


def _with_gaps(what: Picture, strand: Strand) -> tuple[Numbers, Numbers]:
    """Return positions and numbers, with nan at grid positions without a number and where x jumps along a curve."""
    y = np.where(np.isfinite(what.y_axis.units(strand.y)), strand.y, np.nan)
    if "along" in what.drawing:
        jumps = 1 + np.flatnonzero(np.abs(np.diff(what.x_axis.units(strand.x))) > _JUMP * what.x_axis.span)
        return np.insert(strand.x, jumps, np.nan), np.insert(y, jumps, np.nan)
    values = what.grid.get(what.drawing["x"], ())
    grid = np.array(list(values if what.places is None else what.places.values()), float)
    missing = np.setdiff1d(grid, strand.x)
    x = np.concatenate([strand.x, missing])
    order = np.argsort(x, kind="stable")
    return x[order], np.concatenate([y, np.full(len(missing), np.nan)])[order]


def _means(ax: Axes, strand: Strand, look: Look, step: float) -> None:
    """Draw simulated means; markers are open where no bar is drawn."""
    transform = _aside(ax, step)
    barred = np.isfinite(strand.error)
    if barred.any():
        x, y, error = strand.x[barred], strand.y[barred], strand.error[barred]
        lower = np.where(y > error, y - error, y) if ax.get_yscale() == "log" else y - error
        ends = np.stack([np.stack([x, x], 1), np.stack([lower, y + error], 1)], 2)
        bars = LineCollection(list(ends), colors=look.color, linewidths=0.8, transform=transform, zorder=2.9)
        bars.set_label(f"{strand.curve} bars")
        ax.add_collection(bars, autolim=False)
    for chosen, fill, said in ((barred, look.color, "means"), (~barred, "none", "means without bars")):
        if chosen.any():
            own = {
                "label": f"{strand.curve} {said}",
                "zorder": 3,
                "transform": transform,
                "ms": 3.8,
                "mfc": fill,
            }
            sheet.add(ax, strand.x[chosen], strand.y[chosen], replace(look, dash=""), **own)


def _marks(ax: Axes, here: Sequence[Strand], looks: Looks, axis: Axis) -> None:
    """Draw arrows at the edges where curves leave the axis, with their marker and numbers once."""
    for top in (True, False):
        slot = 0
        for strand in here:
            beyond = strand.y > axis.high if top else strand.y < axis.low
            if beyond.any():
                _arrow(ax, strand, beyond, looks[strand.curve], slot, top)
                slot += 1


def _arrow(ax: Axes, strand: Strand, beyond: Any, look: Look, slot: int, top: bool) -> None:
    low, high = short(float(strand.y[beyond].min())), short(float(strand.y[beyond].max()))
    places = [0.5]
    if not strand.level:
        shares = ax.transAxes.inverted().transform(
            ax.transData.transform([(x, 1.0) for x in strand.x[beyond]])
        )
        places = [float(x) for x, _ in shares]
    y = 0.965 - 0.065 * slot if top else 0.035 + 0.065 * slot
    side = 1 if places[0] < 1 - places[-1] else -1  # where there is more room
    x = places[-1] if side > 0 else places[0]
    inward = 0.0
    if max(places[0], 1 - places[-1]) < _ROOM_FOR_NUMBERS and len(places) > 1:
        x, side, inward = places[0], 1, -0.065 if top else 0.065
    own: dict[str, Any] = {"transform": ax.transAxes, "zorder": 6}
    arrow = Look(look.color, "^" if top else "v", "")
    sheet.add(
        ax, places, [y] * len(places), arrow, ms=4, mfc=look.color, label=f"{strand.curve} beyond", **own
    )
    y += inward
    sheet.add(ax, [x + side * 0.03], [y], replace(look, dash=""), ms=4, **own)
    text = ax.text(x + side * 0.055, y, low if low == high else f"{low} to {high}", **own)
    text.set(ha="left" if side > 0 else "right", va="center", fontsize=_SMALL, color=look.color)


# -- printed over exact --------------------------------------------------------------------------------------------


def ratios(what: Picture) -> list[Strand]:
    """Return curves of ratios: printed to exact numbers, or a method's numbers to the numbers of method ``over``."""
    if not what.ratios:
        return _over(what)
    every = {(s.curve, s.panel): s for s in what.drawn}
    found = []
    for (curve, panel), exact in every.items():
        name, _, part = curve.rpartition("|")
        printed = every.get((f"{name}|printed", panel))
        if part != "exact" or printed is None:
            continue
        at = printed.at()
        pairs = [(x, at[x] / y) for x, y in exact.at().items() if x in at and y > 0 and at[x] > 0]
        if pairs:
            x = np.array([place for place, _ in pairs if place is not None], float)
            y = np.array([ratio for _, ratio in pairs])
            found.append(Strand(curve, "computed", panel, x, y, np.full(len(y), np.nan)))
    return found


def _over(what: Picture) -> list[Strand]:
    """Return the ratios of each curve to the curve of method ``over`` in the same panel; omit distant curves."""
    every = leading(what.drawn)
    below = {s.panel: s.at() for s in every if s.curve == what.drawing.get("over")}
    found: list[Strand] = []
    for one in every:
        pairs = [(x, y / below[one.panel][x]) for x, y in one.at().items() if x in below.get(one.panel, {})]
        if pairs:
            x, y = np.array(pairs, float).T
            found.append(Strand(one.curve, "computed", one.panel, x, y, np.full(len(y), np.nan)))
    curves = {s.curve: np.concatenate([o.y for o in found if o.curve == s.curve]) for s in found}
    near = {curve for curve, y in curves.items() if 1 / _NEAR < np.median(y) < _NEAR}
    return [strand for strand in found if strand.curve in near]


def ratio_label(what: Picture) -> str:
    """Return the label of the strips' vertical axis."""
    return "printed /\nexact" if what.ratios else f"error /\n{what.labels[what.drawing['over']]}"


def ratio_scale(what: Picture) -> Scale:
    """Return "log" if the ratios differ by more than a factor of four, otherwise "linear"."""
    every = np.concatenate([np.ones(1), *(strand.y for strand in ratios(what))])
    return "log" if every.max() > 4 * every.min() else "linear"


def strip_axis(what: Picture) -> Axis:
    """Return the vertical axis of the strips, with space for whole markers at both ends."""
    found = vertical(ratios(what), ratio_scale(what), [1.0])
    if found.scale == "linear":
        return Axis("linear", found.low - _ROOM * found.span, found.high + _ROOM * found.span)
    return Axis("log", found.low / 10 ** (_ROOM * found.span), found.high * 10 ** (_ROOM * found.span))


def strip(ax: Axes, what: Picture, value: Any, axis: Axis) -> None:
    """Draw the strip below the panel for one value of the panels' variable."""
    sheet.framed(ax, what.x_axis, axis)
    ax.axhline(1.0, color=SETTINGS["axes.edgecolor"], lw=0.6, zorder=1.5)
    here = _in(value, ratios(what))
    for strand, look, number, step in _in_order(what, here, axis):
        if strand.level:
            _level(ax, strand, look)
        else:
            _line(ax, what, strand, look, number, step)
    _marks(ax, here, what.drawn_looks, axis)
