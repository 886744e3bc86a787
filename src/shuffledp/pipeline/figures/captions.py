"""Captions: templates whose numbers come from the table of the drawing, so that no number is typed.

A template is reStructuredText with Jinja expressions. Some names in the expressions are values: `where` (values common
to all rows of the file), `facts` (statements of the configuration and the results) and `scale` ("paper" or
"shortened"). Others are about methods: `called` (names by id), `controls` (methods drawn for comparison only),
`trusting` (methods by the party that users trust) and `how_drawn` (of curves). All other names are functions: of
`Numbers.questions` or, in tables of claims, of `ClaimRows.questions`. Most functions return numbers by point, an
`xarray.DataArray`, which expressions combine at common points. The filters `at`, `where_least`, `where_greatest`,
`crossing` and `slope` ask about these numbers, and `below`, `above` and `near` count points (`Points`). The filters
`span`, `times`, `rounded_down`, `rounded_up`, `percent`, `number` and `integer` make texts of numbers, `changes`
describes a ratio, and `without_commas` prepares a name for a list. Numbers without such a filter, and expressions
without a number, raise a `CaptionError` that names the template and the line.

A figure with one file per value of a variable uses the numbers of this file. A call may name another value of the
variable: ``value('grr', accounting='printed')`` in the file of exact accounting. A picture with both accountings
(`BOTH`) uses the exact numbers unless a call names the printed ones.

The first paragraph of a caption is its *finding*: one short sentence that states the result (`finding`).
"""

from __future__ import annotations

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
from shuffledp.pipeline.figures.selected_rows import by_cell
from shuffledp.pipeline.formatters import SAME, finite
from shuffledp.pipeline.query import Array, MissingResultsError, Points, Query, dataset, lines, select, share

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
#: Variable of the numbers of a table of claims.
_ROW = "row"


