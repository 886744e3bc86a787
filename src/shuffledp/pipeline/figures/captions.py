"""Captions: templates whose numbers come from the table of the drawing, so that no number is typed.

A template is reStructuredText with Jinja expressions. Some names in the expressions are values: `where` (values common
to all rows of the file), `facts` (statements of the configuration and the results) and `scale` ("paper" or
"shortened"). Others are about methods: `called` (names by id), `controls` (methods drawn for comparison only),
`trusting` (methods by the party that users trust) and `how_drawn` (of curves). All other names are functions: of
`Numbers.questions` or, in tables of claims, of `ClaimRows.questions`. A function returns a `Values`, one number per
point, or a `Share`, the number of points at which a condition holds. The filters `span`, `times`, `rounded_down`,
`rounded_up`, `percent`, `number` and `integer` format the numbers of a `Values`, `changes` describes a ratio, and
`without_commas` prepares a name for a list. A call without a result raises a `CaptionError` that names the template and
the call.

A figure with one file per value of a variable uses the numbers of this file. A call may name another value of the
variable: ``value('grr', accounting='printed')`` in the file of exact accounting. A picture with both accountings
(`BOTH`) uses the exact numbers unless a call names the printed ones.

The first paragraph of a caption is its *finding*: one short sentence that states the result (`finding`).
"""

from __future__ import annotations

import math
import operator
import re
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd

from shuffledp.numerics.rounding import round_to_digits
from shuffledp.pipeline.figures.drawing_jobs import BOTH, Fields
from shuffledp.pipeline.figures.long_form import long_form

#: Significant digits of a number in a sentence.
DIGITS = 3
#: Largest number of characters of a finding, which is a heading.
LONGEST_FINDING = 160
#: Computed parts of a caption.
PLAIN_FACTS = (
    "about",
    "data",
    "participants N",
    "eps",
    "delta",
    "error against",
    "repeats",
    "accounting",
    "guarantee",
)
#: Sentences in every caption of a picture with both accountings.
DRAWN_TWICE = "Dashed lines are printed, solid lines are exact. The strip has the ratio of printed to exact."
_NUMBER = "number"
_OTHER = "other number"
_COLUMNS = ("accounting",)  # besides the variables of the grid, what tells the numbers of one method apart
_SAME = 1e-9  # relative: closed forms of two methods agree to rounding only
_HARDLY = 5e-3  # a factor so close to 1 reads as 1
_LITTLE = 0.05  # and one so close reads better as a percentage


