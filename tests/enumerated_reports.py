"""Laws of the histograms of a few independent reports, and the largest delta over all data sets."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations_with_replacement, permutations

import numpy as np
from numpy.typing import NDArray

#: Law of a report for one input.
Row = NDArray[np.float64]
#: Table with a row for every input.
Table = NDArray[np.float64]
#: Probabilities by the sorted outputs of all users.
Histogram = Counter[tuple[int, ...]]


def responses(values: int, eps_local: float) -> Table:
    """Return the table of randomized response."""
    odds = math.exp(eps_local)
    return (np.ones((values, values)) + (odds - 1) * np.eye(values)) / (odds + values - 1)


def histogram(rows: Iterable[Row]) -> Histogram:
    law: Histogram = Counter({(): 1.0})
    for row in rows:
        added: Histogram = Counter()
        for seen, mass in law.items():
            for output in np.flatnonzero(row):
                added[tuple(sorted((*seen, int(output))))] += mass * row[output]
        law = added
    return law


def stick(p: Histogram, q: Histogram, eps: float) -> float:
    return sum(max(mass - math.exp(eps) * q[seen], 0.0) for seen, mass in p.items())


def both_sides(bound: Callable[..., float], *given: object) -> tuple[float, float]:
    """Return a lower and an upper bound."""
    return bound(*given, "lower"), bound(*given, "upper")


def data_sets(table: Table, users: int) -> Iterable[Sequence[Row]]:
    """Return the rows of all data sets of this many users, up to their order."""
    return combinations_with_replacement(list(table), users)


def worst_delta(own: Table, others: Iterable[Sequence[Row]], eps: float) -> float:
    """Return the largest delta over pairs of inputs of one user and data sets of the others."""
    worst = 0.0
    for rows in others:
        laws = [histogram((*rows, row)) for row in own]
        worst = max(worst, *(stick(p, q, eps) for p, q in permutations(laws, 2)))
    return worst
