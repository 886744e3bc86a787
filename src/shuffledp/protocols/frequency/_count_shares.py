"""Noisy counts if only a share of the users' messages is kept: their error, and searches for the best share."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.numerics.argument_ranges import check_positive
from shuffledp.tasks import Floats

Errors = Callable[[Floats], Floats]

#: Grids of the search: the number of points of the first grid, and the step of the second.
_SHARES, _FINE = 1001, 1e-6
#: Number of minima of the first grid that are refined.
MINIMA = 3
#: Relative difference up to which two errors are equal; in this case no messages are dropped.
_SAME = 1e-4


def sampled_count_variance(noise: ArrayLike, rate: ArrayLike, true_count: ArrayLike) -> Floats:
    """Return ``Var(Z) / rate^2 + c (1 - rate) / rate``, the variance of ``(Bin(c, rate) + Z - E[Z]) / rate``.

    The result is exact and broadcasts over the arguments; c is `true_count` and may be a mean over values.
    """
    share = np.asarray(rate, np.float64)
    return np.asarray(np.asarray(noise) / share**2 + np.asarray(true_count) * (1 - share) / share, np.float64)


def checked_share(name: str, share: float, least: float) -> float:
    """Return the share. Raise ValueError unless it is positive and in ``[least, 1]``."""
    value = check_positive(name, share)
    if not least <= value <= 1:
        raise ValueError(f"{name} must be in [{least!r}, 1], got {share!r}.")
    return value


def local_minima(values: list[float]) -> list[int]:
    """Return the indices of the local minima of a list, ends included, the least first."""
    padded = [math.inf, *values, math.inf]
    places = [i for i in range(len(values)) if padded[i] >= values[i] <= padded[i + 2]]
    return sorted(places, key=lambda i: values[i])


def best_share(errors: Errors, low: float) -> float:
    """Return the share in [low, 1] with the least error, on a grid as fine as in arXiv 2504.07362 (steps of 1e-6).

    `errors` maps shares, (m,), to errors, (m,). The result is 1 if the error at 1 is within 1e-4 relative of the least.
    """
    coarse = np.linspace(low, 1, _SHARES)
    step = coarse[1] - coarse[0]
    shares = [coarse]
    for place in local_minima(errors(coarse).tolist())[:MINIMA]:
        start, stop = max(coarse[place] - step, low), min(coarse[place] + step, 1.0)
        shares.append(np.linspace(start, stop, 1 + math.ceil((stop - start) / _FINE)))
    all_shares = np.concatenate(shares)
    values = errors(all_shares)
    return 1.0 if values[_SHARES - 1] <= values.min() * (1 + _SAME) else float(all_shares[np.argmin(values)])
