"""Noise that users send in shares: infinitely divisible laws of numbers, and the messages that encode the numbers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.most_messages import CompoundPoisson
from shuffledp.accounting.summation.jump_noise import jump_sizes
from shuffledp.protocols.client.description import ClusterRate, decay_below, decaying_clusters, text
from shuffledp.tasks import Floats, Ints

#: Law of the clusters of a noise, and their rates.
ClientNoise = tuple[dict[str, Any], list[ClusterRate]]

#: Largest exponent; relevant tilts are far below.
LARGE = 700.0
#: Largest number of probabilities that are computed one by one.
_MOST_NUMBERS = 20_000


class Share(CompoundPoisson, Protocol):
    """Infinitely divisible random number N, of which a user draws a part."""

    def draw(self, part: Floats, rng: Generator) -> Ints:
        """Draw a part of N for each entry of `part`, the size of the part relative to N."""
        ...

    def as_clusters(self) -> tuple[Fraction, list[ClusterRate]]:
        """Return decay and rates of the clusters of the noise, see `client.description.shares_part`."""
        ...


class Noise(CompoundPoisson, Protocol):
    """Infinitely divisible random multiset of messages, of which a user draws a part."""

    def messages(self, part: Floats, rng: Generator) -> Mapping[int, Ints]:
        """Draw the number of copies of each message, for each size of a user's part in `part`."""
        ...

    def client_noises(self, levels: int) -> list[ClientNoise]:
        """Return the noise for `client.description.shares_part`; message m has the symbol ``m + levels``."""
        ...


@dataclass(frozen=True)
class NegativeBinomialShare:
    """Negative binomial number of ``shape`` >= 0 over all users, with success probability ``stop``."""

    shape: float
    stop: float

    def draw(self, part: Floats, rng: Generator) -> Ints:
        """Draw a part of the number for each entry of `part`."""
        if not self.shape:  # numpy has no negative binomial of shape 0, which is 0
            return np.zeros(np.shape(part), np.int64)
        return rng.negative_binomial(self.shape * part, self.stop)

    def as_clusters(self) -> tuple[Fraction, list[ClusterRate]]:
        """Return the decay and the rates of the clusters of the noise."""
        decay = decay_below(self.stop)
        return decay, decaying_clusters(self.shape, decay)

    def rates(self, size: int) -> Floats:
        """Return the rates of jumps of size j < `size`: 0 for j = 0, then ``shape (1 - stop)^j / j``."""
        j = np.arange(1.0, min(size, last_jump(1 - self.stop)))
        return np.concatenate(([0.0], self.shape * (1 - self.stop) ** j / j))

    def log_moment(self, tilt: float) -> float:
        """Return ``log E e^(tilt N)``, infinite for ``tilt >= -log(1 - stop)``."""
        odds = (1 - self.stop) / self.stop * math.expm1(min(tilt, LARGE))
        return -self.shape * math.log1p(-odds) if odds < 1 else math.inf


@dataclass(frozen=True)
class JumpShare:
    """Sum of a Poisson number of jumps with mean ``rate``, see :mod:`shuffledp.accounting.summation.jump_noise`."""

    rate: float
    center: float

    def draw(self, part: Floats, rng: Generator) -> Ints:
        """Draw a part of the sum for each entry of `part`. Time grows with the number of jumps."""
        jumps = np.asarray(rng.poisson(self.rate * part))
        sizes = jump_sizes(self.center)
        drawn_sizes = 1 + rng.choice(sizes.size, int(jumps.sum()), p=sizes)
        return summed(drawn_sizes, jumps)

    def as_clusters(self) -> tuple[Fraction, list[ClusterRate]]:
        """Return the rate of jumps of each size, and decay 0."""
        return Fraction(0), [
            (self.rate * law, size, 1) for size, law in enumerate(jump_sizes(self.center), 1)
        ]

    def rates(self, size: int) -> Floats:
        """Return the rates of jumps of size j < `size`, from j = 0 on."""
        return np.concatenate(([0.0], self.rate * jump_sizes(self.center)))[:size]

    def log_moment(self, tilt: float) -> float:
        """Return ``log E e^(tilt N)`` for the sum N."""
        sizes = jump_sizes(self.center)
        return float(self.rate * (sizes @ np.expm1(np.minimum(tilt * np.arange(1, 1 + sizes.size), LARGE))))


def part_law(law: CompoundPoisson, part: float, tail: float) -> Floats:
    """Return the probabilities of 0, 1, .. for a part of a noise; the omitted tail has at most mass `tail`.

    Chernoff's bound limits the number of probabilities; Panjer's recursion adds positive terms.
    """
    tilts = np.geomspace(1e-6, 50.0, 400)
    moments = np.array([part * law.log_moment(tilt) for tilt in tilts])
    size = 2 + math.ceil(float(np.min((moments - math.log(tail)) / tilts)))
    none = part * law.log_moment(-LARGE)
    if size > _MOST_NUMBERS or none < -LARGE:
        raise Infeasible(f"The noise of the remaining users has more than {_MOST_NUMBERS} likely values.")
    rates = law.rates(size)
    weights = part * np.arange(rates.size) * rates
    law_of_part = np.zeros(size)
    law_of_part[0] = math.exp(none)
    for number in range(1, size):
        some = weights[1 : number + 1]
        law_of_part[number] = some @ law_of_part[number - some.size : number][::-1] / number
    return law_of_part


def summed(values: Ints, numbers: Ints) -> Ints:
    """Return sums of consecutive values; `numbers` has the number of terms of each sum."""
    owner = np.repeat(np.arange(numbers.size), numbers.ravel())
    total = np.bincount(owner, values, numbers.size)
    return np.asarray(np.rint(total), np.int64).reshape(numbers.shape)


@dataclass(frozen=True)
class AtomNoise:
    """Noise that sends the multiset ``content`` of messages N times; ``share`` is the law of N."""

    share: Share
    content: tuple[tuple[int, int], ...]

    def messages(self, part: Floats, rng: Generator) -> Mapping[int, Ints]:
        """Draw the number of copies of each message, for each size of a user's part in `part`."""
        copies = self.share.draw(part, rng)
        return {message: times * copies for message, times in self.content}

    def client_noises(self, levels: int) -> list[ClientNoise]:
        """Return the multiset and the clusters of its copies."""
        decay, rates = self.share.as_clusters()
        content = [[message + levels, times] for message, times in self.content]
        return [({"decay": text(decay), "content": content}, rates)]

    def rates(self, size: int) -> Floats:
        """Return the rates of jumps by 0, 1, .. messages; only multiples of the content's size have one."""
        single = self.share.rates(-(-size // self._messages))
        message_rates = np.zeros((single.size - 1) * self._messages + 1)
        message_rates[:: self._messages] = single
        return message_rates

    def log_moment(self, tilt: float) -> float:
        """Return ``log E e^(tilt N)`` for the number N of messages."""
        return self.share.log_moment(tilt * self._messages)

    @property
    def _messages(self) -> int:
        return sum(times for _, times in self.content)


def last_jump(ratio: float) -> int:
    """Return a jump size from which ``ratio^j`` is below ``e^-100`` and negligible in sums of rates."""
    return 2 + math.ceil(100 / -math.log(ratio))
