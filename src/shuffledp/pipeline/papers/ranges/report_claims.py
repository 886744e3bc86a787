"""Published statements on reports by points, judged by the results of the study."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from shuffledp.pipeline.claims.case import Case
from shuffledp.pipeline.claims.outcomes import Verdict
from shuffledp.pipeline.claims.stated_claims import catalogue
from shuffledp.pipeline.formatters import finite, series, span, times
from shuffledp.pipeline.query import Array, grade, mapped, share

claim = catalogue("ranges")

#: Standard errors within which a released result agrees with a closed form.
AGREES = 4
#: Ratios of errors up to which two errors match, and match in part.
MATCHES, NEARLY = 1.1, 2.0
#: Ratio of errors from which an error is significantly worse.
WORSE = 1.5


@claim(
    "RA-01",
    method="subset_selection",
    released={1024: [(26.17, 0.10)], 22000: [(27.313, 0.016), (27.310, 0.016)]},
)
@claim("RA-02", method="pgr", released={1024: [(27.77, 0.45)], 22000: [(27.254, 0.019), (27.281, 0.019)]})
@claim("RA-03", method="pi_rappor", released={1024: [(27.90, 0.21)]})
@claim("RA-04", method="hadamard_response", released={22000: [(68.93, 0.12), (68.95, 0.19)]})
@claim("RA-05", method="recursive_hadamard", released={22000: [(36.68, 0.06), (36.23, 0.09)]})
def released_errors(case: Case, method: str, released: dict[int, Sequence[tuple[float, float]]]) -> Verdict:
    """Compare released errors, means with standard errors by number of values, with the closed form."""
    means, deviations, expected = [], [], []
    for values, results in released.items():
        closed = float(case("expected", method, experiment="local_reports", values=values))
        for mean, deviation in results:
            means.append(mean)
            deviations.append(deviation)
            expected.append(closed)
    apart = np.abs(np.subtract(means, expected)) / deviations
    return Verdict(
        f"{times(np.divide(means, expected))} the error",
        share(apart <= AGREES),
        f"{series(apart, 2)} standard errors from {series(dict.fromkeys(expected), 4)}; up to {AGREES} are accepted",
        f"standard errors of {span(deviations, 2)}",
    )


def ratios(case: Case, experiment: str, methods: Sequence[str], over: str) -> list[Array]:
    """Return the ratios of errors of methods to the error of another method, by number of values."""
    query = case.where(experiment=experiment)
    return [query("expected", method) / query("expected", over) for method in methods]


@claim("RA-06", experiment="local_reports")
@claim("RA-07", experiment="reports")
def least_error(case: Case, experiment: str) -> Verdict:
    """Judge whether projective geometry response has the error of subset selection."""
    error_ratios = finite(ratios(case, experiment, ["pgr"], "subset_selection"))
    return Verdict(
        f"{times(error_ratios)} the error",
        grade(strict=bool(error_ratios.max() <= MATCHES), weak=bool(error_ratios.max() <= NEARLY)),
        f"{series(error_ratios)} times by number of values; up to {MATCHES:g} is accepted, up to {NEARLY:g} in part",
    )


@claim("RA-08", experiment="local_reports")
@claim("RA-09", experiment="reports")
def worse_error(case: Case, experiment: str) -> Verdict:
    """Judge whether both Hadamard responses have a much larger error than projective geometry response."""
    error_ratios = finite(ratios(case, experiment, ["hadamard_response", "recursive_hadamard"], "pgr"))
    return Verdict(
        f"{times(error_ratios)} the error",
        share(error_ratios >= WORSE),
        f"from {WORSE:g} times on an error is significantly worse",
    )


@claim("RA-10")
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