class CaptionError(ValueError):
    """Error of a caption with a number that its drawing does not show; one line names the template and the call."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


# -- answers -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Share:
    """Number of points at which a condition holds: "all 20 points", "13 of 20 points" or "none of 20 points"."""

    count: int
    total: int
    thing: str = "points"

    @property
    def every(self) -> bool:
        """True if the condition holds at all points."""
        return self.count == self.total

    @property
    def none(self) -> bool:
        """True if the condition holds at no point."""
        return self.count == 0

    @property
    def some(self) -> bool:
        """True if the condition holds at some points but not at all of them."""
        return not self.every and not self.none

    @property
    def most(self) -> bool:
        """True if the condition holds at more than half of the points."""
        return 2 * self.count > self.total

    def __str__(self) -> str:
        if self.total == 1:
            one = "entry" if self.thing == "entries" else self.thing.removesuffix("s")
            return f"{'the' if self.every else 'not the'} only {one}"
        start = "all" if self.every else "none of" if self.none else f"{self.count:,} of"
        return f"{start} {self.total:,} {self.thing}"


@dataclass(frozen=True)
class Values:
    """Numbers by point, at least one.

    ``rows`` has a column ``number`` and one column for each variable of the numbers; ``asked`` is the call, for
    messages. Two `Values` combine with ``/``, ``-``, ``+`` and ``*`` at their common points. A `Values` without a
    variable of the other has the same number for all values of this variable.
    """

    rows: pd.DataFrame
    asked: str
    settings: Fields = field(default_factory=dict)
    thing: str = "points"

    @property
    def variables(self) -> list[str]:
        """Variables that the numbers depend on."""
        return [str(column) for column in self.rows if column != _NUMBER]

    @property
    def numbers(self) -> pd.Series:
        """Numbers alone."""
        return self.rows[_NUMBER]

    @property
    def least(self) -> float:
        """Smallest number."""
        return float(self.numbers.min())

    @property
    def greatest(self) -> float:
        """Largest number."""
        return float(self.numbers.max())

    @property
    def magnitude(self) -> float:
        """Largest absolute value."""
        return float(self.numbers.abs().max())

    @property
    def mean(self) -> float:
        """Mean over the points."""
        return float(self.numbers.mean())

    @property
    def median(self) -> float:
        """Median over the points."""
        return float(self.numbers.median())

    @property
    def only(self) -> float:
        """Number of the single point."""
        if len(self.rows) != 1:
            raise CaptionError(
                f"{self.asked}: {len(self.rows)} numbers, by {', '.join(self.variables)}; this place "
                "needs a single number."
            )
        return float(self.numbers.iloc[0])

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.rows)

    def at(self, **point: Any) -> Values:
        """Return the numbers at given values of variables."""
        asked = f"{self.asked}.at({_arguments(point)})"
        return _checked(_at(self.rows, point, asked), asked, {**self.settings, **point}, self.thing)

    def where_least(self, variable: str) -> Any:
        """Return the value of a variable at the first smallest number."""
        return self._at_extreme(variable, self.numbers.idxmin())

    def where_greatest(self, variable: str) -> Any:
        """Return the value of a variable at the first largest number."""
        return self._at_extreme(variable, self.numbers.idxmax())

    def below(self, bound: float) -> Share:
        """Count the points at which the number is below a bound by more than rounding."""
        return self._share(self.numbers < bound - abs(bound) * _SAME)

    def above(self, bound: float) -> Share:
        """Count the points at which the number exceeds a bound by more than rounding."""
        return self._share(self.numbers > bound + abs(bound) * _SAME)

    def near(self, number: float, within: float) -> Share:
        """Count the points at which the number differs from another number by at most ``within``."""
        return self._share((self.numbers - number).abs() <= within)

    def crossing(self, variable: str, bound: float) -> tuple[Any, Any] | None:
        """Return the neighboring values of the only variable between which the numbers first reach a bound, or None.

        The first of the two is None if the first number is at or above the bound.
        """
        if self.variables != [variable]:
            raise CaptionError(f"{self.asked}: runs along {', '.join(self.variables)}, not {variable} alone.")
        ordered = self.rows.sort_values(variable)
        reached = (ordered[_NUMBER] >= bound - abs(bound) * _SAME).tolist()
        if True not in reached:
            return None
        first, values = reached.index(True), ordered[variable].tolist()
        return (values[first - 1] if first else None), values[first]

    def slope(self, variable: str) -> Values:
        """Return growth exponents along a variable, one for each pair of neighboring values."""
        if variable not in self.variables:
            raise CaptionError(f"{self.asked}: does not run along {variable!r}.")
        others = [v for v in self.variables if v != variable]
        ordered = self.rows.sort_values([*others, variable])
        before = ordered.groupby(others, sort=False).shift() if others else ordered.shift()
        growth = np.log(ordered[_NUMBER] / before[_NUMBER]) / np.log(ordered[variable] / before[variable])
        rows = ordered.assign(**{_NUMBER: growth})[before[_NUMBER].notna()]
        return _checked(rows, f"{self.asked}.slope({variable!r})", self.settings, self.thing)

    def __truediv__(self, other: Values | float) -> Values:
        return self._combined(other, operator.truediv, "/")

    def __sub__(self, other: Values | float) -> Values:
        return self._combined(other, operator.sub, "-")

    def __add__(self, other: Values | float) -> Values:
        return self._combined(other, operator.add, "+")

    def __mul__(self, other: Values | float) -> Values:
        return self._combined(other, operator.mul, "*")

    def __rsub__(self, other: float) -> Values:
        return self._mapped(lambda number: other - number, f"{other:g} - {self.asked}")

    def __rtruediv__(self, other: float) -> Values:
        return self._mapped(lambda number: other / number, f"{other:g} / {self.asked}")

    def __pow__(self, exponent: float) -> Values:
        return self._mapped(lambda number: number**exponent, f"({self.asked}) ** {exponent:g}")

    def __str__(self) -> str:
        raise CaptionError(
            f"{self.asked}: needs a filter that formats the values: span, percent, number or integer."
        )

    def less_than(self, other: Values) -> Share:
        """Count the common points at which this number is smaller than the other number, by more than rounding."""
        both = self._paired(other)
        slack = both[_OTHER].abs() * _SAME
        return Share(int((both[_NUMBER] < both[_OTHER] - slack).sum()), len(both), self.thing)

    def meets(self, other: Values) -> bool:
        """Return whether both have a common point."""
        return not self._merged(other).empty

    def _merged(self, other: Values) -> pd.DataFrame:
        shared = [v for v in self.variables if v in other.variables]
        rows = other.rows.rename(columns={_NUMBER: _OTHER})
        return self.rows.merge(rows, on=shared or None, how="inner" if shared else "cross")

    def _paired(self, other: Values) -> pd.DataFrame:
        both = self._merged(other)
        if both.empty:
            raise CaptionError(f"{self.asked} and {other.asked}: no point is in both.")
        return both

    def _combined(self, other: Values | float, by: Callable[[Any, Any], Any], sign: str) -> Values:
        if not isinstance(other, Values):
            return self._mapped(lambda number: by(number, other), f"{self.asked} {sign} {other:g}")
        both = self._paired(other)
        rows = _without(both, {_OTHER}).assign(**{_NUMBER: by(both[_NUMBER], both[_OTHER])})
        settings = {k: v for k, v in self.settings.items() if k in other.settings and other.settings[k] == v}
        return _checked(rows, f"{self.asked} {sign} {other.asked}", settings, self.thing)

    def _mapped(self, change: Callable[[Any], Any], asked: str) -> Values:
        changed = self.rows.assign(**{_NUMBER: change(self.numbers)})
        return _checked(changed, asked, self.settings, self.thing)

    def _share(self, holds: pd.Series) -> Share:
        return Share(int(holds.sum()), len(holds), self.thing)

    def _at_extreme(self, variable: str, row: Any) -> Any:
        if variable in self.rows:
            return self.rows.loc[row, variable]
        if variable in self.settings:
            return self.settings[variable]
        raise CaptionError(
            f"{self.asked}: no variable {variable!r}. Known: {', '.join(self.variables) or 'none'}."
        )


def _checked(rows: pd.DataFrame, asked: str, settings: Fields, thing: str = "points") -> Values:
    if rows.empty:
        raise CaptionError(f"{asked}: the drawing has no such numbers.")
    if not np.isfinite(rows[_NUMBER].to_numpy(float)).all():
        raise CaptionError(f"{asked}: not finite at every point.")
    return Values(rows.reset_index(drop=True), asked, settings, thing)


def _at(rows: pd.DataFrame, point: Fields, asked: str) -> pd.DataFrame:
    for variable in point:
        if variable not in rows:
            known = ", ".join(str(c) for c in rows if c != _NUMBER) or "none"
            raise CaptionError(f"{asked}: no variable {variable!r}. Known: {known}.")
    return _without(_where(rows, point), point)


def _without(rows: pd.DataFrame, names: Collection[Any]) -> pd.DataFrame:
    """Return rows without some columns, twice as fast as `DataFrame.drop`."""
    return rows[[column for column in rows if column not in names]]


def _where(rows: pd.DataFrame, at: Fields) -> pd.DataFrame:
    for variable, wanted in at.items():
        if variable in rows:
            column = rows[variable]
            rows = rows[((column == wanted) | column.isna()).to_numpy()]
    return rows


def _arguments(names: Fields) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in names.items())


# -- questions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Numbers:
    """Numbers of a figure or table, for its caption."""

    rows: pd.DataFrame
    methods: Sequence[str]
    here: Fields = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        cells: pd.DataFrame,
        summary: pd.DataFrame,
        quantity: str,
        methods: Sequence[str],
        grid: Sequence[str],
        here: Fields,
    ) -> Numbers:
        """Return the drawn numbers of an experiment, one per cell: the closed form or else a simulated mean."""
        numbers = long_form(cells, summary, quantity)
        columns = [c for c in ("method", *_COLUMNS, *grid) if c in numbers]
        first = numbers.sort_values("kind", kind="stable").drop_duplicates(
            columns
        )  # computed, expected, simulated
        rows = first[[*columns, "mean"]].rename(columns={"mean": _NUMBER})
        return cls(rows[rows[_NUMBER].notna()], list(methods), here)

    def questions(self) -> dict[str, Any]:
        """Return the functions of a template, by name."""
        own = "methods drawn value ratio printed_over share_better lead lowest leaders growth least greatest choices"
        return {name: getattr(self, name) for name in own.split()}

    def drawn(self, method: str, **at: Any) -> bool:
        """Return whether a method has a number in this file; it may be infeasible at all points."""
        return not self._of(method, at).empty

    def value(self, method: str, **at: Any) -> Values:
        """Return the numbers of a method, at all points or at the given values of variables."""
        return self._value(method, tuple(sorted(at.items())))

    @cached_property
    def _value(self) -> Callable[[str, tuple[tuple[str, Any], ...]], Values]:
        return cache(self._answer)

    def _answer(self, method: str, point: tuple[tuple[str, Any], ...]) -> Values:
        at = dict(point)
        asked = f"value({', '.join(filter(None, [repr(method), _arguments(at)]))})"
        rows = self._of(method, at)
        fixed = {v: known for v, known in {**self._common(), **at}.items() if v in rows and v != "method"}
        settled = [c for c in rows if c in self._variables() and self._settled(rows, str(c))]
        return _checked(_without(rows, {"method", *fixed, *settled}), asked, fixed)

    def _settled(self, rows: pd.DataFrame, variable: str) -> bool:
        """Return whether a method does not depend on a variable, or is drawn under one accounting only."""
        return bool(rows[variable].isna().all()) or (
            variable == "accounting" and rows[variable].nunique() == 1
        )

    def ratio(self, method: str, other: str, **at: Any) -> Values:
        """Return the ratios of a method's numbers to another method's numbers, at their common points."""
        return self.value(method, **at) / self.value(other, **at)

    def printed_over(self, method: str, **at: Any) -> Values:
        """Return the ratios of a method's printed numbers to its other numbers, such as the exact numbers."""
        return self.value(method, **{**at, "accounting": "printed"}) / self.value(method, **at)

    def share_better(self, method: str, other: str, **at: Any) -> Share:
        """Count common points at which a method's number is smaller than the other method's, by more than rounding."""
        return self.value(method, **at).less_than(self.value(other, **at))

    def lead(self, method: str, but: Sequence[str] = (), **at: Any) -> Values:
        """Return the ratios of the smallest number of the other methods, except `but`, to a method's number."""
        rivals = [m for m in self.methods if m not in (method, *but) and self.drawn(m, **at)]
        if not rivals:
            raise CaptionError(f"lead({method!r}): no other method is drawn.")
        ratios = [self.ratio(rival, method, **at) for rival in rivals]
        variables = max((one.variables for one in ratios), key=len)
        every = pd.concat([one.rows for one in ratios], ignore_index=True)
        smallest = (
            every.groupby(variables, as_index=False)[_NUMBER].min()
            if variables
            else every.nsmallest(1, _NUMBER)
        )
        assert isinstance(smallest, pd.DataFrame)
        return _checked(smallest, f"lead({method!r})", ratios[0].settings)

    def lowest(self, among: Collection[str], **at: Any) -> Values:
        """Return the smallest number of some methods at each point at which one of them has a number."""
        every, points = self._together(among, at)
        smallest = (
            every.groupby(points, as_index=False)[_NUMBER].min() if points else every.nsmallest(1, _NUMBER)
        )
        assert isinstance(smallest, pd.DataFrame)
        return _checked(_without(smallest, {"method"}), f"lowest({', '.join(among)})", self._common())

    def leaders(self, among: Collection[str], **at: Any) -> dict[str, Share]:
        """Return the methods with the smallest number at some points, ties included, by falling number of points."""
        if not any(self.drawn(m, **at) for m in among):
            return {}
        every, points = self._together(among, at)
        smallest = every.groupby(points)[_NUMBER].transform("min") if points else every[_NUMBER].min()
        wins = every.loc[every[_NUMBER] <= smallest * (1 + _SAME), "method"].value_counts()
        total = len(every[points].drop_duplicates()) if points else 1
        return {str(method): Share(int(count), total) for method, count in wins.items()}

    def _together(self, among: Collection[str], at: Fields) -> tuple[pd.DataFrame, list[str]]:
        """Return the numbers of some methods in one table, and their variables."""
        drawn = [self.value(m, **at).rows.assign(method=m) for m in among if self.drawn(m, **at)]
        every = pd.concat(drawn, ignore_index=True)
        return every, [str(column) for column in every if column not in ("method", _NUMBER)]

    def growth(self, method: str, variable: str) -> Values | None:
        """Return the ratios of a method's numbers at the largest and the smallest value of a variable, or None."""
        found = self.value(method) if self.drawn(method) else None
        if found is None or variable not in found.variables:
            return None
        ends = (_at(found.rows, {variable: end(variable)}, method) for end in (self.least, self.greatest))
        first, last = (Values(rows, f"growth({method!r}, {variable!r})") for rows in ends)
        return last / first if last.meets(first) else None

    def least(self, variable: str) -> Any:
        """Return the smallest value of a variable in this file."""
        return min(self.choices(variable))

    def greatest(self, variable: str) -> Any:
        """Return the largest value of a variable in this file."""
        return max(self.choices(variable))

    def choices(self, variable: str) -> list[Any]:
        """Return all values of a variable in this file, in ascending order."""
        if variable not in self._variables():
            raise CaptionError(
                f"no variable {variable!r} in the drawing. Known: {', '.join(self._variables())}."
            )
        return sorted(_where(self.rows, self._common())[variable].dropna().unique().tolist())

    def _common(self) -> dict[str, Any]:
        exact = {"accounting": "exact"} if self.here.get("accounting") == BOTH else {}
        return {**self.here, **exact}

    def _variables(self) -> list[str]:
        return [str(c) for c in self.rows if c not in (_NUMBER, "method")]

    def _of(self, method: str, at: Fields) -> pd.DataFrame:
        if method not in self.methods:
            raise CaptionError(f"no method {method!r} in the drawing. Known: {', '.join(self.methods)}.")
        for variable in at:
            if variable not in self._variables():
                known = ", ".join(self._variables())
                raise CaptionError(f"no variable {variable!r} in the drawing. Known: {known}.")
        nothing, common = self.rows[:0], self._common()
        if common.keys() & at.keys():
            return _where(self._by_method.get(method, nothing), {**common, **at})
        return _where(self._shown.get(method, nothing), at)

    @cached_property
    def _shown(self) -> dict[str, pd.DataFrame]:
        return {method: _where(rows, self._common()) for method, rows in self._by_method.items()}

    @cached_property
    def _by_method(self) -> dict[str, pd.DataFrame]:
        return {str(method): rows for method, rows in self.rows.groupby("method", sort=False)}


