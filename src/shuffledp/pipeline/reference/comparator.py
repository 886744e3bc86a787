"""Comparison of two tables with named rows: the one engine of `shuffledp verify` and of the golden table of the tests.

A table maps the name of a row to its values by column. A value is a text, a number or a list of numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = Mapping[str, Any]
Rows = dict[str, Row]
#: Largest number of rows in a list of a report.
FIRST = 10
#: Largest number of differences of a column that a report shows.
SHOWN = 3


@dataclass(frozen=True)
class Tolerance:
    """Permitted difference in a column: a description, and a test of the column in the earlier and the later row."""

    says: str
    within: Callable[[str, Row, Row], bool]


@dataclass(frozen=True)
class Difference:
    """Value that differs beyond its tolerance; an absent value is None."""

    row: str
    column: str
    before: Any
    after: Any

    @property
    def relative(self) -> float:
        """Largest relative difference of the numbers; nan for other values and for other counts of numbers."""
        return max(map(relative_difference, *numbers_of(self.before, self.after)), default=math.nan)


@dataclass(frozen=True)
class TableComparison:
    """Rows that only one table has, the differences, and the numbers of equal and of tolerated values by column."""

    missing: Sequence[str]
    additional: Sequence[str]
    differences: list[Difference] = field(default_factory=list)
    identical: Counter[str] = field(default_factory=Counter)
    within: Counter[str] = field(default_factory=Counter)

    @property
    def different(self) -> Counter[str]:
        """Number of differences by column."""
        return Counter(difference.column for difference in self.differences)


def compare(before: Rows, after: Rows, tolerances: Callable[[str], Tolerance]) -> TableComparison:
    """Compare two tables by row and column; ``tolerances`` returns the tolerance of a column."""
    comparison = TableComparison(
        [name for name in before if name not in after], [n for n in after if n not in before]
    )
    for name, old in before.items():
        new = after.get(name, old)
        for column in dict.fromkeys((*old, *new)) if name in after else ():
            both = column in old and column in new
            if both and repr(old[column]) == repr(new[column]):
                comparison.identical[column] += 1
            elif both and tolerances(column).within(column, old, new):
                comparison.within[column] += 1
            else:
                comparison.differences.append(Difference(name, column, old.get(column), new.get(column)))
    return comparison


def numbers_of(before: Any, after: Any) -> tuple[list[float], list[float]]:
    """Return the floats of two values in two lists; empty lists if one value has others, or their counts differ."""
    old, new = (value if isinstance(value, list) else [value] for value in (before, after))
    comparable = isinstance(before, list) == isinstance(after, list) and len(old) == len(new)
    return (
        (old, new) if comparable and all(isinstance(number, float) for number in (*old, *new)) else ([], [])
    )


def relative_difference(before: float, after: float) -> float:
    """Return the difference relative to the larger of two numbers, 0 if both are nan."""
    if before == after or (math.isnan(before) and math.isnan(after)):
        return 0.0
    difference = abs(after - before) / max(abs(before), abs(after))
    return math.inf if math.isnan(difference) else difference


def report(comparison: TableComparison) -> Iterator[str]:
    """Yield a line per row of one table, and a line per column with differences: number, size and the largest ones."""
    for what, names in (("missing", comparison.missing), ("additional", comparison.additional)):
        yield from (f"{what}: {name}" for name in names[:FIRST])
        if len(names) > FIRST:
            yield f"{what}: {len(names) - FIRST} more"
    for column, count in comparison.different.items():
        group = [difference for difference in comparison.differences if difference.column == column]
        group.sort(
            key=lambda difference: -1.0 if math.isnan(difference.relative) else difference.relative,
            reverse=True,
        )
        size = "" if math.isnan(group[0].relative) else f", at most {group[0].relative:.2g} relative"
        examples = "; ".join(
            f"{difference.row}: {_shown(difference.before)} -> {_shown(difference.after)}"
            for difference in group[:SHOWN]
        )
        yield f"different: {column} in {count} rows{size}: {examples}"


def _shown(value: Any, most: int = 160) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= most else f"{text[: most - 2]}.."
