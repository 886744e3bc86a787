"""What is estimated, under which budget, and how an estimate is judged.

A *task* names the shape of the sufficient statistic (``counts_shape``), the shape of the estimate
(``estimate_shape``) and the error metrics. A *budget* is the central guarantee that a protocol must meet.
Everything here is plain data: no protocol, no random numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Metric = Callable[[Floats, Floats], Floats]

TaskKind = Literal["frequency", "summation", "sets", "vectors"]
TASK_KINDS: tuple[TaskKind, ...] = get_args(TaskKind)
Neighbours = Literal["replace_one", "add_remove"]


@dataclass(frozen=True)
class Budget:
    """The central guarantee a protocol has to meet.

    Parameters
    ----------
    eps : float or tuple of float
        Nats, positive. A tuple gives one value per privacy level, increasing.
    delta : float
        In [0, 1); 0 only where the protocol is pure.
    neighbours : {"replace_one", "add_remove"}
        The neighbouring relation. ``replace_one``: user 1's input changes, who takes part does not.

    Raises
    ------
    ValueError
        If a value is outside its range.
    """

    eps: float | tuple[float, ...]
    delta: float
    neighbours: Neighbours = "replace_one"

    def __post_init__(self) -> None:
        levels = self.levels
        if not levels or not all(math.isfinite(e) and e > 0 for e in levels):
            raise ValueError(f"Budget: eps must be positive and finite, got {self.eps!r}.")
        if any(a >= b for a, b in pairwise(levels)):
            raise ValueError(f"Budget: the eps of the privacy levels must increase, got {self.eps!r}.")
        if not 0 <= self.delta < 1:
            raise ValueError(f"Budget: delta must lie in [0, 1), got {self.delta!r}.")
        if self.neighbours not in get_args(Neighbours):
            raise ValueError(
                f"Budget: neighbours must be one of {get_args(Neighbours)}, got {self.neighbours!r}."
            )

    @property
    def levels(self) -> tuple[float, ...]:
        """The eps of every privacy level, increasing (one value where there is one level)."""
        return self.eps if isinstance(self.eps, tuple) else (self.eps,)

    @property
    def largest_eps(self) -> float:
        """The eps of the least private level, in nats; the results table shows this one."""
        return self.levels[-1]


# -- metrics: (R, *estimate_shape) estimate and truth -> (R,) ---------------------------------------------------


def _flat(difference: Floats) -> Floats:
    return difference.reshape(difference.shape[0], -1)


def mean_squared_error(estimate: Floats, truth: Floats) -> Floats:
    """Squared error, averaged over the coordinates of the estimate; one number per repeat."""
    return np.asarray(np.mean(_flat(estimate - truth) ** 2, axis=1))


def sum_squared_error(estimate: Floats, truth: Floats) -> Floats:
    """Squared l2 distance; one number per repeat."""
    return np.asarray(np.sum(_flat(estimate - truth) ** 2, axis=1))


def l1_error(estimate: Floats, truth: Floats) -> Floats:
    """The l1 distance; one number per repeat. For frequencies this is the papers' "total variation error"."""
    return np.asarray(np.sum(np.abs(_flat(estimate - truth)), axis=1))


METRICS: Mapping[str, Metric] = {
    "mse": mean_squared_error,
    "sse": sum_squared_error,
    "tve": l1_error,
    "l1": l1_error,
}


def expected_metric(name: str, variance: Floats) -> Floats:
    """Expectation of a metric for an unbiased estimate with normal errors.

    Parameters
    ----------
    name : str
        A key of ``METRICS``.
    variance : (R, ...) ndarray
        Variance of each coordinate of the estimate.

    Returns
    -------
    (R,) ndarray
        Exact for ``mse`` and ``sse``; for ``tve`` and ``l1`` the normal limit ``sqrt(2/pi)`` times the sum of the
        standard deviations, which is within 0.1 % from some thousand users on.
    """
    flat = _flat(np.asarray(variance, float))
    if name == "mse":
        return np.asarray(np.mean(flat, axis=1))
    if name == "sse":
        return np.asarray(np.sum(flat, axis=1))
    result: Floats = math.sqrt(2 / math.pi) * np.sum(np.sqrt(flat), axis=1)
    return result


