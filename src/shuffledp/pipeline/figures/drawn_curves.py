"""Curves as plain arrays: their numbers, coinciding curves, and the standard errors to draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

#: Fewest repeats behind the variance of a drawn standard error; an eighth of the repeats if they are below 24.
FEWEST_BEHIND_A_BAR = 3.0
#: Column of a summary: the number of repeats behind a standard error.
BEHIND_BAR = "repeats_behind_bar"
#: Relative difference up to which curves are called equal.
SAME = 5e-3

Numbers = NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True)
class Strand:
    """Numbers of one curve, of one kind, in one panel."""

    curve: str
    kind: str
    panel: Any
    x: Numbers
    y: Numbers
    error: Numbers

    @property
    def level(self) -> bool:
        """True if the curve does not depend on x."""
        return not len(self.x)

    def numbers_by_position(self) -> dict[float | None, float]:
        """Return the numbers by position."""
        places: list[float | None] = [None] if self.level else self.x.tolist()
        return dict(zip(places, self.y.tolist(), strict=True))


def repeats_behind_bars(values: pd.DataFrame) -> pd.DataFrame:
    """Return, by metric, the effective number of repeats that determine each cell's standard error.

    The variance is a sum of squared deviations d. The effective number is ``(sum d^2)^2 / sum d^4``: the number of
    repeats if all d are equal, a third of it for normal d, 1 if a single repeat differs from the others, and 0 if none
    does.
    """
    simulated = values[values["kind"] == "simulated"]
    groups = simulated.groupby(["cell", "metric", "kind"], sort=False)["value"]
    return groups.agg(_repeats_behind).rename(BEHIND_BAR).reset_index()


def _repeats_behind(values: pd.Series) -> float:
    deviation = (values - values.mean()).abs()
    widest = deviation.max()
    if not widest > 1e-12 * values.abs().max():  # rounding of the mean of equal numbers is no deviation
        return 0.0
    square = (deviation / widest) ** 2
    return float(square.sum() ** 2 / (square**2).sum())


def has_bar(behind: Numbers, count: Numbers) -> NDArray[np.bool_]:
    """Return whether a standard error is reliable enough to draw; see `FEWEST_BEHIND_A_BAR`."""
    return np.asarray(behind >= np.minimum(FEWEST_BEHIND_A_BAR, count / 8), bool)


def strands(
    rows: pd.DataFrame, x: str, panels: str | None, order: str | None, places: Mapping[Any, float] | None
) -> list[Strand]:
    """Return the curves of some rows of a summary."""
    at = _positions(rows, x, places)
    numbers = pd.DataFrame(
        {
            "curve": rows["curve"],
            "kind": rows["kind"],
            "panel": rows.get(panels),
            "x": at,
            "y": rows["mean"].astype(float),
            "error": _bars(rows),
            "place": rows[order].astype(float) if order in rows else at,
        },
        rows.index,
    )
    groups: Any = numbers.groupby(["curve", "kind", "panel"], sort=False, dropna=False)
    result = []
    for (curve, kind, panel), some in groups:
        level = some["x"].isna().all()
        ordered = some.head(1) if level else some.sort_values("place", kind="stable")
        x_drawn, y, error = ordered[["x", "y", "error"]].to_numpy().T
        value = None if pd.isna(panel) else panel
        result.append(Strand(curve, kind, value, x_drawn[: 0 if level else None], y, error))
    return sorted(result, key=lambda strand: strand.kind)


def _positions(rows: pd.DataFrame, x: str, places: Mapping[Any, float] | None) -> Numbers:
    if x not in rows:
        return np.full(len(rows), np.nan)
    column = rows[x] if places is None else rows[x].map(places)
    return column.to_numpy(float)


def _bars(rows: pd.DataFrame) -> Numbers:
    error = rows["standard_error"].to_numpy(float)
    if BEHIND_BAR not in rows:
        return error
    reliable = has_bar(rows[BEHIND_BAR].to_numpy(float), rows["count"].to_numpy(float))
    return np.where(reliable, error, np.nan)


def leading(curves: Iterable[Strand]) -> list[Strand]:
    """Return one kind of number per curve and panel, the first of computed, expected and simulated."""
    first: dict[tuple[str, Any], Strand] = {}
    for strand in sorted(curves, key=lambda curve: curve.kind):
        first.setdefault((strand.curve, strand.panel), strand)
    return list(first.values())


def grouped(items: Iterable[T], same: Callable[[T, T], bool]) -> list[list[T]]:
    """Return items in groups; an item joins the first group whose first item is the same."""
    groups: list[list[T]] = []
    for item in items:
        group = next((group for group in groups if same(group[0], item)), None)
        if group is None:
            groups.append([item])
        else:
            group.append(item)
    return groups


def equal_curves(numbers: Mapping[str, Mapping[Any, float]], order: Sequence[str]) -> list[list[str]]:
    """Return groups of curves that have the same points and are equal within half a percent at each."""
    return grouped(order, lambda a, b: _equal(numbers[a], numbers[b]))


def _equal(a: Mapping[Any, float], b: Mapping[Any, float]) -> bool:
    return a.keys() == b.keys() and all(math.isclose(a[point], b[point], rel_tol=SAME) for point in a)
