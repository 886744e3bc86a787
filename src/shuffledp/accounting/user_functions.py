"""Checks of the values that user-defined functions and objects return to the accounting.

A density, or a privacy profile of another package, is evaluated at many points. Without a check, a nan, a negative
value or a wrong shape would cause a meaningless result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.numerics.argument_ranges import format_value
from shuffledp.optional_dependencies import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: Largest distance of a probability outside [0, 1] that counts as rounding.
_ROUNDING = 1e-9


def is_foreign(value: object) -> bool:
    """Return whether an object's class is defined outside this library, so that its results need checks."""
    return not type(value).__module__.startswith("shuffledp.")


def call_function(name: str, function: Callable[..., Any], *args: Any) -> Any:
    """Return a function's result; raise ValueError with its name and reason if it raises any error but Infeasible."""
    try:
        return function(*args)
    except (Infeasible, MissingExtra):
        raise
    except Exception as error:
        text = " ".join(str(error).split())
        raise ValueError(f"{name} raised {type(error).__name__}: {text[:200]}.") from error


def numbers_of(
    name: str, answer: object, shape: tuple[int, ...], low: float = -np.inf, high: float = np.inf
) -> NDArray[np.float64]:
    """Return a user-defined function's result as floats of the given shape.

    Numbers outside [low, high] by rounding only are clipped. Raises ValueError with the function's name if the result
    is not numeric, has another shape or a nan, or is out of range.
    """
    try:
        kind = np.asarray(answer).dtype.kind
        numbers = np.asarray(answer, np.float64) if kind in "fiu" else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None:
        raise ValueError(f"{name} must return numbers, got {format_value(answer)}.")
    if numbers.shape != shape:
        raise ValueError(f"{name} must return numbers of the shape {shape}, got the shape {numbers.shape}.")
    if np.isnan(numbers).any():
        raise ValueError(f"{name} must return numbers, got nan among {format_value(answer)}.")
    least, most = low - _ROUNDING, high + _ROUNDING
    outside = numbers[(numbers < least) | (numbers > most)]
    if outside.size:
        raise ValueError(f"{name} must return numbers in [{low:g}, {high:g}], got {outside[0]:g}.")
    return np.asarray(np.clip(numbers, low, high))