@dataclass(frozen=True)
class ClaimRows:
    """Table of claims, whose cells are texts, for its caption."""

    rows: pd.DataFrame

    def questions(self) -> dict[str, Any]:
        """Return the functions of a template, by name."""
        return {name: getattr(self, name) for name in ("column", "rows_with", "entries")}

    def column(self, name: str, **where: Any) -> Values:
        """Return the numbers of a column in the rows with the given entries; rows without a number are omitted."""
        asked = f"column({', '.join(filter(None, [repr(name), _arguments(where)]))})"
        numbers = pd.to_numeric(self._at(where)[self._known(name)], errors="coerce").dropna()
        rows = pd.DataFrame({"row": numbers.index, _NUMBER: numbers.to_numpy(float)})
        return _checked(rows, asked, {}, "entries")

    def rows_with(self, **where: Any) -> Share:
        """Count the rows with the given entries among all rows."""
        return Share(len(self._at(where)), len(self.rows), "entries")

    def entries(self, name: str, **where: Any) -> list[str]:
        """Return the entries of a column in the rows with given entries in other columns."""
        return self._at(where)[self._known(name)].tolist()

    def _at(self, where: Fields) -> pd.DataFrame:
        rows = self.rows
        for name, text in where.items():
            rows = rows[rows[self._known(name)] == str(text)]
        return rows

    def _known(self, name: str) -> str:
        if name not in self.rows:
            raise CaptionError(f"no column {name!r} in the table. Known: {', '.join(map(str, self.rows))}.")
        return name


