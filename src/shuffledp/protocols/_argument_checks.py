"""What every protocol refuses in one sentence, whoever wrote it: arguments that are not what its methods are handed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from shuffledp.numerics.argument_guards import guarded_call
from shuffledp.numerics.argument_types import shown
from shuffledp.populations import Population
from shuffledp.protocols.messages import Messages
from shuffledp.tasks import Budget, Participants, Public, Task, Users

if TYPE_CHECKING:
    from shuffledp.protocols.base import ProtocolBase

#: What the methods of a protocol are handed, in order; None for numbers, which they look at themselves.
OBJECTS: Mapping[str, tuple[tuple[str, type | None], ...]] = {
    "announce": (("participants", Participants), ("rng", np.random.Generator)),
    "encode": (("users", Users), ("rng", np.random.Generator)),
    "forward": (("messages", Messages), ("rng", np.random.Generator)),
    "dummies": (("public", Public), ("rng", np.random.Generator)),
    "shuffle": (("messages", Messages), ("public", Public), ("rng", np.random.Generator)),
    "aggregate": (("messages", Messages),),
    "estimate": (("aggregate", None), ("public", Public)),
    "sample_aggregate": (("participants", Participants), ("rng", np.random.Generator)),
    "expected_variance": (("participants", Participants),),
    "expected_squared_error": (("participants", Participants),),
    "expected_absolute_error": (("participants", Participants),),
}


def check_object(protocol: ProtocolBase, method: str, name: str, value: object, wanted: type) -> None:
    """Raise ValueError, naming the method and the argument, if it is not of that class."""
    if not isinstance(value, wanted):
        raise ValueError(f"{protocol.name}.{method}: {name} must be a {wanted.__name__}, got {shown(value)}.")


def with_checked_objects(
    method: Callable[..., Any], wanted: tuple[tuple[str, type | None], ...]
) -> Callable[..., Any]:
    """A method that refuses arguments of other classes before it looks at them."""

    @wraps(method)
    def checked(self: ProtocolBase, *args: Any, **others: Any) -> Any:
        for (name, kind), value in zip(wanted, args, strict=False):
            if kind is not None:
                check_object(self, method.__name__, name, value, kind)
        for name, kind in wanted:
            if kind is not None and name in others:
                check_object(self, method.__name__, name, others[name], kind)
        return method(self, *args, **others)

    return checked


#: What every calibration is asked with.
_REQUEST = frozenset(("budget", "population", "task", "accounting"))


def with_checked_arguments(calibrate: Callable[..., Any]) -> Callable[..., Any]:
    """A ``calibrate`` that refuses what is no budget, no population or no task, and options of other kinds."""
    guarded = guarded_call(calibrate, method=True, known_well=_REQUEST)

    @wraps(calibrate)
    def checked(
        cls: type[ProtocolBase], budget: Any, population: Any, task: Any, *args: Any, **options: Any
    ) -> Any:
        for name, value, kind, example in (
            ("budget", budget, Budget, "Budget(1.0, 1e-6)"),
            ("population", population, Population, "Fixed(999) for 1,000 users"),
            ("task", task, Task, "Frequency(20)"),
        ):
            if not isinstance(value, kind):
                raise ValueError(
                    f"{cls.name}: {name} must be a {kind.__name__}, such as {example}, got {value!r}."
                )
        return guarded(cls, budget, population, task, *args, **options)

    return checked
