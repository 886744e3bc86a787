"""Randomness of the clients and shufflers of a deployment, with exact laws, one message or share at a time."""

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

    The true value has probability ``true_weight / total``, each other value ``other_weight / total``, with
    ``total = true_weight + (k - 1) other_weight``. For any two inputs and any report the ratio of probabilities is at
    most ``odds = true_weight / other_weight``: the local budget is ``ln odds`` nats, for replacement of the value.

    Parameters
    ----------
    domain_size : int
        k >= 2; values are 0..k-1. Two values give binary randomized response.
    true_weight, other_weight : int
        ``true_weight >= other_weight >= 1``.

    Raises
    ------
    ValueError
        If one of them is outside of its range.
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
        """Return the randomized response of a local budget, with probabilities rounded to the safe side.

        Parameters
        ----------
        eps_local : rational
            In nats, in (0, 1000]; ``Fraction(x)`` of a floating point x is exactly that number.
        domain_size : int
            k >= 2.
        bits : int
            Binary places of the odds, >= 1.

        Returns
        -------
        ValueResponse
            Its odds are at most ``exp(eps_local)``, without any error, and less than ``2^(1 - bits)`` below.

        Raises
        ------
        ValueError
            If an argument is outside of its range.

        Notes
        -----
        Derived here: generalized randomized response has odds ``exp(eps_local)``, an irrational number. It is bounded
        from below in integers.
        """
        eps = rational("ValueResponse.within: eps_local", eps_local, above=0, most=MOST_EXPONENT)
        places = integer("ValueResponse.within: bits", bits, 1)
        return cls(domain_size, exponential_from_below(eps, places), 1 << places)

    @property
    def total(self) -> int:
        """The sum of all weights."""
        return self.true_weight + (self.domain_size - 1) * self.other_weight

    @property
    def odds(self) -> Fraction:
        """The largest ratio of probabilities of a report under two inputs."""
        return Fraction(self.true_weight, self.other_weight)

    @property
    def keep(self) -> Fraction:
        """Probability of sending the true value, with which an analyzer is unbiased."""
        return Fraction(self.true_weight, self.total)

    @property
    def lie(self) -> Fraction:
        """Probability of sending one particular other value."""
        return Fraction(self.other_weight, self.total)

    def report(self, value: int, source: Source = SYSTEM_BITS) -> int:
        """Draw the one message of a client.

        Parameters
        ----------
        value : int
            Value of the client, in 0..k-1.
        source : Source, optional
            Source of uniform bits; by default the operating system.

        Returns
        -------
        int
            In 0..k-1. Exact law. At most twice the bits of ``total`` and of k together are expected.

        Raises
        ------
        ValueError
            If the value is not in 0..k-1.
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

    Parameters
    ----------
    users : int
        Users who share the noise, >= 1.
    eps_geometric : rational
        eps_1 > 0 of the noise that remains, nats.
    shape, decay : rational
        r >= 0 and ``-ln p`` > 0 of the noise that cancels. All three are attributes of the protocol
        ``correlated_noise``.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    (int, int)
        Numbers of messages +1 and -1. Exact law: both are :func:`negative_binomial` of shape ``1 / users`` and ratio
        ``exp(-eps_geometric)``, plus a number that they share, of shape ``shape / users`` and ratio ``exp(-decay)``.
        Summed over all users, their difference is :func:`discrete_laplace` of scale ``1 / eps_geometric``.

    Raises
    ------
    ValueError
        If an argument is outside of its range.

    Notes
    -----
    Source of the noise: Ghazi, Kumar, Manurangsi and Pagh, arXiv 2106.04247.
    """
    count = integer("counter_noise: users", users, 1)
    remains = Exponential(positive_rational("counter_noise: eps_geometric", eps_geometric))
    cancels = Exponential(positive_rational("counter_noise: decay", decay))
    common = rational("counter_noise: shape", shape, least=0) / count
    pairs = negative_binomial(common, cancels, source)
    own = Fraction(1, count)
    return (
        negative_binomial(own, remains, source) + pairs,
        negative_binomial(own, remains, source) + pairs,
    )


def shuffled(messages: Iterable[Message], source: Source = SYSTEM_BITS) -> list[Message]:
    """Return messages in a uniformly random order.

    Parameters
    ----------
    messages : iterable
        Is not changed.
    source : Source, optional
        Source of uniform bits; by default the operating system.

    Returns
    -------
    list
        Every order has the same probability, exactly (Fisher and Yates). At most 2 L bits are expected per message,
        L being the bits of their number.
    """
    order = list(messages)
    for last in range(len(order) - 1, 0, -1):
        other = uniform_below(last + 1, source)
        order[last], order[other] = order[other], order[last]
    return order
