"""RandomCheckin: every participant chooses one of m slots, and each slot keeps one report."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from shuffledp.numerics.saddlepoint import ErrorLaw, poisson_term
from shuffledp.numerics.samplers import without_replacement
from shuffledp.populations.laws import Binomial
from shuffledp.protocols._checkin import CheckinSchedule, Threat
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._occupancy import inverse_filled
from shuffledp.protocols.frequency._randomized_response import ValueReports
from shuffledp.protocols.frequency._value_counts import held_counts, held_integers
from shuffledp.protocols.messages import Messages, message_bits
from shuffledp.tasks import Array, Floats, Ints, Participants, Public

#: Number of users from which numpy draws no hypergeometric numbers, and number of values from which separate draws take
#: long.
_MANY_USERS, _MANY_VALUES = 10**9, 2000


@dataclass(frozen=True)
class RandomCheckin(CheckinSchedule, ValueReports):
    """Random check-in with a fixed window, for frequencies; empty slots get reports of input 0."""

    population: Binomial
    slots: int
    threat: Threat = "conditional"

    name = "random_checkin"
    task_kind = "frequency"

    def slot_bits(self) -> float:
        """Return the bits of a message, one of m slots and one of k values."""
        return message_bits(self.slots * self.domain_size)

    def aggregate(self, messages: Messages) -> Array:
        """Return the reports per value, followed by the number of filled slots, (k + 1,)."""
        reports = np.bincount(messages.payload[:, 0].astype(np.int64), minlength=self.domain_size)
        return np.append(reports, messages.payload[:, 1].sum(dtype=np.int64))

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the aggregate, (R, k + 1), from its exact law. Kept users are a uniform subset; time grows with n."""
        true_counts = held_integers(participants, self.domain_size)
        filled = self.filled_slots(participants.public.n_users, rng)
        if self.domain_size > _MANY_VALUES or int(participants.public.n_users.max()) >= _MANY_USERS:
            kept_counts = np.stack(
                [without_replacement(row, int(k), rng) for row, k in zip(true_counts, filled, strict=True)]
            )
        else:
            kept_counts = self._kept(true_counts, filled, rng)
        kept_counts[:, 0] += self.slots - filled
        return np.column_stack((self.response.sample_counts(kept_counts, rng), filled))

    def _kept(self, true_counts: Ints, filled: Ints, rng: Generator) -> Ints:
        kept_counts, open_places = np.empty_like(true_counts), filled.copy()
        for value in range(self.domain_size - 1):
            others = true_counts[:, value + 1 :].sum(axis=1)
            kept_counts[:, value] = rng.hypergeometric(true_counts[:, value], others, open_places)
            open_places -= kept_counts[:, value]
        kept_counts[:, -1] = open_places
        return kept_counts

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased relative frequencies, (R, k); the kept users are a uniform sample."""
        table = aggregate
        filled = table[:, -1]
        counts = self.response.debiased(table[:, :-1], np.full(len(table), float(self.slots)))
        counts[:, 0] -= self.slots - filled
        return np.asarray(counts / filled[:, None])

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return a law with the variance, in steps of a report."""
        inverse, _ = inverse_filled(participants.public.n_users, self.slots)
        step = inverse[:, None] / self.response.gap
        return ErrorLaw([poisson_term(self.expected_variance(participants), step)], step)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each frequency given the values, (R, k), within 1e-5 relative (see `inverse_filled`).

        The variance is the randomization of all m reports over K^2, plus the variance of a sample of K of N users.
        """
        n = participants.public.users_column
        share = held_counts(participants, self.domain_size) / n
        inverse, inverse_square = (
            x[:, None] for x in inverse_filled(participants.public.n_users, self.slots)
        )
        # Of one report: for its own value and for any other one.
        own_variance, other_variance = self.response.variance(np.eye(2)[:1])[0]
        per_user = other_variance + share * (
            own_variance - other_variance
        )  # of a user with the average input
        per_filler = np.full((1, self.domain_size), other_variance)
        per_filler[:, 0] = own_variance
        # (K per_user + (m - K) per_filler) / K^2
        randomization = (per_user - per_filler) * inverse + self.slots * per_filler * inverse_square
        sampling = share * (1 - share) * (n * inverse - 1) / np.maximum(n - 1, 1)
        return np.asarray(randomization + sampling)
