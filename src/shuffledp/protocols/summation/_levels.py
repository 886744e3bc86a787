"""Base class of sums whose numbers are rounded at random to the levels 0, 1 / g, .., 1 of the largest number."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.general.dummy_blanket import blanket_rate
from shuffledp.accounting.general.grr_blanket import favored_profile
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.numerics.saddlepoint import ErrorLaw, poisson_term
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.client.description import ODDS, Client, odds_below
from shuffledp.protocols.frequency._value_counts import GeneralizedResponse
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.summation._sums import Numbers
from shuffledp.tasks import Array, Floats, Participants, Public, Users


def level_variances(numbers: Numbers, levels: int, uniform_rate: float) -> Floats:
    """Return the variance of a user's part of the sum, relative to the squared largest number, (max_value + 1,).

    With x the rounded number over the largest number, a message has the mean ``(1 - lambda) x + lambda / 2`` and the
    second moment ``(1 - lambda) x^2 + lambda (2 g + 1) / (6 g)``. Exact, rounding included; derived for this project.
    """
    rate, rounding = uniform_rate, numbers.rounding_variance(levels)
    x = np.arange(numbers.max_value + 1) / numbers.max_value
    square = x * x + rounding  # of the rounded number
    second = (1 - rate) * square + rate * (2 * levels + 1) / (6 * levels)
    # The mean of (mean of the message)^2 over the two roundings.
    first = (1 - rate) ** 2 * square + (1 - rate) * rate * x + rate * rate / 4
    return (second - first) / (1 - rate) ** 2 + rounding


@dataclass(frozen=True)
class LevelReports(PlannedUsers):
    """Level of the user's number, one of g + 1 levels, as a message; with probability lambda a uniform level instead.

    ``lambda = (g + 1) / (e^eps_local + g)``, g = ``levels`` >= 1 and eps_local in nats.
    """

    n_users: int
    numbers: Numbers
    levels: int
    eps_local: float

    task_kind = "summation"
    trust = "shuffler"
    relies_on = "others' reports"
    reduction = "blanket"
    poisoning = "one report"
    reported = ("levels", "eps_local", "uniform_rate")

    def gain_per_fake(self, most: float) -> float:
        """Return the gain of messages with the highest level."""
        return (most - self.uniform_rate / 2) / self.response.gap * self.numbers.unit

    @property
    def uniform_rate(self) -> float:
        """Probability lambda of a uniform level."""
        return blanket_rate(self.levels + 1, self.eps_local)

    @property
    def response(self) -> GeneralizedResponse:
        """Generalized randomized response over the levels."""
        return GeneralizedResponse(self.eps_local, self.levels + 1)

    @property
    def alphabet_size(self) -> int:
        """Number of levels, g + 1."""
        return self.levels + 1

    def cost(self) -> Cost:
        """Return the cost of one level per user."""
        return Cost(1.0, message_bits(self.levels + 1), most_messages=1.0)

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw each user's level after generalized randomized response."""
        levels = self.numbers.rounded_inputs(self.levels, self.numbers.inputs(users)[1], rng)
        return Messages(self.response.randomize(levels, rng))

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the messages per level, (R, levels + 1), from their exact law, at a cost independent of n."""
        true_counts = self.numbers.held(participants).astype(np.int64)
        return self.response.sample_counts(self.numbers.rounded(self.levels, true_counts, rng), rng)

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased sums, (R,)."""
        total = np.asarray(aggregate, float) @ (np.arange(self.levels + 1) / self.levels)
        n, rate = public.n, self.uniform_rate
        return (total - n * rate / 2) / self.response.gap * self.numbers.unit

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return a law with the variance, in steps of the largest number."""
        step = self.numbers.unit / self.response.gap
        variance = self.expected_variance(participants)[:, None]
        return ErrorLaw([poisson_term(variance, step)], step / self.levels)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of the sum given the numbers, (R,), with the variance of rounding."""
        each = level_variances(self.numbers, self.levels, self.uniform_rate)
        return self.numbers.held(participants) @ each * self.numbers.unit**2

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the profile of the privacy blanket, the other users' uniform levels."""
        return favored_profile(users, self.levels + 1, self.eps_local)

    def client(self) -> Client:
        """Return the client, which sends randomized response on the randomly rounded level."""
        report = {"part": "response", "levels": self.levels, "max_value": self.numbers.max_value}
        analyzer = {
            "estimating": "leveled_sum",
            "counting": "of_symbols",
            "symbols": self.levels + 1,
            "own": self.response.keep,
            "other": self.response.lie,
            "rounding": float(self.numbers.rounding_variance(self.levels).max()),
            "unit": self.numbers.unit,
        }
        parts = [report | odds_below(self.eps_local)]
        inputs = self.numbers.max_value + 1
        return Client(self.n_users, inputs, [("level", self.levels + 1)], parts, analyzer, ODDS)
