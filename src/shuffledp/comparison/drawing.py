"""Picture of error against bits per user, with markers and a line along the Pareto front for each trust model."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.comparison.rows import ERROR_OF, TRUST, Compared, front
from shuffledp.optional_dependencies import needed
from shuffledp.protocols.base import Trust

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Marker of Matplotlib, marker of Bokeh, and color (Okabe and Ito).
LOOKS: dict[Trust, tuple[str, str, str]] = {
    "shuffler": ("o", "circle", "#0072B2"),
    "shuffler_adds": ("s", "square", "#E69F00"),
    "secure_sum": ("^", "triangle", "#009E73"),
    "central": ("*", "star", "#000000"),
    "local": ("X", "x", "#CC79A7"),
}
SUFFIXES = (".html", ".pdf", ".png", ".svg")
TITLE = "Expected error against communication"
#: Largest number of letters of a line of the title; longer lines are cut off.
WIDEST = 100


@dataclass(frozen=True)
class Group:
    """Rows of one trust model, ordered by bits, and the rows on its Pareto front."""

    trust: Trust
    rows: tuple[Compared, ...]
    best: tuple[Compared, ...]


def grouped(rows: Sequence[Compared]) -> tuple[Group, ...]:
    """Return the rows that have an error, grouped by trust. Raise ValueError if no row has an error."""
    drawable = [r for r in rows if r.status == "ok" and r.mse and r.bits_per_user]
    if not drawable:
        raise ValueError("There is nothing to draw: no protocol meets the requirements.")
    best = front(drawable)
    return tuple(
        Group(
            trust, tuple(r for r in drawable if r.trust == trust), tuple(r for r in best if r.trust == trust)
        )
        for trust in TRUST
        if any(r.trust == trust for r in drawable)
    )


def checked(path: Path) -> Path:
    """Return the path of a picture. Raise ValueError for its suffix, MissingExtra without the extra ``pipeline``."""
    if path.suffix not in SUFFIXES:
        raise ValueError(
            f"The file name of a picture must end in one of {', '.join(SUFFIXES)}, got {str(path)!r}."
        )
    with needed():
        if path.suffix == ".html":
            import bokeh  # noqa: F401
        else:
            import matplotlib  # noqa: F401
    return path


def draw_rows(rows: Sequence[Compared], suffix: str, *, setting: str = "") -> bytes:
    """Return the picture of the rows as a file's content. Raise ValueError if no row has an error.

    `suffix` is ``.png``, ``.svg``, ``.pdf``, or ``.html`` for an interactive page, which loads no other file. `setting`
    describes users, values, eps and delta in the title.
    """
    groups = grouped(rows)
    if suffix == ".html":
        return _page(groups, setting)
    whole = BytesIO()
    picture(groups, setting).savefig(whole, format=suffix[1:], dpi=150)
    return whole.getvalue()


def _label(groups: Sequence[Group]) -> str:
    what, _, _ = ERROR_OF[groups[0].rows[0].task][0].partition(",")
    return f"expected squared error of {what}"


def _named(group: Group) -> str:
    names = ", ".join(row.protocol for row in group.best) or "none better than an answer without data"
    return textwrap.fill(f"{TRUST[group.trust]}: {names}", 120)


def _numbers(rows: Sequence[Compared]) -> tuple[list[float], list[float]]:
    return [float(r.bits_per_user or math.nan) for r in rows], [float(r.mse or math.nan) for r in rows]


def picture(groups: Sequence[Group], setting: str) -> Figure:
    """Return the figure of the groups, with a description of the setting in its title."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6.5), layout="constrained")
    axes = figure.add_subplot()
    for group in groups:
        marker, _, color = LOOKS[group.trust]
        axes.plot(*_numbers(group.best), color=color, linewidth=1, zorder=1)
        hollow = [r for r in group.rows if r not in group.best]
        axes.scatter(*_numbers(hollow), marker=marker, s=45, facecolor="white", edgecolor=color, zorder=2)
        axes.scatter(*_numbers(group.best), marker=marker, s=45, color=color, label=_named(group), zorder=3)
    axes.set(xscale="log", yscale="log", xlabel="bits per user", ylabel=_label(groups))
    axes.set_title("\n".join([TITLE, *textwrap.wrap(setting, WIDEST)]), fontsize=10)
    axes.grid(visible=True, alpha=0.3)
    figure.legend(
        loc="outside lower left",
        title="Who is trusted: Pareto front, filled, from few bits to many",
        fontsize=8,
    )
    return figure


def _page(groups: Sequence[Group], setting: str) -> bytes:
    from bokeh.embed import file_html
    from bokeh.models import ColumnDataSource, HoverTool
    from bokeh.models.renderers import DataRenderer
    from bokeh.plotting import figure
    from bokeh.resources import INLINE

    page = figure(
        width=1000,
        height=600,
        x_axis_type="log",
        y_axis_type="log",
        x_axis_label="bits per user",
        y_axis_label=_label(groups),
        title="\n".join(
            [TITLE, *textwrap.wrap(setting, WIDEST), "Filled: on the Pareto front of their trust model"]
        ),
    )
    markers: list[DataRenderer] = []
    for group in groups:
        _, marker, color = LOOKS[group.trust]
        page.line(*_numbers(group.best), line_color=color, legend_label=TRUST[group.trust])
        bits, errors = _numbers(group.rows)
        source = ColumnDataSource(
            {
                "bits": bits,
                "error": errors,
                "protocol": [r.protocol for r in group.rows],
                "messages": [r.messages_per_user for r in group.rows],
                "guarantee": [r.guarantee for r in group.rows],
                "opacity": [1.0 if r in group.best else 0.0 for r in group.rows],
            }
        )
        markers.append(
            page.scatter(
                "bits",
                "error",
                source=source,
                marker=marker,
                size=10,
                line_color=color,
                fill_color=color,
                fill_alpha="opacity",
                legend_label=TRUST[group.trust],
            )
        )
    tooltip_names = ["protocol", "error", "bits", "messages", "guarantee"]
    page.add_tools(HoverTool(renderers=markers, tooltips=[(name, f"@{name}") for name in tooltip_names]))
    page.legend.click_policy = "hide"
    page.legend.ncols = 3
    page.add_layout(page.legend[0], "below")  # off the data
    return file_html(page, INLINE, TITLE).encode()
