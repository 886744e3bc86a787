"""A panel per method: its printed and exact curve before all other curves, for comparisons of more than six curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from shuffledp.pipeline.figures import curves, end_names, panels
from shuffledp.pipeline.figures.drawn_curves import Strand
from shuffledp.pipeline.figures.numerals import number_text, ratio_text, typeset
from shuffledp.pipeline.figures.palette import BLACK, PRINTED_DASH, Look
from shuffledp.pipeline.figures.picture import Picture
from shuffledp.pipeline.figures.style import COLUMN_WIDTH, in_column

_WIDTH, _HEIGHT, _REST = 7.6, 1.3, 0.6
_EQUAL = 0.05  # relative difference up to which the printed factor is not written
_RISES = 3.0  # factor from which a curve rises, so that its text is at the left


def draw(what: Picture) -> Figure:
    """Draw a panel per method, best first, with its factor over the method ``over`` at the last x."""
    over, names = str(what.drawing["over"]), [group[0] for group in what.together]
    best = {name: what.most_exact(what.named(name, what.every)) for name in names}
    below = best[next(group[0] for group in what.together if over in group)]
    factors = {name: _factor(strand, below) for name, strand in best.items()}
    controls = [name for name in names if what.look_of_name(name).color == BLACK]
    order = sorted(set(names) - set(controls), key=lambda name: (factors[name], names.index(name)))
    on_page = 4 if len(order) > 6 else 3
    across = 2 if in_column() else on_page
    down = math.ceil(len(order) / across)
    wide = COLUMN_WIDTH if in_column() else _WIDTH
    figure = Figure(figsize=(wide, down * _HEIGHT + _REST))
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    groups = {group[0]: group for group in what.together}
    for ax, name in zip(grid.flat, order, strict=False):
        curves.set_axes(ax, what, across)
        for other in order:
            if other != name:
                _line(ax, what, best[other], Look(panels.PALE, "", "-", 0.8))
        if below.curve not in [best[name].curve for name in order]:
            _line(ax, what, below, Look(BLACK, "", (0, (1.5, 1.5)), 0.9))
        own_lines, means = (what.named(name, curves_of) for curves_of in (what.lines, what.points_with_bars))
        curves.draw_curves(ax, what, own_lines, means)
        title = end_names.wrapped(typeset(curves.name_text(what, groups[name])), int(wide / across / 0.072))
        ax.set_title(title, loc="left", weight="bold", fontsize=7)
        printed = _factor(_printed(what, name), below)
        _write(ax, what, name, _words(factors[name], printed))
    panels.finish(grid, len(order), 1, what.drawing)
    grid[down // 2, 0].set_ylabel(panels.y_label(what.drawing), y=0.5 if down % 2 else 1.1)
    others = [name for name in controls if name != what.name_of(below.curve)]
    ratios = [panels.key(f"{what.labels[name]}: {ratio_text(factors[name])}", ls="") for name in others]
    panels.write_key(figure, [*_keys(what, over, controls), *ratios])
    title = f"{what.title}; × is over {what.labels[over]} {_at_last(what)}"
    panels.write_title(figure, typeset(title), what.mark)
    return end_names.laid_out(figure)


def _printed(what: Picture, name: str) -> Strand | None:
    return next((s for s in what.lines if s.curve == f"{name}|printed"), None) if what.parts else None


def _factor(strand: Strand | None, below: Strand) -> float:
    """Return the ratio of two curves at their last common x; nan without a common x."""
    if strand is None:
        return math.nan
    numbers, other = strand.numbers_by_position(), below.numbers_by_position()
    common = [x for x in numbers if x in other or None in other]
    return numbers[common[-1]] / other.get(common[-1], other.get(None, math.nan)) if common else math.nan


def _words(factor: float, printed: float) -> str:
    words = [] if math.isnan(factor) else [ratio_text(factor)]
    if not math.isnan(printed) and abs(printed / factor - 1) > _EQUAL:
        words.append(f"printed {ratio_text(printed)}")
    return "\n".join(words)


def _line(ax: Axes, what: Picture, strand: Strand, look: Look) -> None:
    panels.draw_line(ax, strand, look, curves.gaps_of(what, strand), marked=False)


def _write(ax: Axes, what: Picture, name: str, words: str) -> None:
    """Write the factors of a method in the upper corner that its highest curve leaves free."""
    highest = max(what.named(name, what.lines), key=lambda s: float(np.max(s.y)))
    rises = highest.y[-1] > _RISES * highest.y[0]
    side = (0.04, "left") if rises else (0.97, "right")
    style: dict[str, Any] = {"va": "top", "fontsize": 7, "color": panels.DARK, "zorder": 6}
    ax.text(side[0], 0.96, words, ha=side[1], transform=ax.transAxes, **style)


def _keys(what: Picture, over: str, controls: Sequence[str]) -> list[Line2D]:
    """Return the key of accountings, the other methods, and the control that is in every panel."""
    entries = [panels.key("exact" if what.parts else "the method", marker="o", mfc="white")]
    if what.parts:
        entries.append(panels.key("as printed", ls=PRINTED_DASH))
    entries.append(panels.key("the other methods", color=panels.PALE, lw=0.8))
    if over in controls:
        entries.append(panels.key(what.labels[over], color="black", ls=":", lw=0.9))
    if what.points_with_bars:
        entries.append(panels.key("simulated mean", ls="", marker="o"))
    return entries


def _at_last(what: Picture) -> str:
    x = what.drawing["x"]
    return f"at {x} = {number_text(max(float(s.x.max()) for s in what.lines if not s.level))}"
