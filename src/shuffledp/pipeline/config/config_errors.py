"""Errors in the configuration: one line each, with the place, the value and the allowed values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

Place = tuple[str | int, ...]


class ConfigurationError(ValueError):
    """Error of the configuration; the message names the place, the value and the allowed values, in one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


@contextmanager
def merged_in(override: str) -> Iterator[None]:
    """Add the place of an override to the message of an error that the body raises, unless the message names it."""
    try:
        yield
    except ConfigurationError as error:
        if not override or override in str(error):
            raise
        raise ConfigurationError(f"{error} (with {override} merged in)") from error.__cause__


def overridden(overrides: Mapping[str, Any], *targets: str) -> str:
    """Return the places of the overrides of experiments and training runs, for messages; empty if there are none."""
    return " and ".join(f"config: overrides.{target}" for target in targets if overrides.get(target))


def first_error(value: Any, grammar: Any) -> tuple[Place, str] | None:
    """Return the place where a value violates a grammar type, and the reason; None for a valid value."""
    for place, number in _numbers(value):
        if not math.isfinite(number):
            return place, f"must be a finite number, got {number!r}."
    try:
        _adapter(grammar).validate_python(value)
    except ValidationError as error:
        found = [_explained(e, value) for e in error.errors(include_url=False)]
        return min(found, key=lambda one: len(one[0]))  # the first of the outermost
    return None


def check(value: Any, grammar: Any, place: str) -> None:
    """Raise a `ConfigurationError` that starts with ``place`` if a value violates a grammar."""
    error = first_error(value, grammar)
    if error is not None:
        raise ConfigurationError(f"{place}: {dotted(error[0])}{error[1]}")


def part_error(place: str, where: Place, text: str) -> ConfigurationError:
    """Return the error of a part of a file; the message has the place of the part and the place inside it."""
    return ConfigurationError(f"{place}.{dotted(where)}{text}" if where else f"{place}: {text}")


@cache
def _adapter(grammar: Any) -> TypeAdapter[Any]:
    return TypeAdapter(grammar)


def dotted(place: Place) -> str:
    """Return the prefix of a message for a place inside a file: ``experiments.adult.grid.eps[2]: ``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return f"{text.removeprefix('.')}: " if text else ""


def suggestion(value: Any, known: Iterable[str]) -> str:
    """Return the text `` Did you mean ..?`` with the closest known name; empty if no name is close."""
    close = get_close_matches(str(value), list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def shown(value: Any) -> str:
    """Return the text of a value for messages."""
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def one_of(value: Any, known: Sequence[str]) -> str:
    """Return the error message for a value that is not one of the allowed values."""
    return f"{shown(value)} is not one of {', '.join(known)}.{suggestion(value, known)}"


def _numbers(value: Any, place: Place = ()) -> Iterator[tuple[Place, float]]:
    if isinstance(value, float):
        yield place, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _numbers(inner, (*place, key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _numbers(inner, (*place, index))


# -- explanations ----------------------------------------------------------------------------------------------

_EXPECTED = {
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "list_type": "a list",
    "string_type": "text",
    "int_type": "an integer",
    "float_type": "a number",
    "bool_type": "true or false",
}

_BOUNDS = {
    "greater_than": ("greater than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}


def _explained(error: ErrorDetails, whole: Any) -> tuple[Place, str]:
    place = _in_file(error["loc"], whole)
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        key = context["discriminator"].strip("'").removesuffix("()")
        if not isinstance(value, Mapping):
            return place, f"expected a mapping, got {shown(value)}."
        if key not in value:
            return place, f"lacks the key {key!r}."
        known = [tag for tag in _quoted(context["expected_tags"]) if not tag.startswith("{")]
        return (*place, key), one_of(value[key], known)
    if kind in _EXPECTED:
        return place, _wrong_type(value, _EXPECTED[kind])
    if kind in _BOUNDS:
        words, bound = _BOUNDS[kind]
        return place, f"must be {words} {context[bound]:g}, got {value!r}."
    others: dict[str, Callable[[], str]] = {
        "literal_error": lambda: one_of(value, _quoted(context["expected"])),
        "too_short": lambda: (
            f"needs {context['min_length']} values, got {value!r}." if value else "must not be empty."
        ),
        "string_too_short": lambda: "must not be empty.",
        "string_pattern_mismatch": lambda: f"{shown(value)} does not have the form {context['pattern']}.",
    }
    return place, others[kind]() if kind in others else error["msg"]


def _in_file(place: Place, value: Any) -> Place:
    """Return the place in the file, without pydantic's branches of unions."""
    found: list[str | int] = []
    for part in place:
        if not _leads_on(value, part):
            continue
        value = value[part]
        found.append(part)
    return tuple(found)


def _leads_on(value: Any, part: str | int) -> bool:
    if isinstance(value, Mapping):
        return part in value
    return isinstance(value, list) and isinstance(part, int) and part < len(value)


def _quoted(text: str) -> list[str]:
    return re.findall(r"'([^']*)'", text)


def _looks_like_number(value: Any) -> bool:
    try:
        return isinstance(value, str) and math.isfinite(float(value))
    except ValueError:
        return False


def _wrong_type(value: Any, expected: str) -> str:
    if expected in ("a number", "an integer"):
        if _looks_like_number(value):
            return (
                f"expected a number, got the text {value!r} (YAML reads it as text): write {_as_yaml(value)}."
            )
        if isinstance(value, bool):
            return f"expected {expected}, got {value!r} (YAML reads yes, no, on and off as true and false)."
        if isinstance(value, float) and value.is_integer():
            return f"expected {expected}, got {value!r}: write {int(value)}."
    return f"expected {expected}, got {shown(value)}."


def _as_yaml(text: str) -> str:
    """Return a number as text that YAML 1.1 does not read as text, such as 1.0e-6."""
    mantissa, mark, exponent = text.lower().partition("e")
    if not mark:
        return repr(float(text))
    signed = exponent if exponent[0] in "+-" else f"+{exponent}"
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{signed}"
