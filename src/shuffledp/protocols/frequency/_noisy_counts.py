"""Protocols whose messages are values: a user's value, which may be dropped, and noise on the count of every value.

The counts that the analyzer receives are ``Bin(n_j, keep) + Z_j``, independent over the values j. A protocol defines
the law of Z for any number of users, and its calibration. Users add Z in parts, or a trusted shuffler adds it.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.general.count_pairs import added_message, settled_count_delta
from shuffledp.accounting.general.profiles import Profile
from shuffledp.guarantees import UPPER, Enforced, Standing
from shuffledp.numerics.saddlepoint import ErrorLaw, Term
from shuffledp.numerics.windows import Window, binomial_window, poisson_window
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.client.description import AS_CALIBRATED, Client, frequencies, text
from shuffledp.protocols.frequency._count_shares import sampled_count_variance
from shuffledp.protocols.frequency._value_counts import held_counts, held_integers
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.tasks import Array, Floats, Ints, Participants, Public, Users

#: Number of users that no list of designated users reaches.
_MANY = 2**40


@dataclass(frozen=True)
class CountNoise:
    """Law of the noise Z of a value, with its moments for (R,) numbers of users or for every number.

    ``terms`` add up to the noise; ``draw`` maps the shape (R, k) and a generator to draws; ``window`` maps an omitted
    mass to the probabilities.
    """

    mean: Floats | float
    variance: Floats | float
    terms: Sequence[Term]
    draw: Callable[[tuple[int, int], Generator], Ints]
    window: Callable[[float], Window] | None = None


def coin_noise(trials: Array | int, rate: float) -> CountNoise:
    """Return binomial noise: the heads of (R,) numbers of coins, or of one number, at probability `rate`."""
    mean = trials * rate
    return CountNoise(
        mean,
        mean * (1 - rate),
        [Term(np.reshape(mean, (-1, 1)), rate, 1.0)],
        lambda size, rng: rng.binomial(np.reshape(trials, (-1, 1)), rate, size),
        lambda tail: binomial_window(int(trials), rate, tail),
    )


def poisson_noise(mean: Floats) -> CountNoise:
    """Return Poisson noise with means (R,)."""
    return CountNoise(
        mean,
        mean,
        [Term(np.reshape(mean, (-1, 1)), 0.0, 1.0)],
        lambda size, rng: rng.poisson(mean[:, None], size),
        lambda tail: poisson_window(float(mean), tail),
    )


@dataclass(frozen=True)
class NoisyCounts(ProtocolBase):
    """Counts with noise that does not depend on the users' values."""

    domain_size: int

    reduction = "own"
    poisoning: ClassVar[Enforced] = "capped messages"
    profile_points = 960

    @property
    def keep(self) -> float:
        """Probability that a user's value is counted."""
        return 1.0

    @property
    def alphabet_size(self) -> int:
        """Number of different messages, one per value."""
        return self.domain_size

    @property
    def standing(self) -> Standing:
        """Label of the guarantee; at best ``upper`` if other users' values add randomness to every count."""
        return UPPER if super().standing.guarantee == "exact" and self.others_hide else super().standing

    @property
    def others_hide(self) -> bool:
        """True if every other user randomizes a count that changes: two values, and messages may be dropped."""
        return self.keep < 1 and self.domain_size == 2

    @abstractmethod
    def noise(self, users: Array) -> CountNoise:
        """Return the law of a value's noise for (R,) users."""

    def draw_noise(self, users: Array, rng: Generator) -> Ints:
        """Draw the noise of every value, (R, k), for (R,) users."""
        return self.noise(users).draw((len(users), self.domain_size), rng)

    def two_counts(self, noise: CountNoise, dummies: str) -> Profile:
        """Return the profile of the two counts that change, each with this noise; `dummies` describes the noise."""
        window = noise.window
        assert window is not None
        # A composition asks for hundreds of eps, and all begin with the same omitted masses.
        counts = lru_cache(2)(lambda tail: added_message(window(tail), self.keep))
        return Profile(
            lambda eps: settled_count_delta(counts, eps),
            f"the two counts that change, each with {dummies}",
            "upper" if self.others_hide else "exact",
        )

    def gain_per_fake(self, most: float) -> float:
        """Return the gain of the largest number of messages, all of the target, less a user's mean noise."""
        before, after = np.broadcast_to(self.noise(np.array([_MANY, 2 * _MANY])).mean, 2)
        return (most - float(after - before) / _MANY) / self.keep

    def _kept(self, users: Users, rng: Generator) -> Ints:
        values = np.asarray(users.values, np.int64)
        return values if self.keep == 1 else values[rng.random(len(values)) < self.keep]

    def as_messages(self, noise: Ints) -> Messages:
        """Return messages of every value, in the numbers (k,) of `noise`."""
        return Messages(np.repeat(np.arange(self.domain_size), noise))

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw the kept values and the noise of these users, in any order."""
        sent_values = Messages(self._kept(users, rng))
        return Messages.joined(sent_values, self.as_messages(self.noise_of(users, rng)))

    def noise_of(self, users: Users, rng: Generator) -> Ints:
        """Draw the total number of noise messages of every value from these users, (k,)."""
        return np.asarray(self.draw_noise(np.array([len(users)]), rng)[0])

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the counts, (R, k), from their exact law, at a cost independent of n."""
        true_counts = held_integers(participants, self.domain_size)
        kept_counts = true_counts if self.keep == 1 else rng.binomial(true_counts, self.keep)
        return kept_counts + self.draw_noise(participants.public.n_users, rng)

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased relative frequencies, (R, k)."""
        n = public.n
        noise = np.broadcast_to(self.noise(n).mean, n.shape)
        return np.asarray((aggregate - noise[:, None]) / (n[:, None] * self.keep))

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the exact law of kept values and noise."""
        true_counts = held_counts(participants, self.domain_size)
        worth = 1 / (participants.public.users_column * self.keep)
        terms = [Term(true_counts * self.keep, self.keep, 1.0), *self.noise(participants.public.n).terms]
        return ErrorLaw([term.times(worth) for term in terms], worth)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each frequency given the values, (R, k)."""
        n = participants.public.n
        true_counts = held_counts(participants, self.domain_size)
        noise = np.broadcast_to(self.noise(n).variance, n.shape)
        return np.asarray(sampled_count_variance(noise[:, None], self.keep, true_counts) / n[:, None] ** 2)

    def client_of(
        self,
        users: int,
        noise: Mapping[str, Any],
        dummies: Mapping[str, Any] | None,
        shuffler: Sequence[dict[str, Any]] = (),
        exactness: str = AS_CALIBRATED,
    ) -> Client:
        """Return the client, which sends kept values and dummies; `client.description.noise_law` returns their law."""
        k = self.domain_size
        analyzer = frequencies(k, "of_values", self.keep, 0.0, noise)
        sent = {"part": "kept", "rate": "1" if shuffler else text(self.keep), "symbols": 1}
        parts = [sent] if dummies is None else [sent, {**dummies, "values": k}]
        steps = [{**step, "values": k} for step in shuffler]
        return Client(users, k, [("value", k)], parts, analyzer, exactness, steps)

    def cost_of(self, noise_per_user: float, most: float, *, certain: bool = True) -> Cost:
        """Return the cost of the kept value and of a user's noise messages, from their mean and largest number."""
        mean = self.keep + noise_per_user
        return Cost(
            mean, message_bits(self.domain_size), self.keep, most_messages=1 + most, most_certain=certain
        )


