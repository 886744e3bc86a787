"""Coverage of the bands and quantile intervals of a tree of counts, by simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.comparison.count_trees import CountTree
from shuffledp.numerics.argument_ranges import check_count
from shuffledp.tasks import Ints


@dataclass(frozen=True)
class Coverage:
    """Shares of the runs in which all prefixes, and all quantiles at once, are inside; mean width of the intervals.

    Widths are in values, 0 for an interval of one value. ``relative_error`` is the 95 % quantile of the largest error
    of a prefix, as a share of the band's half-width.
    """

    band: float
    quantiles: float
    width: float
    relative_error: float


def simulated_coverage(
    tree: CountTree, counts: Ints, shares: Sequence[float], *, runs: int, seed: int
) -> Coverage:
    """Return the coverage for users per value, (k,), and quantiles of these shares in (0, 1)."""
    rng = np.random.default_rng(seed)
    truth, users, errors, inside, widths = np.cumsum(counts), int(counts.sum()), [], [], []
    places = np.searchsorted(truth, np.asarray(shares) * users)
    for _ in range(check_count("runs", runs, 1)):
        estimates = tree.simulate(counts, rng)
        errors.append(np.abs(np.cumsum(estimates)[: len(counts)] - truth).max())
        _, low, high = tree.tree.quantiles(estimates, shares)
        inside.append(np.all((low <= places) & (places <= high)))
        widths.append((high - low).mean())
    relative = np.array(errors) / tree.tree.band
    return Coverage(
        float(np.mean(relative <= 1)),
        float(np.mean(inside)),
        float(np.mean(widths)),
        float(np.quantile(relative, 0.95)),
    )