# -- words ---------------------------------------------------------------------------------------------------------


def number(value: Values | float, digits: int = DIGITS) -> str:
    """Return a number with the given significant digits and thousands separators; "1" if whole, "1.00" if about 1."""
    one = value.only if isinstance(value, Values) else float(value)
    if one == 0:
        return "0"
    rounded = float(f"{one:.{digits - 1}e}")
    places = digits - 1 - math.floor(math.log10(abs(rounded)))  # of the rounded number: 0.9996 is 1.00
    if not 1e-4 <= abs(rounded) < 1e9:
        digits_alone, _, exponent = f"{one:.{digits - 1}e}".partition("e")
        return f"{digits_alone}e{int(exponent)}"
    whole = math.isclose(one, round(one), rel_tol=_SAME)
    return f"{rounded:,.0f}" if whole else f"{rounded:,.{max(places, 0)}f}"


def integer(value: Values | float) -> str:
    """Return a whole number with all digits and thousands separators."""
    one = value.only if isinstance(value, Values) else value
    return f"{one:,.0f}"


def span(value: Values, digits: int = DIGITS) -> str:
    """Return the range of the numbers, "1.2 to 55", or one number if both ends have the same text."""
    low, high = number(value.least, digits), number(value.greatest, digits)
    if float(low.replace(",", "")) == float(high.replace(",", "")):
        return max(
            low, high, key=len
        )  # "1" and "1.00" are one number, of which the second says how well it is met
    return f"{low} to {high}"


