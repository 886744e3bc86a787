"""Checks of the kinds and ranges of arguments, which the annotations of arguments and fields declare.

All checks accept Python and numpy scalars, and reject nan, text and booleans. Messages have the argument, the value and
the range. ``Annotated[kind, check]`` declares a range; `checked` is the decorator that checks the arguments of a
function or method, and `check_fields` checks the fields of a dataclass. Tests compare the configuration with the ranges
and try values outside of them.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cache, partial, wraps
from itertools import repeat
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    ParamSpec,
    SupportsFloat,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from numpy.typing import ArrayLike

#: Beyond this a float64 no longer holds every integer.
MOST = 2**53
#: The least delta other than 0: sums of probabilities below it lose their digits, and searches for it do not end.
LEAST = sys.float_info.min


def _as_float(name: str, value: SupportsFloat, allowed: str) -> float:
    try:
        if isinstance(value, (str, bytes, bool, np.bool_)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be {allowed}, got {format_value(value)}.") from None


def check_positive(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float if it is positive and finite, else raise ValueError."""
    allowed = "a positive finite number"
    number = _as_float(name, value, allowed)
    if not 0 < number < math.inf:
        raise ValueError(f"{name} must be {allowed}, got {format_value(value)}.")
    return number


def check_nonnegative(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float if it is finite and at least 0, else raise ValueError."""
    allowed = "a finite number >= 0"
    number = _as_float(name, value, allowed)
    if not 0 <= number < math.inf:
        raise ValueError(f"{name} must be {allowed}, got {format_value(value)}.")
    return number


def check_open_unit(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float if it lies in (0, 1), for a delta in [`LEAST`, 1), else raise ValueError."""
    number = _as_float(name, value, "in (0, 1)")
    if not 0 < number < 1:
        raise ValueError(f"{name} must be in (0, 1), got {format_value(value)}.")
    if number < LEAST and name.endswith("delta"):
        raise ValueError(
            f"{name} must be at least {LEAST:.3g}, below which double precision ends, got {number!r}."
        )
    return number


def check_budget(eps: SupportsFloat, delta: SupportsFloat) -> tuple[float, float]:
    """Return eps > 0 and delta in (0, 1) as floats, else raise ValueError."""
    return check_positive("eps", eps), check_open_unit("delta", delta)


def check_unit(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float if it lies in [0, 1], else raise ValueError."""
    number = _as_float(name, value, "in [0, 1]")
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be in [0, 1], got {format_value(value)}.")
    return number


def check_rate(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float if it lies in (0, 1], else raise ValueError."""
    number = _as_float(name, value, "in (0, 1]")
    if not 0 < number <= 1:
        raise ValueError(f"{name} must be in (0, 1], got {format_value(value)}.")
    return number


def check_local_eps(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float if it is positive, finite or not, else raise ValueError."""
    number = _as_float(name, value, "positive")
    return number if number == math.inf else check_positive(name, value)


def check_between(name: str, value: SupportsFloat, least: float, most: float) -> float:
    """Return `value` as a float if it lies in [least, most], else raise ValueError."""
    allowed = f"in [{least:g}, {most:g}]".replace("e+0", "e").replace("e+", "e")
    number = _as_float(name, value, allowed)
    if not least <= number <= most:
        raise ValueError(f"{name} must be {allowed}, got {format_value(value)}.")
    return number


def check_count(name: str, value: SupportsFloat, least: int = 0, most: int = MOST) -> int:
    """Return `value` as an int if it is an integer in [least, most], else raise ValueError."""
    allowed = f"an integer in [{least}, {'2^53' if most == MOST else most}]"
    number = _as_float(name, value, allowed)
    beyond = type(value) is int and value > most  # by one, which a float does not tell
    if beyond or not (least <= number <= most and number == math.floor(number)):
        raise ValueError(f"{name} must be {allowed}, got {format_value(value)}.")
    return int(number)


#: Text, or one of the texts of a Literal.
T = TypeVar("T", bound=str)


def check_choice(name: str, value: str, choices: Sequence[T]) -> T:
    """Return `value` if it is one of `choices`, else raise ValueError with the list of `choices`."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {format_value(value)}.")
    return cast("T", value)


Positive = Annotated[float, check_positive]
NonNegative = Annotated[float, check_nonnegative]
#: Share or probability in [0, 1].
Unit = Annotated[float, check_unit]
#: Share or probability in (0, 1).
OpenUnit = Annotated[float, check_open_unit]
#: Privacy budget in nats.
Eps = Positive
#: Point of a privacy profile in nats.
EpsAt = NonNegative
Delta = OpenUnit
#: Probability in (0, 1].
Rate = Annotated[float, check_rate]
#: Local budget in nats; infinite for a value without noise.
LocalEps = Annotated[float, check_local_eps]
Count = Annotated[int, check_count]
FromOne = Annotated[int, partial(check_count, least=1)]
FromTwo = Annotated[int, partial(check_count, least=2)]


def one_of(choices: Sequence[str]) -> Callable[[str, str], str]:
    """Return the check of a choice, for ``Annotated[str, one_of(known)]``."""
    return partial(check_choice, choices=choices)


#: Returns a value of an argument of that name, converted, or raises ValueError.
Check = Callable[[str, Any], Any]
P = ParamSpec("P")
R = TypeVar("R")
#: Names of kinds in messages, if they are not the names of classes.
_WORDS = {str: "a name", bool: "True or False", Mapping: "a mapping", Callable: "a function"}


def check_number(name: str, value: Any) -> Any:
    """Return `value` if it is a number other than nan, else raise ValueError."""
    if type(value) is not float or value != value:
        number = _as_float(name, value, "a number")
        if math.isnan(number) or np.ndim(value) != 0:
            raise ValueError(f"{name} must be a number, got {format_value(value)}.")
    return value


def check_numbers(name: str, value: Any) -> Any:
    """Return `value` if it is array_like with numbers other than nan, else raise ValueError."""
    try:
        numbers = np.asarray(value)
        if numbers.dtype.kind == "O":  # integers beyond 64 bits
            numbers = numbers.astype(np.float64)
        valid = numbers.dtype.kind in "fiu" and not np.isnan(numbers).any()
    except (TypeError, ValueError, OverflowError):  # ragged, or of things that are no numbers
        valid = False
    if not valid:
        raise ValueError(f"{name} must be numbers, got {format_value(value)}.")
    return value


def check_points(name: str, value: Any) -> Any:
    """Return `value` if it is array_like with numbers >= 0, else raise ValueError."""
    if type(value) is not float or not value >= 0:
        numbers = np.asarray(check_numbers(name, value), np.float64)
        for number in numbers[numbers < 0][:1]:
            check_nonnegative(name, float(number))
    return value


#: Number or array of numbers other than nan.
RealArray = Annotated[ArrayLike, check_numbers]
#: Points of a privacy profile in nats: a number or an array of numbers >= 0.
EpsArray = Annotated[ArrayLike, check_points]


def check_kind(name: str, value: Any, kinds: tuple[Any, ...]) -> Any:
    """Return `value` if it is an object of one of the classes, else raise ValueError."""
    if not isinstance(value, (*kinds, np.bool_) if bool in kinds else kinds):
        words = [_WORDS.get(kind) or getattr(kind, "in_words", f"a {kind.__name__}") for kind in kinds]
        raise ValueError(f"{name} must be {' or '.join(words)}, got {format_value(value)}.")
    return value


def check_sequence(name: str, value: Any, items: Sequence[Check | None], *, fixed: bool) -> Any:
    """Return the checked items of a sequence as a tuple, else raise ValueError.

    If `fixed`, `items` has the check of each item, and otherwise one check of all items; None accepts every item.
    """
    unordered = isinstance(value, (str, bytes, Mapping, Set)) or getattr(value, "ndim", 1) == 0
    values = tuple(value) if isinstance(value, Iterable) and not unordered else None
    if values is None or (fixed and len(values) != len(items)):
        size = f" of {len(items)} items" if fixed else ""
        raise ValueError(f"{name} must be a sequence{size}, got {format_value(value)}.")
    pairs = zip(items if fixed else repeat(items[0]), values, strict=False)
    return tuple(each if check is None else check(name, each) for check, each in pairs)


def check_of(hint: Any) -> Check | None:
    """Return the check of an annotation; None if it declares no range and no class.

    ``Annotated[kind, check]`` has its check, a ``Literal`` its choices, ``X | None`` the check of X, a sequence that of
    its items, and a class checks that the value is one of its objects.
    """
    origin, inner = get_origin(hint) or hint, get_args(hint)
    if origin is Annotated:
        check: Check = hint.__metadata__[0]
        return check
    if origin is Literal:
        return partial(check_choice, choices=inner)
    if origin in (Union, UnionType):
        hints = [each for each in inner if each is not NoneType]
        either = check_of(hints[0]) if len(hints) == 1 else _check_of_classes(hints)
        return either and partial(_unless_none, either) if NoneType in inner else either
    if origin in (Sequence, tuple):
        items = [check_of(each) for each in inner if each is not ...]
        return partial(check_sequence, items=items, fixed=origin is tuple and ... not in inner)
    if origin in (int, float):
        return check_number
    if origin is np.ndarray:
        return check_numbers
    return _check_of_classes([hint])


def _check_of_classes(hints: Sequence[Any]) -> Check | None:
    """Return the check that a value is an object of one of these classes; None if other annotations are among them."""
    kinds = tuple(get_origin(hint) or hint for hint in hints)
    others = (Any, object, int, float, tuple, Sequence, np.ndarray)
    plain = all(isinstance(kind, type) and kind not in others for kind in kinds)
    return partial(check_kind, kinds=kinds) if plain else None


def _unless_none(check: Check, name: str, value: Any) -> Any:
    return None if value is None else check(name, value)


@cache
def checks_of(function: Callable[..., Any]) -> Mapping[str, Check]:
    """Return the checks that the annotations of a function's arguments, or of a dataclass's fields, declare."""
    hints = get_type_hints(inspect.unwrap(function), include_extras=True)
    return {name: check for name, hint in hints.items() if name != "return" and (check := check_of(hint))}


def checked_arguments(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return keyword arguments, checked and converted by the function's annotations."""
    checks = checks_of(function)
    return {name: checks[name](name, value) if name in checks else value for name, value in arguments.items()}


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function with checks of its arguments by its annotations, and of its result, which is never nan.

    ValueErrors name the argument of a wrong kind or range, or the call whose numbers overflow.
    """
    names = tuple(inspect.signature(function).parameters)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        checks = checks_of(function)
        positional = [
            checks[name](name, value) if name in checks else value
            for name, value in zip(names, args, strict=False)
        ]
        options = checked_arguments(function, kwargs) if kwargs else kwargs
        try:
            result = function(*positional, *args[len(positional) :], **options)  # type: ignore[arg-type]
        except OverflowError as error:
            raise ValueError(f"{_text(function, args, kwargs)} {TOO_FAR}.") from error
        if has_nan(result):
            raise ValueError(f"{_text(function, args, kwargs)} {TOO_FAR}.")
        return result

    return call


#: Predicate of arguments in range whose result cannot be evaluated.
TOO_FAR = "is beyond what can be evaluated in double precision"


def _text(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """Return a call in one line."""
    arguments = inspect.signature(function).bind(*args, **kwargs).arguments.items()
    return (
        f"{function.__qualname__}({', '.join(f'{name}={format_value(value)}' for name, value in arguments)})"
    )


def check_fields(record: Any, *, named: bool = False) -> None:
    """Check the fields of a frozen dataclass by their annotations, and store the converted values. Call it first in
    ``__post_init__``. With `named`, the messages of its ValueErrors begin with the class.
    """
    before = f"{type(record).__name__}: " if named else ""
    kind: Any = type(record)
    for name, check in checks_of(kind).items():
        value = getattr(record, name)
        result = check(before + name, value)
        if result is not value:
            object.__setattr__(record, name, result)


def format_value(value: Any) -> str:
    """Return the text of a value for a message, cut to one line."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer with more digits than Python writes
        text = f"a {type(value).__name__} too long to be written"
    return text if len(text) <= 80 else f"{text[:77]}..."


def has_nan(value: Any) -> bool:
    """Return True for nan, or an array or a tuple with nan."""
    if isinstance(value, float):
        return math.isnan(value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and bool(np.isnan(value).any())
    return isinstance(value, tuple) and any(map(has_nan, value))
