"""Mistakes in the configuration: one line each, with the place, the value and the allowed values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

Place = tuple[str | int, ...]
#: Place of a mistake in a file, and the reason.
Mistake = tuple[Place, str]
#: Type of the error of a grid value that does not fit where its variable is used.
GRID = "grid"
T = TypeVar("T")


class ConfigurationError(ValueError):
    """Mistakes in the configuration, a line for each; the line names the place, the value and the allowed values."""

    def __init__(self, *messages: str) -> None:
        self.lines = tuple(dict.fromkeys(" ".join(message.split()) for message in messages))
        super().__init__("\n".join(self.lines))


def mistake(text: str, kind: str = "configuration", **context: Any) -> PydanticCustomError:
    """Return the error of a validator of the grammar."""
    return PydanticCustomError(kind, "{text}", {"text": text, **context})


@contextmanager
def merged_in(override: str) -> Iterator[None]:
    """Add the place of an override to the lines of an error that the body raises, unless a line names it."""
    try:
        yield
    except ConfigurationError as error:
        lines = [
            line if not override or override in line else f"{line} (with {override} merged in)"
            for line in error.lines
        ]
        raise ConfigurationError(*lines) from error.__cause__


def collected(calls: Iterable[Callable[[], T]]) -> list[T]:
    """Return the results of all calls; raise the configuration errors of all calls as one."""
    results: list[T] = []
    lines: list[str] = []
    for call in calls:
        try:
            results.append(call())
        except ConfigurationError as error:
            lines += error.lines
    if lines:
        raise ConfigurationError(*lines)
    return results


def overridden(overrides: Container[str], *targets: str) -> str:
    """Return the places of the overrides of experiments and training runs, for messages; empty if there are none."""
    return " and ".join(f"config: overrides.{target}" for target in targets if target in overrides)


def checked(
    grammar: Any, value: Any, line: Callable[[Place, str], str], context: dict[str, Any] | None = None
) -> Any:
    """Return the object of the grammar that a value describes; ``line`` writes the line of a mistake."""
    try:
        return _adapter(grammar).validate_python(value, context=context)
    except ValidationError as error:
        raise ConfigurationError(*(line(*problem) for problem in mistakes(error, value))) from None


def line_in_file(place: str) -> Callable[[Place, str], str]:
    """Return the function that writes the line of a mistake in a file or in a part of it."""
    return lambda where, text: f"{place}: {dotted(where)}{text}"


def line_in_part(place: str) -> Callable[[Place, str], str]:
    """Return the function that writes the line of a mistake in a part of a file, whose keys follow its place."""
    return lambda where, text: f"{place}.{dotted(where)}{text}" if where else f"{place}: {text}"


@cache
def _adapter(grammar: Any) -> TypeAdapter[Any]:
    return TypeAdapter(grammar)


def dotted(place: Place) -> str:
    """Return the prefix of a message for a place inside a file: ``experiments.adult.grid.eps[2]: ``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return f"{text.removeprefix('.')}: " if text else ""


def suggestion(value: Any, names: Iterable[str]) -> str:
    """Return the text `` Did you mean ..?`` with the closest known name; empty if no name is close."""
    close = get_close_matches(str(value), list(names), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def format_value(value: Any) -> str:
    """Return the text of a value for messages."""
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def unknown(name: Any, known: Iterable[Any], mistake: str, *, suggest: bool = True) -> str:
    """Return the error message ``mistake`` with the known names; empty if the name is one of them."""
    known = list(known)
    if name in known:
        return ""
    names = list(map(str, known))
    return f"{mistake}.{suggestion(name, names) if suggest else ''} Known: {', '.join(names) or 'none'}."


def require(name: Any, names: Iterable[Any], mistake: str, *, suggest: bool = True) -> None:
    """Raise a `ConfigurationError` that lists the known names if a name is unknown."""
    if wrong := unknown(name, names, mistake, suggest=suggest):
        raise ConfigurationError(wrong)


def wrong_key(keys: Iterable[str], needed: Iterable[str], known: Collection[str]) -> str:
    """Return the error message for an unknown or a missing key; empty if there is none."""
    for key in keys:
        if wrong := unknown(key, sorted(known), f"unknown key {format_value(key)}"):
            return wrong
    return next((f"lacks the key {key!r}." for key in needed if key not in keys), "")


def one_of(value: Any, names: Sequence[str]) -> str:
    """Return the error message for a value that is not one of the allowed values."""
    return f"{format_value(value)} is not one of {', '.join(names)}.{suggestion(value, names)}"


# -- explanations ----------------------------------------------------------------------------------------------


def mistakes(error: ValidationError, whole: Any) -> list[Mistake]:
    """Return the first mistake at each place of a value; the place of a wrong grid value is in the grid."""
    texts: dict[Place, str] = {}
    for problem in error.errors(include_url=False):
        place, context = _in_file(problem["loc"], whole), problem.get("ctx", {})
        if problem["type"] == GRID:
            place = (*place[: context["depth"]], "grid", context["variable"], context["index"])
        texts.setdefault(place, explained(problem))
    return list(texts.items())


def explained(error: ErrorDetails) -> str:
    """Return pydantic's message with the value, and a hint for a value that YAML reads as another type."""
    text, value = error["msg"].removeprefix("Input ").replace("should", "must", 1), error["input"]
    if error["type"] in ("configuration", GRID):
        return text
    near = suggestion(value, _quoted(error["ctx"]["expected"])) if error["type"] == "literal_error" else ""
    return f"{text}, got {format_value(value)}{_read_otherwise(error['type'], value) or '.'}{near}"


def _in_file(place: Place, value: Any) -> Place:
    """Return the place in the file, without pydantic's branches of unions."""
    keys: list[str | int] = []
    for part in place:
        inner: Any = dict(enumerate(value)) if isinstance(value, list) else value
        if isinstance(inner, Mapping) and part in inner:
            value = inner[part]
            keys.append(part)
    return tuple(keys)


def _quoted(text: str) -> list[str]:
    return re.findall(r"'([^']*)'", text)


def _read_otherwise(kind: str, value: Any) -> str:
    """Return the end of the message for a value that YAML reads as another type than meant."""
    if not kind.startswith(("float", "int")):
        return ""
    if isinstance(value, bool):
        return " (YAML reads yes, no, on and off as true and false)."
    if isinstance(value, float) and value.is_integer():
        return f": write {int(value)}."
    try:
        if isinstance(value, str) and math.isfinite(float(value)):
            return f" (YAML reads it as text): write {_as_yaml(value)}."
    except ValueError:
        pass
    return ""


def _as_yaml(text: str) -> str:
    """Return a number as text that YAML 1.1 does not read as text, such as 1.0e-6."""
    mantissa, mark, exponent = text.lower().partition("e")
    if not mark:
        return repr(float(text))
    signed = exponent if exponent[0] in "+-" else f"+{exponent}"
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{signed}"
