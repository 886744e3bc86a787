"""Checks of the kinds and ranges of arguments, their annotations, and guards of functions and methods.

All checks accept Python and numpy scalars, and reject nan, text and booleans. Messages have the argument, the value and
the range. The annotation of an argument of a public function or guarded method, or of a field, declares its range:
``Annotated[kind, check]``. The guard of the function checks kind and range, passes the checked value on, and rejects
results with nan. Tests compare the configuration with the ranges and try values outside of them.
"""

from __future__ import annotations

import builtins
import dataclasses
import dis
import inspect
import math
import sys
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial, wraps
from importlib import import_module
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    SupportsFloat,
    SupportsIndex,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

import numpy as np

from shuffledp.lazy_api import offered_by

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
        raise ValueError(f"{name} must be {allowed}, got {value!r}.") from None


def check_positive(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float if it is positive and finite, else raise ValueError."""
    allowed = "a positive finite number"
    number = _as_float(name, value, allowed)
    if not 0 < number < math.inf:
        raise ValueError(f"{name} must be {allowed}, got {value!r}.")
    return number


def check_nonnegative(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float if it is finite and at least 0, else raise ValueError."""
    allowed = "a finite number >= 0"
    number = _as_float(name, value, allowed)
    if not 0 <= number < math.inf:
        raise ValueError(f"{name} must be {allowed}, got {value!r}.")
    return number


def check_open_unit(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float if it lies in (0, 1), for a delta in [`LEAST`, 1), else raise ValueError."""
    number = _as_float(name, value, "in (0, 1)")
    if not 0 < number < 1:
        raise ValueError(f"{name} must be in (0, 1), got {value!r}.")
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
        raise ValueError(f"{name} must be in [0, 1], got {value!r}.")
    return number


def check_rate(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float if it lies in (0, 1], else raise ValueError."""
    number = _as_float(name, value, "in (0, 1]")
    if not 0 < number <= 1:
        raise ValueError(f"{name} must be in (0, 1], got {value!r}.")
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
        raise ValueError(f"{name} must be {allowed}, got {value!r}.")
    return number


def check_count(name: str, value: SupportsFloat, least: int = 0, most: int = MOST) -> int:
    """Return `value` as an int if it is an integer in [least, most], else raise ValueError."""
    allowed = f"an integer in [{least}, {'2^53' if most == MOST else most}]"
    number = _as_float(name, value, allowed)
    beyond = type(value) is int and value > most  # by one, which a float does not tell
    if beyond or not (least <= number <= most and number == math.floor(number)):
        raise ValueError(f"{name} must be {allowed}, got {value!r}.")
    return int(number)


def check_choice(name: str, value: str, known: Sequence[str]) -> str:
    """Return `value` if it is one of `known`, else raise ValueError with the list of `known`."""
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}; got {value!r}.")
    return value


Positive = Annotated[float, check_positive]
NonNegative = Annotated[float, check_nonnegative]
Unit = Annotated[float, check_unit]
"""Share or probability in [0, 1]."""
OpenUnit = Annotated[float, check_open_unit]
"""Share or probability in (0, 1)."""
Eps = Positive
"""Privacy budget in nats."""
EpsAt = NonNegative
"""Point of a privacy profile in nats."""
Delta = OpenUnit
Rate = Annotated[float, check_rate]
"""Probability in (0, 1]."""
LocalEps = Annotated[float, check_local_eps]
"""Local budget in nats; infinite for a value without noise."""
Count = Annotated[int, check_count]
FromOne = Annotated[int, partial(check_count, least=1)]
FromTwo = Annotated[int, partial(check_count, least=2)]


def one_of(known: Sequence[str]) -> Callable[[str, str], str]:
    """Return the check of a choice, for ``Annotated[str, one_of(known)]``."""
    return partial(check_choice, known=known)


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
        inner = [each for each in get_args(hint) if each is not ...]
        return _sequence(inner, exactly=origin is tuple and len(inner) == len(get_args(hint)))
    if origin in _PLAIN:
        return _PLAIN[origin]
    if not isinstance(origin, type) or origin in (Any, object):
        return None
    return _Kind(
        lambda value: _isinstance(value, origin), getattr(origin, "in_words", f"a {origin.__name__}")
    )


def _sequence(inner: Sequence[Any], *, exactly: bool) -> _Kind:
    """Return the kind of a sequence with one inner kind for all items, or `exactly` one inner kind for each item."""
    kinds = [_kind_of(each) or _ANYTHING for each in inner]
    alike = len(set(inner)) == 1

    def fits(value: Any) -> bool:
        if isinstance(value, Iterator):  # to look at it would use it up
            return True
        if isinstance(value, (str, bytes, Mapping, set, frozenset)) or not isinstance(value, Collection):
            return False
        if getattr(value, "ndim", 1) == 0:
            return False
        if alike:  # without `exactly`, of what length is for the function to say
            return all(map(kinds[0].fits, value)) and (not exactly or len(value) == len(kinds))
        return len(value) == len(kinds) and all(
            kind.fits(item) for kind, item in zip(kinds, value, strict=True)
        )

    numbers = kinds[0] is _NUMBER or get_origin(inner[0]) is tuple
    words = "numbers" if numbers else getattr(inner[0], "__name__", kinds[0].words)
    return _Kind(fits, f"a sequence of {f'{len(kinds)} ' if exactly and alike else ''}{words}")


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


#: Errors of arithmetic and of memory, for arguments in range that cannot be evaluated.
TOO_FAR = "is beyond what can be evaluated in double precision and memory"
BEYOND = (ArithmeticError, MemoryError, RecursionError, np.linalg.LinAlgError)
_T = TypeVar("_T")


class BeyondPrecision(ValueError):  # noqa: N818  (names what is wrong)
    """Error for arguments in range that double precision or memory is not sufficient for."""


def _has_nan(value: Any) -> bool:
    if isinstance(value, float):
        return math.isnan(value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and bool(np.isnan(value).any())
    return isinstance(value, tuple) and any(map(_has_nan, value))


def is_stated(error: BaseException) -> bool:
    """Return True if a `raise` made an error, and not an operation of Python or NumPy on an unforeseen number."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return True
    frame = trace.tb_frame
    instruction = frame.f_code.co_code[trace.tb_lasti]
    from_numpy = frame.f_globals.get("__name__", "").partition(".")[0] in ("numpy", "scipy")
    return instruction == dis.opmap["RAISE_VARARGS"] and not from_numpy


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
        except BEYOND as error:
            raise BeyondPrecision(f"{call_of(args, kwargs)} {TOO_FAR}.") from error
        except ValueError as error:
            if is_stated(error):
                raise
            raise BeyondPrecision(f"{call_of(args, kwargs)} {TOO_FAR}.") from error
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
