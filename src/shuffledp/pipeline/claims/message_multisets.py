"""Laws of a few users' shuffled messages, by enumeration of multisets; eps in nats, replacement neighbors."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.claims.search_results import SHARES

Floats = NDArray[np.float64]
#: Probabilities by the number of occurrences of each output.
Law = Mapping[tuple[int, ...], float]


def with_message(law: Law, message: Sequence[float]) -> Law:
    """Return the law of the multiset after one more message, whose outputs have these probabilities."""
    extended: defaultdict[tuple[int, ...], float] = defaultdict(float)
    for counts, mass in law.items():
        for i, probability in enumerate(message):
            extended[(*counts[:i], counts[i] + 1, *counts[i + 1 :])] += mass * probability
    return extended


def others_laws(rows: Floats, others: int) -> Iterator[tuple[tuple[int, ...], Law]]:
    """Yield every data set of the other users, with the law of its messages."""
    k, outputs = rows.shape
    laws: dict[tuple[int, ...], Law] = {(): {(0,) * outputs: 1.0}}
    for size in range(1, others + 1):
        for data_set in combinations_with_replacement(range(k), size):
            laws[data_set] = with_message(laws[data_set[:-1]], rows[data_set[-1]].tolist())
    for data_set in combinations_with_replacement(range(k), others):
        yield tuple(data_set.count(value) for value in range(k)), laws[data_set]


def replaced(law: Law, rows: Floats) -> tuple[Floats, Floats]:
    """Return the probabilities of all multisets under user 1's inputs 0 and 1, in the same order."""
    first, second = (with_message(law, rows[user_input].tolist()) for user_input in (0, 1))
    return np.array([first[key] for key in first]), np.array([second[key] for key in first])


def hockey_stick(first: Floats, second: Floats, eps: float) -> float:
    """Return delta of two laws at eps, the larger of the two directions."""
    factor = math.exp(eps)
    forward = np.sum(np.maximum(first - factor * second, 0.0))
    return float(max(forward, np.sum(np.maximum(second - factor * first, 0.0))))


def deltas_of_data_sets(
    rows: Floats, others: int, budget: float
) -> Iterator[tuple[float, dict[tuple[int, ...], float]]]:
    """Yield eps and delta of every data set of the other users, for several shares of a local budget."""
    laws = {data_set: replaced(law, rows) for data_set, law in others_laws(rows, others)}
    for share in SHARES:
        eps = share * budget
        yield eps, {data_set: hockey_stick(*pair, eps) for data_set, pair in laws.items()}
