"""What profiles at any scale have in common: what they find, and two kinds of reports among many."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shuffledp.audit import pairs
from shuffledp.audit.laws import (
    binomial_counts,
)
from shuffledp.populations import Fixed, Law

Side = Literal["exact", "lower"]


SPLIT = "counts of two kinds of reports, given their sum"
BINARY = "count of one of two kinds of reports"
TWO = "two counts with independent noise"


@dataclass(frozen=True)
class Measured:
    """What was found of a protocol's delta.

    Parameters
    ----------
    delta : float
        At the eps that was asked for.
    side : {"exact", "lower"}
        Whether this is the delta of the worst case, or a lower bound on it.
    method : str
        How it was found.
    """

    delta: float
    side: Side
    method: str


class NoProfile(Exception):  # noqa: N818  (a reason, not an error)
    """There is no profile of this protocol here; the message says why."""


def number_of(population: Law) -> int:
    """All users; raises `NoProfile` if their number is random."""
    if not isinstance(population, Fixed):
        raise NoProfile("a random number of users is not written down for this protocol")
    return population.others + 1


def truth(eps_local: float, kinds: int) -> tuple[float, float]:
    """Probabilities of the own value and of each other one in generalized randomized response."""
    keep = 1 / (1 + (kinds - 1) * math.exp(-eps_local))
    return keep, math.exp(-eps_local) * keep


def gains_of(own: float, other: float) -> pairs.Gains:
    """One report, which counts for the own value, the other one, or neither."""
    return {(1, 0): own, (0, 1): other, (0, 0): max(0.0, 1 - own - other)}


def alone(own: float, other: float, eps: float) -> Measured:
    """One report that is seen with its sender, by the chances of the likeliest outcome under either input."""
    return Measured(max(0.0, own - math.exp(eps) * other), "exact", "one report and its sender")


def binary(reports: Law, own: float, other: float, eps: float) -> Measured:
    """Ones among reports of which all but user 1's are of a 0."""
    found = np.zeros(2)
    for m, weight in pairs.ranges(reports):
        found += weight * np.array(pairs.of_one_count(binomial_counts(m, other), own, other, eps))
    return Measured(float(found.max()), "lower", BINARY)
