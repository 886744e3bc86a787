"""Functions and methods that answer with numbers, or with one clear error: the machinery, whatever they compute."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from shuffledp.numerics.argument_types import Kind, check_kind, kind_of, shown

#: Errors of arithmetic and of memory: arguments in range, numbers beyond what can be evaluated.
_BEYOND = (ArithmeticError, MemoryError, RecursionError, np.linalg.LinAlgError)
_T = TypeVar("_T")
#: The kind that an annotation asks for.
KindOf = Callable[[Hashable], Kind]
_ANYTHING = kind_of("Any", lambda name: None)


def _has_nan(value: Any) -> bool:
    if isinstance(value, float):
        return math.isnan(value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and bool(np.isnan(value).any())
    return isinstance(value, tuple) and any(map(_has_nan, value))


def _from_elsewhere(value: Any) -> bool:
    """Whether this is an object of somebody else's class, such as a randomizer, whose mistakes are not ours."""
    return type(value).__module__.partition(".")[0] not in ("builtins", "numpy", "shuffledp")


def guarded_call(
    function: Callable[..., Any],
    kind: KindOf,
    *,
    method: bool = False,
    known_well: frozenset[str] = frozenset(),
) -> Callable[..., Any]:
    """Return a function with its arguments checked.

    Parameters
    ----------
    function : callable
        Its annotations name the kinds of its arguments.
    kind : callable
        What an annotation asks for.
    method : bool
        Whether the first parameter is an object or a class, which is not checked.
    known_well : frozenset of str
        Arguments that are too long for a message and that errors describe in other words.

    Returns
    -------
    callable
        With the same signature. It raises ValueError if an argument is not of its kind (a flag that is no bool, a
        number that is nan), naming it; and if the value is beyond what double precision and memory can evaluate,
        naming the call. It never returns nan.
    """
    known: dict[str, Kind] = {}

    def look_up() -> None:
        """At the first call: reading signatures takes time, and classes that annotations name are imported for it."""
        parameters = inspect.signature(function).parameters
        for place, (name, parameter) in enumerate(parameters.items()):
            known[name] = _ANYTHING if method and place == 0 else kind(parameter.annotation)

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
        if not known:
            look_up()
        # What there is no parameter for is left to the function, whose TypeError says so.
        for (name, expected), value in zip(known.items(), args, strict=False):
            check_kind(name, value, expected)
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
        except ValueError as error:
            texts = tuple(value for value in (*args, *kwargs.values()) if isinstance(value, str))
            begun = bool(texts) and str(error).startswith(texts)
            named = begun or any(re.search(rf"\b{name}\b", str(error)) for name in known)
            unsaid = bool(known_well) and known_well.issuperset(kwargs)  # nothing that the call would tell
            if (
                type(error) is not ValueError or named or unsaid
            ):  # an error with a meaning of its own keeps it
                raise
            raise ValueError(f"{call_of(args, kwargs)}: {error}") from error
        except Exception as error:
            if not any(map(_from_elsewhere, (*args, *kwargs.values()))):
                raise
            raise ValueError(f"{call_of(args, kwargs)}: {type(error).__name__}: {error}") from error
        if _has_nan(found):
            raise ValueError(f"{call_of(args, kwargs)} cannot be evaluated in double precision.")
        return found

    return call


def with_guarded_methods(cls: type[_T], kind: KindOf) -> type[_T]:
    """Replace the public methods that a class itself defines by guarded ones, and return the class."""
    for name, value in list(vars(cls).items()):
        if name.startswith("_") or getattr(value, "__isabstractmethod__", False):
            continue
        if inspect.isfunction(value):
            setattr(cls, name, guarded_call(value, kind, method=True))
        elif isinstance(value, classmethod):
            checked = guarded_call(cast("Callable[..., Any]", value.__func__), kind, method=True)
            setattr(cls, name, classmethod(checked))
    return cls
