"""Captions: templates whose numbers come from the table of the drawing, so that no number is typed.

A template is reStructuredText with Jinja expressions. Some names in the expressions are values: `where` (values common
to all rows of the file), `facts` (statements of the configuration and the results) and `scale` ("paper" or
"shortened"). Others are about methods: `called` (names by id), `controls` (methods drawn for comparison only),
`trusting` (methods by the party that users trust) and `how_drawn` (of curves). All other names are functions: of
`Numbers.questions` or, in tables of claims, of `ClaimRows.questions`. A function returns a `Values`, one number per
point, or `Points`, the number of points at which a condition holds. The filters `span`, `times`, `rounded_down`,
`rounded_up`, `percent`, `number` and `integer` format the numbers of a `Values`, `changes` describes a ratio, and
`without_commas` prepares a name for a list. A call without a result raises a `CaptionError` that names the template and
the call.

A figure with one file per value of a variable uses the numbers of this file. A call may name another value of the
variable: ``value('grr', accounting='printed')`` in the file of exact accounting. A picture with both accountings
(`BOTH`) uses the exact numbers unless a call names the printed ones.

The first paragraph of a caption is its *finding*: one short sentence that states the result (`finding`).
"""

from __future__ import annotations

import operator
import re
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd
import xarray as xr

from shuffledp.pipeline import formatters
from shuffledp.pipeline.figures.drawing_jobs import BOTH, Fields
from shuffledp.pipeline.figures.long_form import long_form
from shuffledp.pipeline.formatters import SAME, finite
from shuffledp.pipeline.query import FEASIBLE, Array, MissingResultsError, Points, Query, lines, select, share

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
_COLUMNS = ("accounting",)  # besides the variables of the grid, what tells the numbers of one method apart


