"""Truncation-based histogram: every user adds a coin to every count, and small counts become 0."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.baselines.truncation import truncation_miss_rate, two_bins_delta
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import EXACT, UPPER, under
from shuffledp.numerics.saddlepoint import ErrorLaw, Term
from shuffledp.numerics.windows import binomial_window
from shuffledp.protocols._coins import coin_blocks
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.frequency._value_counts import held_counts, held_integers
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Floats, Ints, Participants, Public, Users

#: Mass that the law of the noise omits in closed forms.
_TAIL = 1e-25


@dataclass(frozen=True)
class Truncation(PlannedUsers):
    """Counts with binomial noise; a user adds no dummy of a value with probability ``miss_rate``, ``1 - p``.

    With ``truncate``, counts up to the number of users become 0; without it, the estimate is unbiased.
    """

    no_client = "The client of balls_into_bins adds the same noise to counts, which it does not truncate."

    n_users: int
    domain_size: int
    miss_rate: float
    truncate: bool = True

    name = "truncation"
    task_kind = "frequency"
    label = "truncation-based"
    source = "Balcer and Cheu 2020, Theorem 9 and Section 3; as a baseline in arXiv 2009.13738"
    trust = "shuffler"
    relies_on = "others' dummies"
    guarantees = under(printed=UPPER, exact=EXACT)
    biased = True

    @classmethod
    def fit(cls, request: Request, *, truncate: bool = True) -> Self:
        """Find the rate of the coins, see :func:`shuffledp.accounting.truncation_miss_rate`.

        ``truncate`` sets small counts to 0, as in the original.
        """
        return cls(
            request.n,
            request.k,
            truncation_miss_rate(request.n, request.eps, request.delta, accounting=request.accounting),
            bool(truncate),
        )

    @property
    def alphabet_size(self) -> int:
        """Number of different messages, one per value."""
        return self.domain_size

    def cost(self) -> Cost:
        """Return the cost of the user's value, and of ``k p`` dummies."""
        extra = self.domain_size * (1 - self.miss_rate)
        return Cost(1 + extra, message_bits(self.domain_size), most_messages=1 + self.domain_size)

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw each user's dummies, one of every value with probability p, and append them to the values."""
        values = np.asarray(users.values, np.int64)
        dummies = np.zeros(self.domain_size, np.int64)
        for _, coins in coin_blocks(len(values), self.domain_size, rng):
            dummies += np.count_nonzero(coins >= self.miss_rate, axis=0)
        return Messages(np.concatenate((values, np.repeat(np.arange(self.domain_size), dummies))))

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the counts, (R, k), from their exact law; binomial noise is independent over values."""
        true_counts = held_integers(participants, self.domain_size)
        n = participants.public.n_users[:, None]
        return true_counts + n - rng.binomial(n, self.miss_rate, true_counts.shape)

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return relative frequencies, (R, k); truncated counts give 0."""
        n = public.users_column
        above = aggregate - n  # the held count minus the coins that added nothing
        frequency = above / n + self.miss_rate
        return np.where(above > 0, frequency, 0.0) if self.truncate else np.asarray(frequency)

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the exact law of the noise; a truncated count has the error of its share."""
        n = participants.public.users_column
        true_counts, p = held_counts(participants, self.domain_size), self.miss_rate
        noise = p * (1 - p) / n
        rare = true_counts / n > p + 8 * np.sqrt(noise)
        cut = np.where(rare | (not self.truncate), 0.0, true_counts / n)
        return ErrorLaw([Term(n * p, p, -1 / n)], 1 / n, cut)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats | None:
        """Return the variance of each frequency, ``p (1 - p) / n``, (R, k); None with truncation."""
        if self.truncate:
            return None
        n = participants.public.users_column
        true_counts = held_counts(participants, self.domain_size)
        return np.broadcast_to(self.miss_rate * (1 - self.miss_rate) / n, true_counts.shape).copy()

    @checked_inputs
    def expected_squared_error(self, participants: Participants) -> Floats:
        """Return the exact squared error of each frequency given the values, (R, k)."""
        if (unbiased := self.expected_variance(participants)) is not None:
            return unbiased
        true_counts = held_integers(participants, self.domain_size)
        errors = np.empty(true_counts.shape)
        for n in np.unique(participants.public.n_users):
            rows = participants.public.n_users == n
            errors[rows] = self._truncated_error(int(n), true_counts[rows])
        return errors

    def _truncated_error(self, n: int, true_counts: Ints) -> Floats:
        """Return ``E[1{W >= x} (x/n)^2 + 1{W < x} ((n (1 - p) - W) / n)^2]``, W ~ Bin(n, 1 - p) missing dummies."""
        missing = binomial_window(n, self.miss_rate, _TAIL)
        squares = missing.pmf * (n * self.miss_rate - missing.support) ** 2
        squares_below = np.append(0.0, np.cumsum(squares))
        cut = np.append(np.cumsum(missing.pmf[::-1])[::-1], 0.0)
        place = true_counts - missing.start
        np.clip(place, 0, missing.pmf.size, out=place)  # how many W of the window are below x
        errors = true_counts.astype(float) ** 2
        errors *= cut[place]  # in place, as there may be 10^7 values
        errors += squares_below[place]
        errors /= n**2
        return errors

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the profile of the two counts that change."""
        return Profile(
            lambda eps: two_bins_delta(eps, users, self.miss_rate),
            "the two counts that change, each with binomial noise",
            "exact",
        )
