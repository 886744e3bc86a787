"""Whether arguments are of the kind that their annotations state: the part of validation that needs no thought.

Ranges are checked by the functions themselves (`checks.py`). Here a flag must be True or False and not a text that
Python takes for true, a number must not be nan, a population must be a population.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, SupportsFloat, cast

import numpy as np

#: Looks up a class by the name that stands in an annotation; None if it is a name of literals.
Lookup = Callable[[str], "type | None"]
Fits = Callable[[Any], bool]


@dataclass(frozen=True)
class Kind:
    """What an annotation asks for.

    Parameters
    ----------
    fits : callable
        Whether a value is of this kind.
    words : str
        What it is called in messages.
    """

    fits: Fits
    words: str


def _number(value: Any) -> bool:
    if type(value) is float:  # nearly always
        return value == value
    if isinstance(value, (str, bytes, bool, np.bool_)) or getattr(value, "ndim", 0) != 0:
        return False
    try:
        return not math.isnan(float(cast("SupportsFloat", value)))
    except (TypeError, ValueError, OverflowError):
        return False


def _flag(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _nothing(value: Any) -> bool:
    return value is None


def _anything(value: Any) -> bool:
    return True


def _generator(value: Any) -> bool:
    return isinstance(value, np.random.Generator)


def _side(value: Any) -> bool:
    return isinstance(value, str) and value in ("upper", "lower")


def _mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


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


_PLAIN = {
    "bool": Kind(_flag, "True or False"),
    "float": Kind(_number, "a number"),
    "int": Kind(_number, "a number"),
    "str": Kind(_text, "a name"),
    "Literal": Kind(_text, "a name"),
    "ArrayLike": Kind(_array, "numbers"),
    "NDArray": Kind(_array, "numbers"),
    "Side": Kind(_side, "'upper' or 'lower'"),
    "np.random.Generator": Kind(_generator, "a numpy.random.Generator"),
    "Mapping": Kind(_mapping, "a mapping"),
    "Callable": Kind(callable, "a function"),
    "None": Kind(_nothing, "None"),
    "Any": Kind(_anything, "anything"),
    "SupportsIndex": Kind(_anything, "an integer"),  # the function turns it into one, or refuses it
}


def _split(annotation: str, separator: str) -> Iterator[str]:
    """Parts of an annotation between separators that stand outside of brackets."""
    part, depth = "", 0
    for letter in annotation:
        depth += (letter in "[(") - (letter in "])")
        if letter == separator and depth == 0:
            yield part.strip()
            part = ""
        else:
            part += letter
    yield part.strip()


def kind_of(annotation: object, lookup: Lookup) -> Kind:
    """What an annotation asks for.

    Parameters
    ----------
    annotation : str or type
        Such as ``"float | None"`` or ``"Sequence[int]"``.
    lookup : callable
        The class that a name in the annotation stands for; None for a name of literals, which takes texts. A class may
        say what messages call it, in `in_words`.
    """
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    kinds = [_one(part, lookup) for part in _split(text, "|")]
    if len(kinds) == 1:
        return kinds[0]
    tests = [kind.fits for kind in kinds]
    words = " or ".join(dict.fromkeys(kind.words for kind in kinds))
    return Kind(lambda value: any(test(value) for test in tests), words)


def plain_kind(annotation: object) -> Kind | None:
    """What an annotation of numbers, flags and texts alone asks for; None if it names anything else."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    known = all(part in ("bool", "float", "int", "str", "None") for part in _split(text, "|"))
    return kind_of(text, lambda name: None) if known else None


def _one(annotation: str, lookup: Lookup) -> Kind:
    name, _, inner = annotation.partition("[")
    if name in ("Sequence", "tuple"):
        return _sequence([part for part in _split(inner.removesuffix("]"), ",") if part != "..."], lookup)
    if name in _PLAIN:
        return _PLAIN[name]
    known = lookup(name)
    if known is None:
        return _PLAIN["Literal"]
    return Kind(lambda value: _isinstance(value, known), getattr(known, "in_words", f"a {name}"))


def _sequence(inner: list[str], lookup: Lookup) -> Kind:
    """Of `inner`, one kind for all items, or one kind for each of a fixed number."""
    kinds = [kind_of(part, lookup) for part in inner]
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

    words = "numbers" if re.match("float|int|tuple", inner[0]) else inner[0].partition("[")[0]
    return Kind(fits, f"a sequence of {words}")


def _isinstance(value: Any, known: type) -> bool:
    if not getattr(known, "_is_protocol", False):
        return isinstance(value, known)
    members = {name for name in vars(known) if not name.startswith("_")} | set(known.__annotations__)
    return not isinstance(value, type) and all(hasattr(type(value), m) or hasattr(value, m) for m in members)


def check_kind(name: str, value: Any, kind: Kind) -> None:
    """Raise ValueError, naming the argument, its value and what it must be, if it is not of that kind."""
    if not kind.fits(value):
        raise ValueError(f"{name} must be {kind.words}, got {shown(value)}.")


def shown(value: Any) -> str:
    """A value in a message, not longer than fits one line."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer with more digits than Python writes
        text = f"a {type(value).__name__} too long to be written"
    return text if len(text) <= 80 else f"{text[:77]}..."
