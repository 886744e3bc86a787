"""Errors of prefixes and ranges of ordered values 0..k-1 from randomized response, for uniform values.

Derived for this project.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shuffledp.accounting.expected_errors.range_trees import Floats, united_quantile


@dataclass(frozen=True)
class UniformResponse:
    """Errors of prefixes and ranges from randomized response over k values, for uniform values of n users.

    A set of the share t of the values has the variance ``n (t P (1 - P) + (1 - t) Q (1 - Q)) / (1 - g)^2`` with
    ``Q = g t`` and ``P = 1 - g + Q``: g is the probability of a uniform report, and eps_local is in nats.
    """

    users: int
    domain_size: int
    eps_local: float

    @cached_property
    def variances(self) -> Floats:
        """Variances of sets of 0..k values, (k + 1,), in squared users."""
        k = self.domain_size
        gap = -math.expm1(-self.eps_local) / (1 + (k - 1) * math.exp(-self.eps_local))
        share = np.arange(k + 1) / k
        outside = (1 - gap) * share
        inside = gap + outside
        spread = share * inside * (1 - inside) + (1 - share) * outside * (1 - outside)
        return np.asarray(self.users * spread / gap**2, np.float64)

    @property
    def cdf_mse(self) -> float:
        """Mean squared error of the k prefixes of values below j = 0..k-1, in squared users."""
        return float(self.variances[:-1].mean())

    @property
    def range_mse(self) -> float:
        """Mean squared error of all ranges of at least one value, in squared users."""
        return float(np.average(self.variances[1:], weights=np.arange(self.domain_size, 0, -1)))

    @property
    def largest_deviation(self) -> float:
        """Largest standard deviation of a prefix, in users."""
        return math.sqrt(float(self.variances.max()))

    @property
    def band(self) -> float:
        """Half-width of a band that contains all prefixes with 95 %, in users, by a union bound."""
        return united_quantile(self.domain_size) * self.largest_deviation
