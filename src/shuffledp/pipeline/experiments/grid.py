"""Grids: an experiment refers to grid variables as ``$name``; a method is computed over those it refers to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any


def is_variable(value: Any) -> bool:
    """Whether a configuration value is a reference such as ``$eps``."""
    return isinstance(value, str) and value.startswith("$")


def variables(value: Any) -> set[str]:
    """Names of all grid variables that a (nested) configuration value refers to."""
    if is_variable(value):
        return {value[1:]}
    if isinstance(value, Mapping):
        return set().union(*(variables(v) for v in value.values()))
    if isinstance(value, list | tuple):
        return set().union(*(variables(v) for v in value))
    return set()


def resolve(value: Any, point: Mapping[str, Any]) -> Any:
    """The value with every ``$name`` replaced by the point's coordinate."""
    if is_variable(value):
        return point[value[1:]]
    if isinstance(value, Mapping):
        return {k: resolve(v, point) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [resolve(v, point) for v in value]
    return value


def points(grid: Mapping[str, list[Any]], names: set[str]) -> Iterator[dict[str, Any]]:
    """All points over the named variables, in the grid's own order."""
    used = [name for name in grid if name in names]
    for values in product(*(grid[name] for name in used)):
        yield dict(zip(used, values, strict=True))


def cells_of(job: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """All (grid point, accounting) pairs of a job, in a fixed order."""
    for point in points(job["grid"], set(job["grid"])):
        for accounting in job["accounting"]:
            yield point, accounting
