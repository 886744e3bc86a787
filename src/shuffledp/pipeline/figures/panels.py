"""Panels of curves: scales and ticks, lines with gaps, simulated means, the strip of ratios, and the key."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import Formatter, FuncFormatter, LogLocator, MaxNLocator, NullLocator
from numpy.typing import NDArray

from shuffledp.identities import colors
from shuffledp.pipeline.figures.drawn_curves import Numbers, Strand
from shuffledp.pipeline.figures.end_names import wrapped
from shuffledp.pipeline.figures.numerals import PLAIN, number_text, ratio_text, typeset
from shuffledp.pipeline.figures.palette import Look
from shuffledp.pipeline.figures.style import SETTINGS, in_column
from shuffledp.pipeline.manifest import Scale

RED, PALE = colors()["crimson"], "#cfcfcf"
#: Largest ratio of a strip; above it, an arrow has the greatest ratio of a curve.
CLIP = 100.0
#: Least size of text in points.
SMALL = 6.5
DARK = SETTINGS["axes.edgecolor"]
_MARGIN, _MARKERS, _FEW, _LETTER = 0.05, 12, 6, 0.0135
_ARROW = 46  # points that a remark above a strip is wide


#: Parts of a decade with ticks, by the number of decades above which an axis has them.
_SUBS: Sequence[tuple[float, Sequence[int]]] = (
    (2.2, (1,)),
    (1.2, (1, 3)),
    (0.5, (1, 2, 5)),
    (-math.inf, range(1, 10)),
)


class _Decades(LogLocator):
    """Ticks at 1, at 1 and 3, or at 1, 2 and 5 times powers of ten, by the number of decades."""

    def tick_values(self, vmin: float, vmax: float) -> Any:
        decades = math.log10(vmax / vmin)
        self.set_params(subs=next(subs for least, subs in _SUBS if decades > least))
        return super().tick_values(vmin, vmax)


class _Texts(Formatter):
    """Texts of numbers: all of an axis have powers of ten, or none has."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        low, high = self.axis.get_view_interval()  # type: ignore[union-attr]
        return number_text(x, plain=low > 0.99 * PLAIN[0] and high < 0.99 * PLAIN[1])


def limits_of(arrays: Iterable[Numbers | Sequence[float]], scale: Scale) -> tuple[float, float]:
    """Return the ends of an axis that shows all numbers, with a margin; a logarithmic axis omits zeros."""
    numbers = np.concatenate([np.empty(0), *map(np.ravel, arrays)])
    numbers = numbers[np.isfinite(numbers) & ((numbers > 0) | (scale == "linear"))]
    numbers = numbers if len(numbers) else np.ones(1)
    units = np.log10(numbers) if scale == "log" else numbers
    low, high = float(units.min()), float(units.max())
    if high - low <= 1e-9 * abs(high):
        around = 0.5 if scale == "log" else max(0.05 * abs(low), 1e-9)
        low, high = low - around, high + around
    low, high = low - _MARGIN * (high - low), high + _MARGIN * (high - low)
    return (10**low, 10**high) if scale == "log" else (low, high)


def with_bars(strands: Iterable[Strand]) -> list[Numbers]:
    """Return the numbers of curves, and the ends of their bars."""
    curves = list(strands)
    errors = [np.nan_to_num(strand.error) for strand in curves]
    return [
        strand.y + side * error for strand, error in zip(curves, errors, strict=True) for side in (-1, 0, 1)
    ]


def set_axis(ax: Axes, name: str, scale: Scale, ends: tuple[float, float], most: int = 7) -> None:
    """Set the scale, the ends and the ticks of an axis."""
    ax.set(**{f"{name}scale": scale})
    axis = getattr(ax, f"{name}axis")
    if scale == "log":
        axis.set_major_locator(_Decades(numticks=most))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(_Texts())
    else:
        axis.set_major_locator(MaxNLocator(nbins=most, steps=[1, 2, 5, 10]))
        axis.set_major_formatter(FuncFormatter(lambda x, _: number_text(round(x, 12))))
    ax.set(**{f"{name}lim": ends})


