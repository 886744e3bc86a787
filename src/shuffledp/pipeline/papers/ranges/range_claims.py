"""Published statements on reports by points and on trees of counts, judged by the results of the study."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from shuffledp.pipeline.claims.case import Case, Verdict
from shuffledp.pipeline.claims.general_rules import counts
from shuffledp.pipeline.formatters import finite, listed, number, series, span, times
from shuffledp.pipeline.query import Array, Names, compare, grade, least, mapped, select, share, total

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
    expected = [float(select(closed, values=size)) for size in values]
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


# -- trees of counts --------------------------------------------------------------------------------------------------

#: Protocols of counts, in words.
NAMES = {
    "central_laplace": "a curator's Laplace noise",
    "correlated_noise": "correlated noise",
    "balls_into_bins": "balls into bins",
}


def less_error(case: Case, pairs: Sequence[Names]) -> Verdict:
    """Compare two trees of a curator by their error: the first of each pair has less."""
    query = case.where(experiment="trees")
    sides = [[query("expected", f"central_laplace_{tree}") for tree in pair] for pair in pairs]
    points = total(compare(lower, upper) for lower, upper in sides)
    return Verdict(f"{times([upper / lower for lower, upper in sides])} less error", points, counts(points))


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
    overall = total(points)
    return Verdict(f"less error at {overall}", overall, f"{counts(overall)}; {listed(first)}")


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
