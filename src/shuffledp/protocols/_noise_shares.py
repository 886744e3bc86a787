"""Noises that users share: numbers that add up over users, and the messages that they are sent as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from shuffledp.accounting.summation.jump_noise import jump_sizes
from shuffledp.tasks import Floats, Ints


class Share(Protocol):
    """A number of which any part can be drawn."""

    def draw(self, part: Floats, rng: np.random.Generator) -> Ints:
        """Independent draws of so large a part of the noise each, in the shape of `part`."""
        ...

    def rates(self, size: int) -> Floats:
        """Rates of jumps by 0, 1, .., size - 1 in the whole noise, (size,): a number is compound Poisson."""
        ...


class Noise(Protocol):
    """Messages of which any part can be drawn."""

    def messages(self, part: Floats, rng: np.random.Generator) -> Mapping[int, Ints]:
        """How often each message is sent, by message, in the shape of `part`."""
        ...

    def rates(self, size: int) -> Floats:
        """Rates at which 0, 1, .., size - 1 messages are sent at once in the whole noise, (size,)."""
        ...


@dataclass(frozen=True)
class NegativeBinomialShare:
    """Negative binomial numbers.

    Parameters
    ----------
    shape : float
        Of the whole noise, > 0.
    stop : float
        Probability of stopping, in (0, 1).
    """

    shape: float
    stop: float

    def draw(self, part: Floats, rng: np.random.Generator) -> Ints:
        """Independent draws, in the shape of `part`."""
        return np.asarray(rng.negative_binomial(self.shape * part, self.stop))

    def rates(self, size: int) -> Floats:
        """``shape (1 - stop)^j / j``, (size,)."""
        j = np.arange(1.0, size)
        return np.concatenate(([0.0], self.shape * (1 - self.stop) ** j / j))


@dataclass(frozen=True)
class JumpShare:
    """A Poisson number of jumps, see :mod:`shuffledp.accounting.summation.jump_noise`.

    Parameters
    ----------
    rate : float
        Expected jumps of the whole noise.
    center : float
        Of their sizes.
    """

    rate: float
    center: float

    def draw(self, part: Floats, rng: np.random.Generator) -> Ints:
        """Independent draws, in the shape of `part`; time grows with the number of jumps."""
        jumps = np.asarray(rng.poisson(self.rate * part))
        sizes = jump_sizes(self.center)
        drawn = 1 + rng.choice(sizes.size, int(jumps.sum()), p=sizes)
        return summed(drawn, jumps)

    def rates(self, size: int) -> Floats:
        """Rates of the sizes of jumps, (size,)."""
        sizes = self.rate * jump_sizes(self.center)
        return np.concatenate(([0.0], sizes, np.zeros(size)))[:size]


def summed(values: Ints, numbers: Ints) -> Ints:
    """Sums of consecutive values, so many of them each, in the shape of `numbers`."""
    owner = np.repeat(np.arange(numbers.size), numbers.ravel())
    total = np.bincount(owner, values, numbers.size)
    return np.asarray(np.rint(total), np.int64).reshape(numbers.shape)


@dataclass(frozen=True)
class AtomNoise:
    """A multiset of messages, sent a random number of times.

    Parameters
    ----------
    share : Share
        How often.
    content : tuple of (int, int)
        Messages with multiplicities.
    """

    share: Share
    content: tuple[tuple[int, int], ...]

    def messages(self, part: Floats, rng: np.random.Generator) -> Mapping[int, Ints]:
        """How often each message is sent, by message, in the shape of `part`."""
        drawn = self.share.draw(part, rng)
        return {message: times * drawn for message, times in self.content}

    def rates(self, size: int) -> Floats:
        """Those of the share, at multiples of the messages of the multiset, (size,)."""
        return at_multiples(self.share.rates(size), sum(times for _, times in self.content))


@dataclass(frozen=True)
class CoarseCentralNoise:
    """Two-sided geometric noise, its jumps sent as messages D or -D and the rest as ones.

    Jumps of either sign and size j come at the rate ``ratio^j / j``, see
    :mod:`shuffledp.accounting.summation.coarse_design`.

    Parameters
    ----------
    ratio : float
        In (0, 1).
    max_value : int
        D, >= 1.
    """

    ratio: float
    max_value: int

    def messages(self, part: Floats, rng: np.random.Generator) -> Mapping[int, Ints]:
        """How often each message is sent, by message, in the shape of `part`."""
        rate = -np.log1p(-self.ratio)
        ones = np.zeros(np.shape(part), np.int64)
        found: dict[int, Ints] = {}
        for sign in (1, -1):
            jumps = np.asarray(rng.poisson(rate * part))
            sizes = rng.logseries(self.ratio, int(jumps.sum()))
            coarse, fine = np.divmod(sign * sizes, self.max_value)  # rounded down, for negative jumps too
            found[sign * self.max_value] = summed(np.abs(coarse), jumps)
            ones = ones + summed(fine, jumps)
        found[1] = found.get(1, 0) + ones
        return found

    def rates(self, size: int) -> Floats:
        """Rates at which 0, 1, .., size - 1 messages are sent at once, (size,).

        A jump of ``size * D`` or more brings at least `size` messages.
        """
        jumps = np.arange(1, size * self.max_value)
        rate = self.ratio**jumps / jumps
        sent = [np.sum(np.abs(np.divmod(sign * jumps, self.max_value)), axis=0) for sign in (1, -1)]
        return np.asarray(np.bincount(np.concatenate(sent), np.concatenate((rate, rate)), size)[:size], float)


def at_multiples(rates: Floats, times: int) -> Floats:
    """Rates of jumps that are `times` as large, (size,)."""
    found = np.zeros_like(rates)
    found[::times] = rates[: len(found[::times])]
    return found
