"""What people get through the public door: functions that answer with numbers, or with one clear error.

The library itself calls the functions where they are defined, with arguments that are checked where they come from.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from collections.abc import Callable, Hashable
from functools import cache, wraps
from typing import Any, cast

import numpy as np

from shuffledp import populations
from shuffledp.accounting.errors import Infeasible
from shuffledp.doors import behind, homes
from shuffledp.numerics.kinds import Kind, check_kind, kind_of, shown

#: Errors of arithmetic and of memory: arguments in range, numbers beyond what can be evaluated.
_BEYOND = (ArithmeticError, MemoryError, RecursionError, np.linalg.LinAlgError)


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


def _has_nan(value: Any) -> bool:
    if isinstance(value, float):
        return math.isnan(value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and bool(np.isnan(value).any())
    return isinstance(value, tuple) and any(map(_has_nan, value))


def _from_elsewhere(value: Any) -> bool:
    """Whether this is an object of somebody else's class, such as a randomizer, whose mistakes are not ours."""
    return type(value).__module__.partition(".")[0] not in ("builtins", "numpy", "shuffledp")


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
    signature = inspect.signature(function)

    @cache  # at the first call: classes that annotations name are imported for it
    def kinds() -> dict[str, Kind]:
        return {name: _kind(parameter.annotation) for name, parameter in signature.parameters.items()}

    def call_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        given = signature.bind(*args, **kwargs).arguments
        return f"{function.__name__}({', '.join(f'{name}={shown(value)}' for name, value in given.items())})"

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        known = kinds()
        # What there is no parameter for is left to the function, whose TypeError says so.
        for (name, kind), value in zip(known.items(), args, strict=False):
            check_kind(name, value, kind)
        for name in kwargs:
            if name in known:
                check_kind(name, kwargs[name], known[name])
        try:
            found = function(*args, **kwargs)
        except _BEYOND as error:
            raise ValueError(
                f"{call_of(args, kwargs)} is beyond what can be evaluated in double precision: "
                f"{type(error).__name__}: {error}."
            ) from error
        except Infeasible:
            raise
        except ValueError as error:
            texts = tuple(value for value in (*args, *kwargs.values()) if isinstance(value, str))
            begun = bool(texts) and str(error).startswith(texts)
            if begun or any(re.search(rf"\b{name}\b", str(error)) for name in known):
                raise
            raise ValueError(f"{call_of(args, kwargs)}: {error}") from error
        except Exception as error:
            if not any(map(_from_elsewhere, (*args, *kwargs.values()))):
                raise
            raise ValueError(f"{call_of(args, kwargs)}: {type(error).__name__}: {error}") from error
        if _has_nan(found):
            raise ValueError(f"{call_of(args, kwargs)} cannot be evaluated in double precision.")
        return found

    # Where pickle finds it, for pools of processes.
    call.__module__ = "shuffledp.accounting"
    return call
