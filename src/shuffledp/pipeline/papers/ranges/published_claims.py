"""Published statements on reports by points and on trees of counts, judged by the results of the study."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from shuffledp.pipeline.claims.case import Case
from shuffledp.pipeline.claims.general_rules import counts
from shuffledp.pipeline.claims.outcomes import Verdict
from shuffledp.pipeline.claims.stated_claims import catalogue
from shuffledp.pipeline.formatters import finite, listed, number, series, span, times
from shuffledp.pipeline.query import Array, compare, grade, least, mapped, share, total

claim = catalogue("ranges")

#: Standard errors within which a released result agrees with a closed form.
AGREES = 4
#: Ratios of errors up to which two errors match, and match in part.
MATCHES, NEARLY = 1.1, 2.0
#: Ratio of errors from which an error is significantly worse.
WORSE = 1.5
#: Protocols of counts, in words.
NAMES = {
    "central_laplace": "a curator's Laplace noise",
    "correlated_noise": "correlated noise",
    "balls_into_bins": "balls into bins",
}


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
    """Return the errors of methods over those of another method, by number of values."""
    query = case.where(experiment=experiment)
    return [query("expected", method) / query("expected", over) for method in methods]


@claim("RA-06", experiment="local_reports")
@claim("RA-07", experiment="reports")
def least_error(case: Case, experiment: str) -> Verdict:
    """Judge whether projective geometry response has the error of subset selection."""
    found = finite(ratios(case, experiment, ["pgr"], "subset_selection"))
    return Verdict(
        f"{times(found)} the error",
        grade(strict=bool(found.max() <= MATCHES), weak=bool(found.max() <= NEARLY)),
        f"{series(found)} times by number of values; up to {MATCHES:g} is accepted, up to {NEARLY:g} in part",
    )


@claim("RA-08", experiment="local_reports")
@claim("RA-09", experiment="reports")
def worse_error(case: Case, experiment: str) -> Verdict:
    """Judge whether both Hadamard responses have a much larger error than projective geometry response."""
    found = finite(ratios(case, experiment, ["hadamard_response", "recursive_hadamard"], "pgr"))
    return Verdict(
        f"{times(found)} the error",
        share(found >= WORSE),
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


@claim("RA-11")
def consistency(case: Case) -> Verdict:
    """Compare least squares with sums of nodes of the same trees, for the curator."""
    query = case.where(experiment="trees")
    pairs = [
        [query("expected", f"central_laplace_{tree}{end}") for end in ("", "_sums")]
        for tree in ("two", "binary")
    ]
    points = total(compare(lower, upper) for lower, upper in pairs)
    return Verdict(f"{times([sums / squares for squares, sums in pairs])} less error", points, counts(points))


@claim("RA-12")
def branching(case: Case) -> Verdict:
    """Compare trees of two levels with binary trees, both with least squares, for the curator."""
    two, binary = (
        case("expected", f"central_laplace_{tree}", experiment="trees") for tree in ("two", "binary")
    )
    points = compare(two, binary)
    return Verdict(f"{times(binary / two)} less error", points, counts(points))


@claim("RA-13")
def trees_over_histograms(case: Case) -> Verdict:
    """Compare the best trees with histograms for prefixes, over the number of values."""
    query, first, points = case.where(experiment="prefixes"), [], []
    for name, words in NAMES.items():
        tree, flat = (query("expected", f"{name}{end}") for end in ("_tree", ""))
        points.append(compare(tree, flat))
        lower = flat["values"].where(tree < flat)
        first.append(
            f"{words} from {number(lower.min())} values on" if lower.notnull().any() else f"{words} never"
        )
    found = total(points)
    return Verdict(f"less error at {found}", found, f"{counts(found)}; {listed(first)}")


@claim("RA-14")
def wavelets(case: Case) -> Verdict:
    """Judge whether wavelets have less error at the smallest eps, and trees at the largest, with visible counts."""
    query = case.where(experiment="trees")
    wavelet = query("expected", "balls_into_bins_wavelet")
    tree = least(query("expected", f"balls_into_bins_{part}") for part in ("two", "binary"))
    small, large = (compare(wavelet.sel(eps=eps), tree.sel(eps=eps)) for eps in _ends(wavelet))
    parts = (small.every, large.none and not large.tied)
    return Verdict(
        f"{times(wavelet / tree)} the error of a tree",
        grade(strict=all(parts), weak=any(parts)),
        f"wavelets have less error at {small.pro} of {small.total} points with the smallest eps, and at {large.pro} of "
        f"{large.total} with the largest, for counts that the analyzer sees",
    )


def _ends(values: Array) -> tuple[float, float]:
    return float(values["eps"].min()), float(values["eps"].max())


@claim("RA-15")
def split_users(case: Case) -> Verdict:
    """Compare one level from each user, with the whole budget, with all levels from every user."""
    query = case.where(experiment="trees")
    kinds = ("central_laplace", "balls_into_bins")
    pairs = [[query("expected", f"{kind}_{part}") for part in ("split", "two")] for kind in kinds]
    points = total(compare(lower, upper) for lower, upper in pairs)
    return Verdict(
        f"{times([split / both for split, both in pairs])} the error",
        points,
        f"{counts(points)}; the sampling of the users outweighs the noise after shuffling",
    )
