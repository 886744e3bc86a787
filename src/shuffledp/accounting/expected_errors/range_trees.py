r"""Trees of counts over ordered values 0..k-1: errors of prefixes and ranges, estimates, bands and quantiles.

A tree with the fan-outs ``B_1, .., B_h`` has nodes of ``s_l`` values on level l, ``s_0 = k > s_1 > .. > s_h = 1``. Each
count of level l has independent noise of the variance ``v_l``, and the number n of users is known. The estimate is
generalized least squares, in closed form: let A_l replace a vector of k counts by its averages over the nodes of level
l, and ``P_l = A_l - A_{l-1}``. Level m estimates every ``P_l x``, ``l <= m``, with the weight ``s_m / v_m``. With
``lambda_l = sum_{m >= l} s_m / v_m`` the variance of the sum of the counts with weights g is ``sum_l |P_l g|^2 /
lambda_l``. One level, ``h = 1``, is a histogram whose known total reduces the errors of its prefix sums.

Derived for this project.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.special import ndtri

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Quantile of the largest absolute value of a Brownian bridge, 95 %, for the band of a flat histogram.
_BRIDGE = 1.3581
#: Least number of values from which on errors of a tree have about the tails of a normal law.
_SEVERAL = 8


@dataclass(frozen=True)
class Tree:
    """Fan-outs from the root on, and the variance of the noise of a count on each level."""

    fan_outs: tuple[int, ...]
    variances: tuple[float, ...]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of a node on the levels 0..h."""
        return tuple(math.prod(self.fan_outs[level:]) for level in range(len(self.fan_outs) + 1))

    @cached_property
    def information(self) -> Floats:
        """Numbers lambda_l of the levels 1..h."""
        return np.cumsum((np.array(self.sizes[1:]) / self.variances)[::-1])[::-1]

    @property
    def cdf_mse(self) -> float:
        """Mean squared error of the k prefixes of values below j = 0..k-1, in squared users."""
        s = np.array(self.sizes, float)
        return float(np.sum(-np.diff((s**2 - 1) / (6 * s)) / self.information))

    @property
    def range_mse(self) -> float:
        """Mean squared error of all ranges of at least one value, in squared users."""
        s, k = np.array(self.sizes, float), self.sizes[0]
        twice = float(np.sum(-k * np.diff(s**2) / 12 / self.information))
        return 2 * self.cdf_mse - 2 / (k * (k + 1)) * twice

    @property
    def prefix_variances(self) -> Floats:
        """Variances of the prefixes of values below j = 0..k-1, (k,), in squared users."""
        j = np.arange(self.sizes[0])
        squares = np.array([j - (rest := j % size) + rest**2 / size for size in self.sizes])
        return np.asarray(np.diff(squares, axis=0).T @ (1 / self.information), np.float64)

    @property
    def largest_deviation(self) -> float:
        """Largest standard deviation of a prefix, in users."""
        return math.sqrt(float(self.prefix_variances.max()))

    @property
    def band(self) -> float:
        """Half-width of a band that contains all prefixes with 95 %, in users."""
        k = self.sizes[0]
        if len(self.fan_outs) == 1:
            return _BRIDGE * math.sqrt(self.variances[0] * k)
        return united_quantile(k) * self.largest_deviation

    def estimate(self, users: int, counts: Sequence[Floats]) -> Floats:
        """Return the counts of all values, (.., k), from the noisy counts of the nodes of each level, (.., nodes)."""
        weights = self.information[1:] / self.information[:-1]
        combined = [np.asarray(counts[-1], float)]  # with the sums of the children, from the leaves on
        for noisy, fan_out, weight in zip(counts[-2::-1], self.fan_outs[:0:-1], weights[::-1], strict=True):
            children = combined[-1].reshape(*noisy.shape, fan_out).sum(axis=-1)
            combined.append((1 - weight) * noisy + weight * children)
        estimates = np.full((*combined[-1].shape[:-1], 1), float(users))
        for numbers, fan_out in zip(combined[::-1], self.fan_outs, strict=True):
            children = numbers.reshape(*estimates.shape, fan_out)
            missing = (estimates - children.sum(axis=-1)) / fan_out
            estimates = (children + missing[..., None]).reshape(numbers.shape)
        return estimates

    def quantiles(self, counts: Floats, shares: Sequence[float]) -> tuple[Ints, Ints, Ints]:
        """Return quantiles of the users' values for shares in (0, 1), and both ends of their intervals, all (Q,).

        A quantile is the smallest value that a given share of the users does not exceed. The intervals contain all
        quantiles at once with 95 %: prefixes are made monotone, which increases no largest error, and have `band`.

        Parameters
        ----------
        counts : (k,) ndarray
            Result of `estimate`.
        """
        below = isotonic_regression(np.cumsum(counts)).x
        targets = np.asarray(shares, float) * np.sum(counts)
        ends = (np.searchsorted(below + shift, targets) for shift in (0.0, self.band, -self.band))
        estimate, first, last = (np.minimum(end, len(below) - 1) for end in ends)
        return estimate, first, last


def united_quantile(domain_size: int) -> float:
    """Return the quantile of k - 1 prefixes, which together have an error of 5 %: normal, or of Laplace noise."""
    if domain_size < _SEVERAL:
        return math.log((domain_size - 1) / 0.05) / math.sqrt(2)
    return float(-ndtri(0.025 / (domain_size - 1)))


def power_trees(domain_size: int) -> Iterator[tuple[int, ...]]:
    """Yield all trees of two or more levels with fan-outs that are powers of two, for the smallest power from k on."""
    bits = (domain_size - 1).bit_length()
    for cuts in product((False, True), repeat=bits - 1):
        ends = [place for place, cut in enumerate(cuts, 1) if cut]
        if ends:
            yield tuple(2 ** (end - start) for start, end in pairwise([0, *ends, bits]))
