"""Tasks, budgets, and metrics of the error of an estimate.

A *task* defines the shape of the sufficient statistic (``counts_shape``), the shape of the estimate
(``estimate_shape``) and the error metrics. A *budget* is the central guarantee that a protocol must meet.
The module has plain data, without protocols or random numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.numerics.argument_ranges import (
    check_choice,
    check_count,
    check_open_unit,
    check_positive,
    format_value,
)

__all__ = [
    "ABSOLUTE_METRICS",
    "METRICS",
    "TASKS",
    "TASK_KINDS",
    "USERS_AT_ONCE",
    "WORST_METRIC",
    "Array",
    "Budget",
    "Floats",
    "Frequency",
    "Ints",
    "Metric",
    "Neighbours",
    "Participants",
    "Public",
    "Sets",
    "Summation",
    "Task",
    "TaskKind",
    "Users",
    "Vectors",
    "even_sizes",
    "expected_metric",
    "l1_error",
    "mean_squared_error",
    "sum_squared_error",
    "top_squared_error",
]

Array = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TaskKind = Literal["frequency", "summation", "sets", "vectors"]
TASK_KINDS: tuple[TaskKind, ...] = get_args(TaskKind)
Neighbours = Literal["replace_one", "add_remove"]

#: Number of users whose raw inputs are created together, for inputs that are numbers.
USERS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Budget:
    """The central guarantee that a protocol must meet.

    Parameters
    ----------
    eps : float or tuple of float
        Nats, positive. A tuple gives one value per privacy level, increasing.
    delta : float
        In [0, 1); 0 only for protocols with pure differential privacy.
    neighbours : {"replace_one", "add_remove"}
        Neighboring relation. ``replace_one``: the input of user 1 changes, the set of participants does not.
        ``add_remove``: one data set has one user more.
    """

    eps: float | tuple[float, ...]
    delta: float
    neighbours: Neighbours = "replace_one"

    def __post_init__(self) -> None:
        if isinstance(self.eps, tuple):
            levels = tuple(check_positive("Budget: eps", e) for e in self.eps)
            if not levels:
                raise ValueError("Budget: eps must hold at least one privacy level, got ().")
            if any(a >= b for a, b in pairwise(levels)):
                raise ValueError(f"Budget: the eps of the privacy levels must increase, got {self.eps!r}.")
            object.__setattr__(self, "eps", levels)
        else:
            object.__setattr__(self, "eps", check_positive("Budget: eps", self.eps))
        # 0 is allowed here, for pure guarantees; a nan or a text fails the comparison or the conversion.
        delta = self.delta
        if delta != 0 or isinstance(delta, bool):
            delta = check_open_unit("Budget: delta, unless it is 0,", delta)
        object.__setattr__(self, "delta", float(delta))
        check_choice("Budget: neighbours", self.neighbours, get_args(Neighbours))

    @property
    def levels(self) -> tuple[float, ...]:
        """The eps of every privacy level in increasing order; one value without levels."""
        return self.eps if isinstance(self.eps, tuple) else (self.eps,)

    @property
    def largest_eps(self) -> float:
        """The eps of the least private level, in nats, which the results table shows."""
        return self.levels[-1]


# -- metrics: (R, *estimate_shape) estimate and truth -> (R,) ---------------------------------------------------


def _flat(values: Floats) -> Floats:
    return values.reshape(values.shape[0], -1)


def _difference(estimate: Floats, truth: Floats) -> Floats:
    """Return the differences, (R, size). Raise ValueError for different shapes, as numpy might broadcast them."""
    difference = np.asarray(estimate - truth)
    if difference.shape != np.shape(estimate):
        raise ValueError(f"The estimate has shape {np.shape(estimate)} but the truth has {np.shape(truth)}.")
    return _flat(difference)


def mean_squared_error(estimate: Floats, truth: Floats) -> Floats:
    """Return the squared error of each repeat, averaged over the coordinates of the estimate, (R,)."""
    return np.asarray(np.mean(_difference(estimate, truth) ** 2, axis=1))


def sum_squared_error(estimate: Floats, truth: Floats) -> Floats:
    """Return the squared l2 distance of each repeat, (R,)."""
    return np.asarray(np.sum(_difference(estimate, truth) ** 2, axis=1))


def l1_error(estimate: Floats, truth: Floats) -> Floats:
    """Return the l1 distance of each repeat, (R,), which the papers call "total variation error" for frequencies."""
    return np.asarray(np.sum(np.abs(_difference(estimate, truth)), axis=1))


def top_squared_error(estimate: Floats, truth: Floats) -> Floats:
    """Return the squared error of the coordinate with the largest true value, (R,); in case of ties, the first.

    Local noise increases with the count of a value, but the error of a frequent value hardly changes the average over
    all values.
    """
    return np.asarray(_of_top(_difference(estimate, truth) ** 2, truth))


def _of_top(values: Floats, truth: Floats) -> Floats:
    largest = np.argmax(_flat(np.asarray(truth, float)), axis=1)
    return np.asarray(np.take_along_axis(_flat(values), largest[:, None], axis=1)[:, 0])


def _expected_l1(variance: Floats, truth: Floats | None) -> Floats:
    return np.asarray(math.sqrt(2 / math.pi) * np.sum(np.sqrt(variance), axis=1))


def _expected_top(variance: Floats, truth: Floats | None) -> Floats:
    if truth is None:
        raise ValueError("top_mse is the error at the largest true value and needs truth.")
    return _of_top(variance, truth)


@dataclass(frozen=True)
class Metric:
    """Metric of the error of an estimate: a call returns the error of each repeat.

    Parameters
    ----------
    error : callable
        Function of the estimate and the truth, (R, ...) each, that returns the error of each repeat, (R,).
    expected : callable or None
        Function that returns the expected error, (R,), of an unbiased estimate with normal errors. Its arguments are
        the variance of each coordinate, (R, size), and the truth, (R, ...) or None. None if no closed form is known.
    quantity : {"squared error", "absolute error"}
        Unit of the error: squared or absolute differences.
    """

    error: Callable[[Floats, Floats], Floats]
    expected: Callable[[Floats, Floats | None], Floats] | None
    quantity: Literal["squared error", "absolute error"]

    def __call__(self, estimate: Floats, truth: Floats) -> Floats:
        """Return the error of each repeat, (R,); raise ValueError if the shapes differ."""
        return self.error(estimate, truth)


_L1 = Metric(l1_error, _expected_l1, "absolute error")
METRICS: Mapping[str, Metric] = {
    "mse": Metric(mean_squared_error, lambda v, truth: np.asarray(np.mean(v, axis=1)), "squared error"),
    "sse": Metric(sum_squared_error, lambda v, truth: np.asarray(np.sum(v, axis=1)), "squared error"),
    "top_mse": Metric(top_squared_error, _expected_top, "squared error"),
    "tve": _L1,
    "l1": _L1,
}


#: Metrics of absolute differences.
ABSOLUTE_METRICS = tuple(name for name, metric in METRICS.items() if metric.quantity == "absolute error")
#: Expected squared error of a sum if all users hold the number with the largest error. This metric is of a method and
#: not of data, because the number depends on the method's levels. Only closed forms have this metric, not estimates.
WORST_METRIC = "worst_mse"


def expected_metric(name: str, variance: Floats, truth: Floats | None = None) -> Floats:
    """Return the expectation of a metric for an unbiased estimate with normal errors.

    Parameters
    ----------
    name : str
        A key of ``METRICS``.
    variance : (R, ...) ndarray
        Variance of each coordinate of the estimate.
    truth : (R, ...) ndarray, optional
        True value of the estimated quantity; only ``top_mse`` needs it.

    Returns
    -------
    (R,) ndarray
        Exact for ``mse``, ``sse`` and ``top_mse``; for ``tve`` and ``l1`` the normal limit, ``sqrt(2/pi)`` times the
        sum of the standard deviations, accurate to 0.1 % from a few thousand users on.

    Raises
    ------
    ValueError
        If the metric is unknown or has no expected value, or needs the truth and `truth` is None.
    """
    check_choice("metric", name, tuple(METRICS))
    expected = METRICS[name].expected
    if expected is None:
        raise ValueError(f"The metric {name!r} has no expected value.")
    return expected(_flat(np.asarray(variance, float)), truth)


# -- tasks -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """Base class of the four kinds of task."""

    kind: ClassVar[TaskKind]
    metrics: ClassVar[tuple[str, ...]]

    @property
    def default_metric(self) -> str:
        """Metric if the configuration gives none."""
        return self.metrics[0]

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Shape of the sufficient statistic of one repeat."""
        raise NotImplementedError

    @property
    def estimate_shape(self) -> tuple[int, ...]:
        """Shape of the estimate of one repeat."""
        raise NotImplementedError


