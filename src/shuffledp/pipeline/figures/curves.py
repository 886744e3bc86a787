"""Pictures of curves: panels, printed and exact numbers together, strips of ratios, and names at the ends.

Lines are closed forms and computed numbers, and points are simulated means. A point has a bar of one standard error, if
enough repeats determine this error (`shuffledp.pipeline.figures.drawn_curves.FEWEST_BEHIND_A_BAR`). Infeasible cells
are gaps. Reasons of gaps are in the manifest.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from shuffledp.numerics.rounding import round_to_digits
from shuffledp.pipeline.figures import end_names, panels
from shuffledp.pipeline.figures.drawn_curves import Numbers, Strand
from shuffledp.pipeline.figures.end_names import EndName
from shuffledp.pipeline.figures.guarantee_words import NO_GUARANTEE
from shuffledp.pipeline.figures.numerals import typeset
from shuffledp.pipeline.figures.picture import Picture
from shuffledp.pipeline.figures.style import COLUMN_WIDTH, in_column

INFEASIBLE = "Nothing is feasible at these settings: there is nothing to draw."
UNPROVEN = " (unproven)"
_WIDTHS, _MOST_ACROSS = (5.6, 7.2, 7.6, 9.2, 9.6), 5
_HEIGHT, _COLUMN_HEIGHT, _STRIP, _REST = 2.0, 1.35, 0.7, 0.55
_JUMP = 0.15  # share of the axis from which a step of a curve along a variable interrupts the line
_ONE_HEIGHT = 0.12  # share of a panel within which the ends of many curves are at one height


def draw_infeasible() -> Figure:
    """Return a picture without axes that says that nothing is feasible."""
    figure = Figure(figsize=(5.2, 0.7))
    figure.text(0.5, 0.5, INFEASIBLE, ha="center", va="center")
    return figure


def draw(what: Picture) -> Figure:
    """Draw one picture."""
    if what.selection.empty:
        return draw_infeasible()
    entry, strip = what.drawing, ratios(what)
    across = min(2 if in_column() else _MOST_ACROSS, len(what.panels))
    down = math.ceil(len(what.panels) / across)
    names = end_points(what, what.panels[across - 1])
    beside = {} if in_column() or _at_one_height(what, names.values()) else names
    tall = max(_COLUMN_HEIGHT if in_column() else _HEIGHT, end_names.height_of(beside.values()) - 0.2)
    heights = [tall, _STRIP] if strip else [tall]
    wide = COLUMN_WIDTH if in_column() else _WIDTHS[across - 1]
    figure = Figure(figsize=(wide, down * sum(heights) + _REST))
    rows = len(heights)
    grid = figure.subplots(
        down * rows, across, sharex=True, sharey="row", squeeze=False, height_ratios=heights * down
    )
    for number, value in enumerate(what.panels):
        column, top = number % across, rows * (number // across)
        ax = grid[top, column]
        _panel(ax, what, value, across)
        if value is not None:
            text = entry.get("panel_label", f"{entry['panels']} = {{}}").format(value)
            letters = max(int((wide - 1.6) / across / 0.075), 10)
            ax.set_title(end_names.wrapped(typeset(text), letters), loc="left")
        if strip:
            _strip(grid[top + 1, column], what, strip, value)
        if column == 0:
            ax.set_ylabel(panels.y_label(entry))
            if strip:
                grid[top + 1, 0].set_ylabel("printed /\nexact", fontsize=7)
        if number == across - 1:
            end_names.write(ax, beside.values())
    panels.finish(grid, len(what.panels), rows, entry)
    panels.write_key(figure, [*_keys_of_names(what, beside), *_keys(what)])
    panels.write_title(figure, typeset(what.title), what.mark)
    return end_names.laid_out(figure)


def set_axes(ax: Axes, what: Picture, across: int) -> None:
    """Set the axes of a panel, which are the same in all panels."""
    entry = what.drawing
    x_scale, y_scale = entry.get("x_scale", "linear"), entry.get("y_scale", "linear")
    x: list[Any] = [*(strand.x for strand in what.every), [x for _, x, _ in what.points]]
    y: list[Any] = [*panels.with_bars(what.every), [y for _, _, y in what.points]]
    x += [what.stated("x", value) for value in what.panels]
    y += [what.stated("y", value) for value in what.panels]
    panels.set_axis(ax, "x", x_scale, panels.limits_of(x, x_scale), 4 if across > 2 else 7)
    panels.set_axis(ax, "y", y_scale, panels.limits_of(y, y_scale), 6)
    if what.places is not None:
        panels.set_values(ax, list(what.places.values()), list(map(str, what.places)))
    elif "along" not in entry:
        panels.set_values(ax, sorted({float(value) for numbers in x for value in numbers}))


def _panel(ax: Axes, what: Picture, value: Any, across: int) -> None:
    """Draw the panel of one value of the panels' variable."""
    set_axes(ax, what, across)
    read = [(x, y) for at, x, y in what.points if at in (None, str(value))]
    draw_curves(ax, what, in_panel(what.lines, value), in_panel(what.points_with_bars, value))
    for strand in in_panel(what.bands, value):
        panels.draw_band(ax, _interrupted(what, strand, ax), what.looks[strand.curve])
    for name, draw_level in (("x", ax.axvline), ("y", ax.axhline)):
        for number in what.stated(name, value):
            draw_level(number, color="black", ls=":", lw=1)
    if read:
        ax.plot(*zip(*read, strict=True), "kx", ms=6.5, zorder=5)


