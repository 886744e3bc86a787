"""Guards of functions and methods: they check arguments and reject results with nan."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from shuffledp.numerics.argument_types import Check, checks_of, shown

#: Errors of arithmetic and of memory, for arguments in range that cannot be evaluated.
_BEYOND = (ArithmeticError, MemoryError, RecursionError, np.linalg.LinAlgError)
_T = TypeVar("_T")


def _has_nan(value: Any) -> bool:
    if isinstance(value, float):
        return math.isnan(value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and bool(np.isnan(value).any())
    return isinstance(value, tuple) and any(map(_has_nan, value))


def _from_elsewhere(value: Any) -> bool:
    """Return True for an object of a third-party class, for example a user's randomizer."""
    return type(value).__module__.partition(".")[0] not in ("builtins", "numpy", "shuffledp")


def guarded_call(
    function: Callable[..., Any], *, method: bool = False, known_well: frozenset[str] = frozenset()
) -> Callable[..., Any]:
    """Return a function that checks and converts its arguments by its annotations. The annotations are read at the
    first call. The function never returns nan. With `method`, the first argument is an object or a class and is not
    checked. The function itself checks the arguments in `known_well`, and messages omit them. A ValueError names the
    argument of a wrong kind or range, or the call for which double precision or memory is not sufficient.
    """
    checks: dict[str, Check | None] = {}

    def call_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        given = [
            (name, shown(value))
            for name, value in inspect.signature(function).bind(*args, **kwargs).arguments.items()
        ]
        of = f"{args[0].__name__ if isinstance(args[0], type) else shown(args[0])}." if method else ""
        given = [(name, value) for name, value in given[method:] if name not in known_well]
        return f"{of}{function.__name__}({', '.join(f'{name}={value}' for name, value in given)})"

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not checks:
            checks.update(
                {name: None if name in known_well else c for name, c in checks_of(function).items()}
            )
        # Unknown parameters are left to the function, which raises a TypeError.
        given = [
            value if check is None else check(name, value)
            for (name, check), value in zip(checks.items(), args, strict=False)
        ]
        args = (*given, *args[len(given) :])
        for name in kwargs:
            check = checks.get(name)
            if check is not None:
                kwargs[name] = check(name, kwargs[name])
        try:
            found = function(*args, **kwargs)
        except _BEYOND as error:
            raise ValueError(
                f"{call_of(args, kwargs)} is beyond what can be evaluated in double precision: "
                f"{type(error).__name__}: {error}."
            ) from error
        except ValueError:
            raise
        except Exception as error:
            if not any(map(_from_elsewhere, (*args, *kwargs.values()))):
                raise
            raise ValueError(f"{call_of(args, kwargs)}: {type(error).__name__}: {error}") from error
        if _has_nan(found):
            raise ValueError(f"{call_of(args, kwargs)} cannot be evaluated in double precision.")
        return found

    return call


def guarded_methods(cls: type[_T]) -> type[_T]:
    """Return the class with guarded public methods; inherited methods are not guarded."""
    for name, value in list(vars(cls).items()):
        if name.startswith("_") or getattr(value, "__isabstractmethod__", False):
            continue
        if inspect.isfunction(value):
            setattr(cls, name, guarded_call(value, method=True))
        elif isinstance(value, classmethod):
            checked = guarded_call(cast("Callable[..., Any]", value.__func__), method=True)
            setattr(cls, name, classmethod(checked))
    return cls