class CaptionError(ValueError):
    """Error of a caption with a number that its drawing does not show; one line names the template and the call."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


# -- answers -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Values:
    """Numbers by point, at least one.

    ``asked`` is the call, for messages. Two `Values` combine with ``/``, ``-``, ``+`` and ``*`` at their common points.
    A `Values` without a variable of the other has the same number for all values of this variable.
    """

    array: Array
    asked: str
    thing: str = "points"

    def __post_init__(self) -> None:
        if not self.array.notnull().any():
            raise CaptionError(f"{self.asked}: the drawing has no such numbers.")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(finite(self.array), dtype)

    @property
    def variables(self) -> list[str]:
        """Variables that the numbers depend on."""
        return [str(name) for name in self.array.dims]

    @property
    def least(self) -> float:
        """Smallest number."""
        return float(self.array.min())

    @property
    def greatest(self) -> float:
        """Largest number."""
        return float(self.array.max())

    @property
    def magnitude(self) -> float:
        """Largest absolute value."""
        return float(abs(self.array).max())

    @property
    def mean(self) -> float:
        """Mean over the points."""
        return float(self.array.mean())

    @property
    def median(self) -> float:
        """Median over the points."""
        return float(self.array.median())

    @property
    def only(self) -> float:
        """Number of the single point."""
        if self.count != 1:
            raise CaptionError(
                f"{self.asked}: {self.count} numbers, by {', '.join(self.variables)}; this place needs a single number."
            )
        return self.least

    @property
    def count(self) -> int:
        """Number of points."""
        return int(self.array.count())

    def at(self, **point: Any) -> Values:
        """Return the numbers at given values of variables."""
        for variable in point:
            self._check(variable)
        return replace(self, array=select(self.array, **point), asked=f"{self.asked}.at({_arguments(point)})")

    def where_least(self, variable: str) -> Any:
        """Return the value of a variable at the first smallest number."""
        return self._value_at(variable, self.array.argmin(...))

    def where_greatest(self, variable: str) -> Any:
        """Return the value of a variable at the first largest number."""
        return self._value_at(variable, self.array.argmax(...))

    def below(self, bound: float) -> Points:
        """Count the points at which the number is below a bound by more than rounding."""
        return self._points(self.array < bound - abs(bound) * SAME)

    def above(self, bound: float) -> Points:
        """Count the points at which the number exceeds a bound by more than rounding."""
        return self._points(self.array > bound + abs(bound) * SAME)

    def near(self, number: float, within: float) -> Points:
        """Count the points at which the number differs from another number by at most ``within``."""
        return self._points(abs(self.array - number) <= within)

    def crossing(self, variable: str, bound: float) -> tuple[Any, Any] | None:
        """Return the neighboring values of the only variable between which the numbers first reach a bound, or None.

        The first of the two is None if the first number is at or above the bound.
        """
        if self.variables != [variable]:
            raise CaptionError(f"{self.asked}: runs along {', '.join(self.variables)}, not {variable} alone.")
        line = self.array.dropna(variable)
        reached = (line >= bound - abs(bound) * SAME).to_numpy().tolist()
        if True not in reached:
            return None
        first, values = reached.index(True), line[variable].to_numpy().tolist()
        return (values[first - 1] if first else None), values[first]

    def slope(self, variable: str) -> Values:
        """Return growth exponents along a variable, one for each pair of neighboring values."""
        self._check(variable)
        exponents = [
            np.diff(np.log(line.to_numpy())) / np.diff(np.log(line[variable].to_numpy()))
            for _, line in lines(self.array, variable)
        ]
        steps = Array(np.concatenate(exponents), dims=["step"])
        return replace(self, array=steps, asked=f"{self.asked}.slope({variable!r})")

    def __truediv__(self, other: Values | float) -> Values:
        return self._combined(other, operator.truediv, "/")

    def __sub__(self, other: Values | float) -> Values:
        return self._combined(other, operator.sub, "-")

    def __add__(self, other: Values | float) -> Values:
        return self._combined(other, operator.add, "+")

    def __mul__(self, other: Values | float) -> Values:
        return self._combined(other, operator.mul, "*")

    def __rsub__(self, other: float) -> Values:
        return self._combined(other, lambda first, second: second - first, "subtracted from")

    def __rtruediv__(self, other: float) -> Values:
        return self._combined(other, lambda first, second: second / first, "dividing")

    def __pow__(self, exponent: float) -> Values:
        return self._combined(exponent, operator.pow, "**")

    def __str__(self) -> str:
        raise CaptionError(
            f"{self.asked}: needs a filter that formats the values: span, percent, number or integer."
        )

    def less_than(self, other: Values) -> Points:
        """Count the common points at which this number is smaller than the other number, by more than rounding."""
        slack = abs(other.array) * SAME
        return self._points(self.array < other.array - slack, self.array * other.array)

    def _points(self, flags: Array, *arrays: Array) -> Points:
        return replace(share(flags, *(arrays or (self.array,))), noun=self.thing)

    def _combined(self, other: Values | float, by: Callable[[Any, Any], Any], sign: str) -> Values:
        array, name = (
            (other.array, other.asked) if isinstance(other, Values) else (Array(other), f"{other:g}")
        )
        common = self.array.notnull() & array.notnull()
        if not common.any():
            raise CaptionError(f"{self.asked} and {name}: no point is in both.")
        combined = by(self.array, array)
        question = f"{self.asked} {sign} {name}"
        if (common & ~np.isfinite(combined)).any():
            raise CaptionError(f"{question}: not finite at every point.")
        return replace(self, array=combined, asked=question)

    def _check(self, variable: str) -> None:
        if variable not in self.variables:
            choices = ", ".join(self.variables) or "none"
            raise CaptionError(f"{self.asked}: no variable {variable!r}. Known: {choices}.")

    def _value_at(self, variable: str, place: Any) -> Any:
        if variable not in self.array.coords:
            self._check(variable)
        return (
            self.array[variable]
            .isel({variable: place[variable]} if variable in self.array.dims else {})
            .item()
        )


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
        names = "methods drawn value ratio printed_over share_better lead lowest leaders growth least greatest choices"
        return {name: getattr(self, name) for name in names.split()}

    @cached_property
    def _query(self) -> Query:
        both = {"accounting": "exact"} if self.here.get("accounting") == BOTH else {}
        return Query(self, {**self.here, **both})

    def dataset(self, method: str, at: Mapping[str, Any]) -> xr.Dataset:
        """Return the numbers of a method by accounting and grid variable."""
        if method not in self.methods:
            raise CaptionError(f"no method {method!r} in the drawing. Known: {', '.join(self.methods)}.")
        if method not in self._datasets:
            raise MissingResultsError(f"{method} has no numbers in the drawing")
        return self._datasets[method]

    @cached_property
    def _datasets(self) -> dict[str, xr.Dataset]:
        groups = self.rows.groupby("method", sort=False)
        return {str(method): self._dataset(str(method), rows) for method, rows in groups}

    def _dataset(self, method: str, rows: pd.DataFrame) -> xr.Dataset:
        table = rows.drop(columns="method").dropna(axis="columns", how="all").assign(**{FEASIBLE: 1.0})
        variables = [name for name in self._variables if name in table]
        data = (
            table.set_index(variables).to_xarray()
            if variables
            else table.iloc[:1].to_xarray().squeeze(drop=True)
        )
        return data.assign_attrs(name=method, variables=self._variables)

    @property
    def _variables(self) -> list[str]:
        return [str(name) for name in self.rows if name not in (_NUMBER, "method")]

    def drawn(self, method: str, **at: Any) -> bool:
        """Return whether a method has a number in this file; it may be infeasible at all points."""
        try:
            self._query(_NUMBER, method, **at)
        except MissingResultsError:
            return False
        return True

    def value(self, method: str, **at: Any) -> Values:
        """Return the numbers of a method, at all points or at the given values of variables."""
        question = f"value({', '.join(filter(None, [repr(method), _arguments(at)]))})"
        try:
            array = self._query(_NUMBER, method, **at)
        except MissingResultsError as missing:
            raise CaptionError(f"{question}: the drawing has no such numbers: {missing}.") from None
        fixed = {name: value for name, value in {**self._query.at, **at}.items() if name in self._variables}
        return Values(_without_accounting(array).assign_coords(fixed), question)

    def ratio(self, method: str, other: str, **at: Any) -> Values:
        """Return the ratios of a method's numbers to another method's numbers, at their common points."""
        return self.value(method, **at) / self.value(other, **at)

    def printed_over(self, method: str, **at: Any) -> Values:
        """Return the ratios of a method's printed numbers to its other numbers, such as the exact numbers."""
        return self.value(method, **{**at, "accounting": "printed"}) / self.value(method, **at)

    def share_better(self, method: str, other: str, **at: Any) -> Points:
        """Count common points at which a method's number is smaller than the other method's, by more than rounding."""
        return self.value(method, **at).less_than(self.value(other, **at))

    def lead(self, method: str, but: Sequence[str] = (), **at: Any) -> Values:
        """Return the ratios of the smallest number of the other methods, except `but`, to a method's number."""
        rivals = [rival for rival in self.methods if rival not in (method, *but)]
        return self.lowest(rivals, **at) / self.value(method, **at)

    def lowest(self, among: Collection[str], **at: Any) -> Values:
        """Return the smallest number of some methods at every point that one of them has."""
        try:
            least = self._query.least(_NUMBER, among, **at)
        except MissingResultsError as missing:
            raise CaptionError(f"lowest({', '.join(among)}): {missing}.") from None
        return Values(_without_accounting(least), f"lowest({', '.join(among)})")

    def leaders(self, among: Collection[str], **at: Any) -> dict[str, Points]:
        """Return the shares of points at which each method has the smallest number, most points first.

        Ties count for all.
        """
        try:
            return self._query.winners(_NUMBER, among, **at)
        except MissingResultsError:
            return {}

    def growth(self, method: str, variable: str) -> Values | None:
        """Return the ratios of a method's numbers at the largest and the smallest value of a variable, or None."""
        if not self.drawn(method) or variable not in self.value(method).variables:
            return None
        ends = (self.greatest(variable), self.least(variable))
        if not all(self.drawn(method, **{variable: end}) for end in ends):
            return None
        last, first = (self.value(method, **{variable: end}) for end in ends)
        return last / first if (last.array.notnull() & first.array.notnull()).any() else None

    def least(self, variable: str) -> Any:
        """Return the smallest value of a variable in this file."""
        return min(self.choices(variable))

    def greatest(self, variable: str) -> Any:
        """Return the largest value of a variable in this file."""
        return max(self.choices(variable))

    def choices(self, variable: str) -> list[Any]:
        """Return all values of a variable in this file, in ascending order."""
        if variable not in self._variables:
            raise CaptionError(
                f"no variable {variable!r} in the drawing. Known: {', '.join(self._variables)}."
            )
        rows = self.rows
        for name in rows.columns.intersection([*self._query.at]):
            rows = rows[((rows[name] == self._query.at[name]) | rows[name].isna()).to_numpy()]
        return sorted(rows[variable].dropna().unique().tolist())


