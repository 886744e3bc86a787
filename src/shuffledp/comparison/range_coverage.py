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
    truth, users = np.cumsum(counts), int(counts.sum())
    estimates = tree.simulate(counts, np.random.default_rng(seed), check_count("runs", runs, 1))
    errors = np.abs(np.cumsum(estimates, axis=1)[:, : len(counts)] - truth).max(axis=1)
    places = np.searchsorted(truth, np.asarray(shares) * users)
    ends = np.array([tree.tree.quantiles(run, shares)[1:] for run in estimates])
    inside = (ends[:, 0] <= places) & (places <= ends[:, 1])
    return Coverage(
        float(np.mean(errors <= tree.tree.band)),
        float(inside.all(axis=1).mean()),
        float((ends[:, 1] - ends[:, 0]).mean()),
        float(np.quantile(errors, 0.95) / tree.tree.band),
    )
