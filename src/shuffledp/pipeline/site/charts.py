"""Numbers of a figure for its interactive chart, copied from the figure's CSV file without computation."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from shuffledp.pipeline.site.csv_tables import DIGITS, lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from shuffledp.pipeline.manifest import Chart, Curve, ManifestEntry

# The library's names of Matplotlib's markers; it has no triangles that point sideways, and one polygon.
MARKERS = {
    "o": "circle",
    "s": "square",
    "^": "triangle",
    "D": "diamond",
    "v": "inverted_triangle",
    "P": "plus",
    "X": "x",
    "x": "cross",
    "<": "hex",
    ">": "square_pin",
    "*": "star",
    "p": "hex",
    "h": "hex",
    "8": "hex",
    "d": "diamond",
    "H": "hex",
    "": "circle",
}
_POINTS = {
    "simulated",
    "read",
}  # kinds of numbers that no line joins: means over repeats, places read off the paper
_LINE_WIDTH = 2  # pixels; Matplotlib counts dashes in widths of the line
_ABOUT_A_POINT = {"kind", "standard_error", "count", "curve", "method", "accounting", "data_source"}

Row = dict[str, str]


def script(paper: str, charts: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the charts of a paper by entry, as a script for the page."""
    text = json.dumps(charts, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"(window.shuffledpCharts ??= {{}})[{json.dumps(paper)}] = {text};\n"


def chart_of(entry: ManifestEntry) -> dict[str, Any] | None:
    """Return the data of the interactive chart; None if the figure has no numbers."""
    chart, path = entry.chart, entry.files["csv"]
    if chart is None:
        return None
    header, cells = lines(path)
    rows: list[Row] = [dict(zip(header, line, strict=True)) for line in cells]
    return _described(chart, rows) if rows else None


def _described(chart: Chart, rows: Sequence[Row]) -> dict[str, Any]:
    names = _names(chart, rows)
    if names:  # values that are no numbers stand side by side
        places = {name: str(place) for place, name in enumerate(names)}
        rows = [{**row, chart.x: places.get(row[chart.x], "")} for row in rows]
    panels = _panels(chart, rows)
    curves = []
    for curve in chart.curves:
        curve_rows = [row for row in rows if row["curve"] == curve.id]
        parts = [
            part
            for index, value in enumerate(panels)
            for part in _parts(
                chart,
                [row for row in curve_rows if chart.panels is None or row[chart.panels] in ("", value)],
                index,
                rows,
            )
        ]
        if parts:
            curves.append({"label": curve.label or curve.id, **_look(curve), "parts": parts})
    return {
        "x": {"label": chart.x_label or chart.x, "log": chart.x_scale == "log", "names": names},
        "y": {"label": chart.y_label or chart.y, "log": chart.y_scale == "log"},
        "panels": [_panel_label(chart, value) for value in panels],
        "curves": curves,
    }


def _names(chart: Chart, rows: Sequence[Row]) -> list[str]:
    values = list(dict.fromkeys(row.get(chart.x, "") for row in rows if row.get(chart.x, "") != ""))
    return [] if all(_number(value) is not None for value in values) else values


def _panels(chart: Chart, rows: Sequence[Row]) -> list[str]:
    if chart.panels is None:
        return [""]
    values = list(dict.fromkeys(row[chart.panels] for row in rows if row[chart.panels] != "")) or [""]
    try:
        return sorted(values, key=float)
    except ValueError:
        return values


def _panel_label(chart: Chart, value: str) -> str:
    if chart.panels is None or value == "":
        return ""
    label = chart.panel_label or chart.panels
    if "{" not in label:
        return f"{label} = {value}"
    number = _number(value)
    if number is None:
        return label.format(value)
    return label.format(f"{int(number):,}" if number.is_integer() else number)


def _parts(
    chart: Chart, rows: Sequence[Row], panel: int, all_rows: Sequence[Row]
) -> Iterable[dict[str, Any]]:
    """Return the parts of a curve in a panel: a line, points, or one level per kind of number."""
    kinds = dict.fromkeys(row["kind"] for row in rows)
    for kind in kinds:
        kind_rows = [row for row in rows if row["kind"] == kind]
        if all(row.get(chart.x, "") == "" for row in kind_rows):
            if (
                kind not in _POINTS or len(kinds) == 1
            ):  # a level has one line, the closed form where there is one
                yield {"panel": panel, "kind": "level", **_numbers(chart, kind_rows[:1])}
            continue
        if _runs_along(chart, kind_rows):
            yield {"panel": panel, "kind": "path", **_numbers(chart, kind_rows)}
            continue
        ordered = sorted(
            (row for row in kind_rows if row[chart.x] != ""), key=lambda row: float(row[chart.x])
        )
        if kind in _POINTS:
            yield {"panel": panel, "kind": "points", **_numbers(chart, ordered)}
        else:
            shape = "line" if kind == "expected" else "marked"
            yield {"panel": panel, "kind": shape, **_numbers(chart, _with_gaps(chart, ordered, all_rows))}


def _runs_along(chart: Chart, rows: Sequence[Row]) -> bool:
    """Return whether a variable other than x varies along the curve, such as the round of a training run."""
    others = set(rows[0]) - _ABOUT_A_POINT - {chart.x, chart.y, chart.panels}
    return any(len({row[name] for row in rows}) > 1 for name in others)


def _with_gaps(chart: Chart, rows: Sequence[Row], all_rows: Sequence[Row]) -> list[Row]:
    """Return the rows, with an empty row at each x that only other curves have, to interrupt the line."""
    rows_by_x = {float(row[chart.x]): row for row in rows}
    least, most = min(rows_by_x), max(rows_by_x)
    places = {float(row[chart.x]) for row in all_rows if row.get(chart.x, "") != ""}
    inside = sorted(place for place in places | set(rows_by_x) if least <= place <= most)
    return [rows_by_x.get(place, {chart.x: repr(place), chart.y: ""}) for place in inside]


def _numbers(chart: Chart, rows: Sequence[Row]) -> dict[str, Any]:
    y = [_short(row[chart.y]) for row in rows]
    if chart.y_scale == "log":
        y = [None if value is None or value <= 0 else value for value in y]  # no place on this axis
    numbers: dict[str, Any] = {"x": [_short(row.get(chart.x, "")) for row in rows], "y": y}
    errors = [_short(row.get("standard_error", "")) for row in rows]
    if any(error is not None for error in errors):
        numbers["error"] = errors
        numbers["count"] = [_short(row.get("count", "")) for row in rows]
    return numbers


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _short(text: str) -> float | int | None:
    if text.strip() == "":
        return None
    value = float(text)
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 10**DIGITS else short


def _look(curve: Curve) -> dict[str, Any]:
    lengths = [] if isinstance(curve.dash, str) else curve.dash[1]
    dash = [float(_LINE_WIDTH * length) for length in lengths]
    return {"color": curve.color, "marker": MARKERS[curve.marker], "dash": dash}
