"""Number of users per value, and generalized randomized response (GRR) of one value.

GRR keeps a value with probability ``E / (E + k - 1)``, ``E = exp(eps_local)``, and reports each other value with
probability ``1 / (E + k - 1)``. For k = 2 it is the randomized response of Wang et al. 2023.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from shuffledp.numerics.saddlepoint import ErrorLaw, report_law
from shuffledp.tasks import Array, Floats, Ints, Participants


def checked_values(values: Array, domain_size: int) -> Ints:
    """Return the values of users, (n,). Raise ValueError for a value outside of 0..domain_size-1."""
    checked = np.asarray(values, np.int64)
    if checked.size and not 0 <= checked.min() <= checked.max() < domain_size:
        raise ValueError(f"Values must lie in 0..{domain_size - 1}, got {checked.min()}..{checked.max()}.")
    return checked


@dataclass(frozen=True)
class GeneralizedResponse:
    """Generalized randomized response over k values with a local budget in nats, numerically stable for any budget."""

    eps_local: float
    domain_size: int

    @property
    def keep(self) -> float:
        """Probability of the true value, ``E / (E + k - 1)``."""
        return 1 / (1 + (self.domain_size - 1) * math.exp(-self.eps_local))

    @property
    def lie(self) -> float:
        """Probability of a given other value, ``1 / (E + k - 1)``."""
        return math.exp(-self.eps_local) * self.keep

    @property
    def gap(self) -> float:
        """Difference ``keep - lie``, the probability of the true value instead of a uniform report."""
        return -math.expm1(-self.eps_local) * self.keep

    def randomize(self, values: NDArray[np.generic], rng: Generator) -> Ints:
        """Draw one report per value. Raise ValueError for a value outside of 0..k-1."""
        true = checked_values(values, self.domain_size)
        lies = rng.random(len(true)) >= self.keep
        steps = rng.integers(1, self.domain_size, size=len(true))  # a uniform value other than the true one
        return np.where(lies, (true + steps) % self.domain_size, true)

    def sample_counts(self, true_counts: Ints, rng: Generator) -> Ints:
        """Draw the reports per value, (R, k), from their exact law, for `true_counts` (R, k) users per value."""
        truthful = rng.binomial(true_counts, self.gap)
        uniform = (true_counts - truthful).sum(axis=1)
        shares = np.full(self.domain_size, 1 / self.domain_size)
        return truthful + rng.multinomial(uniform, shares)

    def debiased(self, reports: Array, n_reports: Array) -> Floats:
        """Return unbiased numbers of users per value, (R, k), from reports per value, (R, k), and totals, (R,)."""
        return (reports - self.lie * n_reports[:, None]) / self.gap

    def error_law(self, true_counts: Array, users: Array) -> ErrorLaw:
        """Return the law of `debiased` divided by `users`, (R, 1), for `true_counts` (R, k) users per value."""
        others = true_counts.sum(axis=1, keepdims=True) - true_counts
        return report_law(true_counts, self.keep, others, self.lie, users * self.gap)

    def variance(self, true_counts: Array) -> Floats:
        """Return the variance of `debiased`, (R, k), for `true_counts` (R, k) users per value."""
        true_counts = np.asarray(true_counts, float)
        others = true_counts.sum(axis=1, keepdims=True) - true_counts
        return np.asarray(
            (true_counts * self.keep * (1 - self.keep) + others * self.lie * (1 - self.lie)) / self.gap**2
        )


def held_counts(participants: Participants, domain_size: int) -> Array:
    """Return the users per value, (R, k). Raise ValueError for data of another domain."""
    counts = participants.counts
    if counts.shape != (participants.public.repeats, domain_size):
        expected = (participants.public.repeats, domain_size)
        raise ValueError(f"Expected counts of shape {expected} (repeats, values), got {counts.shape}.")
    return counts


def held_integers(participants: Participants, domain_size: int) -> Ints:
    """Return `held_counts` as integers, for drawn participants only, as expected counts may be fractions."""
    return held_counts(participants, domain_size).astype(np.int64, copy=False)