def _at_least(task: Task, name: str, least: int) -> None:
    """Check that a field is an integer >= `least`, and store it as an int."""
    count = check_count(f"{type(task).__name__}: {name}", getattr(task, name), least)
    object.__setattr__(task, name, count)


@dataclass(frozen=True)
class Frequency(Task):
    """Relative frequencies of the values 0..domain_size-1."""

    domain_size: int
    kind: ClassVar[TaskKind] = "frequency"
    metrics: ClassVar[tuple[str, ...]] = ("mse", "tve", "sse", "top_mse")

    def __post_init__(self) -> None:
        _at_least(self, "domain_size", 2)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Shape of the number of users per value, (k,)."""
        return (self.domain_size,)

    @property
    def estimate_shape(self) -> tuple[int, ...]:
        """Shape of the relative frequencies, (k,)."""
        return (self.domain_size,)


@dataclass(frozen=True)
class Summation(Task):
    """Sum of numbers with finitely many values.

    Parameters
    ----------
    max_value : int
        Numbers are the integers 0..max_value, or, if ``real``, the multiples of ``1 / max_value`` in [0, 1].
    signed : bool
        True if numbers may also be negative, down to minus the largest.
    real : bool
        True if numbers are scaled to [0, 1], or to [-1, 1] if signed.
    coordinates : int
        Number of sums; every user adds to a single sum (a 1-sparse vector).
    """

    max_value: int
    signed: bool = False
    real: bool = False
    coordinates: int = 1
    kind: ClassVar[TaskKind] = "summation"
    metrics: ClassVar[tuple[str, ...]] = ("mse", "sse", WORST_METRIC)

    def __post_init__(self) -> None:
        _at_least(self, "max_value", 1)
        _at_least(self, "coordinates", 1)

    @property
    def values(self) -> Floats:
        """Numbers that a user may hold, (V,), in the order of the counts."""
        integers = np.arange(-self.max_value if self.signed else 0, self.max_value + 1)
        return integers / self.max_value if self.real else integers.astype(np.float64)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Shape of the number of users per number, (V,); (coordinates, V) for 1-sparse vectors."""
        values = (2 if self.signed else 1) * self.max_value + 1
        return (values,) if self.coordinates == 1 else (self.coordinates, values)

    @property
    def estimate_shape(self) -> tuple[int, ...]:
        """Shape of the sum, () or (coordinates,)."""
        return () if self.coordinates == 1 else (self.coordinates,)


