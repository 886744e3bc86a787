"""Rows, curves, names and looks of a picture, selected from the results of a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.colors import LinearSegmentedColormap, to_hex

from shuffledp.pipeline.figures import palette
from shuffledp.pipeline.figures.drawing_jobs import BOTH, PAIR, DrawingJob
from shuffledp.pipeline.figures.files import as_csv, table_of_texts
from shuffledp.pipeline.figures.guarantee_words import doubts
from shuffledp.pipeline.figures.long_form import long_form
from shuffledp.pipeline.figures.palette import DARK, Look
from shuffledp.pipeline.figures.picture import PAPER, Part, Picture

_RAMP = LinearSegmentedColormap.from_list("values", ["#16325c", "#1f7a8c", "#6a994e", "#e09f3e"])


def matching(frame: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows that meet all conditions; a row without a value of a variable meets any condition on it."""
    for column, value in where.items():
        if column in frame:
            values = PAIR if (column, value) == ("accounting", BOTH) else (value,)
            frame = frame[frame[column].isin(values) | frame[column].isna()]
    return frame


def chosen(cells: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    """Return the cells that meet all conditions; for a list of accountings, each method has the first available one."""
    accountings = where.get("accounting")
    if not isinstance(accountings, list):
        return matching(cells, where)
    some = matching(cells, {name: value for name, value in where.items() if name != "accounting"})
    some = some[some["accounting"].isin(accountings)]
    place = some["accounting"].map(accountings.index)
    return some[place == place.groupby(some["method"]).transform("min")]


def in_unit(summary: pd.DataFrame, unit: str | None) -> pd.DataFrame:
    """Return squared errors of frequencies as squared errors of counts if a unit is given."""
    if unit is None:
        return summary
    square = summary["users_expected"] ** 2
    return summary.assign(mean=summary["mean"] * square, standard_error=summary["standard_error"] * square)


def by_cell(cells: pd.DataFrame, summary: pd.DataFrame, quantity: str, unit: str | None = None) -> pd.Series:
    """Return the number of each cell that has one: the closed form if it exists, otherwise the simulated mean."""
    rows = long_form(cells, in_unit(summary[summary["cell"].isin(cells["cell"])], unit), quantity)
    first = rows.sort_values("kind", kind="stable").groupby("cell", sort=False).head(1)
    return pd.Series(first["mean"].to_numpy(float), index=first["cell"].to_numpy())


def of_both(job: DrawingJob) -> bool:
    """Return whether a picture has printed and exact curves."""
    return bool(job["where"].get("accounting") == BOTH)


def orders(job: DrawingJob) -> dict[str, list[Any]]:
    """Return the values of each axis in the configuration's order; the methods have the figure's order."""
    return {**job["grid"], "accounting": job["accountings"], "method": job["entry"]["methods"]}


def names(job: DrawingJob, cells: pd.DataFrame) -> dict[str, str]:
    """Return the legend name of each method; equal names are distinguished by the method's id."""
    labels = dict(zip(cells["method"], cells["label"], strict=True))
    name_of_method = {m: label or str(labels.get(m) or m) for m, label in job["labels"].items()}
    shared = [name for name in name_of_method.values() if list(name_of_method.values()).count(name) > 1]
    return {m: f"{name} ({m})" if name in shared else name for m, name in name_of_method.items()}


def picture(job: DrawingJob, cells: pd.DataFrame, summary: pd.DataFrame, mark: str) -> Picture:
    """Return the picture of a figure."""
    entry = job["entry"]
    summary = in_unit(summary, entry.get("unit"))
    cells_here = _named(matching(cells, job["where"]), job)
    rows = long_form(cells_here, matching(summary, job["where"]), entry["y"])
    if "relative_to" in entry:
        rows = _relative(rows, entry["relative_to"], [name for name in job["grid"] if name in rows])
    parts = _parts(job, cells_here)
    selection = _named(rows, job)
    if parts:
        selection = selection.assign(curve=selection["curve"] + "|" + selection["accounting"])
    labels = _labels(job, cells_here, parts)
    return Picture(
        entry,
        selection,
        labels,
        _looks(job, labels, parts),
        _panels(job, cells_here),
        job["grid"],
        parts,
        _points(job),
        job["points"]["label"] if job["points"] else "",
        mark,
        of_both(job),
        job["title"],
    )


def _relative(rows: pd.DataFrame, method: str, variables: list[str]) -> pd.DataFrame:
    """Return the numbers of all other methods in units of the number of a method at the same point."""
    base = rows[rows["method"] == method].groupby(variables)["mean"].first()  # closed forms come before means
    others = rows[rows["method"] != method]
    unit = base.reindex(pd.MultiIndex.from_frame(others[variables])).to_numpy()
    return others.assign(mean=others["mean"] / unit, standard_error=others["standard_error"] / unit)


def numbers_of(job: DrawingJob, what: Picture) -> bytes:
    """Return the drawn numbers as CSV; the column ``curve`` has the curves of the manifest's chart."""
    selection = what.selection_drawn
    variables = [v for v in job["grid"] if v in selection]
    across = [job["entry"]["x"]] if "along" in job["entry"] else []  # a number of the cells
    columns = ["method", "accounting", "curve", *variables, *across]
    columns += ["kind", "mean", "standard_error", "count", "data_source"]
    ordered = selection.sort_values(["method", "accounting", *variables, "kind"], kind="stable")
    table = ordered.reindex(columns=columns)
    if what.points:
        place = [job["entry"].get("panels"), job["entry"]["x"], "mean"]
        read = pd.DataFrame(what.points, columns=place, dtype=object).assign(curve=PAPER, kind="read")
        table = pd.concat([table.astype(object), read.reindex(columns=columns)], ignore_index=True)
    table = table.rename(columns={"mean": job["entry"]["y"]})
    return as_csv(table)


def _apart(job: DrawingJob) -> bool:
    """Return whether the job draws several methods and, for each of them, one curve per accounting."""
    return job["entry"].get("curves") == "accounting" and len(job["entry"]["methods"]) > 1


def _variable(job: DrawingJob) -> str:
    return "method" if _apart(job) else str(job["entry"].get("curves", "method"))


def _named(frame: pd.DataFrame, job: DrawingJob) -> pd.DataFrame:
    """Add a column ``curve`` with the name of each row's curve: the method, and any value of the variable."""
    variable = _variable(job)
    if variable == "method" or variable not in frame:
        return frame.assign(curve=frame["method"])
    value = frame[variable].map(lambda v: "" if pd.isna(v) else f"|{v}")
    return frame.assign(curve=frame["method"] + value.astype(str))


def _parts(job: DrawingJob, cells: pd.DataFrame) -> dict[str, Part]:
    both = of_both(job)
    if not both and not _apart(job):
        return {}
    present = set(cells.loc[cells["status"] == "ok", "accounting"])
    texts = {"printed": "as printed"}
    return {
        accounting: Part(texts.get(accounting, accounting), _plain(palette.of_accounting(accounting)))
        for accounting in job["accountings"]
        if accounting in present and (accounting in PAIR or not both)
    }


def _plain(look: Look) -> Look:
    """Return a look for a legend: the line alone, in a color that no method has."""
    return Look(look.color if look.color != palette.BLACK else DARK, "", look.dash)


def _labels(job: DrawingJob, cells: pd.DataFrame, parts: Mapping[str, Part]) -> dict[str, str]:
    """Return legend texts by name, with labels of doubtful claims, in the order of the figure and then of the grid."""
    present = set(cells["curve"])
    several = cells["method"].nunique() > 1
    variable = _variable(job)
    values = [] if variable == "method" else orders(job)[variable]
    labels: dict[str, str] = {}
    for method, name in names(job, cells).items():
        texts = {method: name}
        for value in values:
            text_of_value = str(value) if variable == "accounting" else f"{variable} = {value}"
            texts[f"{method}|{value}"] = f"{name}, {text_of_value}" if several else text_of_value
        labels |= {curve: text for curve, text in texts.items() if curve in present}
    doubt_of_curve = doubts(cells, orders(job)["accounting"])
    return {
        curve: f"{text} ({doubt_of_curve[curve]})" if curve in doubt_of_curve else text
        for curve, text in labels.items()
    }


def _looks(job: DrawingJob, labels: Mapping[str, str], parts: Mapping[str, Part]) -> dict[str, Look]:
    """Return looks by curve, for methods, accountings or values of a variable."""
    variable = _variable(job)
    methods = {method: Look(**look) for method, look in job["looks"].items()}
    if variable == "accounting":  # of one method
        look_of_curve = {curve: palette.of_accounting(curve.rpartition("|")[2]) for curve in labels}
    elif variable == "method":
        look_of_curve = {curve: methods.get(curve, palette.numbered_look(0)) for curve in labels}
    else:
        values = orders(job)[variable]
        shades = dict(zip(map(str, values), looks_of_values(len(values)), strict=True))
        look_of_curve = {}
        for curve in labels:
            method, _, value = curve.rpartition("|")
            shade = shades.get(value, palette.numbered_look(0))
            look_of_curve[curve] = replace(methods.get(method or curve, shade), color=shade.color)
    if not parts:
        by_panel = job["entry"].get("kind") == "methods"
        return look_of_curve if by_panel else palette.told_apart(look_of_curve)
    return {
        f"{curve}|{part}": palette.of_accounting(part, look)
        for part in parts
        for curve, look in look_of_curve.items()
    }


def looks_of_values(count: int) -> list[Look]:
    """Return looks for the values of a variable, from dark blue to light orange."""
    shades = _RAMP.resampled(max(count, 2))
    return [replace(palette.numbered_look(i), color=to_hex(shades(i))) for i in range(count)]


def _panels(job: DrawingJob, cells: pd.DataFrame) -> list[Any]:
    """Return the values of the panels in the grid's order."""
    by = job["entry"].get("panels")
    if by is None:
        return [None]
    present = set(cells[by].dropna()) if by in cells else set()
    return [value for value in orders(job)[by] if value in present] or orders(job)[by]


def _points(job: DrawingJob) -> list[tuple[str | None, float, float]]:
    """Return the panel, x and y of points of the paper; without a column of panels they are in every panel."""
    points = job["points"]
    if points is None:
        return []
    table = Path(points["table"])
    rows = table_of_texts(table)
    panels = [points["panels"]] if points["panels"] else []
    for column in (points["x"], points["y"], *panels, *points["where"]):
        if column not in rows:
            raise ValueError(f"{table} has no column {column!r}. Known: {', '.join(rows.columns)}.")
    rows = matching(rows, {column: str(value) for column, value in points["where"].items()})
    if panels:
        rows = rows[rows[panels[0]].isin([str(value) for value in orders(job)[job["entry"]["panels"]]])]
    if rows.empty:
        raise ValueError(f"{table} has no row with {points['where']}.")
    x, y = rows[points["x"]].astype(float), rows[points["y"]].astype(float)
    return list(zip(rows[panels[0]] if panels else [None] * len(rows), x, y, strict=True))
