"""Histograms of counters with messages +1 and -1, and noise in shares of the users: messages, exact law and error."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Protocol

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.baselines.correlated_counts import shared_counter
from shuffledp.accounting.expected_errors.most_messages import CompoundPoisson, most_sent
from shuffledp.accounting.general.count_pairs import MovingCount, pair_delta
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.numerics.saddlepoint import ErrorLaw, geometric_noise
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._noise_shares import AtomNoise, NegativeBinomialShare, Share, part_law
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.client.description import (
    ROUNDED_UP,
    Client,
    frequencies,
    laplace_parts,
    noise_law,
    shares_part,
)
from shuffledp.protocols.frequency._value_counts import held_counts, held_integers
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.tasks import Array, Floats, Ints, Participants, Public, Users

#: Mass that the law of a noise may omit.
_TAIL = 1e-17
#: Number of noises that are drawn together.
_DRAWS = 2**20


class CounterLaw(Protocol):
    """Number of messages and variance of one counter's noise."""

    @property
    def messages(self) -> float:
        """Expected number of messages."""

    @property
    def variance(self) -> float:
        """Variance of a count."""


@dataclass(frozen=True)
class NoisyCounters(PlannedUsers):
    """Counters, one per value; a message has a value and a sign, and each user sends a share of the noise."""

    n_users: int
    domain_size: int

    trust = "shuffler"
    relies_on = "shares of the noise"
    reduction = "own"
    poisoning = "capped messages"
    noise_shares = True
    laplace_error = True

    def gain_per_fake(self, most: float) -> float:
        """Return the gain of the largest number of messages, all +1 for the target."""
        return float(most)

    @property
    @abstractmethod
    def noise(self) -> CounterLaw:
        """Noise of one counter."""

    @property
    @abstractmethod
    def remaining_eps(self) -> float:
        """Parameter eps (nats) of the two-sided geometric noise of ratio ``e^-eps`` that remains in a count."""

    @property
    @abstractmethod
    def pairs(self) -> Share:
        """Law of a counter's number of canceling pairs of messages +1 and -1."""

    def _noise(self, shares: Floats, rng: Generator) -> Ints:
        """Draw the numbers of noise messages +1 and -1, (.., 2), for users' shares of a counter's noise."""
        pairs, stop = self.pairs.draw(shares, rng), -math.expm1(-self.remaining_eps)
        plus, minus = rng.negative_binomial(shares, stop) + pairs, rng.negative_binomial(shares, stop) + pairs
        return np.stack((plus, minus), axis=-1).astype(np.int64)

    @property
    def _parts(self) -> list[CompoundPoisson]:
        """Laws of a counter's single messages and of its canceling pairs, each for all users together."""
        single = NegativeBinomialShare(2.0, -math.expm1(-self.remaining_eps))
        return [single, AtomNoise(self.pairs, ((1, 1), (-1, 1)))]

    @property
    def alphabet_size(self) -> int:
        """Number of different messages, two per value: +1 (even) and -1 (odd)."""
        return 2 * self.domain_size

    def profile_among(self, users: int, honest: int, *, colluding: bool) -> PrivacyProfile | None:
        """Return the profile of the two counters that change, with the honest users' shares of the noise."""
        if honest >= self.n_users:
            return self.profile_for(self.n_users)
        part, single = honest / self.n_users, NegativeBinomialShare(1.0, -math.expm1(-self.remaining_eps))

        @cache
        def counter() -> MovingCount:
            singles, pairs = (part_law(law, part, _TAIL) for law in (single, self.pairs))
            return shared_counter(singles, pairs, 3 * _TAIL)

        return Profile(
            lambda eps: pair_delta(counter(), counter(), eps),
            "the two counters that change, each with the noise of the remaining users",
        )

    def cost(self) -> Cost:
        """Return the cost of the user's value and of the user's noise in all counters."""
        part = self.domain_size / self.n_users
        most = 1 + most_sent(self._parts, part, self.expected_users)
        bits = message_bits(2 * self.domain_size)
        return Cost(1 + part * self.noise.messages, bits, most_messages=most, most_certain=False)

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw each user's noise and append it to the values; ``2 v`` is +1 for the value v, ``2 v + 1`` is -1."""
        values = np.asarray(users.values, np.int64)
        totals = np.zeros((self.domain_size, 2), np.int64)
        step = max(1, _DRAWS // self.domain_size)
        for begin in range(0, len(values), step):
            shape = (min(step, len(values) - begin), self.domain_size)
            user_noise = self._noise(np.full(shape, 1 / self.n_users), rng)
            totals += user_noise.sum(axis=0)
        noise = np.repeat(np.arange(2 * self.domain_size), totals.ravel())
        return Messages(np.concatenate((2 * values, noise)))

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the number of messages of each kind, (R, 2k), from their exact law; shares of noise add up."""
        true_counts = held_integers(participants, self.domain_size)
        shares = np.broadcast_to(participants.public.n_users[:, None] / self.n_users, true_counts.shape)
        counts = self._noise(shares, rng)
        counts[..., 0] += true_counts
        return counts.reshape(len(true_counts), -1)

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased relative frequencies, (R, k), from messages +1 minus messages -1."""
        counts = aggregate
        return np.asarray((counts[:, ::2] - counts[:, 1::2]) / public.users_column)

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the exact law, two-sided geometric for the planned number of users."""
        n = participants.public.users_column
        shape = np.broadcast_to(n / self.n_users, (len(n), self.domain_size))
        return ErrorLaw([term.times(1 / n) for term in geometric_noise(self.remaining_eps, shape)], 1 / n)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each frequency, (R, k), the variance of a discrete Laplace variable."""
        true_counts = held_counts(participants, self.domain_size)
        n = participants.public.users_column
        variance = self.noise.variance * (n / self.n_users) / n**2
        return np.broadcast_to(variance, true_counts.shape).copy()

    def client(self) -> Client:
        """Return the client, which sends the value as +1 and a share of the noise of all counters."""
        k, part = self.domain_size, Fraction(self.domain_size, self.n_users)
        single = NegativeBinomialShare(1.0, -math.expm1(-self.remaining_eps))
        contents = ((single, ((0, 1),)), (single, ((1, 1),)), (self.pairs, ((0, 1), (1, 1))))
        noises = [noise for law, sent in contents for noise in AtomNoise(law, sent).client_noises(0)]
        shares = shares_part(noises, part, counters=k, symbols=2)
        remaining = noise_law(laplace_parts(self.remaining_eps), "users")
        analyzer = frequencies(k, "of_signs", 1.0, 0.0, remaining)
        parts = [{"part": "kept", "rate": "1", "symbols": 2}, shares]
        return Client(self.n_users, k, [("symbol", 2 * k)], parts, analyzer, ROUNDED_UP)
