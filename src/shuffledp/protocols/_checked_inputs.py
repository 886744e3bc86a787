"""Inputs of a calibrated protocol, checked against the task that it was calibrated for.

`ProtocolBase` guards the methods in `GUARDS` of every class. A protocol that was made without ``calibrate`` has no
task, and its inputs are not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from shuffledp.tasks import Array, Frequency, Participants, Public, Sets, Summation, Task, Users, Vectors

if TYPE_CHECKING:
    from shuffledp.protocols.base import ProtocolBase

Method = Callable[..., Any]


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


def _check_users(protocol: ProtocolBase, users: Users) -> None:
    """Raise ValueError for inputs of another shape, of another range, or that are no whole numbers."""
    task, values = protocol.calibrated_for, users.values
    assert task is not None
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


def _check_participants(protocol: ProtocolBase, participants: Participants, *, whole: bool) -> None:
    """Raise ValueError for counts of another shape, below 0, or, if `whole`, that are no whole numbers."""
    task, counts = protocol.calibrated_for, np.asarray(participants.counts)
    assert task is not None
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


def _check_number(protocol: ProtocolBase, users: Array) -> None:
    """Raise ValueError if the analyzer cannot decode the messages of this number of users."""
    most = protocol.capacity
    if most is not None and np.any(users > most):
        raise ValueError(
            f"{protocol.name}: sums of at most {most} users can be decoded after this calibration, got {users.max()}."
        )


@contextmanager
def _named(protocol: ProtocolBase, what: str) -> Iterator[None]:
    """Name the input in an error that it causes."""
    try:
        yield
    except (ValueError, IndexError) as error:
        error.args = (f"{protocol.name}: {what} for {protocol.calibrated_for}: {error}",)
        raise


def _calibrate(method: Any) -> Any:
    inner = method.__func__

    @wraps(inner)
    def calibrate(
        cls: type[ProtocolBase], budget: Any, population: Any, task: Any, *args: Any, **options: Any
    ) -> Any:
        found = inner(cls, budget, population, task, *args, **options)
        return replace(found, calibrated_for=task) if isinstance(found, cls) else found

    return classmethod(calibrate)


def _encode(method: Method) -> Method:
    @wraps(method)
    def encode(self: ProtocolBase, users: Users, *args: Any, **options: Any) -> Any:
        if self.calibrated_for is not None:
            _check_users(self, users)
        return method(self, users, *args, **options)

    return encode


def _of_participants(method: Method) -> Method:
    whole = method.__name__ == "sample_aggregate"

    @wraps(method)
    def checked(self: ProtocolBase, participants: Participants, *args: Any, **options: Any) -> Any:
        if self.calibrated_for is not None:
            _check_participants(self, participants, whole=whole)
        return method(self, participants, *args, **options)

    return checked


def _estimate(method: Method) -> Method:
    @wraps(method)
    def estimate(self: ProtocolBase, aggregate: Array, public: Public) -> Any:
        if self.calibrated_for is None:
            return method(self, aggregate, public)
        _check_number(self, public.n_users)
        shape = np.shape(aggregate)
        with _named(self, f"an aggregate of shape {shape}"):
            found = method(self, aggregate, public)
            expected = (public.repeats, *self.calibrated_for.estimate_shape)
            if isinstance(found, np.ndarray) and (found.shape != expected or shape[:1] != expected[:1]):
                raise ValueError(f"estimates must have shape {expected}, got {np.shape(found)}.")
        return found

    return estimate


def _aggregate(method: Method) -> Method:
    @wraps(method)
    def aggregate(self: ProtocolBase, messages: Any) -> Any:
        with _named(self, "messages"):
            return method(self, messages)

    return aggregate


#: Guard of each method that reads inputs.
GUARDS: Mapping[str, Callable[[Any], Any]] = {
    "calibrate": _calibrate,
    "encode": _encode,
    "aggregate": _aggregate,
    "estimate": _estimate,
    "sample_aggregate": _of_participants,
    "expected_variance": _of_participants,
    "expected_squared_error": _of_participants,
    "expected_absolute_error": _of_participants,
}


def guard_inputs(cls: type) -> None:
    """Guard the methods that a class defines."""
    for name, guard in GUARDS.items():
        method = vars(cls).get(name)
        inherited = any(method is vars(base).get(name) for base in cls.__mro__[1:])
        if not inherited and not getattr(method, "__isabstractmethod__", False):
            setattr(cls, name, guard(method))