@dataclass(frozen=True)
class ShufflerNoise(NoisyCounts):
    """Counts with noise from a trusted shuffler, who keeps each message with probability beta, the ``share``."""

    n_users: int
    share: float

    trust = "shuffler_adds"
    relies_on = "no other user"
    poisoning = "one value"

    def gain_per_fake(self, most: float) -> float:
        """Return one; the shuffler admits one message per user, and keeps a fake user's like any other."""
        return 1.0

    @property
    def keep(self) -> float:
        """Probability that the shuffler keeps a message."""
        return self.share

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Return the users' values without noise; only the shuffler protects them."""
        return Messages(np.asarray(users.values, np.int64).copy())

    def dummies(self, public: Public, rng: Generator) -> Messages:
        """Draw the shuffler's noise of all values."""
        return self.as_messages(np.asarray(self.draw_noise(public.n_users[:1], rng)[0]))

    def forward(self, messages: Messages, rng: Generator) -> Messages:
        """Drop each of the users' messages with probability ``1 - share``."""
        return Messages(messages.payload[rng.random(len(messages)) < self.keep])

    @property
    def noise_per_value(self) -> float:
        """Expected number of noise messages of a value."""
        return float(self.noise(np.array([self.n_users])).mean)

    def cost(self) -> Cost:
        """Return the cost of one message per user, whether dropped or not, and of the shuffler's noise."""
        return Cost(
            1.0,
            message_bits(self.domain_size),
            shuffler_messages=self.domain_size * self.noise_per_value,
            most_messages=1.0,
        )

    def parameters(self) -> dict[str, float]:
        """Return the calibrated numbers, and the number of messages per user that reach the analyzer."""
        forwarded = self.share + self.domain_size * self.noise_per_value / self.n_users
        return {**super().parameters(), "forwarded_per_user": forwarded}
