"""The user's records, counted for a comparison: users per value, number or item."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from shuffledp.comparison.options import SettingOptions
from shuffledp.comparison.setting import dealt
from shuffledp.numerics.argument_ranges import check_count
from shuffledp.tasks import Ints
from shuffledp.userdata.cells import number_of
from shuffledp.userdata.counting import Counted, CountsFile, count_column
from shuffledp.userdata.engine import Percent
from shuffledp.userdata.sets import collect_sets

Asked = TypeVar("Asked", bound=SettingOptions)
#: Number of different numbers in a column up to which they are treated as categories.
_MOST_NUMBERS = 1_000
#: Options of every reader.
_READ = ("domain_size", "values", "delimiter", "memory")
#: Share of numbers among the values from which a column holds numbers, with texts such as N/A among them.
_NUMERIC = 0.9


@dataclass(frozen=True)
class Own:
    """Counts of records: users per value or level, or holders per item; `values` has the same order.

    `bins` are LOW:HIGH:WIDTH if the values are the smallest numbers of bins. `step` is the value of one level of a
    number, 1 otherwise. Holders sum to the number of users times the items of a set.
    """

    counts: Ints
    users: int
    step: float
    remarks: tuple[str, ...]
    values: tuple[Any, ...]
    bins: str | None = None


def _numeric(values: Sequence[str]) -> tuple[str, ...]:
    """Return a remark if the domain consists of numbers found in the data. Raise ValueError for too many numbers."""
    numbers = {number for number in map(number_of, values) if math.isfinite(number)}
    if len(numbers) < _NUMERIC * len(values):
        return ()
    if len(numbers) > _MOST_NUMBERS:
        raise ValueError(
            f"The column holds {len(numbers)} different numbers, which look like quantities, not categories. For their "
            "sum give max_value (--max-value), the largest number, and levels (--levels) for numbers that are not "
            "whole; for their frequencies give domain_size or values."
        )
    return (
        "The values are numbers: for their sum instead of their frequencies give max_value (--max-value).",
    )


def _own(column: Counted, how: str) -> Own:
    """Return the counts of one column with their remarks."""
    remarks = (*column.remarks(how), *(_numeric(column.values) if column.found else ()))
    return Own(column.counts, column.users, column.step, remarks, column.values, column.bins)


def own(options: SettingOptions, *, how: str, percent: Percent | None = None) -> Own:
    """Return the counts of records, read once. Raise ValueError if the records do not fit the options.

    `how` describes the options that set a domain, for the remark on a domain taken from the data. `percent` is called
    with the percentage of the data that is read.
    """
    if isinstance(options.data, CountsFile):
        from shuffledp.userdata.counts import counted_of, read

        return _own(counted_of(read(options.data.path)), how)
    if options.set_size is None:
        if options.given("separator", "item"):
            raise ValueError(
                "separator and item are for sets and need set_size, the number of items of a set."
            )
        if options.other and options.values is None:
            raise ValueError("other needs values (--values or --values-file), the list of the public domain.")
        column = count_column(
            options.data,
            **options.only(*_READ, "column", "max_value", "levels", "user", "other", "bins"),
            low=options.low or 0.0,
            per_user=options.per_user or "random",
            key=str(options.seed),
            percent=percent,
        )
        return _own(column, how)
    if options.other or options.bins is not None:
        raise ValueError(f"{'other' if options.other else 'bins'} is for frequencies, not for sets.")
    if options.given("max_value", "levels", "low"):
        raise ValueError("Give either set_size (sets) or max_value and levels (a sum), not both.")
    size = check_count("set_size", options.set_size, 1)
    collected = collect_sets(
        options.data, **options.only(*_READ, "column", "separator", "user", "item"), percent=percent
    )
    holders = dealt(collected.shares(size), collected.users)
    return Own(
        holders,
        collected.users,
        1.0,
        (*collected.remarks(how), *collected.size_remark(size)),
        collected.values,
    )


def count_data(options: Asked) -> tuple[Asked, Own | None]:
    """Return the options with the counts of their data, and these counts; None without data.

    Raises ValueError if the data are given with counts or a task, or do not fit the options.
    """
    if options.data is None:
        if (
            options.given("column", "separator", "user", "item", "values", "bins", "levels", "low")
            or options.other
        ):
            raise ValueError("column, separator, user, item, values, other, bins, levels and low need data.")
        return options, None
    if options.given("counts", "task", "dimension"):
        raise ValueError(
            "data must be given without counts, task and dimension. Use domain_size, values or max_value."
        )
    records = own(options, how="give domain_size or values")
    most = None if options.max_value is None else len(records.counts) - 1
    return replace(options, counts=records.counts, max_value=most), records
