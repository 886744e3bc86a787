"""Common parts of deltas at any scale: their type, and delta of two kinds of reports."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from shuffledp.pipeline.audit import pairs
from shuffledp.pipeline.audit.finite_laws import UNIT, Bounds, around, averaged, binomial_counts, largest
from shuffledp.populations.base import Fixed, Law

Side = Literal["exact", "lower"]


SPLIT = "counts of two kinds of reports, given their sum"
BINARY = "count of one of two kinds of reports"
TWO = "two counts with independent noise"


@dataclass(frozen=True)
class Measured:
    """Bounds on a computed delta at an eps; side ``exact`` is the worst case, ``lower`` a lower bound on it."""

    found: Bounds
    side: Side
    method: str

    @property
    def delta(self) -> float:
        """Lower end of the bounds."""
        return self.found.low


#: Function from a protocol, a population, a privacy level and its eps to delta.
Profile = Callable[..., Measured]


class MissingProfileError(Exception):
    """Error for a protocol without a profile in this package, with the reason."""


def number_of(population: Law) -> int:
    """Return the number of all users. Raise `MissingProfileError` if the number is random."""
    if not isinstance(population, Fixed):
        raise MissingProfileError("a random number of users is not written down for this protocol")
    return population.others + 1


def truth(eps_local: float, kinds: int) -> tuple[float, float]:
    """Return the probabilities of the true value and of each other value in generalized randomized response."""
    keep = 1 / (1 + (kinds - 1) * math.exp(-eps_local))
    return keep, math.exp(-eps_local) * keep


def gains_of(own_rate: float, other_rate: float) -> pairs.Gains:
    """Return the law of one report's counts: it counts for user 1's value, for the other value, or for neither."""
    return {(1, 0): own_rate, (0, 1): other_rate, (0, 0): max(0.0, 1 - own_rate - other_rate)}


def alone(own_rate: float, other_rate: float, eps: float) -> Measured:
    """Return delta of one report whose sender is known, from the likeliest outcome's probability under both inputs."""
    bounds = around(own_rate - math.exp(eps) * other_rate, 8 * UNIT * (own_rate + math.exp(eps) * other_rate))
    return Measured(bounds, "exact", "one report and its sender")


def binary(reports: Law, own_rate: float, other_rate: float, eps: float) -> Measured:
    """Return delta of the number of ones among reports if all users except user 1 have input 0."""
    parts = [
        (weight, pairs.of_one_count(binomial_counts(m, other_rate), own_rate, other_rate, eps))
        for m, weight in pairs.ranges(reports)
    ]
    bounds = largest(averaged([(weight, both[i]) for weight, both in parts]) for i in (0, 1))
    return Measured(bounds, "lower", BINARY)
