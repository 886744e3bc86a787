"""Results of the library as rows: a quantity by name, with a number, a text or a few numbers as its value."""

import dataclasses
import hashlib
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any

import numpy as np

Scalar = bool | int | float | str | None
Value = Scalar | list[int] | list[float]
#: Quantities of one case by name.
Row = dict[str, Value]
#: Cases by name.
Rows = dict[str, Row]

#: Length up to which arrays are stored completely.
SHORT = 5
#: Length of a digest.
DIGITS = 16


def digest(content: bytes | str) -> str:
    """Return the first digits of the sha256 of a text or bytes."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:DIGITS]


def of_array(array: np.ndarray[Any, Any]) -> Row:
    """Describe an array: entirely if it is short, integers by sum and digest, floats by the first and two exact sums.

    An array of equal floats is described by one float.
    """
    flat = array.ravel()
    shape = "" if array.ndim == 1 and flat.size <= SHORT else f"[{'x'.join(map(str, array.shape))}]"
    if flat.dtype.kind in "biu":
        whole = flat.astype(np.int64)
        if flat.size <= SHORT:
            return {shape: whole.tolist()}
        return {shape: f"sum {whole.sum()}, sha256 {digest(whole.astype('<i8').tobytes())}"}
    if flat.dtype.kind != "f":
        return {shape: f"sha256 {digest(repr(flat.tolist()))}"}
    numbers = flat.astype(float)
    if flat.size <= SHORT:
        return {shape: numbers.tolist()}
    if (numbers == numbers[0]).all():
        return {f"{shape} all": float(numbers[0])}
    finite = np.where(np.isfinite(numbers), numbers, 0.0)
    ramp = 1 + np.arange(flat.size) / flat.size  # a permutation changes this sum
    row: Row = {shape: [float(numbers[0]), math.fsum(finite), math.fsum(finite * ramp)]}
    if not np.isfinite(numbers).all():
        row[f"{shape} finite"] = int(np.isfinite(numbers).sum())
    return row


def _plain(value: Any) -> Scalar:
    """Return a scalar as a Python object."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value)
    return None if value is None else str(value)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of an object by name."""
    if isinstance(value, Mapping):
        yield from ((str(key), one) for key, one in value.items())
    elif dataclasses.is_dataclass(value):
        names = [
            f.name for f in dataclasses.fields(value) if f.name != "calibrated_for"
        ]  # the question, no answer
        yield from ((name, getattr(value, name)) for name in names)
    else:
        yield from ((str(i), one) for i, one in enumerate(value))


def row_of(value: Any, name: str = "") -> Row:
    """Describe any result: fields of dataclasses and entries of mappings by name, arrays by `of_array`.

    Functions and names with a leading underscore are omitted.
    """
    if isinstance(value, list | tuple | set | frozenset):
        value = sorted(value) if isinstance(value, set | frozenset) else list(value)
        if not value:
            return {name: "()"}
        if all(isinstance(one, int | float | np.integer | np.floating) for one in value):
            value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.ndim > 0:
        return {_joined(name, key): one for key, one in of_array(value).items()}
    if isinstance(value, np.ndarray):
        return {name: _plain(value.item())}
    if hasattr(value, "get_delta_for_epsilon"):  # a distribution of another library
        value = {"delta": [value.get_delta_for_epsilon(eps) for eps in (0.0, 0.1, 0.5)]}
    if isinstance(value, list | Mapping) or dataclasses.is_dataclass(value):
        found: Row = {}
        for key, one in _parts(value):
            if not key.startswith("_") and (dataclasses.is_dataclass(one) or not callable(one)):
                found |= row_of(one, _joined(name, key))
        return found
    return {name: _plain(value)}


def _joined(name: str, key: str) -> str:
    """Join the names of a part; a shape adds no name."""
    return f"{name}.{key}" if name and key and not key.startswith("[") else name + key


def answer(call: Callable[[], Any], name: str = "") -> Row:
    """Describe the result of a call, or the error that it raises, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            row = row_of(call(), name)
        except Exception as error:  # whatever a call raises is its answer
            row = {_joined(name, "raises"): f"{type(error).__name__}: {error}"}
    told = dict.fromkeys(f"{one.category.__name__}: {one.message}" for one in caught)
    return row | ({_joined(name, "warns"): "; ".join(told)} if told else {})