def _without_accounting(array: Array) -> Array:
    """Return numbers without the accounting, if there is only one."""
    return array.squeeze("accounting", drop=True) if array.sizes.get("accounting") == 1 else array


@dataclass(frozen=True)
class ClaimRows:
    """Table of claims, whose cells are texts, for its caption."""

    rows: pd.DataFrame

    def questions(self) -> dict[str, Any]:
        """Return the functions of a template, by name."""
        return {name: getattr(self, name) for name in ("column", "rows_with", "entries")}

    def column(self, name: str, **where: Any) -> Values:
        """Return the numbers of a column in the rows with the given entries; rows without a number are gaps."""
        question = f"column({', '.join(filter(None, [repr(name), _arguments(where)]))})"
        numbers = pd.to_numeric(self._at(where)[self._known(name)], errors="coerce").astype(float)
        return Values(Array(numbers, {"row": numbers.index}, ["row"]), question, "entries")

    def rows_with(self, **where: Any) -> Points:
        """Count the rows with the given entries among all rows."""
        count = len(self._at(where))
        return Points(count, len(self.rows) - count, noun="entries")

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


def how_drawn(*, both: bool, simulated: bool, closed: bool = True) -> str:
    """Describe how to read the lines and markers of curves."""
    sentences = [DRAWN_TWICE] if both else []
    if simulated:
        sentences.append("Filled markers are simulated means with one standard error.")
    if not closed:
        sentences.append("Lines of methods without a closed form join simulated means.")
    return " ".join(sentences)


