"""Checks of the kinds and ranges of arguments, from annotations.

A flag must be True or False, not a text; a number must not be nan; a population must be a population.
``Annotated[kind, check]`` declares a range, see :mod:`shuffledp.numerics.argument_ranges`.
"""

from __future__ import annotations

import builtins
import dataclasses
import inspect
import math
import sys
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, SupportsFloat, SupportsIndex, Union, cast, get_args, get_origin

import numpy as np

from shuffledp.lazy_api import offered_by
from shuffledp.numerics.argument_ranges import check_choice

#: Returns a value of an argument of that name, converted, or raises ValueError.
Check = Callable[[str, Any], Any]


@dataclass(frozen=True)
class _Kind:
    """Kind of a value: a predicate, and its name in messages."""

    fits: Callable[[Any], bool]
    words: str


class _Array:
    """Kind of array_like numbers, instead of ``ArrayLike``, a union of protocols."""


def _number(value: Any) -> bool:
    if type(value) is float:  # nearly always
        return value == value
    if isinstance(value, (str, bytes, bool, np.bool_)) or getattr(value, "ndim", 0) != 0:
        return False
    try:
        return not math.isnan(float(cast("SupportsFloat", value)))
    except (TypeError, ValueError, OverflowError):
        return False


def _array(value: Any) -> bool:
    if type(value) is float:
        return value == value
    try:
        numbers = np.asarray(value)
        if numbers.dtype.kind == "O":
            return all(map(_number, numbers.flat))
        return numbers.dtype.kind in "fiu" and not np.isnan(numbers).any()
    except (TypeError, ValueError, OverflowError):  # ragged, or of things that are no numbers
        return False


_ANYTHING = _Kind(lambda value: True, "anything")
_NUMBER = _Kind(_number, "a number")
_NUMBERS = _Kind(_array, "numbers")
_TEXT = _Kind(lambda value: isinstance(value, str), "a name")
_PLAIN: Mapping[Any, _Kind | None] = {
    bool: _Kind(lambda value: isinstance(value, (bool, np.bool_)), "True or False"),
    float: _NUMBER,
    int: _NUMBER,
    str: _TEXT,
    Literal: _TEXT,
    _Array: _NUMBERS,
    np.ndarray: _NUMBERS,
    np.random.Generator: _Kind(
        lambda value: isinstance(value, np.random.Generator), "a numpy.random.Generator"
    ),
    Mapping: _Kind(lambda value: isinstance(value, Mapping), "a mapping"),
    SupportsIndex: None,  # the function turns it into an integer, or refuses it
    Callable: _Kind(callable, "a function"),
    NoneType: _Kind(lambda value: value is None, "None"),
}


def _kind_of(hint: Any) -> _Kind | None:
    """Return the kind of an annotation; None if it admits all values."""
    origin = get_origin(hint) or hint
    if origin is Annotated:
        return _kind_of(hint.__origin__)
    if origin in (Union, UnionType):
        kinds = [_kind_of(each) for each in get_args(hint)]
        known = [kind for kind in kinds if kind is not None]
        if len(known) < len(kinds):
            return None
        words = " or ".join(dict.fromkeys(kind.words for kind in known))
        return _Kind(lambda value: any(kind.fits(value) for kind in known), words)
    if origin in (Sequence, tuple):
        return _sequence([each for each in get_args(hint) if each is not ...])
    if origin in _PLAIN:
        return _PLAIN[origin]
    if not isinstance(origin, type) or origin in (Any, object):
        return None
    return _Kind(
        lambda value: _isinstance(value, origin), getattr(origin, "in_words", f"a {origin.__name__}")
    )


def _sequence(inner: Sequence[Any]) -> _Kind:
    """Return the kind of a sequence with one inner kind for all items, or one inner kind for each item."""
    kinds = [_kind_of(each) or _ANYTHING for each in inner]
    alike = len(set(inner)) == 1

    def fits(value: Any) -> bool:
        if isinstance(value, Iterator):  # to look at it would use it up
            return True
        if isinstance(value, (str, bytes, Mapping, set, frozenset)) or not isinstance(value, Collection):
            return False
        if getattr(value, "ndim", 1) == 0:
            return False
        if alike:  # of what length is for the function to say
            return all(map(kinds[0].fits, value))
        return len(value) == len(kinds) and all(
            kind.fits(item) for kind, item in zip(kinds, value, strict=True)
        )

    numbers = kinds[0] is _NUMBER or get_origin(inner[0]) is tuple
    words = "numbers" if numbers else getattr(inner[0], "__name__", kinds[0].words)
    return _Kind(fits, f"a sequence of {words}")