@dataclass(frozen=True)
class Sets(Task):
    """Share of users who hold each item; every user holds ``set_size`` distinct items of ``domain_size``.

    The last ``padding_items`` items are dummies, with which users complete their sets to one size. No error metric
    includes them.
    """

    domain_size: int
    set_size: int
    levels: int = 1
    padding_items: int = 0
    kind: ClassVar[TaskKind] = "sets"
    metrics: ClassVar[tuple[str, ...]] = ("sse", "mse")

    def __post_init__(self) -> None:
        _at_least(self, "set_size", 1)
        _at_least(self, "domain_size", self.set_size)
        _at_least(self, "levels", 1)
        _at_least(self, "padding_items", 0)
        if self.padding_items >= self.domain_size:
            raise ValueError(
                f"Sets: padding_items must be less than domain_size {self.domain_size}, got {self.padding_items}."
            )

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Shape of the number of holders per privacy level and item, (levels, d)."""
        return (self.levels, self.domain_size)

    @property
    def estimate_shape(self) -> tuple[int, ...]:
        """Shape of the shares of holders per item, (d - padding_items,)."""
        return (self.domain_size - self.padding_items,)


def even_sizes(n: int, levels: int) -> tuple[int, ...]:
    """Return nearly equal sizes of privacy levels for n users, which are assumed before a first round."""
    return tuple(n // levels + (level < n % levels) for level in range(levels))


@dataclass(frozen=True)
class Vectors(Task):
    """Mean of vectors clipped to norm ``clip``."""

    dimension: int
    clip: float
    norm: Literal["l1", "l2"] = "l1"
    kind: ClassVar[TaskKind] = "vectors"
    metrics: ClassVar[tuple[str, ...]] = ("l1", "mse", "sse")

    def __post_init__(self) -> None:
        _at_least(self, "dimension", 1)
        object.__setattr__(self, "clip", check_positive("Vectors: clip", self.clip))
        check_choice("Vectors: norm", self.norm, ("l1", "l2"))

    @property
    def counts_shape(self) -> tuple[int, ...]:
        """Shape of the sum of the clipped vectors, (dimension,)."""
        return (self.dimension,)

    @property
    def estimate_shape(self) -> tuple[int, ...]:
        """Shape of the mean of the clipped vectors, (dimension,)."""
        return (self.dimension,)


TASKS: Mapping[str, type[Task]] = {t.kind: t for t in (Frequency, Summation, Sets, Vectors)}


# -- users and participants ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Users:
    """Raw inputs of one repeat, or of one chunk of a repeat, for the message level only.

    ``values`` is (n,), (n, 2) for 1-sparse vectors, (n, s) for sets or (n, dimension) for vectors. ``levels``, (n,),
    has the privacy levels, from 0. ``offset`` is the index of the chunk's first user.
    """

    values: NDArray[np.generic]
    levels: Ints | None = None
    offset: int = 0

    def __post_init__(self) -> None:
        for name, value in (("values", self.values), ("levels", self.levels)):
            numbers = isinstance(value, np.ndarray) and value.ndim > 0 and value.dtype.kind in "iufb"
            if not numbers and not (name == "levels" and value is None):
                raise ValueError(f"Users: {name} must be an array of numbers, got {format_value(value)}.")

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class Public:
    """Public knowledge of the server besides the messages: ``n_users``, (R,), the participants, user 1 included."""

    n_users: Ints
    level_counts: Floats | None = None

    def __post_init__(self) -> None:
        users = self.n_users
        if not isinstance(users, np.ndarray) or users.ndim != 1 or users.dtype.kind not in "iuf":
            raise ValueError(
                f"Public: n_users must be an array of numbers, one per repeat, got {format_value(users)}."
            )

    @property
    def repeats(self) -> int:
        """Number of repeats R."""
        return len(self.n_users)

    @property
    def n(self) -> Floats:
        """``n_users`` as floats, whose products do not overflow."""
        return np.asarray(self.n_users, float)

    @property
    def users_column(self) -> Floats:
        """Numbers of participants as floats, (R, 1)."""
        return self.n[:, None]

    def of_repeat(self, repeat: int) -> Public:
        """Return the public knowledge of one repeat (R = 1), for the message level."""
        return self.of_repeats(slice(repeat, repeat + 1))

    def of_repeats(self, which: Ints | slice) -> Public:
        """Return the public knowledge of the repeats with these indices."""
        return Public(self.n_users[which], None if self.level_counts is None else self.level_counts[which])


@dataclass(frozen=True)
class Participants:
    """Participants of R repeats and their data.

    Parameters
    ----------
    public : Public
        Numbers of participants.
    counts : (R, *task.counts_shape) ndarray
        The sufficient statistic.
    truth : (R, *task.estimate_shape) ndarray
        True value of the estimated quantity.
    users : callable, optional
        ``users(r)`` yields the raw inputs of repeat r in chunks.
    """

    public: Public
    counts: NDArray[np.generic]
    truth: Floats
    users: Callable[[int], Iterator[Users]] | None = None

    def of_repeats(self, which: Ints) -> Participants:
        """Return the participants of the repeats with these indices, (r,)."""
        all_users = self.users
        users = None if all_users is None else lambda repeat: all_users(int(which[repeat]))
        return Participants(self.public.of_repeats(which), self.counts[which], self.truth[which], users)

    @staticmethod
    def from_counts(counts: ArrayLike) -> Participants:
        """Return participants of a frequency task from the number of users per value, (k,) or (R, k).

        Raises ValueError if the counts are not integers, negative, of another shape, or a repeat has no user.
        """
        numbers = np.asarray(counts)
        if numbers.ndim not in (1, 2) or numbers.size == 0:
            raise ValueError(f"counts must be (k,) or (R, k) and not empty, got shape {numbers.shape}.")
        if not np.issubdtype(numbers.dtype, np.integer):
            raise ValueError(f"counts must be integers (users per value), got dtype {numbers.dtype}.")
        table = np.atleast_2d(numbers).astype(
            np.int64
        )  # a copy: later changes of the argument do not reach it
        n = table.sum(axis=1)
        if table.min() < 0 or n.min() < 1:
            raise ValueError("counts must be non-negative with at least one user per repeat.")

        def users(repeat: int) -> Iterator[Users]:
            from shuffledp.numerics.repeated_indices import pieces

            for start, values in pieces(table[repeat], USERS_AT_ONCE):
                yield Users(values, offset=start)

        return Participants(Public(n), table, table / n[:, None], users)


def __dir__() -> list[str]:
    return sorted(__all__)
