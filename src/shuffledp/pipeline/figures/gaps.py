"""Cells without numbers as text: one line per reason, with its methods and points."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from shuffledp.pipeline.figures.drawing_jobs import Grid

Point = tuple[Any, ...]
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)")
_FEWEST_IN_A_RANGE = 3


def gaps(cells: pd.DataFrame, names: Mapping[str, str], grid: Grid) -> list[str]:
    """Return the reasons for gaps, one line each."""
    found: dict[tuple[str, str, str], dict[Point, str]] = {}
    variables: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for row in cells[cells["status"] != "ok"].itertuples():
        point = json.loads(str(row.point))
        key = (str(row.accounting), _NUMBER.sub("0", str(row.reason)), str(row.method))
        variables[key] = tuple(point)
        found.setdefault(key, {})[tuple(point.values())] = str(row.reason)
    methods: dict[tuple[str, str, tuple[str, ...], frozenset[Point]], list[str]] = {}
    for (accounting, reason, method), points in found.items():
        about = variables[accounting, reason, method]
        methods.setdefault((accounting, reason, about, frozenset(points)), []).append(method)
    lines = []
    for (accounting, reason, about, where), stopped in methods.items():
        reasons = [found[accounting, reason, method][point] for method in stopped for point in where]
        named = "; ".join(name for method, name in names.items() if method in stopped)
        at = _where(about, where, grid)
        lines.append(f"{named} ({accounting}){f' at {at}' if at else ''}: {_merged(sorted(reasons))}")
    return lines


def _where(variables: Sequence[str], points: Iterable[Point], grid: Grid) -> str:
    every = set(points)
    if not variables:
        return ""
    values = [_ordered({point[i] for point in every}, grid.get(v, ())) for i, v in enumerate(variables)]
    size = 1
    for own in values:
        size *= len(own)
    if size == len(every):
        return ", ".join(
            f"{v} = {_listed(own, grid.get(v, ()))}" for v, own in zip(variables, values, strict=True)
        )
    first = min((i for i in range(len(variables)) if len(values[i]) > 1), key=lambda i: len(values[i]))
    rest = [v for i, v in enumerate(variables) if i != first]
    groups: dict[frozenset[Point], list[Any]] = {}
    for value in values[first]:
        left = frozenset(p[:first] + p[first + 1 :] for p in every if p[first] == value)
        groups.setdefault(left, []).append(value)
    return "; ".join(
        f"{variables[first]} = {_listed(own, grid.get(variables[first], ()))}, {_where(rest, left, grid)}"
        for left, own in groups.items()
    )


def _ordered(values: set[Any], grid: Sequence[Any]) -> list[Any]:
    known = list(grid)
    return sorted(values, key=lambda v: (known.index(v) if v in known else len(known), str(v)))


def _listed(values: Sequence[Any], grid: Sequence[Any]) -> str:
    known = list(grid)
    runs: list[list[Any]] = []
    for value in values:
        follows = (
            runs and value in known and known.index(value) and known[known.index(value) - 1] == runs[-1][-1]
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