def rounded_down(value: Values | float, digits: int = DIGITS) -> str:
    """Return the smallest number rounded down, a lower bound on all numbers."""
    least = value.least if isinstance(value, Values) else float(value)
    return number(round_to_digits(least, "down", digits), digits)


def rounded_up(value: Values | float, digits: int = DIGITS) -> str:
    """Return the largest number rounded up, an upper bound on all numbers."""
    greatest = value.greatest if isinstance(value, Values) else float(value)
    return number(round_to_digits(greatest, "up", digits), digits)


def percent(value: Values | float, digits: int = 2) -> str:
    """Return shares in percent, as `span` or `number`: "5.2 %", "11 to 14 %"."""
    if isinstance(value, Values):
        return f"{span(value * 100, digits)} %"
    return f"{number(100 * value, digits)} %"


def times(value: Values | float, digits: int = DIGITS) -> str:
    """Return ratios, as `span` or `number`: "1.2 to 55 times"."""
    return f"{span(value, digits) if isinstance(value, Values) else number(value, digits)} times"


def how_drawn(*, both: bool, simulated: bool, closed: bool = True) -> str:
    """Describe how to read the lines and markers of curves."""
    said = [DRAWN_TWICE] if both else []
    if simulated:
        said.append("Filled markers are simulated means with one standard error.")
    if not closed:
        said.append("Lines of methods without a closed form join simulated means.")
    return " ".join(said)


