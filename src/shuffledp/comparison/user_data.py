"""Data of one's own as what a comparison needs of them: users per value, number or item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.comparison.setting import dealt
from shuffledp.numerics.argument_ranges import check_count
from shuffledp.userdata.counting import count_column
from shuffledp.userdata.reading import Progress
from shuffledp.userdata.sets import collect_sets


@dataclass(frozen=True)
class Own:
    """What records say.

    Parameters
    ----------
    counts : (V,) ndarray of int
        Users per value or level of a number; or holders per item, which sum to the users times the items of a set.
    users : int
        Who was counted.
    step : float
        What one level of a number stands for; 1 for values and items.
    remarks : tuple of str
        What whoever reads the comparison should know, a sentence each.
    """

    counts: NDArray[np.int64]
    users: int
    step: float
    remarks: tuple[str, ...]


def own(
    data: Any,
    *,
    how: str,
    column: str | None = None,
    separator: str | None = None,
    user: str | None = None,
    item: str | None = None,
    domain_size: int | None = None,
    values: Sequence[Any] | None = None,
    set_size: int | None = None,
    max_value: float | None = None,
    levels: int | None = None,
    progress: Progress | None = None,
) -> Own:
    """Read records once.

    Parameters
    ----------
    data : str, Path, data frame, series or array
        As for `shuffledp.comparison.count_column`; sets are in files and data frames.
    how : str
        How a domain is given, for the remark on one that was found.
    column, separator, user, item : str, optional
        Where the records are; the last three belong to sets.
    domain_size, values : optional
        The public domain.
    set_size : int, optional
        Items of a set. Sets are brought to this size: the counts are those that are expected then.
    max_value, levels : optional
        The range and the levels of numbers.
    progress : callable, optional
        Called with the number of rows read.

    Raises
    ------
    ValueError
        If the records cannot be read as what is asked of them.
    """
    if set_size is None:
        if not (separator is None and user is None and item is None):
            raise ValueError(
                "separator, user and item are about sets: give set_size, the items of a set, too."
            )
        counted = count_column(
            data,
            column,
            domain_size=domain_size,
            values=values,
            max_value=max_value,
            levels=levels,
            progress=progress,
        )
        return Own(counted.counts, counted.users, counted.step, tuple(counted.remarks(how)))
    if not (max_value is None and levels is None):
        raise ValueError("max_value and levels are about a sum, set_size about sets: give one.")
    size = check_count("set_size", set_size, 1)
    found = collect_sets(
        data,
        column=column,
        separator=separator,
        user=user,
        item=item,
        domain_size=domain_size,
        values=values,
        progress=progress,
    )
    holders = dealt(found.shares(size), found.users)
    return Own(holders, found.users, 1.0, (*found.remarks(how), *found.size_remark(size)))
