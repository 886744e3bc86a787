"""Sums with noise in independent parts that all users share: messages, their exact law and the error."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.most_messages import most_sent
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.saddlepoint import ErrorLaw, geometric_noise, poisson_term
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._noise_shares import Noise
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.client.description import ROUNDED_UP, Client, laplace_parts, noise_law, shares_part
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.summation._sums import Numbers, over_users
from shuffledp.tasks import Array, Floats, Ints, Participants, Public, Users

#: Number of noise shares that are drawn together.
_DRAWS = 2**20


class SumDesign(Protocol):
    """Design of the noise of one sum."""

    @property
    def max_value(self) -> int:
        """Largest level D."""

    @property
    def eps_star(self) -> float:
        """Parameter (nats) of the error, discrete Laplace noise of ratio ``e^(-eps_star / D)``."""

    @property
    def messages(self) -> float:
        """Expected number of noise messages from all users."""

    @property
    def symbols(self) -> int:
        """Number of different messages."""

    @property
    def mse(self) -> float:
        """Variance of the error."""


_most_sent = remember(1024)(most_sent)  # several accountings and copies of a protocol have the same noise


@dataclass(frozen=True)
class NoisySum(PlannedUsers):
    """Integers in -D..D as messages: a user sends a positive number and a share of the noise of every sum.

    The number is rounded at random to a multiple of ``1 / D`` of the largest number, unless D is the largest number.
    """

    n_users: int
    numbers: Numbers
    design: SumDesign

    task_kind = "summation"
    trust = "shuffler"
    relies_on = "shares of the noise"
    reduction = "own"
    poisoning = "capped messages"
    noise_shares = True

    def gain_per_fake(self, most: float) -> float:
        """Return the gain of the largest number of messages, each with the largest number."""
        return float(most) * self.numbers.unit

    @property
    @abstractmethod
    def _noises(self) -> list[Noise]:
        """Independent parts of the noise of one sum, each from all users together."""

    @property
    def _symbols(self) -> int:
        """Number of different messages of one sum, which determines the bits of a message."""
        return self.design.symbols

    @property
    def levels(self) -> int:
        """Number of levels D above 0."""
        return self.design.max_value

    @property
    def _worth(self) -> float:
        """Contribution of one level to the sum."""
        return self.numbers.step * self.numbers.max_value / self.levels

    def cost(self) -> Cost:
        """Return the cost of a user's number, also if it is 0, and of the user's shares of the noise."""
        copies = self.numbers.coordinates
        part = copies / self.n_users
        most = 1 + _most_sent(tuple(self._noises), part, self.expected_users)
        bits = message_bits(copies * self._symbols)
        return Cost(1 + part * self.design.messages, bits, most_messages=most, most_certain=False)

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw the positive levels and all users' noise. Time grows with n times the number of sums."""
        where, number = self.numbers.inputs(users)
        level = self.numbers.rounded_inputs(self.levels, number, rng)
        noise = self._noise_of(len(users), rng)
        copy, at = np.nonzero(noise)
        times = noise[copy, at]
        sent = level > 0
        return Messages(
            self.numbers.rows(
                np.concatenate((where[sent], np.repeat(copy, times))),
                np.concatenate((level[sent], np.repeat(at - self.levels, times))),
            )
        )

    def _noise_of(self, users: int, rng: Generator) -> Ints:
        """Draw the numbers of noise messages, (sums, 2 D + 1), from this number of users."""
        copies = self.numbers.coordinates
        total = np.zeros((copies, 2 * self.levels + 1), np.int64)
        step = max(1, _DRAWS // copies)
        for begin in range(0, users, step):
            size = (min(step, users - begin), copies)
            part = np.full(size, 1 / self.n_users)
            for noise in self._noises:
                for message, times in noise.messages(part, rng).items():
                    total[:, message + self.levels] += times.sum(axis=0)
        return total

    def aggregate(self, messages: Messages) -> Array:
        """Return the number of messages of each kind -D..D, (.., 2 D + 1). Raise ValueError for other messages."""
        where, number = self.numbers.read(messages.payload)
        width, copies = 2 * self.levels + 1, self.numbers.coordinates
        if number.size and np.abs(number).max() > self.levels:
            raise ValueError(f"{self.name}: messages must be integers in -{self.levels}..{self.levels}.")
        counts = np.bincount(where * width + number + self.levels, minlength=copies * width)
        return counts.reshape(*self.numbers.estimate_shape, width)

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the number of messages of each kind from its exact law; shares of the noise add up."""
        true_counts = self.numbers.held(participants).astype(np.int64)
        counts = np.zeros((*true_counts.shape[:-1], 2 * self.levels + 1), np.int64)
        counts[..., self.levels :] = self.numbers.rounded(self.levels, true_counts, rng)
        counts[..., self.levels] = 0  # who holds 0 sends nothing
        part = np.broadcast_to(over_users(participants, self.n_users, self.numbers), true_counts.shape[:-1])
        for noise in self._noises:
            for message, times in noise.messages(part, rng).items():
                counts[..., message + self.levels] += times
        return counts

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased sums, (R, *estimate_shape), computed from all messages."""
        counts = np.asarray(aggregate)
        return np.asarray(counts @ np.arange(-self.levels, self.levels + 1) * self._worth, float)

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the law of noise, two-sided geometric for the planned number of users, and of rounding."""
        repeats = participants.public.repeats
        shape = np.reshape(over_users(participants, self.n_users, self.numbers), (repeats, -1))
        rounding = np.reshape(self._rounding(participants), (repeats, -1))
        terms = [*geometric_noise(self.design.eps_star / self.levels, shape), poisson_term(rounding, 1.0)]
        return ErrorLaw([term.times(self._worth) for term in terms], self._worth)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each sum given the numbers, from noise and rounding."""
        noise = self.design.mse * over_users(participants, self.n_users, self.numbers)
        return (self._rounding(participants) + noise) * self._worth**2

    def _rounding(self, participants: Participants) -> Floats:
        """Return the variance of each sum of rounded numbers, in levels."""
        chance = self.numbers.rounding(self.levels)[1]
        return np.asarray(np.asarray(self.numbers.held(participants), float) @ (chance * (1 - chance)))

    def parameters(self) -> dict[str, float]:
        """Return the levels, eps_star, the root mean squared error of the noise and the expected noise messages."""
        return {
            "levels": float(self.levels),
            "eps_star": self.design.eps_star,
            "noise_rmse": math.sqrt(self.design.mse) * self._worth,
            "noise_messages": self.design.messages,
        }

    def client(self) -> Client:
        """Return the client, which sends the level of the number and a share of each part of the noise."""
        if self.numbers.coordinates > 1:
            raise Infeasible(f"{self.name} has no client for several sums: the client estimates one.")
        top, numbers = self.levels, self.numbers
        noises = [client_noise for part in self._noises for client_noise in part.client_noises(top)]
        shares = shares_part(noises, Fraction(1, self.n_users), counters=1, symbols=2 * top + 1)
        chance = numbers.rounding(top)[1]
        analyzer = {
            "estimating": "noisy_sum",
            "counting": "of_symbols",
            "symbols": 2 * top + 1,
            "noise": noise_law(laplace_parts(self.design.eps_star / top), "users"),
            "rounding": float((chance * (1 - chance)).max()),
            "unit": self._worth,
        }
        parts = [{"part": "level", "levels": top, "max_value": numbers.max_value}, shares]
        return Client(
            self.n_users, numbers.max_value + 1, [("symbol", 2 * top + 1)], parts, analyzer, ROUNDED_UP
        )
