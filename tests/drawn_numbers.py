"""Whether drawn whole numbers follow a law."""

import numpy as np
from scipy import stats


def follow(drawn, support, pmf, fewest):
    """Return whether a chi-square test accepts draws on a range, which rejects a right law once in a million times.

    Cells with fewer expected draws than `fewest` join the two ends.
    """
    drawn, pmf = np.asarray(drawn), np.asarray(pmf)
    expected = pmf * drawn.size
    often = np.flatnonzero(expected >= fewest)
    cells = np.clip(np.arange(support.size), often[0], often[-1]) - often[0]
    seen = np.bincount(cells[drawn - support[0]], minlength=cells[-1] + 1)
    wanted = np.bincount(cells, pmf)
    return seen.size == 1 or stats.chisquare(seen, wanted / wanted.sum() * drawn.size).pvalue > 1e-6