class CaptionError(ValueError):
    """Error of a caption with a number that its drawing does not show; one line names the template and the call."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


# -- answers -------------------------------------------------------------------------------------------------------


def _count(flags: Array, values: Array) -> Points:
    finite(values)  # raises if there is no number
    return replace(share(flags, values), noun="entries" if _ROW in values.dims else "points")


def below(values: Array, bound: float) -> Points:
    """Count the points at which the number is below a bound by more than rounding."""
    return _count(values < bound - abs(bound) * SAME, values)


def above(values: Array, bound: float) -> Points:
    """Count the points at which the number exceeds a bound by more than rounding."""
    return _count(values > bound + abs(bound) * SAME, values)


def near(values: Array, number: float, within: float) -> Points:
    """Count the points at which the number differs from another number by at most ``within``."""
    return _count(abs(values - number) <= within, values)


def where_least(values: Array, variable: str) -> Any:
    """Return the value of a variable at the first smallest number."""
    return values[values.argmin(...)][variable].item()


def where_greatest(values: Array, variable: str) -> Any:
    """Return the value of a variable at the first largest number."""
    return where_least(-values, variable)


def crossing(values: Array, variable: str, bound: float) -> tuple[Any, Any] | None:
    """Return the neighboring values of the only variable between which the numbers first reach a bound, or None.

    The first of the two is None if the first number is at or above the bound.
    """
    ((_, line),) = lines(values, variable)
    reached = (line >= bound - abs(bound) * SAME).to_numpy().tolist()
    if True not in reached:
        return None
    first, places = reached.index(True), line[variable].to_numpy().tolist()
    return (places[first - 1] if first else None), places[first]


def slope(values: Array, variable: str) -> list[Any]:
    """Return growth exponents along a variable, one for each pair of neighboring values."""
    return [np.diff(np.log(line)) / np.diff(np.log(line[variable])) for _, line in lines(values, variable)]


#: Methods of `Numbers` that a template calls.
FUNCTIONS = (
    *("drawn", "value", "ratio", "printed_over", "share_better", "lead", "lowest", "leaders", "growth"),
    *("least", "greatest", "choices"),
)
#: Filters that ask about numbers by point.
NUMBER_FILTERS: Mapping[str, Callable[..., Any]] = {
    "at": select,
    **{f.__name__: f for f in (below, above, near, where_least, where_greatest, crossing, slope)},
}


def _percent(shares: Any, digits: int = 2) -> str:
    """Return shares in percent: "5.2 %", "11 to 14 %"."""
    return formatters.percent(shares, digits)


#: Filters that make texts of numbers.
TEXT_FILTERS: Mapping[str, Callable[..., str]] = {
    "percent": _percent,
    **{
        name: getattr(formatters, name)
        for name in ("number", "integer", "span", "times", "rounded_down", "rounded_up")
    },
}


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
        columns = [name for name in ("method", "accounting", *grid) if name in cells]
        rows = cells[columns].assign(**{_NUMBER: cells["cell"].map(by_cell(cells, summary, quantity))})
        return cls(rows.dropna(subset=_NUMBER), list(methods), here)

    def questions(self) -> dict[str, Any]:
        """Return the functions of a template, by name."""
        return {"methods": self.methods} | {name: getattr(self, name) for name in FUNCTIONS}

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
        table = rows.drop(columns="method").dropna(axis="columns", how="all")
        variables = [name for name in self._variables if name in table]
        if not variables:
            return dataset(table.iloc[:1], method, self._variables).squeeze(drop=True)
        return dataset(table.set_index(variables), method, self._variables)

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

    def value(self, method: str, **at: Any) -> Array:
        """Return the numbers of a method, at all points or at the given values of variables."""
        fixed = {name: value for name, value in {**self._query.at, **at}.items() if name in self._variables}
        return _without_accounting(self._query(_NUMBER, method, **at)).assign_coords(fixed)

    def ratio(self, method: str, other: str, **at: Any) -> Array:
        """Return the ratios of a method's numbers to another method's numbers, at their common points."""
        return self.value(method, **at) / self.value(other, **at)

    def printed_over(self, method: str, **at: Any) -> Array:
        """Return the ratios of a method's printed numbers to its other numbers, such as the exact numbers."""
        return self.value(method, **{**at, "accounting": "printed"}) / self.value(method, **at)

    def share_better(self, method: str, other: str, **at: Any) -> Points:
        """Count common points at which a method's number is smaller than the other method's, by more than rounding."""
        ours, theirs = self.value(method, **at), self.value(other, **at)
        return _count(ours < theirs - abs(theirs) * SAME, ours * theirs)

    def lead(self, method: str, but: Sequence[str] = (), **at: Any) -> Array:
        """Return the ratios of the smallest number of the other methods, except `but`, to a method's number."""
        rivals = [rival for rival in self.methods if rival not in (method, *but)]
        return self.lowest(rivals, **at) / self.value(method, **at)

    def lowest(self, among: Collection[str], **at: Any) -> Array:
        """Return the smallest number of some methods at every point that one of them has."""
        return _without_accounting(self._query.least(_NUMBER, among, **at))

    def leaders(self, among: Collection[str], **at: Any) -> dict[str, Points]:
        """Return the shares of points at which each method has the smallest number, most points first.

        Ties count for all.
        """
        try:
            return self._query.winners(_NUMBER, among, **at)
        except MissingResultsError:
            return {}

    def growth(self, method: str, variable: str) -> Array | None:
        """Return the ratios of a method's numbers at the largest and the smallest value of a variable, or None."""
        ends = (self.greatest(variable), self.least(variable))
        try:
            varies = variable in self.value(method).dims
            last, first = (self.value(method, **{variable: end}) for end in ends)
        except MissingResultsError:
            return None
        return last / first if varies and (last / first).notnull().any() else None

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

    def column(self, name: str, **where: Any) -> Array:
        """Return the numbers of a column in the rows with the given entries; rows without a number are gaps."""
        numbers = pd.to_numeric(self._at(where)[self._known(name)], errors="coerce").astype(float)
        return Array(numbers, {_ROW: numbers.index}, [_ROW])

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
    except (
        jinja2.UndefinedError,
        MissingResultsError,
        LookupError,
        TypeError,
        ValueError,
        ArithmeticError,
    ) as error:
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


def _formatted(formatter: Callable[..., str]) -> Callable[..., str]:
    """Return a filter that refuses infinite numbers, such as a ratio to zero."""

    def filtered(values: Any, *digits: int) -> str:
        if np.isinf(finite(values)).any():
            raise CaptionError("A number is not finite.")
        return formatter(values, *digits)

    return filtered


def _words(value: Any) -> Any:
    if isinstance(value, Array):
        raise CaptionError(
            "Numbers need a filter that makes a text of them: span, percent, number or integer."
        )
    return value


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_words
    )
    environment.filters |= {name: _formatted(formatter) for name, formatter in TEXT_FILTERS.items()}
    environment.filters |= {**NUMBER_FILTERS, "without_commas": formatters.without_commas}
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