def changes(before_over_after: Values, what: str) -> str:
    """Describe the change of a quantity, for example "lowers the error 2.10 to 4.80 times"."""
    least, greatest = before_over_after.least, before_over_after.greatest
    change = max(abs(1 / least - 1), abs(1 / greatest - 1))
    if change < _HARDLY:
        return f"does not change {what}"
    if change < _LITTLE:
        return f"changes {what} by at most {rounded_up(100 * change, 2)} %"
    after = 1 / before_over_after
    if least > 1 - _HARDLY:
        return (
            f"lowers {what} {times(before_over_after) if least > 1 + _HARDLY else f'up to {times(greatest)}'}"
        )
    if greatest < 1 + _HARDLY:
        return f"raises {what} {times(after) if greatest < 1 - _HARDLY else f'up to {times(after.greatest)}'}"
    return f"multiplies {what} by {span(after)}"


def without_commas(name: str) -> str:
    """Return a name for a list: "correlated noise, 20 levels" is "correlated noise (20 levels)"."""
    first, _, option = name.partition(", ")
    return f"{first} ({option})" if option else first


def said(text: str) -> str:
    """Return a number that this run does not compute, for example a number from the paper."""
    return text


def render(path: Path, names: Fields) -> str:
    """Render a template with the given names."""
    text = path.read_text(encoding="utf-8")
    try:
        prose = _compiled(text).render(**names).strip() + "\n"
    except jinja2.TemplateSyntaxError as error:
        raise CaptionError(f"{path}:{error.lineno}: {error.message}") from error
    except (jinja2.UndefinedError, CaptionError, TypeError, ValueError, ArithmeticError) as error:
        raise CaptionError(f"{path}:{_line(error)}: {error}") from error
    try:
        finding(prose)
    except CaptionError as error:
        raise CaptionError(f"{path}:{_line_of_finding(text)}: {error}") from error
    return prose


