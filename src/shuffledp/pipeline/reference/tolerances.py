"""Tolerances of all comparisons, and their reasons.

On the machine and with the versions of the reference every number has the same bytes, which digests check. On other
machines the mathematical library rounds differently in the last bit. Roots then differ within the finders' tolerance,
and a sampler may decide differently once, which replaces the rest of its random stream by another draw of the same law.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from shuffledp.pipeline.reference.comparator import Row, Tolerance, numbers_of, relative_difference

#: Relative tolerance: root finders stop at 1e-9 or closer, ten digits are stored, and errors depend smoothly on the
#: roots. A loss convolved with itself 100,000 times changes eps most, by 1e-8 without vector instructions.
CLOSED_FORM = 1e-7
#: Relative tolerance: messages depend on the position of a flat minimum, which is less precise than its value.
OPTIMUM = 1e-6
#: Absolute tolerance of a sum of probabilities, which rounds in the last bit of 1.
ROUNDED = 1e-14
#: Tolerance in standard errors of the difference of two independent means. Normal means exceed it with probability
#: 2e-9, so that ten thousand new draws raise a false alarm with probability 2e-5.
STANDARD_ERRORS = 6.0
#: Variance of the difference of the logarithms of two standard errors, times the number of repeats less 1. The variance
#: is half of the kurtosis less 1. The kurtosis is 15 for the squared error of one normal estimate, the heaviest of the
#: metrics.
HEAVIEST = 7.0
#: Absolute tolerance, 50 of 10,000 test images: training runs in single precision drift apart. Without vector
#: instructions no accuracy differs within 3,000 rounds; the rest is a margin for 100,000 rounds.
ACCURACY = 0.005
#: Relative tolerance, for the same reason; without vector instructions the loss changes by 1e-7 within 3,000 rounds.
LOSS = 0.01


def relative(most: float) -> Tolerance:
    """Return the tolerance of floats, or of lists of floats, up to a relative difference."""

    def within(column: str, before: Row, after: Row) -> bool:
        old, new = numbers_of(before[column], after[column])
        return bool(old) and all(map(lambda a, b: relative_difference(a, b) <= most, old, new))

    return Tolerance(f"relative {most:g}", within)


def _mean(column: str, before: Row, after: Row) -> bool:
    spread = math.hypot(*(row.get("standard_error", math.nan) for row in (before, after)))
    return abs(before["mean"] - after["mean"]) <= STANDARD_ERRORS * spread or CLOSE.within(
        column, before, after
    )


def _standard_error(column: str, before: Row, after: Row) -> bool:
    a, b, count = before[column], after[column], after["count"]
    likely = min(a, b) > 0 and abs(math.log(a / b)) <= STANDARD_ERRORS * math.sqrt(HEAVIEST / (count - 1))
    return likely or CLOSE.within(column, before, after)


def _profile(column: str, before: Row, after: Row) -> bool:
    return abs(before[column] - after[column]) <= ROUNDED or CLOSE.within(column, before, after)


IDENTICAL = Tolerance("identical", lambda column, before, after: False)
CLOSE, FLAT = relative(CLOSED_FORM), relative(OPTIMUM)
_EXACT = ("status", "reason", "guarantee", "reduction", "domain_size", "count", "participants")
#: Tolerance by column of the tables of experiments and of the curves of training runs.
COLUMNS: Mapping[str, Tolerance] = {
    **dict.fromkeys(_EXACT, IDENTICAL),
    **dict.fromkeys(("users_expected", "eps", "delta", "eps_local", "expected"), CLOSE),
    **dict.fromkeys(("messages_per_user", "extra_messages", "bits_per_user", "shuffler_messages"), FLAT),
    "mean": Tolerance(f"{CLOSE.says}, or {STANDARD_ERRORS:g} standard errors of the difference", _mean),
    "standard_error": Tolerance(
        f"{CLOSE.says}, or a factor exp({STANDARD_ERRORS:g} sqrt({HEAVIEST:g}/(count - 1)))", _standard_error
    ),
    "accuracy": Tolerance(
        f"absolute {ACCURACY:g}",
        lambda column, before, after: abs(before[column] - after[column]) <= ACCURACY,
    ),
    "loss": relative(LOSS),
}
#: Tolerance of delta at many eps, at some of which it is far below the delta of the budget.
PROFILE = Tolerance(f"{CLOSE.says}, or absolute {ROUNDED:g}", _profile)
#: Tolerances of the golden table: of answers, of answers that depend on the last bits of NumPy and SciPy, of positions
#: of flat optima, and of bounds of rounding errors.
ANSWER, LAST_BITS, SEARCHED, MARGIN = relative(1e-11), relative(1e-8), FLAT, relative(1e-3)