def paper_number(text: str) -> str:
    """Return a number that this run does not compute, for example a number from the paper."""
    return text


def render(path: Path, names: Fields) -> str:
    """Render a template with the given names."""
    text = path.read_text(encoding="utf-8")
    try:
        prose = _compiled(text).render(**names).strip() + "\n"
    except jinja2.TemplateSyntaxError as error:
        raise CaptionError(f"{path}:{error.lineno}: {error.message}") from error
    except (jinja2.UndefinedError, MissingResultsError, TypeError, ValueError, ArithmeticError) as error:
        raise CaptionError(f"{path}:{_line(error)}: {error}") from error
    try:
        finding(prose)
    except CaptionError as error:
        raise CaptionError(f"{path}:{_line_of_finding(text)}: {error}") from error
    return prose


def plain_caption(title: str, facts: Mapping[str, str]) -> str:
    """Return the caption of a drawing without a template: its title, and the origin of its numbers."""
    heading = title if len(title) <= LONGEST_FINDING else f"{title[: LONGEST_FINDING - 2]} …"
    fact_text = "; ".join(f"{name}: {text}" for name, text in facts.items() if name in PLAIN_FACTS)
    return f"{as_it_stands(heading)}\n\n{as_it_stands(fact_text)}.\n"


def as_it_stands(text: str) -> str:
    """Return text on one line that reStructuredText shows unchanged."""
    return re.sub(r"([\\*`|_:<>-])", r"\\\1", " ".join(text.split()))


def _percent(shares: Any, digits: int = 2) -> str:
    return formatters.percent(shares, digits)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    names = ("number", "integer", "span", "rounded_down", "rounded_up", "times", "without_commas")
    environment.filters |= {name: getattr(formatters, name) for name in names}
    environment.filters["percent"] = _percent
    environment.globals |= {"paper_number": paper_number, "changes": formatters.changes}
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
    silent = re.sub(r"\{%.*?%\}|\{#.*?#\}", lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL)
    lines = (number for number, line in enumerate(silent.splitlines(), start=1) if line.strip())
    return next(lines, 1)


def _line(error: Exception) -> int | str:
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<template>"
    ]
    return lines[-1] if lines and lines[-1] is not None else "?"
