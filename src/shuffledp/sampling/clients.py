"""Randomness of clients and shufflers in a deployment, with exact laws, one message or share at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Self, TypeVar

from shuffledp.sampling.bits import SYSTEM_BITS, Source
from shuffledp.sampling.coins import positive_rational, uniform_below
from shuffledp.sampling.laws import negative_binomial
from shuffledp.sampling.rationals import (
    MOST_EXPONENT,
    Exponential,
    exponential_from_below,
    integer,
    rational,
)

Message = TypeVar("Message")


@dataclass(frozen=True)
class ValueResponse:
    """Randomized response over k values with rational probabilities.

    A report is the true value with probability ``true_weight / total``, and each other value with probability
    ``other_weight / total``, ``total = true_weight + (k - 1) other_weight``. The local budget is ``ln odds`` nats under
    replacement of the value, with ``odds = true_weight / other_weight``.

    Parameters
    ----------
    domain_size : int
        k >= 2; values are 0..k-1. Two values give binary randomized response.
    true_weight, other_weight : int
        ``true_weight >= other_weight >= 1``.
    """

    domain_size: int
    true_weight: int
    other_weight: int

    def __post_init__(self) -> None:
        for name, least in (
            ("domain_size", 2),
            ("other_weight", 1),
            ("true_weight", self.other_weight),
        ):
            integer(f"ValueResponse: {name}", getattr(self, name), least)

    @classmethod
    def within(cls, eps_local: Rational | int, domain_size: int, bits: int = 64) -> Self:
        """Return the randomized response with a local budget, with probabilities rounded to the safe side.

        Derived for this project: the odds of generalized randomized response, ``exp(eps_local)``, are irrational, and a
        lower bound is computed in integers.

        Parameters
        ----------
        eps_local : rational
            Nats, in (0, 1000]; ``Fraction(x)`` of a floating point x is exactly x.
        domain_size : int
            k >= 2.
        bits : int
            Binary places of the odds, >= 1.

        Returns
        -------
        ValueResponse
            Its odds are at most ``exp(eps_local)``, without any error, and less than ``2^(1 - bits)`` below.
        """
        eps = rational("ValueResponse.within: eps_local", eps_local, above=0, most=MOST_EXPONENT)
        places = integer("ValueResponse.within: bits", bits, 1)
        return cls(domain_size, exponential_from_below(eps, places), 1 << places)

    @property
    def total(self) -> int:
        """Sum of all weights."""
        return self.true_weight + (self.domain_size - 1) * self.other_weight

    @property
    def odds(self) -> Fraction:
        """Largest ratio of the probabilities of a report under two inputs."""
        return Fraction(self.true_weight, self.other_weight)

    @property
    def keep(self) -> Fraction:
        """Probability of the true value, for an unbiased analyzer."""
        return Fraction(self.true_weight, self.total)

    @property
    def lie(self) -> Fraction:
        """Probability of each other value."""
        return Fraction(self.other_weight, self.total)

    def report(self, value: int, source: Source = SYSTEM_BITS) -> int:
        """Draw the message of a client.

        Parameters
        ----------
        value : int
            Value of the client, in 0..k-1.
        source : Source, optional
            Source of uniform bits; by default the operating system.

        Returns
        -------
        int
            In 0..k-1. Exact law. The expected number of bits is at most twice the bits of ``total`` and of k together.
        """
        true = integer("ValueResponse.report: value", value, 0)
        if true >= self.domain_size:
            raise ValueError(
                f"ValueResponse.report: value must be in 0..{self.domain_size - 1}, got {value!r}."
            )
        if uniform_below(self.total, source) < self.true_weight:
            return true
        return (true + 1 + uniform_below(self.domain_size - 1, source)) % self.domain_size


def counter_noise(
    users: int,
    eps_geometric: Rational | int,
    shape: Rational | int,
    decay: Rational | int,
    source: Source = SYSTEM_BITS,
) -> tuple[int, int]:
    """Draw the noise messages of one client for one counter with correlated noise.

    Source: Ghazi, Kumar, Manurangsi and Pagh, arXiv 2106.04247.

    Parameters
    ----------
    users : int
        Number of users who share the noise, >= 1.
    eps_geometric : rational
        eps_1 > 0 of the noise that remains, nats.
    shape, decay : rational
        r >= 0 and ``-ln p`` > 0 of the noise that cancels. The protocol ``correlated_noise`` has these three
        attributes.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    (int, int)
        Numbers of messages +1 and -1. Exact law: each is :func:`negative_binomial` of shape ``1 / users`` and ratio
        ``exp(-eps_geometric)``, plus a common number of shape ``shape / users`` and ratio ``exp(-decay)``. The sum of
        their differences over all users is :func:`discrete_laplace` of scale ``1 / eps_geometric``.
    """
    count = integer("counter_noise: users", users, 1)
    remains = Exponential(positive_rational("counter_noise: eps_geometric", eps_geometric))
    cancels = Exponential(positive_rational("counter_noise: decay", decay))
    common = rational("counter_noise: shape", shape, least=0) / count
    pairs = negative_binomial(common, cancels, source)
    share = Fraction(1, count)
    return (
        negative_binomial(share, remains, source) + pairs,
        negative_binomial(share, remains, source) + pairs,
    )


def shuffled(messages: Iterable[Message], source: Source = SYSTEM_BITS) -> list[Message]:
    """Return messages in a uniformly random order.

    Parameters
    ----------
    messages : iterable
        Messages, not changed.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    list
        Every order has exactly the same probability (Fisher and Yates). The expected number of bits per message is at
        most 2 L, with L the bits of the number of messages.
    """
    order = list(messages)
    for last in range(len(order) - 1, 0, -1):
        other = uniform_below(last + 1, source)
        order[last], order[other] = order[other], order[last]
    return order
