"""What people get through the public door: functions that answer with numbers, or with one clear error.

The library itself calls the functions where they are defined, with arguments that are checked where they come from.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, TypeVar, cast

from shuffledp import populations
from shuffledp.lazy_api import behind, homes
from shuffledp.numerics.argument_guards import guarded_call, with_guarded_methods
from shuffledp.numerics.argument_types import Kind, check_kind, kind_of

_T = TypeVar("_T")


def class_of(name: str) -> type | None:
    """The class that an annotation of a public function names; None for names of literals."""
    if name in homes("shuffledp.accounting"):
        found = behind("shuffledp.accounting", name)
    else:
        found = getattr(populations, name, None)
    return found if isinstance(found, type) else None


@cache
def _kind(annotation: Hashable) -> Kind:
    return kind_of(annotation, class_of)


@cache
def _field_kinds(record: Hashable) -> tuple[tuple[str, Kind], ...]:
    return tuple(
        (field.name, _kind(cast("Hashable", field.type))) for field in dataclasses.fields(cast("Any", record))
    )


def check_fields(record: Any) -> None:
    """Raise ValueError if a field of a dataclass is not of the kind that its annotation states.

    To be called first in ``__post_init__``.
    """
    for name, kind in _field_kinds(cast("Hashable", type(record))):
        check_kind(name, getattr(record, name), kind)


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the door with its arguments checked.

    Parameters
    ----------
    function : callable
        Its annotations name the kinds of its arguments.

    Returns
    -------
    callable
        With the same signature. It raises ValueError if an argument is not of its kind (a flag that is no bool, a
        number that is nan), naming it; and if the value is beyond what double precision and memory can evaluate,
        naming the call. It never returns nan.
    """
    call = guarded_call(function, _kind)
    # Where pickle finds it, for pools of processes.
    call.__module__ = "shuffledp.accounting"
    return call


def guarded_methods(cls: type[_T]) -> type[_T]:
    """Decorate a class: its public methods check their arguments and answer as functions of the door do."""
    return with_guarded_methods(cls, _kind)
