"""Grid of an experiment, whose variables a configuration writes as ``$name``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any


def is_variable(value: Any) -> bool:
    """Return whether a configuration value is a reference such as ``$eps``."""
    return isinstance(value, str) and value.startswith("$")


def variables(value: Any) -> set[str]:
    """Return the names of all grid variables in a (nested) configuration value."""
    if is_variable(value):
        return {value[1:]}
    if isinstance(value, Mapping):
        return set().union(*(variables(v) for v in value.values()))
    if isinstance(value, list | tuple):
        return set().union(*(variables(v) for v in value))
    return set()


def resolve(value: Any, point: Mapping[str, Any]) -> Any:
    """Return the value with the point's coordinate in place of every ``$name``."""
    if is_variable(value):
        return point[value[1:]]
    if isinstance(value, Mapping):
        return {k: resolve(v, point) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [resolve(v, point) for v in value]
    return value


def points(grid: Mapping[str, list[Any]], names: set[str]) -> Iterator[dict[str, Any]]:
    """Yield all points over the named variables, in the order of the grid."""
    used = [name for name in grid if name in names]
    for values in product(*(grid[name] for name in used)):
        yield dict(zip(used, values, strict=True))


def cells_of(
    grid: Mapping[str, list[Any]], accountings: Iterable[str]
) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield all pairs of a grid point and an accounting, in a fixed order."""
    return product(points(grid, set(grid)), accountings)
