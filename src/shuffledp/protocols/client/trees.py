"""Least squares on a tree of noisy counts, variances of ranges, and isotonic regression; copied into the analyzer.

`shuffledp.accounting.expected_errors.range_trees` describes the tree and its weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import NormalDist

from shuffledp.protocols.client.analyzing import Analyzer, noise_of, sum_law
from shuffledp.protocols.client.files import CONFIDENCE

#: Quantile of the largest absolute value of a Brownian bridge, 95 %.
BRIDGE = 1.3581
#: Least number of values from which on errors of a tree have about the tails of a normal law, not of Laplace noise.
SEVERAL = 8


def overlap(size: int, first: int, stop: int) -> float:
    """Return the sum over all nodes of the squared number of their values in first..stop-1, divided by the size."""
    low, high = first // size, (stop - 1) // size
    if low == high or stop <= first:
        return max(stop - first, 0) ** 2 / size
    ends = ((low + 1) * size - first, stop - high * size)
    return (high - low - 1) * size + sum(part**2 for part in ends) / size


@dataclass(frozen=True)
class Nodes:
    """Numbers of values of a node from the root to the leaves, and the sums of weights lambda below the root.

    See `shuffledp.accounting.expected_errors.range_trees`.
    """

    sizes: Sequence[int]
    information: Sequence[float]

    def variance(self, first: int, stop: int) -> float:
        """Return the variance of the users with values in first..stop-1, by weighted least squares."""
        gains = (
            after - before for before, after in pairwise(overlap(size, first, stop) for size in self.sizes)
        )
        return sum(gain / weight for gain, weight in zip(gains, self.information, strict=True))

    def counts(self, users: int, levels: Sequence[Sequence[float]]) -> list[float]:
        """Return least-squares estimates of the leaves for noisy counts of each level, by the known total.

        From the root on, the children of a node share what the counts below the node miss to its estimate.
        """
        combined = [list(level) for level in levels]
        for level in range(len(levels) - 2, -1, -1):  # with the sums of the children, by variances
            fan_out = self.sizes[level + 1] // self.sizes[level + 2]
            weight = self.information[level + 1] / self.information[level]
            for node, noisy in enumerate(levels[level]):
                children = combined[level + 1][node * fan_out : (node + 1) * fan_out]
                combined[level][node] = (1 - weight) * noisy + weight * sum(children)
        estimates = [float(users)]
        for level, numbers in enumerate(combined):
            fan_out = self.sizes[level] // self.sizes[level + 1]
            missing = [
                (total - sum(numbers[node * fan_out : (node + 1) * fan_out])) / fan_out
                for node, total in enumerate(estimates)
            ]
            estimates = [number + missing[node // fan_out] for node, number in enumerate(numbers)]
        return estimates

    def band(self) -> float:
        """Return the half-width of a band that contains all prefixes with 95 %, in users."""
        k = self.sizes[0]
        if len(self.sizes) == 2:
            return BRIDGE * math.sqrt(k / self.information[0])
        largest = max(self.variance(0, stop) for stop in range(1, k))
        level = (1 - CONFIDENCE) / (k - 1)
        quantile = math.log(1 / level) / math.sqrt(2) if k < SEVERAL else NormalDist().inv_cdf(1 - level / 2)
        return quantile * math.sqrt(largest)


def nodes_of(analyzer: Analyzer, planned: int, users: int, messages: int) -> tuple[Nodes, float]:
    """Return the nodes with the noise for this number of users, and the mean of the noise of a count."""
    parts, offset = noise_of(analyzer, planned, users, messages)
    noise, sizes = sum_law(parts, offset), [size for size, _ in analyzer["levels"]]
    weights = list(accumulate(size / noise.variance for size in reversed(sizes)))
    return Nodes([analyzer["size"], *sizes], weights[::-1]), noise.mean


def monotone(numbers: Sequence[float]) -> list[float]:
    """Return the closest sequence that does not fall, in least squares."""
    blocks: list[tuple[float, int]] = []
    for number in numbers:
        mean, size = number, 1
        while blocks and blocks[-1][0] >= mean:
            before_mean, before_size = blocks.pop()
            mean, size = (mean * size + before_mean * before_size) / (size + before_size), size + before_size
        blocks.append((mean, size))
    return [mean for mean, size in blocks for _ in range(size)]
