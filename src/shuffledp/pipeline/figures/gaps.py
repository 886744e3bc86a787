"""Cells without numbers as text: one line per reason, with its methods and points."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import pandas as pd

from shuffledp.pipeline.figures.drawing_jobs import Grid

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)")
_FEWEST_IN_A_RANGE = 3


def gaps(cells: pd.DataFrame, names: Mapping[str, str], grid: Grid) -> list[str]:
    """Return the reasons for gaps, one line each."""
    missing = cells[cells["status"] != "ok"]
    reasoned = missing.assign(plain=[_NUMBER.sub("0", str(reason)) for reason in missing["reason"]])
    lines: dict[tuple[Any, Any, str], list[pd.DataFrame]] = {}
    for (accounting, plain, _), rows in reasoned.groupby(["accounting", "plain", "method"], sort=False):
        place = _where(pd.DataFrame(map(json.loads, rows["point"])), grid)
        lines.setdefault((accounting, plain, place), []).append(rows)
    texts = []
    for (accounting, _, place), groups in lines.items():
        rows = pd.concat(groups)
        methods = "; ".join(name for method, name in names.items() if method in set(rows["method"]))
        at = f" at {place}" if place else ""
        texts.append(f"{methods} ({accounting}){at}: {_merged(sorted(map(str, rows['reason'])))}")
    return texts


def _where(points: pd.DataFrame, grid: Grid) -> str:
    """Return the values of all variables; of points that are no product, for each value of one of the variables."""
    counts = points.nunique()
    if counts.prod() == len(points):
        return ", ".join(f"{name} = {_listed(points[name], grid[str(name)])}" for name in points)
    first = str(counts[counts > 1].idxmin())
    groups: dict[str, list[Any]] = {}
    for value in grid[first]:
        rest = points[points[first] == value].drop(columns=first)
        if len(rest):
            groups.setdefault(_where(rest, grid), []).append(value)
    return "; ".join(f"{first} = {_listed(values, grid[first])}, {rest}" for rest, values in groups.items())


def _listed(values: Any, grid: Sequence[Any]) -> str:
    """Return values in the grid's order; neighbors are a range."""
    order = sorted(map(list(grid).index, set(values)))
    runs = groupby(enumerate(order), lambda pair: pair[1] - pair[0])
    texts = [[_text(grid[place]) for _, place in run] for _, run in runs]
    ranges = [[f"{run[0]} to {run[-1]}"] if len(run) >= _FEWEST_IN_A_RANGE else run for run in texts]
    return " and ".join(text for run in ranges for text in run)


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _merged(reasons: Sequence[str]) -> str:
    """Return the first of reasons that differ in numbers, with the range of each number."""
    columns = zip(*map(_NUMBER.findall, reasons), strict=True)
    ranges = iter([dict.fromkeys((min(column, key=float), max(column, key=float))) for column in columns])
    return _NUMBER.sub(lambda _: " to ".join(next(ranges)), reasons[0])
