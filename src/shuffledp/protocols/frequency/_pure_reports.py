"""Reports that count for the user's value with probability p, and for every other value with probability q.

The number of reports that count for a value is ``Bin(n_j, p) + Bin(n - n_j, q)``. A protocol defines p, q and their
calibration.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shuffledp.guarantees import Enforced
from shuffledp.numerics.saddlepoint import ErrorLaw, report_law
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.frequency._value_counts import held_counts, held_integers
from shuffledp.tasks import Array, Floats, Participants, Public


def pure_mse(n: int, domain_size: int, p: float, q: float) -> float:
    """Return the mean squared error of a frequency over k values, the same for all data (Wang et al. 2017)."""
    return (p * (1 - p) / domain_size + (1 - 1 / domain_size) * q * (1 - q)) / (n * (p - q) ** 2)


@dataclass(frozen=True)
class PureReports(PlannedUsers):
    """Reports, each of which may count for several values."""

    n_users: int
    domain_size: int

    poisoning: ClassVar[Enforced] = "one report"

    @property
    def rows_per_user(self) -> int:
        """Number of reports per user: one for the user's value, the others without a value."""
        return 1

    @property
    @abstractmethod
    def two_rates(self) -> tuple[float, float, float]:
        """Rates p and q, and their difference p - q."""

    def gain_per_fake(self, most: float) -> float:
        """Return the gain of reports that all count for the target."""
        _, q, gap = self.two_rates
        return (most - self.rows_per_user * q) / gap

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> Array:
        """Draw the reports of each value, (R, k), from independent binomial laws, at a cost independent of n."""
        true_counts = held_integers(participants, self.domain_size)
        others = self.rows_per_user * participants.public.n_users[:, None] - true_counts
        p, q, _ = self.two_rates
        return rng.binomial(true_counts, p) + rng.binomial(others, q)

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased relative frequencies, (R, k)."""
        share = aggregate / public.users_column
        _, q, gap = self.two_rates
        return (share - self.rows_per_user * q) / gap

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the exact law of the reports that count for a value."""
        n = participants.public.users_column
        true_counts = held_counts(participants, self.domain_size)
        p, q, gap = self.two_rates
        return report_law(true_counts, p, self.rows_per_user * n - true_counts, q, n * gap)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each frequency given the values, (R, k)."""
        n = participants.public.users_column
        true_counts = held_counts(participants, self.domain_size)
        p, q, gap = self.two_rates
        noise = true_counts * p * (1 - p) + (self.rows_per_user * n - true_counts) * q * (1 - q)
        return np.asarray(noise / (n * gap) ** 2)