def set_values(ax: Axes, values: Sequence[float], names: Sequence[str] = ()) -> None:
    """Set the ticks of the horizontal axis at the values of a variable with few values, or with names."""
    if names:
        ax.set_xticks(values, names)
    elif 1 < len(values) <= _FEW:
        ax.set_xticks(values, [number_text(value, plain=max(values) < PLAIN[1]) for value in values])
    else:
        return
    ax.xaxis.set_minor_locator(NullLocator())


def draw_line(ax: Axes, strand: Strand, look: Look, gaps: Numbers, *, marked: bool) -> None:
    """Draw a line through the numbers of a curve, with gaps at infeasible points; a level line spans the panel."""
    style: dict[str, Any] = {"color": look.color, "ls": look.dash, "label": strand.curve}
    # A thick line is above the usual lines, a thin one below.
    style |= {"lw": look.width, "zorder": 2.5 if look.width > 1 else 1.5} if look.width else {"zorder": 2}
    if strand.level:
        ax.axhline(float(strand.y[0]), **style)
        return
    missing = np.setdiff1d(gaps, strand.x)
    heights = strand.y if ax.get_yscale() == "linear" else np.where(strand.y > 0, strand.y, np.nan)
    x, y = strand.x, heights
    if len(missing):
        places = np.searchsorted(x, missing)
        x, y = np.insert(x, places, missing), np.insert(y, places, np.nan)
    spacing = max(1, len(x) // _MARKERS)
    if marked:
        style |= {"marker": look.marker, "mfc": "white", "mew": 0.9, "markevery": spacing}
    ax.plot(x, y, **style)


def draw_band(ax: Axes, strand: Strand, look: Look) -> None:
    """Draw one standard error around the means of a line."""
    low, high = strand.y - strand.error, strand.y + strand.error
    ax.fill_between(strand.x, low, high, color=look.color, alpha=0.18, lw=0, zorder=1.2)


def draw_means(ax: Axes, strand: Strand, look: Look) -> None:
    """Draw simulated means with a bar of one standard error; markers are open where no error is reliable."""
    barred = np.isfinite(strand.error)
    below = (
        strand.error if ax.get_yscale() == "linear" else np.where(strand.error < strand.y, strand.error, 0.0)
    )
    for some, fill, text in ((barred, look.color, "means"), (~barred, "white", "means without bars")):
        if some.any():
            ax.errorbar(
                strand.x[some],
                strand.y[some],
                [below[some], strand.error[some]] if fill != "white" else None,
                label=f"{strand.curve} {text}",
                fmt=look.marker or "o",
                color=look.color,
                mfc=fill,
                ms=4,
                mew=0.9,
                elinewidth=0.9,
                zorder=3,
            )


def draw_strip(ax: Axes, strands: Sequence[Strand], looks: Mapping[str, Look], gaps: Numbers) -> None:
    """Draw ratios of printed to exact numbers below a panel, up to `CLIP`; ratios below 1 have a red ground."""
    ax.axhline(1.0, color=DARK, lw=0.6, zorder=1)
    for strand in strands:
        draw_line(ax, strand, looks[strand.curve], gaps, marked=False)
    ratios = np.concatenate([np.ones(1), *(strand.y for strand in strands)])
    if ratios.min() < 0.99:
        ax.axhspan(ax.get_ylim()[0], 1.0, color=RED, alpha=0.07, lw=0, zorder=0)
    beyond = {strand.curve: float(strand.y.max()) for strand in strands if strand.y.max() > CLIP}
    for place, (curve, ratio) in enumerate(sorted(beyond.items(), key=lambda pair: -pair[1])[:3]):
        ax.annotate(
            f"▲ {ratio_text(ratio)}",
            (1, 1),
            (-_ARROW * place, 1.5),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=SMALL,
            color=looks[curve].color,
        )


def strip_limits(strands: Iterable[Strand]) -> tuple[Scale, tuple[float, float]]:
    """Return the scale and the ends of the strips: logarithmic beyond a factor of four, and at most `CLIP`."""
    numbers = [np.ones(1), *(np.minimum(strand.y, CLIP) for strand in strands)]
    ratios = np.concatenate(numbers)
    scale: Scale = "log" if ratios.max() > 4 * ratios.min() else "linear"
    return scale, limits_of(numbers, scale)


# -- texts around the panels ---------------------------------------------------------------------------------------


def key_line(text: str, look: Look, *, marked: bool = True) -> Line2D:
    """Return the entry of a curve in the key."""
    width = look.width or SETTINGS["lines.linewidth"]
    marker = look.marker if marked else ""
    return key(text, color=look.color, ls=look.dash, marker=marker, mfc="white", lw=width)


def key(text: str, **style: Any) -> Line2D:
    """Return an entry of the key with a line or a marker."""
    return Line2D([], [], label=text, **{"color": DARK, **style})


def write_key(figure: Figure, entries: Sequence[Any]) -> None:
    """Write the key below the panels, in as many columns as fit, and make room for it."""
    if not entries:
        return
    letters = int(figure.get_figwidth() / (_LETTER * SETTINGS["legend.fontsize"] / 2))
    for entry in entries:
        entry.set_label(wrapped(typeset(entry.get_label()), max(letters - 8, 12)))
    widest = max(len(line) for entry in entries for line in entry.get_label().split("\n")) + 8
    together = sum(len(entry.get_label()) + 8 for entry in entries) < letters
    columns = len(entries) if together else max(letters // widest, 1)
    columns = min(columns, len(entries))
    rows = math.ceil(len(entries) / columns)
    lines = max(entry.get_label().count("\n") + 1 for entry in entries)
    figure.set_figheight(figure.get_figheight() + 0.155 * rows * lines)
    figure.legend(
        handles=list(entries),
        loc="outside lower center",
        ncols=columns,
        columnspacing=1.2,
        labelspacing=0.35,
        handletextpad=0.5,
    )


def write_title(figure: Figure, title: str, mark: str = "") -> None:
    """Write the title above the panels, none in a column, and a note on data that are not the real ones."""
    whole = title.replace(" = ", "\u00a0=\u00a0")  # no line ends within "n = 100"
    lines = [] if in_column() else wrapped(whole, int(figure.get_figwidth() / 0.075)).split("\n")
    if lines:
        figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=8.5, weight="bold")
    figure.set_figheight(figure.get_figheight() + 0.16 * len(lines))
    if mark:
        style: dict[str, Any] = {"fontsize": 7, "color": RED, "ha": "right", "va": "top"}
        figure.text(0.995, 1 - (0.16 * len(lines) + 0.03) / figure.get_figheight(), mark, **style)


def y_label(drawing: Mapping[str, Any]) -> str:
    """Return the label of the vertical axis."""
    return wrapped(typeset(drawing.get("y_label", drawing["y"])), 18 if in_column() else 30)


def finish(grid: NDArray[Any], count: int, rows: int, drawing: Mapping[str, Any]) -> None:
    """Remove panels without a value, and write the texts below the last panels; a panel has some rows of axes."""
    across = grid.shape[1]
    for number, top in enumerate(np.ndindex(grid[::rows].shape)):
        block = grid[rows * top[0] : rows * top[0] + rows, top[1]]
        if number >= count:
            for ax in block:
                ax.remove()
        elif number + across >= count:
            block[-1].tick_params(labelbottom=True)
    last = grid[-1, : count - across * (len(grid) // rows - 1)]
    middle = last[len(last) // 2]
    label = typeset(drawing.get("x_label", drawing["x"]))
    middle.set_xlabel(label, x=0.5 if len(last) % 2 else -0.06)
