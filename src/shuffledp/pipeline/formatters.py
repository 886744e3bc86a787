"""Numbers as words of sentences, the same in claims, captions and pages; every function takes numbers and arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.numerics.rounding import Side, round_to_digits

#: Significant digits of a number in a sentence.
DIGITS = 3
#: Relative difference up to which numbers are equal: closed forms agree to rounding only.
SAME = 1e-9
#: Share from which a percentage is not 0.
_NOTHING = 1e-5
#: Relative changes: from the first on a factor is a change, up to the second a percentage says it better.
_HARDLY, _LITTLE = 5e-3, 0.05


def finite(*values: Any) -> NDArray[np.float64]:
    """Return all numbers that are no gaps (nan), in one list; raise ValueError if there is none."""
    parts = [*_parts(values)]
    all_numbers: NDArray[np.float64] = np.concatenate(parts) if parts else np.array([])
    numbers: NDArray[np.float64] = all_numbers[~np.isnan(all_numbers)]
    if not numbers.size:
        raise ValueError("No point has a number.")
    return numbers


def _parts(values: Any) -> Iterator[NDArray[np.float64]]:
    if isinstance(values, Iterable) and not hasattr(values, "__array__"):
        for part in values:
            yield from _parts(part)
    else:
        yield np.ravel(np.asarray(values, float))


def _single(value: Any) -> float:
    numbers = finite(value)
    if numbers.size > 1:
        raise ValueError(f"{numbers.size} numbers; this place needs a single number.")
    return float(numbers[0])


def number(value: Any, digits: int = DIGITS) -> str:
    """Return a number with significant digits and thousands separators; "1" if whole, "1.00" if about 1.

    Raises ValueError for an array with several numbers.
    """
    exact = _single(value)
    if exact == 0 or math.isinf(exact):
        return "0" if exact == 0 else "infinitely many"
    mantissa, _, exponent = f"{exact:.{digits - 1}e}".partition("e")
    rounded = float(f"{mantissa}e{exponent}")
    if not 1e-4 <= abs(rounded) < 1e9:
        return f"{mantissa}e{int(exponent)}"
    places = digits - 1 - math.floor(math.log10(abs(rounded)))  # of the rounded number: 0.9996 is 1.00
    whole = math.isclose(exact, round(exact), rel_tol=SAME)
    return f"{rounded:,.0f}" if whole else f"{rounded:,.{max(places, 0)}f}"


def integer(value: Any) -> str:
    """Return a whole number with all digits and thousands separators; raises the errors of `number`."""
    return f"{_single(value):,.0f}"


def span(values: Any, digits: int = DIGITS) -> str:
    """Return the range of the numbers, "1.2 to 55", or one number if both ends have the same text."""
    numbers = finite(values)
    low, high = number(numbers.min(), digits), number(numbers.max(), digits)
    if f"{numbers.min():.{digits - 1}e}" == f"{numbers.max():.{digits - 1}e}":
        # "1" and "1.00" are one number, of which the second says how well it is met
        return max(low, high, key=len)
    return f"{low} to {high}"


def _rounded(value: float, side: Side, digits: int) -> str:
    return number(round_to_digits(value, side, digits), digits)


def rounded_down(values: Any, digits: int = DIGITS) -> str:
    """Return the smallest number rounded down, a lower bound on all numbers."""
    return _rounded(float(finite(values).min()), "down", digits)


def rounded_up(values: Any, digits: int = DIGITS) -> str:
    """Return the largest number rounded up, an upper bound on all numbers."""
    return _rounded(float(finite(values).max()), "up", digits)


def percent(values: Any, digits: int = DIGITS) -> str:
    """Return shares in percent as `span`: "5.2 %", "11 to 14 %"."""
    return f"{span(_percentages(values), digits)} %"


def percents(values: Any) -> str:
    """Return shares in percent, in their order: "11, 14 %"."""
    return f"{series(_percentages(values))} %"


def _percentages(values: Any) -> NDArray[np.float64]:
    shares = finite(values)
    return 100 * np.where(
        abs(shares) < _NOTHING, 0, shares
    )  # a difference by rounding depends on the processor


def series(values: Any, digits: int = DIGITS) -> str:
    """Return numbers in their order: "11, 14"."""
    return ", ".join(number(value, digits) for value in finite(values))


def times(values: Any, digits: int = DIGITS) -> str:
    """Return ratios as `span`: "1.2 to 55 times"."""
    return f"{span(values, digits)} times"


def changes(before_over_after: Any, what: str) -> str:
    """Describe the change of a quantity, for example "lowers the error 2.10 to 4.80 times"."""
    ratios = finite(before_over_after)
    least, greatest = ratios.min(), ratios.max()
    change = max(abs(1 / least - 1), abs(1 / greatest - 1))
    if change < _HARDLY:
        return f"does not change {what}"
    if change < _LITTLE:
        return f"changes {what} by at most {rounded_up(100 * change, 2)} %"
    if least > 1 - _HARDLY:
        return f"lowers {what} {times(ratios) if least > 1 + _HARDLY else f'up to {times(greatest)}'}"
    if greatest < 1 + _HARDLY:
        return f"raises {what} {times(1 / ratios) if greatest < 1 - _HARDLY else f'up to {times(1 / least)}'}"
    return f"multiplies {what} by {span(1 / ratios)}"


def without_commas(name: str) -> str:
    """Return a name for a list: "correlated noise, 20 levels" is "correlated noise (20 levels)"."""
    first, _, option = name.partition(", ")
    return f"{first} ({option})" if option else first


def listed(names: Sequence[str | float]) -> str:
    """Return names or numbers as "a", "a and b" or "a, b and c"."""
    words = [name if isinstance(name, str) else f"{name:g}" for name in names]
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
