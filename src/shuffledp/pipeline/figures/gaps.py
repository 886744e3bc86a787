"""Cells without numbers as text: one line per reason, with its methods and points."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from shuffledp.pipeline.figures.drawing_jobs import Grid

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)")
_FEWEST_IN_A_RANGE = 3


def gaps(cells: pd.DataFrame, names: Mapping[str, str], grid: Grid) -> list[str]:
    """Return the reasons for gaps, one line each."""
    missing = cells[cells["status"] != "ok"]
    if missing.empty:
        return []
    reasoned = missing.assign(plain=[_NUMBER.sub("0", str(reason)) for reason in missing["reason"]])
    lines: dict[tuple[Any, Any, str], tuple[list[str], list[str]]] = {}
    for (accounting, plain, method), rows in reasoned.groupby(["accounting", "plain", "method"], sort=False):
        place = _where(pd.DataFrame(map(json.loads, rows["point"])), grid)
        methods, reasons = lines.setdefault((accounting, plain, place), ([], []))
        methods.append(str(method))
        reasons += map(str, rows["reason"])
    return [
        f"{'; '.join(name for method, name in names.items() if method in methods)} ({accounting})"
        f"{f' at {place}' if place else ''}: {_merged(sorted(reasons))}"
        for (accounting, _, place), (methods, reasons) in lines.items()
    ]


def _where(points: pd.DataFrame, grid: Grid) -> str:
    """Return the values of all variables; of points that are no product, for each value of one of the variables."""
    values = {v: _ordered(set(points[v]), grid.get(v, ())) for v in map(str, points.columns)}
    if math.prod(map(len, values.values())) == len(points):
        return ", ".join(f"{v} = {_listed(group, grid.get(v, ()))}" for v, group in values.items())
    first = min((v for v in values if len(values[v]) > 1), key=lambda v: len(values[v]))
    groups: dict[str, list[Any]] = {}
    for value in values[first]:
        rest = points.loc[points[first] == value].drop(columns=first)
        groups.setdefault(_where(rest, grid), []).append(value)
    return "; ".join(
        f"{first} = {_listed(group, grid.get(first, ()))}, {rest}" for rest, group in groups.items()
    )


def _ordered(values: set[Any], grid: Sequence[Any]) -> list[Any]:
    grid_values = list(grid)
    return sorted(
        values, key=lambda v: (grid_values.index(v) if v in grid_values else len(grid_values), str(v))
    )


def _listed(values: Sequence[Any], grid: Sequence[Any]) -> str:
    grid_values = list(grid)
    runs: list[list[Any]] = []
    for value in values:
        follows = (
            runs
            and value in grid_values
            and grid_values.index(value)
            and grid_values[grid_values.index(value) - 1] == runs[-1][-1]
        )
        if follows:
            runs[-1].append(value)
        else:
            runs.append([value])
    texts = [
        [f"{_text(run[0])} to {_text(run[-1])}"]
        if len(run) >= _FEWEST_IN_A_RANGE
        else [_text(v) for v in run]
        for run in runs
    ]
    return " and ".join(text for run in texts for text in run)


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _merged(reasons: Sequence[str]) -> str:
    columns = zip(*(_NUMBER.findall(reason) for reason in reasons), strict=True)
    ranges = iter([_range(column) for column in columns])
    return _NUMBER.sub(lambda _: next(ranges), reasons[0])


def _range(numbers: Sequence[str]) -> str:
    ordered = sorted(dict.fromkeys(numbers), key=float)
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"
