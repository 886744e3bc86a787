"""One query language over result tables, for claims and captions.

A `Query` selects numbers by quantity, method and variables. Its answer is an `xarray.DataArray` over the variables that
are left, with a gap (nan) at every infeasible point. Arithmetic combines answers at their common points:
``query("expected", "grr_blanket") / query("expected", "pure_dump")`` is a ratio. `Points` counts the points for and
against a statement. A comparison with nan is False and would count against a statement: `compare` and `share` leave
gaps out, and no other module compares arrays with gaps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Literal, Protocol, Self

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from shuffledp.pipeline.formatters import SAME

Array = xr.DataArray
Floats = NDArray[np.float64]
Outcome = Literal["holds", "in part", "fails", "untestable"]
#: Methods, experiments or other names.
Names = Sequence[str]
#: Relative difference up to which neither of two numbers is lower.
TIE = 0.005
#: Quantity that is 1 at every feasible point and a gap elsewhere.
FEASIBLE = "feasible"


class MissingResultsError(Exception):
    """Error for a question that the results of a run cannot answer, with the missing results."""


class Tables(Protocol):
    """Source of a query's numbers."""

    def dataset(self, method: str, at: Mapping[str, Any]) -> xr.Dataset:
        """Return a method's quantities by variable, with its name and all known variables as attributes."""
        ...


def dataset(table: pd.DataFrame, name: str, variables: Iterable[Any]) -> xr.Dataset:
    """Return a table's numbers by the variables of its index, with a name and all known variables for messages."""
    data: xr.Dataset = table.assign(**{FEASIBLE: 1.0}).to_xarray()
    return data.assign_attrs(name=name, variables=[str(name) for name in variables])


# -- select ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Query:
    """Selection of numbers; ``at`` has the values of fixed variables, ``methods`` the methods of a drawing."""

    tables: Tables
    at: Mapping[str, Any] = field(default_factory=dict)

    def where(self, **at: Any) -> Self:
        """Return the query with more variables fixed."""
        return replace(self, at={**self.at, **at})

    def each(self, name: str, values: Iterable[Any]) -> list[Self]:
        """Return a query for each value of a variable."""
        return [self.where(**{name: value}) for value in values]

    def __call__(self, quantity: str, method: str, **at: Any) -> Array:
        """Return a quantity of a method.

        Raises MissingResultsError if no selected point has a number, or if a feasible point has none, and ValueError
        for an unknown quantity, method or variable.
        """
        data = self.tables.dataset(method, {**self.at, **at})
        where = data.attrs["name"]
        if quantity not in data:
            raise ValueError(f"{where} has no {quantity!r}. Known: {', '.join(map(str, data))}.")
        if unknown := set(at) - {*data.dims, *data.attrs["variables"]}:
            choices = ", ".join(map(str, data.attrs["variables"]))
            raise ValueError(f"{where} has no variable {', '.join(unknown)}. Known: {choices}.")
        values = data[quantity]
        if (values.isnull() & data[FEASIBLE].notnull()).any():
            raise MissingResultsError(f"{where} has no {quantity}")
        fixed = {name: value for name, value in {**self.at, **at}.items() if name in values.dims}
        return select(values, **fixed)

    def available(self, quantity: str, methods: Iterable[str], **at: Any) -> dict[str, Array]:
        """Return a quantity of all methods with results. Raise `MissingResultsError` if there is none."""
        answers, names = {}, tuple(methods)
        for method in names:
            try:
                answers[method] = self(quantity, method, **at)
            except MissingResultsError:
                continue
        if not answers:
            raise MissingResultsError(f"no method of {', '.join(names)} has results")
        return answers

    def least(self, quantity: str, methods: Iterable[str], **at: Any) -> Array:
        """Return the smallest number of several methods by point."""
        return least(self.available(quantity, methods, **at).values())

    def greatest(self, quantity: str, methods: Iterable[str], **at: Any) -> Array:
        """Return the largest number of several methods by point."""
        return -least(-values for values in self.available(quantity, methods, **at).values())

    def winners(self, quantity: str, methods: Iterable[str], **at: Any) -> dict[str, Points]:
        """Return the points at which each method has the least number, most points first; ties count for all."""
        answers = self.available(quantity, methods, **at)
        smallest = least(answers.values())
        won = {method: share(values <= smallest * (1 + SAME), smallest) for method, values in answers.items()}
        return {
            method: points
            for method, points in sorted(won.items(), key=lambda pair: -pair[1].pro)
            if points.pro
        }


