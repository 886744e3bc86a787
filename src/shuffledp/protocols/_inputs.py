"""Inputs of a calibrated protocol, checked against the task that it was calibrated for.

A protocol that was made without ``calibrate`` has no task, and its inputs are not checked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ClassVar, ParamSpec, Protocol, TypeVar

import numpy as np

from shuffledp.tasks import Array, Frequency, Participants, Sets, Summation, Task, Users, Vectors

P = ParamSpec("P")
R = TypeVar("R")


class Calibrated(Protocol):
    """What the checks read of a protocol."""

    name: ClassVar[str]
    real_inputs: ClassVar[bool]

    @property
    def calibrated_for(self) -> Task | None:
        """Task of the inputs."""

    @property
    def capacity(self) -> int | None:
        """Largest number of users, None without a limit."""


def _ranges(task: Task) -> tuple[tuple[int, ...], list[tuple[float, float]]]:
    """Return the shape of one user's input, and the range of each of its columns."""
    if isinstance(task, Frequency):
        return (), [(0, task.domain_size - 1)]
    if isinstance(task, Summation):
        numbers = (-task.max_value if task.signed else 0, task.max_value)
        return ((), [numbers]) if task.coordinates == 1 else ((2,), [(0, task.coordinates - 1), numbers])
    if isinstance(task, Sets):
        return (task.set_size,), [(0, task.domain_size - 1)]
    assert isinstance(task, Vectors)
    return (task.dimension,), [(-np.inf, np.inf)]


def check_users(protocol: Calibrated, users: Users) -> None:
    """Raise ValueError for inputs of another shape, of another range, or that are no whole numbers."""
    task, values = protocol.calibrated_for, users.values
    if task is None:
        return
    shape, ranges = _ranges(task)
    if values.shape[1:] != shape:
        raise ValueError(
            f"{protocol.name}: inputs for {task} must have shape {(len(values), *shape)}, got {values.shape}."
        )
    columns = values.T if len(ranges) > 1 else (values,)
    for (low, high), column in zip(ranges, columns, strict=True):
        if not column.size:
            continue
        least, most = column.min(), column.max()
        if not low <= least <= most <= high or not np.isfinite(least + most):
            allowed = "be finite" if np.isinf(high) else f"lie in {low}..{high}"
            raise ValueError(f"{protocol.name}: inputs for {task} must {allowed}, got {least}..{most}.")
        if not (isinstance(task, Vectors) or protocol.real_inputs):
            _check_whole(f"{protocol.name}: inputs for {task}", column)
    _check_number(protocol, np.array([users.offset + len(users)]))


def check_participants(protocol: Calibrated, participants: Participants, *, whole: bool) -> None:
    """Raise ValueError for counts of another shape, below 0, or, if `whole`, that are no whole numbers."""
    task, counts = protocol.calibrated_for, np.asarray(participants.counts)
    if task is None:
        return
    expected = (participants.public.repeats, *task.counts_shape)
    if counts.shape != expected:
        raise ValueError(
            f"{protocol.name}: counts for {task} must have shape {expected}, got {counts.shape}."
        )
    if not isinstance(task, Vectors):
        if not np.all(counts >= 0):
            raise ValueError(f"{protocol.name}: counts must be at least 0, got {np.min(counts)}.")
        if whole:
            _check_whole(f"{protocol.name}: counts", counts)
    if whole:
        _check_number(protocol, participants.public.n_users)


def _check_whole(name: str, numbers: Array) -> None:
    """Raise ValueError for numbers that are not whole."""
    if numbers.dtype.kind == "f" and np.any(parts := numbers != np.floor(numbers)):
        raise ValueError(f"{name} must be whole numbers, got {numbers[parts].flat[0]}.")


def _check_number(protocol: Calibrated, users: Array) -> None:
    """Raise ValueError if the analyzer cannot decode the messages of this number of users."""
    most = protocol.capacity
    if most is not None and np.any(users > most):
        raise ValueError(
            f"{protocol.name}: sums of at most {most} users can be decoded after this calibration, got {users.max()}."
        )


def checked_inputs(method: Callable[P, R]) -> Callable[P, R]:
    """Return a method of a protocol that checks the users or participants, its first argument.

    Numbers of participants are whole where messages are drawn, and may be expected numbers elsewhere.
    """
    name, whole = list(signature(method).parameters)[1], method.__name__ == "sample_aggregate"

    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        protocol: Any = args[0]
        inputs: Any = args[1] if len(args) > 1 else kwargs[name]
        if isinstance(inputs, Users):
            check_users(protocol, inputs)
        else:
            check_participants(protocol, inputs, whole=whole)
        return method(*args, **kwargs)

    return call


def checked_aggregate(estimate: Callable[P, R]) -> Callable[P, R]:
    """Return the ``estimate`` of a protocol with a check of the shapes of its aggregates and of its result."""

    @wraps(estimate)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        protocol: Any = args[0]
        aggregate: Any = args[1] if len(args) > 1 else kwargs["aggregate"]
        public: Any = args[2] if len(args) > 2 else kwargs["public"]
        if protocol.calibrated_for is None:
            return estimate(*args, **kwargs)
        _check_number(protocol, public.n_users)
        shape, expected = np.shape(aggregate), (public.repeats, *protocol.calibrated_for.estimate_shape)
        name = f"{protocol.name}: an aggregate of shape {shape} for {protocol.calibrated_for}"
        if shape[:1] != expected[:1]:
            raise ValueError(f"{name} must have {expected[0]} rows.")
        try:
            result = estimate(*args, **kwargs)
        except (ValueError, IndexError) as error:
            raise ValueError(f"{name}: {error}") from error
        if isinstance(result, np.ndarray) and result.shape != expected:
            raise ValueError(f"{name}: estimates must have shape {expected}, got {result.shape}.")
        return result

    return call
