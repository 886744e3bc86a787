"""Published statements on trees of counts, judged by the results of the study."""

from __future__ import annotations

from shuffledp.pipeline.claims.case import Case, Verdict
from shuffledp.pipeline.claims.general_rules import counts
from shuffledp.pipeline.formatters import listed, number, times
from shuffledp.pipeline.query import Array, compare, grade, least, total

#: Protocols of counts, in words.
NAMES = {
    "central_laplace": "a curator's Laplace noise",
    "correlated_noise": "correlated noise",
    "balls_into_bins": "balls into bins",
}


def consistency(case: Case) -> Verdict:
    """Compare least squares with sums of nodes of the same trees, for the curator."""
    query = case.where(experiment="trees")
    pairs = [
        [query("expected", f"central_laplace_{tree}{end}") for end in ("", "_sums")]
        for tree in ("two", "binary")
    ]
    points = total(compare(lower, upper) for lower, upper in pairs)
    return Verdict(f"{times([sums / squares for squares, sums in pairs])} less error", points, counts(points))


def branching(case: Case) -> Verdict:
    """Compare trees of two levels with binary trees, both with least squares, for the curator."""
    two, binary = (
        case("expected", f"central_laplace_{tree}", experiment="trees") for tree in ("two", "binary")
    )
    points = compare(two, binary)
    return Verdict(f"{times(binary / two)} less error", points, counts(points))


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