def draw_curves(ax: Axes, what: Picture, lines: Iterable[Strand], means: Sequence[Strand]) -> None:
    """Draw means and lines. A line has markers if its curve has no means; a printed line has them at single points."""
    pointed = {strand.curve for strand in means}
    for strand in lines:
        if strand.y.max() > 0 or ax.get_yscale() == "linear":
            alone = len(strand.x) == 1
            marked = strand.curve not in pointed and (what.part_of(strand.curve) != "printed" or alone)
            line = _interrupted(what, strand, ax)
            panels.draw_line(ax, line, what.looks[strand.curve], gaps_of(what, strand), marked=marked)
    for strand in means:
        panels.draw_means(ax, strand, what.looks[strand.curve])


def in_panel(curves: Iterable[Strand], value: Any) -> list[Strand]:
    """Return the curves of a panel; a curve that does not depend on the panels' variable is in every panel."""
    return [s for s in curves if value is None or s.panel is None or s.panel == value]


def gaps_of(what: Picture, strand: Strand) -> Numbers:
    """Return the values of x where a curve without a number has a gap."""
    if "along" in what.drawing or strand.level:
        return np.empty(0)
    values = what.grid.get(what.drawing["x"], ()) if what.places is None else what.places.values()
    return np.array(list(values), float)


def _interrupted(what: Picture, strand: Strand, ax: Axes) -> Strand:
    """Return a curve along a variable with gaps where it jumps across the panel."""
    if "along" not in what.drawing or strand.level:
        return strand
    low, high = ax.get_xlim()
    units = np.log10 if ax.get_xscale() == "log" else np.asarray
    jumps = 1 + np.flatnonzero(np.abs(np.diff(units(strand.x))) > _JUMP * (units(high) - units(low)))
    x, y, error = (np.insert(part, jumps, np.nan) for part in (strand.x, strand.y, strand.error))
    return replace(strand, x=x, y=y, error=error)


def _strip(ax: Axes, what: Picture, strip: Sequence[Strand], value: Any) -> None:
    scale, ends = panels.strip_limits(strip)
    panels.set_axis(ax, "y", scale, ends, 3)
    ratio_curves = in_panel(strip, value)
    gaps = gaps_of(what, ratio_curves[0]) if ratio_curves else np.empty(0)
    panels.draw_strip(ax, ratio_curves, what.looks, gaps)


# -- ratios --------------------------------------------------------------------------------------------------------


def ratios(what: Picture) -> list[Strand]:
    """Return curves of the ratios of printed to exact numbers at common points."""
    if not what.ratios:
        return []
    lines = {(strand.curve, strand.panel): strand for strand in what.lines}
    quotients = []
    for (curve, panel), exact in lines.items():
        printed = lines.get((f"{what.name_of(curve)}|printed", panel))
        if what.part_of(curve) != "exact" or printed is None:
            continue
        above, below = printed.numbers_by_position(), exact.numbers_by_position()
        common = {x: above[x] / y for x, y in below.items() if y > 0 and above.get(x, 0.0) > 0}
        if common:
            x = np.array([place for place in common if place is not None], float)
            y = np.array(list(common.values()))
            quotients.append(Strand(curve, "computed", panel, x, y, np.full(len(y), np.nan)))
    return quotients


# -- names and key -------------------------------------------------------------------------------------------------


def name_text(what: Picture, group: Sequence[str]) -> str:
    """Return the name of equal curves; a proven bound and a lower bound that equals it are said in words."""
    texts = [what.labels[name] for name in group]
    lower = [text for text in texts if text.endswith(f"({NO_GUARANTEE})")]
    if lower and len(lower) < len(texts):
        bounds = " = ".join(text for text in texts if text not in lower)
        within = round_to_digits(100 * _apart(what, group), "up", 2)
        return f"{bounds} (a lower bound is within {within:.2g} %)"
    first, *others = texts
    stem = first[: first.rfind(", ") + 2] if ", " in first else ""
    if stem and all(text.startswith(stem) for text in others):
        others = [text[len(stem) :] for text in others]
    text = " = ".join([first, *others])
    return text.replace(UNPROVEN, "") if _mostly_unproven(what) else text