def _isinstance(value: Any, known: Any) -> bool:
    if not getattr(known, "_is_protocol", False):
        return isinstance(value, known)
    members = {name for name in vars(known) if not name.startswith("_")} | set(known.__annotations__)
    return not isinstance(value, type) and all(hasattr(type(value), m) or hasattr(value, m) for m in members)


def check_of(hint: Any) -> Check | None:
    """Return the check of an evaluated annotation; None if it admits all values. ``Annotated[kind, check]`` has its
    check, with or without None as a value; ``Sequence[Annotated[..]]`` a check that returns a tuple of the checked
    items; a ``Literal`` of texts the check of a choice.
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        check: Check = hint.__metadata__[0]
        return check
    if origin is Literal:
        return partial(check_choice, known=inner)
    others = [each for each in inner if each is not NoneType]
    if origin in (Union, UnionType) and len(others) == 1:
        known = check_of(others[0])
        if getattr(known, "func", None) is not _of_kind:  # else messages say "or None"
            return known and partial(_unless_none, known)
    kind = _kind_of(hint)
    if kind is None:
        return None
    if origin in (Sequence, tuple) and len({*inner} - {...}) == 1 and get_origin(inner[0]) is Annotated:
        return partial(_each, kind, inner[0].__metadata__[0])
    return partial(_of_kind, kind)


def _of_kind(kind: _Kind, name: str, value: Any) -> Any:
    if not kind.fits(value):
        raise ValueError(f"{name} must be {kind.words}, got {shown(value)}.")
    return value


def _each(kind: _Kind, check: Check, name: str, value: Any) -> tuple[Any, ...]:
    return tuple([check(name, each) for each in _of_kind(kind, name, value)])


def _unless_none(check: Check, name: str, value: Any) -> Any:
    return None if value is None else check(name, value)


class _Names(dict[str, Any]):
    """Names in the annotations of a module; names imported for type checkers only are imported at their first use."""

    def __init__(self, module: Mapping[str, Any]) -> None:
        super().__init__(ArrayLike=_Array)
        self._module = module

    def __missing__(self, name: str) -> Any:
        if name in self._module or hasattr(builtins, name):
            raise KeyError(name)  # then these are asked
        home, original = offered_by(self._module["__file__"])[name]
        return getattr(import_module(home), original)


def checks_of(function: Callable[..., Any]) -> dict[str, Check | None]:
    """Return the check of each parameter from a function's annotations; None for a plug-in's invalid annotation."""
    module = inspect.unwrap(function).__globals__
    names = _Names(module)
    checks = {}
    for name, parameter in inspect.signature(function).parameters.items():
        try:
            hint = Any if parameter.annotation is parameter.empty else parameter.annotation
            checks[name] = check_of(eval(hint, module, names) if isinstance(hint, str) else hint)
        except Exception:
            if module["__name__"].startswith("shuffledp."):
                raise
            checks[name] = None
    return checks


@cache
def _field_checks(record: Hashable) -> tuple[tuple[str, Check], ...]:
    """Return names and checks of a dataclass's fields, evaluated in the module of the class that declares the field."""
    found = []
    for field in dataclasses.fields(cast("Any", record)):
        owner = next(
            cls for cls in cast("type", record).__mro__ if field.name in inspect.get_annotations(cls)
        )
        module = vars(sys.modules[owner.__module__])
        hint = eval(field.type, module, _Names(module)) if isinstance(field.type, str) else field.type
        if (check := check_of(hint)) is not None:
            found.append((field.name, check))
    return tuple(found)


def check_fields(record: Any, *, named: bool = False) -> None:
    """Check the fields of a frozen dataclass by their annotations, and store the converted values. Call it first in
    ``__post_init__``. With `named`, the messages of its ValueErrors begin with the class.
    """
    before = f"{type(record).__name__}: " if named else ""
    for name, check in _field_checks(cast("Hashable", type(record))):
        value = getattr(record, name)
        checked = check(before + name, value)
        if checked is not value:
            object.__setattr__(record, name, checked)


def shown(value: Any) -> str:
    """Return the text of a value for a message, cut to one line."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer with more digits than Python writes
        text = f"a {type(value).__name__} too long to be written"
    return text if len(text) <= 80 else f"{text[:77]}..."
