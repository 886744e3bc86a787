"""Whether arguments are of the kind that their annotations state: the part of validation that needs no thought.

Ranges are checked by the functions themselves (`checks.py`). Here a flag must be True or False and not a text that
Python takes for true, a number must not be nan, a population must be a population.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, SupportsFloat, cast

import numpy as np

#: Looks up a class by the name that stands in an annotation; None if it is no class that values are checked against.
Lookup = Callable[[str], "type | None"]
#: Annotations of several values, up to their brackets.
_SEQUENCES = ("Sequence", "tuple")
_ANYTHING = ("Any", "SupportsIndex", "")


@cache
def alternatives(annotation: str) -> tuple[str, ...]:
    """Parts of a union, ``"float | None"`` for one; a bar within brackets separates none."""
    parts, depth = [""], 0
    for letter in annotation:
        depth += (letter in "[(") - (letter in "])")
        if letter == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(part.strip() for part in parts)


def _number(value: Any) -> bool:
    if isinstance(value, (str, bytes, bool, np.bool_)):
        return False
    try:
        return not math.isnan(float(cast("SupportsFloat", value)))
    except (TypeError, ValueError, OverflowError):
        return False


def _array(value: Any) -> bool:
    try:
        numbers = np.asarray(value)
        if numbers.dtype.kind not in "fiuO" or (numbers.dtype.kind == "O" and numbers.ndim == 0):
            return False
        return not np.any(np.isnan(numbers.astype(np.float64)))
    except (TypeError, ValueError, OverflowError):  # ragged, or of things that are no numbers
        return False


def _sequence(value: Any, inner: str, lookup: Lookup) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim > 0 and _array(value)
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        return False
    kinds = alternatives(inner) if "," not in inner or "[" in inner else (inner.split(",")[0].strip(),)
    kinds = tuple(re.sub(r"^tuple\[(.*)\], \.\.\.$", r"tuple[\1]", kind) for kind in kinds)
    return all(is_kind(item, kinds, lookup) for item in value)


def is_kind(value: Any, kinds: Sequence[str], lookup: Lookup) -> bool:
    """Whether a value is of one of several kinds, as annotations name them."""
    for kind in kinds:
        name, _, inner = kind.partition("[")
        if _is_one(value, name, inner.removesuffix("]"), lookup):
            return True
    return False


def _is_one(value: Any, name: str, inner: str, lookup: Lookup) -> bool:
    if name == "None":
        return value is None
    if name == "bool":
        return isinstance(value, (bool, np.bool_))
    if name in ("float", "int"):
        return _number(value)
    if name in ("str", "Literal"):
        return isinstance(value, str)
    if name in ("ArrayLike", "NDArray"):
        return _array(value)
    if name in _SEQUENCES:
        return _sequence(value, inner.removesuffix(", ..."), lookup)
    if name == "Mapping":
        return isinstance(value, Mapping)
    if name == "Callable":
        return callable(value)
    if name in _ANYTHING:
        return True
    known = lookup(name)
    # What is no class is a name of literals, such as that of all forms of a bound.
    return isinstance(value, str) if known is None else _isinstance(value, known)


def _isinstance(value: Any, known: type) -> bool:
    if not getattr(known, "_is_protocol", False):
        return isinstance(value, known)
    members = {name for name in vars(known) if not name.startswith("_")} | set(
        getattr(known, "__annotations__", {})
    )
    return not isinstance(value, type) and all(hasattr(type(value), m) or hasattr(value, m) for m in members)


_WORDS = {
    "bool": "True or False",
    "float": "a number",
    "int": "a number",
    "str": "a text",
    "Literal": "a text",
    "ArrayLike": "numbers",
    "NDArray": "numbers",
    "Sequence": "a sequence of",
    "tuple": "a sequence of",
    "Mapping": "a mapping",
    "Callable": "a function",
    "None": "None",
}


def wanted(kinds: Sequence[str]) -> str:
    """What kinds are called in messages."""
    words = []
    for kind in kinds:
        name, _, inner = kind.partition("[")
        word = _WORDS.get(name, f"a {name}")
        if word.endswith("of"):
            word += " " + ("numbers" if re.match("float|int|tuple", inner) else inner.partition("]")[0])
        words.append(word)
    return " or ".join(dict.fromkeys(words))


def check_kinds(given: Mapping[str, Any], annotations: Mapping[str, str], lookup: Lookup) -> None:
    """Raise ValueError for the first argument that is not of the kind that its annotation states.

    Parameters
    ----------
    given : mapping
        Arguments by name.
    annotations : mapping
        Their annotations as text; arguments without one pass.
    lookup : callable
        The class that a name in an annotation stands for, or None.

    Raises
    ------
    ValueError
        Naming the argument, its value and what it must be.
    """
    for name, value in given.items():
        kinds = alternatives(annotations.get(name, "Any"))
        if not is_kind(value, kinds, lookup):
            raise ValueError(f"{name} must be {wanted(kinds)}, got {shown(value)}.")


def shown(value: Any) -> str:
    """A value in a message, not longer than fits one line."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer with more digits than Python writes
        text = f"a {type(value).__name__} too long to be written"
    return text if len(text) <= 80 else f"{text[:77]}..."
