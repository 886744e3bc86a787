"""Possible inputs of a task's users, and participants with equal inputs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.conformance.cases import Case
from shuffledp.protocols.conformance.statistics import generator
from shuffledp.tasks import (
    Array,
    Floats,
    Frequency,
    Ints,
    Participants,
    Public,
    Sets,
    Summation,
    Task,
    Users,
    Vectors,
)

MOST_INPUTS = 6


def inputs(task: Task) -> list[Array]:
    """Return up to `MOST_INPUTS` possible inputs of a user, as rows of ``Users.values``, the most different first."""
    if isinstance(task, Frequency):
        return [np.array(v) for v in range(min(task.domain_size, MOST_INPUTS))]
    if isinstance(task, Summation):
        low = -task.max_value if task.signed else 0
        numbers = [np.array(v) for v in dict.fromkeys((task.max_value, low, 1))]
        if task.coordinates == 1:
            return numbers
        return [np.array([c, int(v)]) for v in numbers[:2] for c in (0, 1)]
    if isinstance(task, Sets):
        every = np.array(list(combinations(range(task.domain_size), task.set_size))[:2000])
        return [np.asarray(row) for row in (every[0], every[-1], *every[1:-1])][:MOST_INPUTS]
    if isinstance(task, Vectors):
        axis = np.zeros(task.dimension)
        axis[0] = task.clip
        return [axis, -axis, 0 * axis]
    raise TypeError(f"no inputs are known for {task}")


def unit(task: Task, held: Array) -> Array:
    """Return the sufficient statistic of one user with this input."""
    if isinstance(task, Vectors):
        return np.asarray(held, float)
    counts = np.zeros(task.counts_shape, np.int64)
    if isinstance(task, Frequency):
        counts[int(held)] = 1
    elif isinstance(task, Sets):
        counts[0, held] = 1
    elif isinstance(task, Summation):
        shift = task.max_value if task.signed else 0
        place = (int(held[0]), int(held[1]) + shift) if task.coordinates > 1 else (int(held) + shift,)
        counts[place] = 1
    return counts


def crowd(task: Task, first: Array, rest: Array, others: Ints) -> Participants:
    """Return user 1 with the input `first` among others with the input `rest`, one repeat per number of others."""
    one, many = unit(task, first), unit(task, rest)
    shape = (len(others), *[1] * one.ndim)
    n = others + 1
    levels = np.asarray(n, float)[:, None] if isinstance(task, Sets) else None

    def users(repeat: int) -> Iterator[Users]:
        yield users_of(task, np.concatenate((first[None], same(rest, int(others[repeat])))))

    counts = one + others.reshape(shape) * many
    return Participants(Public(n, levels), counts, np.zeros((len(n), *task.estimate_shape)), users)


def same(held: Array, n: int) -> Array:
    """Return n equal inputs, one per row."""
    return np.repeat(held[None], n, axis=0)


def users_of(task: Task, held: Array) -> Users:
    """Return users with these inputs, one per row, at the first privacy level if the task has levels."""
    return Users(held, np.zeros(len(held), np.int64) if isinstance(task, Sets) else None)


def alike(case: Case, held: Array) -> Participants:
    """Return the participants of a case, one repeat, where every user has the input `held`."""
    public, task = case.participants(1).public, case.task
    n, levels = int(public.n_users[0]), case.users().levels
    if isinstance(task, Sets) and public.level_counts is not None:
        counts = np.multiply.outer(public.level_counts[0], unit(task, held)[0])
    else:
        counts = n * unit(task, held)

    def users(repeat: int) -> Iterator[Users]:
        yield Users(same(held, n), levels)

    shape = (1, *task.counts_shape)
    return Participants(
        public,
        np.asarray(counts).astype(unit(task, held).dtype).reshape(shape),
        case.participants(1).truth,
        users,
    )


def jumps(protocol: ProtocolBase, case: Case) -> tuple[Floats, float]:
    """Return bounds on one user's effect on each number of the aggregate, (A,), and on a coordinate of the estimate.

    They compare aggregates of users with equal inputs and divide by the number of users; noise only increases them.
    """
    rng = generator(6)
    who = [alike(case, held) for held in inputs(case.task)]
    seen = np.stack([protocol.sample_aggregate(one, rng)[0] for one in who])
    public = who[0].public
    estimates = np.stack([protocol.estimate(row[None], public)[0].reshape(-1) for row in seen])
    n = float(public.n_users[0])
    rows = seen.reshape(len(seen), -1).astype(float)
    return np.ptp(rows, axis=0) / n, float(np.max(np.ptp(estimates, axis=0))) / n
