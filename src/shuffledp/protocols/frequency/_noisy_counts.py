"""What protocols share whose messages are values: the own one, perhaps, and noise on the count of every value.

The counts that the analyzer gets are ``Bin(n_j, keep) + Z_j``, independent over the values j. A protocol states the law
of Z, for any number of users, and how it is calibrated. Users add Z, each its part, or a trusted shuffler does.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.general.count_pairs import added_message, settled_count_delta
from shuffledp.accounting.general.profiles import Profile
from shuffledp.guarantees import UPPER, Standing
from shuffledp.numerics.windows import Window, binomial_window, poisson_window
from shuffledp.protocols.base import Cost, Messages, ProtocolBase, message_bits
from shuffledp.protocols.frequency._count_shares import sampled_count_variance
from shuffledp.protocols.frequency._value_counts import held_counts
from shuffledp.tasks import Floats, Ints, Participants, Public, Users


@dataclass(frozen=True)
class CountNoise:
    """Law of a value's noise, for (R,) numbers of users or for any.

    Parameters
    ----------
    mean, variance : (R,) ndarray or float
        Of the dummies of a value.
    draw : callable
        (R, k) and a generator -> independent draws, (R, k).
    window : callable
        Probabilities for one number of users, by the mass that they may leave out on either side; none where delta is
        a closed form.
    """

    mean: Floats | float
    variance: Floats | float
    draw: Callable[[tuple[int, int], np.random.Generator], Ints]
    window: Callable[[float], Window] | None = None


def coin_noise(trials: NDArray[Any] | int, rate: float) -> CountNoise:
    """Binomial noise: (R,) coins, or one number of them, each with the same probability."""
    mean = trials * rate
    return CountNoise(
        mean,
        mean * (1 - rate),
        lambda size, rng: rng.binomial(np.reshape(trials, (-1, 1)), rate, size),
        lambda tail: binomial_window(int(trials), rate, tail),
    )


def poisson_noise(mean: Floats) -> CountNoise:
    """Poisson noise of mean (R,)."""
    return CountNoise(
        mean,
        mean,
        lambda size, rng: rng.poisson(mean[:, None], size),
        lambda tail: poisson_window(float(mean), tail),
    )


@dataclass(frozen=True)
class NoisyCounts(ProtocolBase):
    """Counts with noise that does not depend on what users hold.

    Parameters
    ----------
    domain_size : int
        Values are 0..domain_size-1.
    """

    domain_size: int

    reduction = "own"

    @property
    def keep(self) -> float:
        """Probability with which a user's own value is counted."""
        return 1.0

    @property
    def alphabet_size(self) -> int:
        """One kind of message per value."""
        return self.domain_size

    @property
    def standing(self) -> Standing:
        """That of the accounting; an upper bound where the others' values are random noise on one of the two counts."""
        return UPPER if super().standing.guarantee == "exact" and self.others_hide else super().standing

    @property
    def others_hide(self) -> bool:
        """Whether others always add randomness to a count that changes: of two values each is one of these."""
        return self.keep < 1 and self.domain_size == 2

    @abstractmethod
    def noise(self, users: NDArray[Any]) -> CountNoise:
        """Law of a value's noise when (R,) users take part."""

    def draw_noise(self, users: NDArray[Any], rng: np.random.Generator) -> Ints:
        """Noise of every value, (R, k), when (R,) users take part."""
        return self.noise(users).draw((len(users), self.domain_size), rng)

    def two_counts(self, noise: CountNoise, dummies: str) -> Profile:
        """Profile of the two counts that change, each with noise of this law, which `dummies` names."""
        window = noise.window
        assert window is not None
        return Profile(
            lambda eps: settled_count_delta(lambda tail: added_message(window(tail), self.keep), eps),
            f"the two counts that change, each with {dummies}",
            "upper" if self.others_hide else "exact",
        )

    def _kept(self, users: Users, rng: np.random.Generator) -> NDArray[np.int64]:
        values = np.asarray(users.values, np.int64)
        return values if self.keep == 1 else values[rng.random(len(values)) < self.keep]

    def as_messages(self, noise: Ints) -> Messages:
        """So many messages of every value, (k,)."""
        return Messages(np.repeat(np.arange(self.domain_size), noise))

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """The own value of each user, perhaps, and their noise, drawn together: who sends which is not seen."""
        own = Messages(self._kept(users, rng))
        return Messages.joined(own, self.as_messages(self.noise_of(users, rng)))

    def noise_of(self, users: Users, rng: np.random.Generator) -> Ints:
        """Noise messages of every value that these users send together, (k,)."""
        return np.asarray(self.draw_noise(np.array([len(users)]), rng)[0])

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the counts, (R, k), at a cost that does not depend on the number of users."""
        held = held_counts(participants, self.domain_size).astype(np.int64)
        kept = held if self.keep == 1 else rng.binomial(held, self.keep)
        return np.asarray(kept + self.draw_noise(participants.public.n_users, rng))

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Unbiased relative frequencies, (R, k)."""
        n = np.asarray(public.n_users, float)
        noise = np.broadcast_to(self.noise(n).mean, n.shape)
        return np.asarray((np.asarray(aggregate, float) - noise[:, None]) / (n[:, None] * self.keep))

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of each frequency given the participants' values, (R, k)."""
        n = np.asarray(participants.public.n_users, float)
        held = held_counts(participants, self.domain_size)
        noise = np.broadcast_to(self.noise(n).variance, n.shape)
        return np.asarray(sampled_count_variance(noise[:, None], self.keep, held) / n[:, None] ** 2)

    def cost_of(self, noise_per_user: float, most: float, *, certain: bool = True) -> Cost:
        """The own value as often as it is sent, and so many noise messages: on average, and at most."""
        mean = self.keep + noise_per_user
        return Cost(
            mean, message_bits(self.domain_size), self.keep, most_messages=1 + most, most_certain=certain
        )


@dataclass(frozen=True)
class ShufflerNoise(NoisyCounts):
    """A trusted shuffler keeps every message with some probability and adds noise.

    Parameters
    ----------
    n_users : int
        As many as take part as a rule; only the stated cost, and the default share, depend on it.
    share : float
        beta, the probability with which the shuffler keeps a user's message.
    """

    n_users: int
    share: float

    trust = "shuffler_adds"
    relies_on = "no other user"

    @property
    def keep(self) -> float:
        """The shuffler's share."""
        return self.share

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """Each user's value as it is: only the shuffler protects it."""
        return Messages(np.asarray(users.values, np.int64).copy())

    def dummies(self, public: Public, rng: np.random.Generator) -> Messages:
        """The noise of all values, from the shuffler."""
        return self.as_messages(np.asarray(self.draw_noise(public.n_users[:1], rng)[0]))

    def forward(self, messages: Messages, rng: np.random.Generator) -> Messages:
        """Drop some of the users' messages."""
        return Messages(messages.payload[rng.random(len(messages)) < self.keep])

    @property
    def noise_per_value(self) -> float:
        """Expected noise messages of a value."""
        return float(self.noise(np.array([self.n_users])).mean)

    def cost(self) -> Cost:
        """One message of each user; the shuffler's noise is stated in total. What it drops is not taken off."""
        return Cost(
            1.0,
            message_bits(self.domain_size),
            shuffler_messages=self.domain_size * self.noise_per_value,
            most_messages=1.0,
        )

    def parameters(self) -> dict[str, float]:
        """Calibrated numbers, and the messages that the shuffler forwards to the analyzer, per user."""
        forwarded = self.share + self.domain_size * self.noise_per_value / self.n_users
        return {**super().parameters(), "forwarded_per_user": forwarded}
