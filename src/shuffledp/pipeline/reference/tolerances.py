"""Tolerances of columns on machines other than the reference's, and their reasons.

On the machine and with the versions of the reference every number has the same bytes, which digests check. On other
machines the mathematical library rounds differently in the last bit. Roots then differ within the finders' tolerance,
and a sampler may decide differently once, which replaces the rest of its random stream by another draw of the same law.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from shuffledp.pipeline.reference.snapshot import CLAIMED, COST, TEXTS, Row

CLOSED_FORM = 1e-7
"""Relative tolerance: root finders stop at 1e-9 or closer, ten digits are stored, and errors depend smoothly on the
roots. A loss convolved with itself 100,000 times changes eps most, by 1e-8 without vector instructions."""
OPTIMUM = 1e-6
"""Relative tolerance: messages depend on the position of a flat minimum, which is less precise than its value."""
STANDARD_ERRORS = 6.0
"""Tolerance in standard errors of the difference of two independent means. Normal means exceed it with probability
2e-9, so that ten thousand new draws raise a false alarm with probability 2e-5."""
HEAVIEST = 7.0
"""Variance of the difference of the logarithms of two standard errors, times the number of repeats less 1. The variance
is half of the kurtosis less 1. The kurtosis is 15 for the squared error of one normal estimate, the heaviest of the
metrics."""
ACCURACY = 0.005
"""Absolute tolerance, 50 of 10,000 test images: training runs in single precision drift apart. Without vector
instructions no accuracy differs within 3,000 rounds; the rest is a margin for 100,000 rounds."""
LOSS = 0.01
"""Relative tolerance, for the same reason; without vector instructions the loss changes by 1e-7 within 3,000 rounds."""

Within = Callable[[Row, Row], bool]


@dataclass(frozen=True)
class Tolerance:
    """Permitted difference in a column: a description, and a test of the reference's row and the other row."""

    says: str
    within: Within


def _number(row: Row, column: str) -> float:
    return float(row[column]) if row[column] else math.nan


def _close(column: str, relative: float = 0.0, absolute: float = 0.0) -> Within:
    def within(reference: Row, found: Row) -> bool:
        a, b = _number(reference, column), _number(found, column)
        return a == b or abs(a - b) <= max(absolute, relative * max(abs(a), abs(b)))  # nan is within nothing

    return within


def _mean(reference: Row, found: Row) -> bool:
    if _close("mean", CLOSED_FORM)(reference, found):
        return True
    spread = math.hypot(_number(reference, "standard_error"), _number(found, "standard_error"))
    return abs(_number(reference, "mean") - _number(found, "mean")) <= STANDARD_ERRORS * spread


def _standard_error(reference: Row, found: Row) -> bool:
    if _close("standard_error", CLOSED_FORM)(reference, found):
        return True
    a, b, count = (*(_number(row, "standard_error") for row in (reference, found)), _number(found, "count"))
    if not (a > 0 and b > 0 and count > 1):
        return False
    return abs(math.log(a / b)) <= STANDARD_ERRORS * math.sqrt(HEAVIEST / (count - 1))


_EXACT = Tolerance("identical", lambda reference, found: False)


def _relative(most: float, *columns: str) -> dict[str, Tolerance]:
    return {column: Tolerance(f"relative {most:g}", _close(column, most)) for column in columns}


OF_CELLS: Mapping[str, Tolerance] = {
    **dict.fromkeys(TEXTS, _EXACT),
    **_relative(CLOSED_FORM, *CLAIMED),
    **_relative(OPTIMUM, *COST),
    **_relative(CLOSED_FORM, "expected"),
    "mean": Tolerance(
        f"relative {CLOSED_FORM:g}, or {STANDARD_ERRORS:g} standard errors of the difference", _mean
    ),
    "standard_error": Tolerance(
        f"relative {CLOSED_FORM:g}, or a factor exp({STANDARD_ERRORS:g} sqrt({HEAVIEST:g}/(count - 1)))",
        _standard_error,
    ),
    "count": _EXACT,
}
"""Tolerance by column of the tables of experiments."""
OF_CURVES: Mapping[str, Tolerance] = {
    "accuracy": Tolerance(f"absolute {ACCURACY:g}", _close("accuracy", absolute=ACCURACY)),
    **_relative(LOSS, "loss"),
    "participants": _EXACT,
}
"""Tolerance by column of the curves of training runs."""
