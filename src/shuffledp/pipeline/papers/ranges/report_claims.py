"""Published statements on reports by points, judged by the results of the study."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from shuffledp.pipeline.claims.case import Case, Verdict
from shuffledp.pipeline.formatters import finite, series, span, times
from shuffledp.pipeline.query import Array, grade, mapped, select, share

#: Standard errors within which a released result agrees with a closed form.
AGREES = 4
#: Ratios of errors up to which two errors match, and match in part.
MATCHES, NEARLY = 1.1, 2.0
#: Ratio of errors from which an error is significantly worse.
WORSE = 1.5


def released_errors(case: Case, method: str, released: Sequence[tuple[int, float, float]]) -> Verdict:
    """Compare released errors with the closed form; each has the number of values, the mean and its standard error."""
    values, means, deviations = np.transpose(released)
    closed = case("expected", method, experiment="local_reports")
    expected = [float(select(closed, values=number)) for number in values]
    apart = np.abs(means - expected) / deviations
    return Verdict(
        f"{times(means / expected)} the error",
        share(apart <= AGREES),
        f"{series(apart, 2)} standard errors from {series(dict.fromkeys(expected), 4)}; up to {AGREES} are accepted",
        f"standard errors of {span(deviations, 2)}",
    )


def ratios(case: Case, experiment: str, methods: Sequence[str], over: str) -> list[Array]:
    """Return the ratios of errors of methods to the error of another method, by number of values."""
    query = case.where(experiment=experiment)
    return [query("expected", method) / query("expected", over) for method in methods]


def least_error(case: Case, experiment: str) -> Verdict:
    """Judge whether projective geometry response has the error of subset selection."""
    error_ratios = finite(ratios(case, experiment, ["pgr"], "subset_selection"))
    return Verdict(
        f"{times(error_ratios)} the error",
        grade(strict=bool(error_ratios.max() <= MATCHES), weak=bool(error_ratios.max() <= NEARLY)),
        f"{series(error_ratios)} times by number of values; up to {MATCHES:g} is accepted, up to {NEARLY:g} in part",
    )


def worse_error(case: Case, experiment: str) -> Verdict:
    """Judge whether both Hadamard responses have a much larger error than projective geometry response."""
    error_ratios = finite(ratios(case, experiment, ["hadamard_response", "recursive_hadamard"], "pgr"))
    return Verdict(
        f"{times(error_ratios)} the error",
        share(error_ratios >= WORSE),
        f"from {WORSE:g} times on an error is significantly worse",
    )


def message_bits(case: Case) -> Verdict:
    """Compare the bits of a message with the logarithm of the number of values."""
    bits = case("bits_per_user", "pgr", experiment="reports")
    extra = finite(bits - mapped(lambda k: math.ceil(math.log2(k)), bits["values"]))
    return Verdict(
        f"{series(bits)} bits",
        grade(strict=bool(extra.max() <= 0), weak=bool(extra.max() <= 1)),
        f"for {series(bits['values'])} values, {series(extra)} more than the stated number; a space has more points "
        "than values, and one bit more is accepted in part",
    )
