"""Statistics of participants with vectors, beyond the sum of the vectors, for fast laws."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from shuffledp.protocols.vectors._laplace import clipped
from shuffledp.tasks import Floats, Ints, Participants, Vectors


@dataclass(frozen=True)
class VectorParticipants(Participants):
    """Participants of a vectors task with precomputed statistics, so that raw inputs need not be read.

    Without these fields, the same statistics are computed from ``users``.

    Parameters
    ----------
    some : callable, optional
        ``some(sizes, rng)`` sums the clipped vectors of ``sizes[r]`` participants of repeat r, a uniform choice without
        replacement: (R, dimension).
    spread : (R, dimension) ndarray, optional
        Variance of each coordinate among the participants, divisor n - 1.
    squares, directions : (R, dimension) ndarray, optional
        Sums over the participants of the squares of each coordinate, of the clipped vectors and of their directions
        (unit vectors in the l2 norm; of the zero vector, 1 / dimension each). Both or none.
    """

    some: Callable[[Ints, Generator], Floats] | None = None
    spread: Floats | None = None
    squares: Floats | None = None
    directions: Floats | None = None


def sums_of_some(participants: Participants, task: Vectors, sizes: Ints, rng: Generator) -> Floats:
    """Return the sums of the clipped vectors of ``sizes[r]`` uniformly chosen participants, (R, dimension)."""
    if isinstance(participants, VectorParticipants) and participants.some is not None:
        return participants.some(sizes, rng)
    if participants.users is None:
        raise ValueError(
            "The sum over some of the participants needs their raw inputs, which were not given."
        )
    n = participants.public.n_users
    sums = np.zeros((len(n), task.dimension))
    for repeat, size in enumerate(sizes):
        chosen = np.zeros(n[repeat], dtype=bool)
        chosen[rng.choice(n[repeat], size, replace=False)] = True
        start = 0
        for chunk in participants.users(repeat):
            chosen_vectors = chunk.values[chosen[start : start + len(chunk)]]
            sums[repeat] += clipped(chosen_vectors, task).sum(axis=0)
            start += len(chunk)
    return sums


def spread_of(participants: Participants, task: Vectors) -> Floats | None:
    """Return the variance of each coordinate among the participants, (R, dimension), or None without the vectors."""
    if isinstance(participants, VectorParticipants) and participants.spread is not None:
        return participants.spread
    if participants.users is None:
        return None
    n = participants.public.n_users
    spread = np.zeros((len(n), task.dimension))
    for repeat in range(len(n)):
        mean = participants.counts[repeat] / n[repeat]
        for chunk in participants.users(repeat):
            spread[repeat] += ((clipped(chunk.values, task) - mean) ** 2).sum(axis=0)
    return spread / np.maximum(n - 1, 1)[:, None]


def squares_of(participants: Participants, task: Vectors) -> tuple[Floats, Floats] | None:
    """Return sums of squared coordinates of the clipped vectors and of their directions; None without the vectors."""
    if isinstance(participants, VectorParticipants) and participants.squares is not None:
        assert participants.directions is not None  # both or none
        return participants.squares, participants.directions
    if participants.users is None:
        return None
    shape = (len(participants.public.n_users), task.dimension)
    squares, directions = np.zeros(shape), np.zeros(shape)
    for repeat in range(shape[0]):
        for chunk in participants.users(repeat):
            each = clipped(chunk.values, task) ** 2
            norms = np.sum(each, axis=1, keepdims=True)
            shares = np.where(norms > 0, each / np.where(norms > 0, norms, 1.0), 1 / task.dimension)
            squares[repeat] += each.sum(axis=0)
            directions[repeat] += shares.sum(axis=0)
    return squares, directions
