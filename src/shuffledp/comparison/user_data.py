"""The user's own records, counted for a comparison: users per value, number or item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.comparison.options import Options
from shuffledp.comparison.setting import dealt
from shuffledp.numerics.argument_ranges import check_count
from shuffledp.userdata.counting import count_column
from shuffledp.userdata.reading import Progress
from shuffledp.userdata.sets import collect_sets

#: Numbers found in a column up to which they are taken as categories.
_MOST_NUMBERS = 1_000


@dataclass(frozen=True)
class Own:
    """Counts of records.

    Parameters
    ----------
    counts : (V,) ndarray of int
        Users per value or level of a number; or holders per item, which sum to the users times the items of a set.
    users : int
        Number of counted users.
    step : float
        Value of one level of a number; 1 for values and items.
    remarks : tuple of str
        Remarks for readers of the comparison, a sentence each.
    """

    counts: NDArray[np.int64]
    users: int
    step: float
    remarks: tuple[str, ...]


def _numeric(values: Sequence[str]) -> tuple[str, ...]:
    """Return a remark on a found domain of numbers, and none on texts; raise ValueError for too many numbers."""
    try:
        found = {float(value) for value in values}
    except ValueError:
        return ()
    if len(found) > _MOST_NUMBERS:
        raise ValueError(
            f"The column holds {len(found)} different numbers, which look like quantities, not categories. For their "
            "sum give max_value (--max-value), the largest number, and levels (--levels) for numbers that are not "
            "whole; for their frequencies give domain_size or values."
        )
    return (
        "The values are numbers: for their sum instead of their frequencies give max_value (--max-value).",
    )


def own(asked: Options, *, how: str, progress: Progress | None = None) -> Own:
    """Return the counts of records, read once.

    Parameters
    ----------
    asked : Options
        The data, the columns of the records, and their domain.
    how : str
        Options that set a domain, named in the remark on a domain taken from the data.
    progress : callable, optional
        Called with the number of rows read.

    Raises
    ------
    ValueError
        If the records do not fit the options.
    """
    if asked.set_size is None:
        if asked.given("separator", "user", "item"):
            raise ValueError(
                "separator, user and item are about sets: give set_size, the items of a set, too."
            )
        counted = count_column(
            asked.data,
            asked.column,
            domain_size=asked.domain_size,
            values=asked.values,
            max_value=asked.max_value,
            levels=asked.levels,
            progress=progress,
        )
        remarks = (*counted.remarks(how), *(_numeric(counted.values) if counted.found else ()))
        return Own(counted.counts, counted.users, counted.step, remarks)
    if asked.given("max_value", "levels"):
        raise ValueError("max_value and levels are about a sum, set_size about sets: give one.")
    size = check_count("set_size", asked.set_size, 1)
    found = collect_sets(
        asked.data,
        column=asked.column,
        separator=asked.separator,
        user=asked.user,
        item=asked.item,
        domain_size=asked.domain_size,
        values=asked.values,
        progress=progress,
    )
    holders = dealt(found.shares(size), found.users)
    return Own(holders, found.users, 1.0, (*found.remarks(how), *found.size_remark(size)))