def select(values: Array, /, **at: Any) -> Array:
    """Return the numbers at values of variables. Raise `MissingResultsError` if the grid lacks one or all are gaps."""
    for name, value in at.items():
        grid = values[name].to_numpy()
        numeric = isinstance(value, int | float) and np.issubdtype(grid.dtype, np.number)
        matches = np.isclose(grid, value, rtol=SAME) if numeric else grid == value
        if not np.any(matches):
            raise MissingResultsError(f"needs the papers' grid: there is no {name} = {_text(value)}")
        values = values.isel({name: int(np.argmax(matches))}, drop=True)
    if not values.notnull().any():
        point = ", ".join(f"{name} = {_text(value)}" for name, value in at.items())
        raise MissingResultsError(f"needs the papers' grid: there is no number at {point}")
    return values


def at_any(values: Array, name: str, wanted: Iterable[Any]) -> Array:
    """Return the numbers at the wanted values of a variable that the grid has; raise the error of `select` for none."""
    points = [*wanted]
    known = [value for value in points if value in values[name]]
    return values.sel({name: known}) if known else select(values, **{name: points[0]})


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def least(answers: Iterable[Array]) -> Array:
    """Return the smallest number by point; a gap counts if all have one."""
    return xr.concat(xr.broadcast(*answers), dim="method", coords="minimal", compat="override").min("method")


# -- ask ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Points:
    """Numbers of points for and against a statement; ties count as neither."""

    pro: int
    con: int
    tied: int = 0
    noun: str = "points"

    def __add__(self, other: Points) -> Points:
        return Points(self.pro + other.pro, self.con + other.con, self.tied + other.tied, self.noun)

    @property
    def total(self) -> int:
        """Number of all points."""
        return self.pro + self.con + self.tied

    @property
    def decided(self) -> int:
        """Number of points for or against the statement."""
        return self.pro + self.con

    @property
    def every(self) -> bool:
        """True if all points are for the statement."""
        return self.pro == self.total

    @property
    def none(self) -> bool:
        """True if no point is for the statement."""
        return not self.pro

    @property
    def with_ties(self) -> Points:
        """The points with ties as points for the statement, which is then "never above" instead of "below"."""
        return Points(self.pro + self.tied, self.con)

    @property
    def outcome(self) -> Outcome:
        """Holds if no decided point is against the statement, in part if at least half of them are for it."""
        return grade(strict=self.pro > 0 and not self.con, weak=self.pro >= self.con)

    @property
    def anywhere(self) -> Outcome:
        """Holds if all points are for the statement, in part if any point is."""
        return grade(strict=self.every, weak=not self.none)

    def of(self, noun: str) -> str:
        """Return the share in words: "all 20 points", "13 of 20 points" or "none of 20 points"."""
        if self.total == 1:
            singular = "entry" if noun == "entries" else noun.removesuffix("s")
            return f"{'the only' if self.every else 'no'} {singular}"
        start = "none of" if self.none else f"{self.pro:,} of"
        return f"{'all' if self.every else start} {self.total:,} {noun}"

    def __str__(self) -> str:
        return self.of(self.noun)


def total(points: Iterable[Points]) -> Points:
    """Return the sum of all points."""
    return sum(points, Points(0, 0))


def grade(*, strict: bool, weak: bool = False) -> Outcome:
    """Return the verdict on a statement by its strict reading and by a weaker one."""
    if strict:
        return "holds"
    return "in part" if weak else "fails"


