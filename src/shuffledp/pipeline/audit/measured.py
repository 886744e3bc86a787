"""What profiles at any scale have in common: what they find, and two kinds of reports among many."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from shuffledp.pipeline.audit import pairs
from shuffledp.pipeline.audit.finite_laws import UNIT, Bounds, around, averaged, binomial_counts, largest
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
    found : Bounds
        On the number that was computed, at the eps that was asked for.
    side : {"exact", "lower"}
        Whether this is the delta of the worst case, or a lower bound on it.
    method : str
        How it was found.
    """

    found: Bounds
    side: Side
    method: str

    @property
    def delta(self) -> float:
        """The lower end."""
        return self.found.low


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
    found = around(own - math.exp(eps) * other, 8 * UNIT * (own + math.exp(eps) * other))
    return Measured(found, "exact", "one report and its sender")


def binary(reports: Law, own: float, other: float, eps: float) -> Measured:
    """Ones among reports of which all but user 1's are of a 0."""
    parts = [
        (weight, pairs.of_one_count(binomial_counts(m, other), own, other, eps))
        for m, weight in pairs.ranges(reports)
    ]
    found = largest(averaged([(weight, both[i]) for weight, both in parts]) for i in (0, 1))
    return Measured(found, "lower", BINARY)