# -- tasks -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """Base of the four kinds of task."""

    kind: ClassVar[TaskKind]
    metrics: ClassVar[tuple[str, ...]]

    @property
    def default_metric(self) -> str:
        """The metric used when the configuration names none."""
        return self.metrics[0]

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Shape of the sufficient statistic of one repeat."""
        raise NotImplementedError

    @property
    def estimate_shape(self) -> tuple[int, ...]:
        """Shape of the estimate of one repeat."""
        raise NotImplementedError


def _at_least(owner: str, name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or int(value) != value or value < least:
        raise ValueError(f"{owner}: {name} must be an integer of at least {least}, got {value!r}.")


@dataclass(frozen=True)
class Frequency(Task):
    """Relative frequencies of the values 0..domain_size-1."""

    domain_size: int
    kind: ClassVar[TaskKind] = "frequency"
    metrics: ClassVar[tuple[str, ...]] = ("mse", "tve")

    def __post_init__(self) -> None:
        _at_least("Frequency", "domain_size", self.domain_size, 2)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """(k,): users per value."""
        return (self.domain_size,)

    @property
    def estimate_shape(self) -> tuple[int, ...]:
        """(k,): relative frequency per value."""
        return (self.domain_size,)


@dataclass(frozen=True)
class Summation(Task):
    """Sum of integers 0..max_value (``signed``: -max_value..max_value; ``real``: reals in [0, 1])."""

    max_value: int
    signed: bool = False
    real: bool = False
    coordinates: int = 1
    kind: ClassVar[TaskKind] = "summation"
    metrics: ClassVar[tuple[str, ...]] = ("mse",)

    def __post_init__(self) -> None:
        _at_least("Summation", "max_value", self.max_value, 1)
        _at_least("Summation", "coordinates", self.coordinates, 1)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """(V,) users per value, (coordinates, V) for 1-sparse vectors."""
        values = (2 if self.signed else 1) * self.max_value + 1
        return (values,) if self.coordinates == 1 else (self.coordinates, values)

    @property
    def estimate_shape(self) -> tuple[int, ...]:
        """() or (coordinates,): the sum."""
        return () if self.coordinates == 1 else (self.coordinates,)


@dataclass(frozen=True)
class Sets(Task):
    """Holders per item when every user holds ``set_size`` distinct items of ``domain_size``."""

    domain_size: int
    set_size: int
    levels: int = 1
    kind: ClassVar[TaskKind] = "sets"
    metrics: ClassVar[tuple[str, ...]] = ("sse", "mse")

    def __post_init__(self) -> None:
        _at_least("Sets", "set_size", self.set_size, 1)
        _at_least("Sets", "domain_size", self.domain_size, self.set_size)
        _at_least("Sets", "levels", self.levels, 1)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """(levels, d): holders per privacy level and item."""
        return (self.levels, self.domain_size)

    @property
    def estimate_shape(self) -> tuple[int, ...]:
        """(d,): share of holders per item."""
        return (self.domain_size,)


@dataclass(frozen=True)
class Vectors(Task):
    """Mean of vectors clipped to norm ``clip``."""

    dimension: int
    clip: float
    norm: Literal["l1", "l2"] = "l1"
    kind: ClassVar[TaskKind] = "vectors"
    metrics: ClassVar[tuple[str, ...]] = ("l1", "mse")

    def __post_init__(self) -> None:
        _at_least("Vectors", "dimension", self.dimension, 1)
        if not self.clip > 0:
            raise ValueError(f"Vectors: clip must be positive, got {self.clip!r}.")
        if self.norm not in ("l1", "l2"):
            raise ValueError(f"Vectors: norm must be 'l1' or 'l2', got {self.norm!r}.")

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """(dimension,): sum of the clipped vectors."""
        return (self.dimension,)

    @property
    def estimate_shape(self) -> tuple[int, ...]:
        """(dimension,): mean of the clipped vectors."""
        return (self.dimension,)


TASKS: Mapping[str, type[Task]] = {t.kind: t for t in (Frequency, Summation, Sets, Vectors)}


# -- users and participants ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Users:
    """Raw inputs of one repeat, or one chunk of it; used by the message level only.

    ``values`` is (n,), (n, 2) for 1-sparse vectors, (n, s) for sets or (n, dimension) for vectors; ``levels`` (n,) the
    0-based privacy levels; ``offset`` the index of the first user of the chunk.
    """

    values: NDArray[np.generic]
    levels: Ints | None = None
    offset: int = 0

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class Public:
    """What the server knows besides the messages: ``n_users`` (R,) participants, user 1 included."""

    n_users: Ints
    level_counts: Floats | None = None

    @property
    def repeats(self) -> int:
        """How many repeats R there are."""
        return len(self.n_users)


@dataclass(frozen=True)
class Participants:
    """R repeats at once: who takes part and what they hold.

    Parameters
    ----------
    public : Public
        Numbers of participants.
    counts : (R, *task.counts_shape) ndarray
        The sufficient statistic.
    truth : (R, *task.estimate_shape) ndarray
        What the estimate is compared with.
    users : callable, optional
        ``users(r)`` yields the raw inputs of repeat r in chunks.
    """

    public: Public
    counts: NDArray[np.generic]
    truth: Floats
    users: Callable[[int], Iterator[Users]] | None = None

    @staticmethod
    def from_counts(counts: ArrayLike) -> Participants:
        """Participants of a frequency task from users per value, (k,) or (R, k); the truth is their own share."""
        table = np.atleast_2d(np.asarray(counts))
        if not np.issubdtype(table.dtype, np.integer):
            raise ValueError(f"counts must be integers (users per value), got dtype {table.dtype}.")
        n = table.sum(axis=1)
        if table.min() < 0 or n.min() < 1:
            raise ValueError("counts must be non-negative with at least one user per repeat.")

        def users(repeat: int) -> Iterator[Users]:
            yield Users(np.repeat(np.arange(table.shape[1]), table[repeat]))

        return Participants(Public(n.astype(np.int64)), table, table / n[:, None], users)