def plain_caption(title: str, facts: Mapping[str, str]) -> str:
    """Return the caption of a drawing without a template: its title, and the origin of its numbers."""
    heading = title if len(title) <= LONGEST_FINDING else f"{title[: LONGEST_FINDING - 2]} …"
    said = "; ".join(f"{name}: {text}" for name, text in facts.items() if name in PLAIN_FACTS)
    return f"{as_it_stands(heading)}\n\n{as_it_stands(said)}.\n"


def as_it_stands(text: str) -> str:
    """Return text on one line that reStructuredText shows unchanged."""
    return re.sub(r"([\\*`|_:<>-])", r"\\\1", " ".join(text.split()))


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        f.__name__: f
        for f in (number, integer, span, rounded_down, rounded_up, percent, times, without_commas)
    }
    environment.globals |= {"said": said, "changes": changes}
    return environment


@cache
def _compiled(text: str) -> jinja2.Template:
    return _environment().from_string(text)


def finding(prose: str) -> str:
    """Return the finding, the first paragraph of a rendered caption, as plain text on one line."""
    first = " ".join(prose.strip().partition("\n\n")[0].split())
    plain = _plain(first)
    if not plain:
        raise CaptionError("the caption is empty; its first paragraph must state the finding.")
    if len(plain) > LONGEST_FINDING:
        raise CaptionError(
            f"the first paragraph has {len(plain)} characters; it must state the finding "
            f"in at most {LONGEST_FINDING}: {plain!r}."
        )
    return plain


def _plain(text: str) -> str:
    """Return text without the inline markup of reStructuredText; an asterisk inside a word, as in 1/eps*, remains."""
    text = re.sub(r"``(.+?)``", r"\1", text)
    text = re.sub(r":[\w-]+:`([^`]+)`", r"\1", text)
    text = re.sub(r"`([^`<]+?)(?:\s*<[^`>]*>)?`_{0,2}", r"\1", text)
    text = re.sub(r"(?<![\w*\\])\*\*(\S(?:.*?\S)?)\*\*(?![\w*])", r"\1", text)
    text = re.sub(r"(?<![\w*\\])\*(\S(?:.*?\S)?)\*(?![\w*])", r"\1", text)
    return re.sub(r"\\(.)", r"\1", text)


def _line_of_finding(text: str) -> int:
    """Return the number of the template's first line of text, after statements and comments of Jinja."""
    silent = re.sub(r"\{%.*?%\}|\{#.*?#\}", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    lines = (number for number, line in enumerate(silent.splitlines(), start=1) if line.strip())
    return next(lines, 1)


def _line(error: Exception) -> int | str:
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<template>"
    ]
    return lines[-1] if lines and lines[-1] is not None else "?"