def near(measured: float, stated: float, within: float) -> Outcome:
    """Judge ``about x``: holds up to a difference `within`, in part if the sign is right, otherwise fails."""
    return grade(strict=abs(measured - stated) <= within, weak=measured * stated > 0)


def share(flags: Any, *numbers: Array) -> Points:
    """Count the points at which a condition is true and false; with arrays, only the points without a gap in them."""
    if not numbers:
        answers = [bool(flag) for flag in flags]
        return Points(sum(answers), len(answers) - sum(answers))
    condition, *arrays = xr.broadcast(
        flags.astype(float), *numbers
    )  # where only the flags have a gap, it is False
    return share((condition > 0).to_numpy()[np.all([array.notnull() for array in arrays], axis=0)])


def pairs(first: Any, second: Any) -> tuple[Floats, Floats]:
    """Return the numbers of both sides at their common points. Raise `MissingResultsError` if there is none."""
    if isinstance(first, Array) and isinstance(second, Array):
        first, second = xr.broadcast(first, second)
    first_numbers, second_numbers = np.broadcast_arrays(np.asarray(first, float), np.asarray(second, float))
    both = ~(np.isnan(first_numbers) | np.isnan(second_numbers))
    if not both.any():
        raise MissingResultsError("no point has results of both sides")
    return first_numbers[both], second_numbers[both]


def compare(lower: Any, upper: Any) -> Points:
    """Count the common points at which ``lower`` is below ``upper``, above it, and tied.

    Raises MissingResultsError if both have no common point.
    """
    low, high = pairs(lower, upper)
    below, above = low < high * (1 - TIE), low > high * (1 + TIE)
    return Points(int(below.sum()), int(above.sum()), int((~below & ~above).sum()))


def mapped(function: Callable[..., float], *numbers: Any) -> Array:
    """Return a function of numbers point by point; a gap in one of them is a gap."""

    def over_points(*arrays: Floats) -> Floats:
        columns = np.broadcast_arrays(*arrays)
        points = zip(*(array.flat for array in columns), strict=True)
        values = [math.nan if np.isnan(point).any() else function(*point) for point in points]
        return np.array(values, float).reshape(columns[0].shape)

    answers: Array = xr.apply_ufunc(over_points, *numbers)
    return answers


def lines(values: Array, along: str) -> Iterator[tuple[str, Array]]:
    """Yield the series along a variable without gaps, with the values of all other variables as text."""
    others = [str(name) for name in values.dims if name != along]
    for point in product(*(values[name].to_numpy() for name in others)):
        line = values.sel(dict(zip(others, point, strict=True)), drop=True).dropna(along)
        if line.size:
            labels = (str(value) if isinstance(value, str) else f"{value:g}" for value in point)
            yield ", ".join(f"{name} = {label}" for name, label in zip(others, labels, strict=True)), line


def slope(x: ArrayLike, y: ArrayLike) -> float:
    """Return the exponent of a scaling law: the least-squares slope of log y on log x.

    Raises MissingResultsError for fewer than two different x.
    """
    if np.unique(x).size < 2:
        raise MissingResultsError("needs the papers' grid: a slope needs two different x at least")
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])


def slopes(values: Array, along: str) -> list[float]:
    """Return the exponent of every line along a variable."""
    return [slope(line[along], line) for _, line in lines(values, along)]


def steps(values: Array, along: str) -> list[float]:
    """Return every number over the number before it along a variable."""
    return [
        float(ratio)
        for _, line in lines(values, along)
        for ratio in line.to_numpy()[1:] / line.to_numpy()[:-1]
    ]


def monotone(values: Array, along: str, *, rising: bool) -> Points:
    """Count the steps along a variable in the right direction and, beyond a tie, in the wrong direction."""
    points = Points(0, 0)
    for _, line in lines(values, along):
        early, late = line.to_numpy()[:-1], line.to_numpy()[1:]
        if not rising:
            early, late = late, early
        right, wrong = late > early, late < early * (1 - TIE)
        points += Points(int(right.sum()), int(wrong.sum()), int((~right & ~wrong).sum()))
    return points
