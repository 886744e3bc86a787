"""Participants with given counts: of values, of numbers, of items of sets, of unit vectors.

Raw inputs are generated if a protocol reads them; most protocols need counts only.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shuffledp.numerics.repeated_indices import pieces, repeated
from shuffledp.numerics.samplers import without_replacement
from shuffledp.protocols.vectors import VectorParticipants
from shuffledp.tasks import Floats, Ints, Participants, Public, Sets, Summation, Task, Users, Vectors

#: Numbers of raw inputs that are made at once.
_TOGETHER = 1 << 21


def holding(task: Task, n: Ints, counts: Ints) -> Participants:
    """Return R repeats of (R,) users with the given counts (R, V); the truth is the exact statistic of the counts.

    Counts are users per value or number, holders per item, or users whose vector has the length of the clip along each
    axis. Holders sum to ``n * set_size``, at most n per item. A fixed rule assigns items to users and spreads the
    holders of an item over all users.
    """
    if isinstance(task, Summation):
        return Participants(Public(n), counts, counts @ task.values)
    if isinstance(task, Sets):
        real = counts[:, : task.domain_size - task.padding_items]
        return Participants(
            Public(n),
            counts[:, None, :],
            real / n[:, None],
            lambda repeat: _sets(counts[repeat], int(n[repeat]), task.set_size),
        )
    if isinstance(task, Vectors):
        return _along_axes(task, n, counts)
    return Participants.from_counts(counts)


def _sets(holders: Ints, n: int, set_size: int) -> Iterator[Users]:
    """Yield sets of distinct items, (chunk, s), in which item j has ``holders[j]`` holders.

    In a list of all holdings by item, user i has the entries i, i + n, i + 2n, .. Since no item has more than n
    holders, these items are distinct.
    """
    ends = np.cumsum(holders)
    step = max(1, _TOGETHER // set_size)
    for start in range(0, n, step):
        stop = min(start + step, n)
        items = [repeated(ends, place * n + start, place * n + stop) for place in range(set_size)]
        yield Users(np.column_stack(items), offset=start)


def _along_axes(task: Vectors, n: Ints, counts: Ints) -> VectorParticipants:
    """Return users with vectors along the axes, of the clip's length in either norm."""

    def users(repeat: int) -> Iterator[Users]:
        for start, some in pieces(counts[repeat], max(1, _TOGETHER // task.dimension)):
            vectors = np.zeros((len(some), task.dimension))
            vectors[np.arange(len(some)), some] = task.clip
            yield Users(vectors, offset=start)

    def some(sizes: Ints, rng: np.random.Generator) -> Floats:
        kept = [without_replacement(row, int(size), rng) for row, size in zip(counts, sizes, strict=True)]
        return task.clip * np.asarray(kept, float)

    shares = counts / n[:, None]
    return VectorParticipants(
        Public(n),
        task.clip * counts,
        task.clip * shares,
        users,
        some=some,
        spread=task.clip**2 * shares * (1 - shares) * (n / np.maximum(n - 1, 1))[:, None],
        squares=task.clip**2 * counts.astype(float),
        directions=counts.astype(float),
    )
