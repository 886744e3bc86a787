"""Checks of argument ranges, and their annotations. Messages have the argument, the value and the range.

All checks accept Python and numpy scalars, and reject nan, text and booleans. The annotation of an argument of a public
function or guarded method, or of a field, declares its range. The guard of the function checks the range and passes the
checked value on. Tests compare the configuration with the ranges and try values outside of them.
"""

import math
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, SupportsFloat

import numpy as np

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
