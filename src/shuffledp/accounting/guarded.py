"""What people get through the public door: functions that answer with numbers, or with one clear error.

The library itself calls the functions directly, with arguments that are checked where they come from.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from functools import cache, wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from shuffledp import populations
from shuffledp.accounting.errors import Infeasible
from shuffledp.doors import behind, homes
from shuffledp.numerics.kinds import check_kinds, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Errors of arithmetic and of memory: arguments in range, numbers beyond what can be evaluated.
_BEYOND = (ArithmeticError, MemoryError, RecursionError, np.linalg.LinAlgError)


@cache
def _class(name: str) -> type | None:
    """The class that an annotation of a public function names; None for names of literals and the like."""
    if name in homes("shuffledp.accounting"):
        found = behind("shuffledp.accounting", name)
    else:
        found = getattr(populations, name, None)
    return found if isinstance(found, type) else None


def check_fields(record: Any) -> None:
    """Raise ValueError if a field of a dataclass is not of the kind that its annotation states.

    To be called first in ``__post_init__``.
    """
    fields = dataclasses.fields(record)
    values = {field.name: getattr(record, field.name) for field in fields}
    check_kinds(values, {field.name: str(field.type) for field in fields}, _class)


def _has_nan(value: Any) -> bool:
    if isinstance(value, float):
        return math.isnan(value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and bool(np.any(np.isnan(value)))
    return isinstance(value, tuple) and any(map(_has_nan, value))


def _call(function: Callable[..., Any], given: Mapping[str, Any]) -> str:
    return f"{function.__name__}({', '.join(f'{name}={shown(value)}' for name, value in given.items())})"


def guarded(value: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the door with its arguments checked.

    Raises
    ------
    ValueError
        By the result: if an argument is not of its kind (a flag that is no bool, a number that is nan), naming it;
        and if the value is beyond what double precision and memory can evaluate, naming the call. A nan is never
        returned.
    """
    signature = inspect.signature(value)
    annotations = {name: str(p.annotation) for name, p in signature.parameters.items()}

    @wraps(value)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        check_kinds(given, annotations, _class)
        try:
            found = value(*args, **kwargs)
        except _BEYOND as error:
            raise ValueError(
                f"{_call(value, given)} is beyond what can be evaluated in double precision: "
                f"{type(error).__name__}: {error}."
            ) from error
        except Infeasible:
            raise
        except ValueError as error:
            if any(re.search(rf"\b{name}\b", str(error)) for name in given):
                raise
            raise ValueError(f"{_call(value, given)}: {error}") from error
        if _has_nan(found):
            raise ValueError(f"{_call(value, given)} cannot be evaluated in double precision.")
        return found

    # Where pickle finds it, for pools of processes.
    call.__module__ = "shuffledp.accounting"
    return call