def _apart(what: Picture, group: Sequence[str]) -> float:
    """Return the largest relative difference of equal curves."""
    numbers = [np.concatenate([strand.y for strand in what.named(name, what.lines)]) for name in group]
    return float(np.max(np.maximum.reduce(numbers) / np.minimum.reduce(numbers) - 1))


def _mostly_unproven(what: Picture) -> bool:
    """Return whether one line on unproven claims is shorter than a remark at most of the names."""
    remarks = sum(text.endswith(UNPROVEN) for text in what.labels.values())
    return remarks > 2 and remarks > len(what.labels) / 2


def end_points(what: Picture, value: Any) -> dict[str, EndName]:
    """Return the last point in a panel of each group of equal curves with the group's name, by its first curve.

    Of the accountings of a method, the name is at the curve that reaches farthest.
    """
    ends: dict[str, EndName] = {}
    for group in what.together:
        in_sight = [s for s in what.named(group[0], in_panel(what.every, value)) if _in_sight(what, s).any()]
        if in_sight:
            best = max(in_sight, key=lambda s: (_end_of(what, s)[0], what.exactness(s)))
            text, color = typeset(name_text(what, group)), what.look_of_name(group[0]).color
            ends[group[0]] = EndName(*_end_of(what, best), text, color)
    return ends


def _in_sight(what: Picture, strand: Strand) -> NDArray[np.bool_]:
    """Return whether the vertical axis shows each number of a curve."""
    return np.isfinite(strand.y) & ((strand.y > 0) | (what.drawing.get("y_scale") != "log"))


def _end_of(what: Picture, strand: Strand) -> tuple[float, float]:
    """Return the last point of a curve that the axes show; a level line ends at the right end."""
    last = np.flatnonzero(_in_sight(what, strand))[-1]
    return _right_end(what) if strand.level else float(strand.x[last]), float(strand.y[last])


def _right_end(what: Picture) -> float:
    scale = what.drawing.get("x_scale", "linear")
    return panels.limits_of([s.x for s in what.every], scale)[1]


def _at_one_height(what: Picture, names: Collection[EndName]) -> bool:
    """Return whether the ends of most of several curves are too near to each other for names beside the panel."""
    if len(names) < 4:
        return False
    scale = what.drawing.get("y_scale", "linear")
    low, high = panels.limits_of(panels.with_bars(what.every), scale)
    units = np.log10 if scale == "log" else np.asarray
    heights = np.sort((units([name.y for name in names]) - units(low)) / (units(high) - units(low)))
    return bool(np.median(np.diff(heights)) < _ONE_HEIGHT / len(names))


def _keys_of_names(what: Picture, beside: Collection[str]) -> list[Line2D]:
    """Return the key of names that are not beside the panels."""
    lines = {what.name_of(strand.curve) for strand in what.lines}
    sloped = {what.name_of(strand.curve) for strand in what.every if not strand.level}
    entries = []
    for group in what.together:
        if group[0] in beside:
            continue
        look, text = what.look_of_name(group[0]), name_text(what, group)
        zero = all((strand.y <= 0).all() for strand in what.named(group[0], what.every))
        if zero and what.drawing.get("y_scale") == "log":
            entries.append(panels.key(f"{text}: 0", ls=""))
        elif group[0] in lines:
            entries.append(panels.key_line(text, look, marked=group[0] in sloped))
        else:
            entries.append(panels.key(text, color=look.color, ls="", marker=look.marker))
    return entries


def _keys(what: Picture) -> list[Line2D]:
    """Return the key of accountings, simulated means, points of the paper, and unproven claims."""
    entries = [panels.key_line(part.text, part.look, marked=False) for part in what.parts.values()]
    if what.points_with_bars:
        entries.append(panels.key("simulated mean", ls="", marker="o"))
    if what.bands:
        entries.append(panels.key("one standard error of the seeds", color=panels.PALE, lw=5))
    if "stated" in what.drawing:
        entries.append(panels.key(what.drawing["stated"]["label"], color="black", ls=":", lw=1))
    if what.points:
        entries.append(panels.key(what.points_label, color="black", ls="", marker="x", ms=6.5))
    if _mostly_unproven(what):
        proven = [text for text in what.labels.values() if not text.endswith(UNPROVEN)]
        words = f"unproven: all but {', '.join(proven)}" if proven else "all are unproven"
        entries.append(panels.key(words, ls=""))
    return entries
