"""YAML files and JSON schemas, read so that every mistake is one line with its place."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.validators import extend
from referencing import Registry, Resource

Place = tuple[str | int, ...]


class ConfigurationError(ValueError):
    """The configuration cannot be run; the message names the place, the value and what is allowed, in one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


# -- reading ---------------------------------------------------------------------------------------------------


class _Loader(yaml.SafeLoader):
    """YAML that refuses a key given twice (plain YAML lets the last one win) and keys that are not text."""


def _named_mapping(loader: _Loader, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
    seen: set[str] = set()
    for key_node, _ in node.value:
        if key_node.tag == "tag:yaml.org,2002:merge":  # <<: *shared
            continue
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            raise _mistake(f"the key {key!r} is not text: write it in quotes", key_node)
        if key in seen:
            raise _mistake(f"the key {key!r} is given twice", key_node)
        seen.add(key)
    return yaml.SafeLoader.construct_mapping(loader, node, deep=deep)


def _mistake(problem: str, node: yaml.Node) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _named_mapping)


def read_yaml(path: Path) -> Any:
    """Content of a YAML file; a missing or malformed file is a `ConfigurationError` that names file and line."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except FileNotFoundError:
        raise ConfigurationError(f"{path}: no such file.") from None
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigurationError(f"{path}{line}: {error.problem}.") from None
    except (OSError, ValueError, yaml.YAMLError) as error:  # no text, no permission, the 31st of February
        raise ConfigurationError(f"{path}: cannot be read as YAML: {error}") from None


# -- schemas ---------------------------------------------------------------------------------------------------


def _is_integer(_: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_Validator = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer)
)


@cache
def _validator(schemas: Path, reference: str) -> Any:
    contents = {p.name: read_yaml(p) for p in sorted(schemas.glob("*.schema.yaml"))}
    known: Registry[Any] = Registry().with_resources(
        (key, Resource.from_contents(value)) for key, value in contents.items()
    )
    return _Validator({"$ref": reference}, registry=known)


def first_error(value: Any, schemas: Path, reference: str) -> tuple[Place, str] | None:
    """Where a value breaks a schema, and how; None if it does not.

    Parameters
    ----------
    value : Any
        Parsed configuration, grid variables already replaced.
    schemas : Path
        Folder of the schemas.
    reference : str
        File name of the schema, or a part of it, as in ``paper.schema.yaml#/$defs/grid``.
    """
    for place, number in _numbers(value):
        if not math.isfinite(number):
            return place, f"must be a finite number, got {number!r}."
    error = best_match(_validator(schemas, reference).iter_errors(value))
    return None if error is None else (tuple(error.absolute_path), _explained(error))


def check_schema(value: Any, schemas: Path, reference: str, place: str) -> None:
    """Raise a `ConfigurationError` that starts with ``place`` if a value breaks a schema (see `first_error`)."""
    error = first_error(value, schemas, reference)
    if error is not None:
        raise ConfigurationError(f"{place}: {dotted(error[0])}{error[1]}")


def dotted(place: Place) -> str:
    """A place inside a file, as messages start with it: ``experiments.adult.grid.eps[2]: ``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return f"{text.removeprefix('.')}: " if text else ""


def suggestion(value: Any, known: Iterable[str]) -> str:
    """`` Did you mean ..?`` with the closest known name, or nothing."""
    close = get_close_matches(str(value), list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


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

_NAMES = {"object": "a mapping", "array": "a list", "string": "text", "integer": "an integer"}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def _looks_like_number(value: Any) -> bool:
    try:
        return isinstance(value, str) and math.isfinite(float(value))
    except ValueError:
        return False


def _unknown_key(error: ValidationError) -> str:
    schema, value = cast("dict[str, Any]", error.schema), cast("dict[str, Any]", error.instance)
    known = sorted(schema.get("properties", {}))
    unknown = next(key for key in value if key not in known)
    return f"unknown key {unknown!r}.{suggestion(unknown, known)} Known: {', '.join(known)}."


def _wrong_type(error: ValidationError) -> str:
    value, bound = cast("Any", error.instance), cast("Any", error.validator_value)
    wanted = [bound] if isinstance(bound, str) else list(bound)
    expected = " or ".join(_NAMES.get(w, f"a {w}") for w in wanted)
    if {"number", "integer"} & set(wanted):
        if _looks_like_number(value):
            return (
                f"expected a number, got the text {value!r} (YAML reads it as text): write {_as_yaml(value)}."
            )
        if isinstance(value, bool):
            return f"expected {expected}, got {value!r} (YAML reads yes, no, on and off as true and false)."
        if isinstance(value, float) and value.is_integer():
            return f"expected {expected}, got {value!r}: write {int(value)}."
    return f"expected {expected}, got {_shown(value)}."


def _as_yaml(text: str) -> str:
    """A number that YAML 1.1 took for text, written so that it takes it for a number."""
    mantissa, mark, exponent = text.lower().partition("e")
    if not mark:
        return repr(float(text))
    signed = exponent if exponent[0] in "+-" else f"+{exponent}"
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{signed}"


def _explained(error: ValidationError) -> str:
    value, bound = cast("Any", error.instance), cast("Any", error.validator_value)
    explanations: dict[str, Callable[[], str]] = {
        "additionalProperties": lambda: _unknown_key(error),
        "type": lambda: _wrong_type(error),
        "exclusiveMinimum": lambda: f"must be greater than {bound}, got {value!r}.",
        "minimum": lambda: f"must be at least {bound}, got {value!r}.",
        "exclusiveMaximum": lambda: f"must be less than {bound}, got {value!r}.",
        "maximum": lambda: f"must be at most {bound}, got {value!r}.",
        "enum": lambda: (
            f"{_shown(value)} is not one of {', '.join(map(str, bound))}.{suggestion(value, map(str, bound))}"
        ),
        "required": lambda: f"lacks the key {next(k for k in bound if k not in value)!r}.",
        "minItems": lambda: "must not be empty." if not value else f"needs {bound} values, got {value!r}.",
        "minLength": lambda: "must not be empty.",
        "minProperties": lambda: "must not be empty.",
        "uniqueItems": lambda: f"names a value twice: {_shown(value)}.",
        "contains": lambda: f"must contain {bound.get('const')!r}, got {_shown(value)}.",
        "pattern": lambda: f"{_shown(value)} does not have the form {bound}.",
    }
    explain = explanations.get(str(error.validator))
    return explain() if explain else f"{error.message}."
