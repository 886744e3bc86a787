"""What sums have in common whose numbers are rounded at random to levels: 0, 1 / g, .., 1 of the largest number."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.expected_errors.level_sums import level_sum_variance
from shuffledp.accounting.general.dummy_blanket import blanket_rate
from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.accounting.general.grr_blanket import favored_profile
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.numerics.roots import root_below
from shuffledp.protocols._random_users import PlannedUsers
from shuffledp.protocols.base import Cost, Messages, message_bits
from shuffledp.protocols.frequency._value_counts import GeneralizedResponse
from shuffledp.protocols.summation._sums import Numbers
from shuffledp.tasks import Floats, Ints, Participants, Public, Users

#: Levels of which the exact error is worked out, on top of the one that the limit of many users favors.
_TRIED = 3


def rounded(numbers: Numbers, levels: int, held: Ints, rng: np.random.Generator) -> Ints:
    """Exact law of the users per level, (R, levels + 1), of users per number, (R, max_value + 1)."""
    below, part = np.divmod(np.arange(numbers.max_value + 1) * levels, numbers.max_value)
    up = rng.binomial(held, part / numbers.max_value)
    found = np.zeros((len(held), levels + 2), np.int64)
    np.add.at(found.T, below, (held - up).T)
    np.add.at(found.T, below + 1, up.T)
    return found[:, :-1]


def rounded_inputs(numbers: Numbers, levels: int, users: Users, rng: np.random.Generator) -> Ints:
    """The level of each user, (n,), with the right mean."""
    _, number = numbers.inputs(users)
    below, part = np.divmod(number * levels, numbers.max_value)
    if levels % numbers.max_value == 0:
        return below
    return np.asarray(below + (rng.random(len(number)) * numbers.max_value < part), np.int64)


def unit(numbers: Numbers) -> float:
    """What the largest number is worth."""
    return numbers.max_value * numbers.step


@dataclass(frozen=True)
class LevelReports(PlannedUsers):
    """One message per user: its level, or, with probability lambda, a uniform one.

    Parameters
    ----------
    n_users : int
        Users that the protocol is calibrated for, user 1 included.
    numbers : Numbers
        What users hold.
    levels : int
        g >= 1; a message is one of g + 1.
    eps_local : float
        Local budget in nats: ``lambda = (g + 1) / (e^eps_local + g)``.
    """

    n_users: int
    numbers: Numbers
    levels: int
    eps_local: float

    trust = "shuffler"
    relies_on = "others' reports"
    reduction = "blanket"

    @property
    def uniform_rate(self) -> float:
        """Probability lambda of a uniform level."""
        return blanket_rate(self.levels + 1, self.eps_local)

    @property
    def response(self) -> GeneralizedResponse:
        """The local randomizer of the levels."""
        return GeneralizedResponse(self.eps_local, self.levels + 1)

    @property
    def alphabet_size(self) -> int:
        """One kind of message per level."""
        return self.levels + 1

    def cost(self) -> Cost:
        """One level."""
        return Cost(1.0, message_bits(self.levels + 1), most_messages=1.0)

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """Levels after generalized randomized response."""
        return Messages(self.response.randomize(rounded_inputs(self.numbers, self.levels, users, rng), rng))

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the messages per level, (R, levels + 1), at a cost independent of the number of users."""
        held = self.numbers.held(participants).astype(np.int64)
        return self.response.sample_counts(rounded(self.numbers, self.levels, held, rng), rng)

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Unbiased sums, (R,)."""
        total = np.asarray(aggregate, float) @ (np.arange(self.levels + 1) / self.levels)
        n, rate = np.asarray(public.n_users, float), self.uniform_rate
        return np.asarray((total - n * rate / 2) / self.response.gap * unit(self.numbers))

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of the sum given the participants' numbers, (R,), rounding included."""
        each = level_sum_variance(
            np.arange(self.numbers.max_value + 1), self.numbers.max_value, self.levels, self.uniform_rate
        )
        return np.asarray(self.numbers.held(participants) @ each * unit(self.numbers) ** 2)

    def profile_for(self, users: int) -> PrivacyProfile:
        """The blanket of the uniform levels of the others."""
        return favored_profile(users, self.levels + 1, self.eps_local)

    def parameters(self) -> dict[str, float]:
        """Levels, local budget, and probability of a uniform level."""
        return {
            "levels": float(self.levels),
            "eps_local": self.eps_local,
            "uniform_rate": self.uniform_rate,
        }


# -- how many levels ------------------------------------------------------------------------------------------------


def spread_error(numbers: Numbers, levels: int, uniform_rate: float) -> float:
    """Squared error per user when users are spread evenly over all numbers, which are at most 1.

    The mean of `level_sum_variance` over 0..D in closed form, as there may be a million numbers: where g / D is h / P
    in lowest terms the parts behind the point are 0, 1 / P, .., (P - 1) / P equally often, but for the largest number.
    """
    d, g, rate = numbers.max_value, levels, uniform_rate
    period = d // math.gcd(g, d)
    rounding = d / (d + 1) * (1 - 1 / period**2) / (6 * g**2)
    square = (2 * d + 1) / (6 * d) + rounding
    second = (1 - rate) * square + rate * (2 * g + 1) / (6 * g)
    first = (1 - rate) ** 2 * square + (1 - rate) * rate / 2 + rate * rate / 4
    return (second - first) / (1 - rate) ** 2 + rounding


def best_levels(
    numbers: Numbers, n: int, eps: float, delta: float, budget_of: Callable[[int], float]
) -> tuple[int, float]:
    """Levels with the least error for users who are spread evenly over all numbers, and their local budget.

    Parameters
    ----------
    numbers : Numbers
        What users hold.
    n : int
        Users.
    eps, delta : float
        The budget, nats and in (0, 1).
    budget_of : callable
        Levels -> local budget.

    Notes
    -----
    With many users ``lambda = 2 (g + 1) / (n mu^2)``, where Gaussian noise with a ratio mu of sensitivity to deviation
    meets the budget. That ranks all g; with the factor between it and the local budget found for the first, the next
    few are ranked again and worked out. Around the best g the error is flat.
    """
    ratio = _gaussian_ratio(eps, delta)
    weight = 2 / (n * ratio**2)
    most = 8 + math.ceil(4 * (n * ratio**2) ** (1 / 3))
    tried: dict[int, float] = {}
    for _ in range(_TRIED):
        ranked = sorted(
            (spread_error(numbers, g, _limited(weight * (g + 1), g, eps)), g) for g in range(1, most + 1)
        )
        levels = next((g for _, g in ranked if g not in tried), None)
        if levels is None:
            break
        tried[levels] = budget_of(levels)
        weight = blanket_rate(levels + 1, tried[levels]) / (levels + 1)
    errors = {g: spread_error(numbers, g, blanket_rate(g + 1, local)) for g, local in tried.items()}
    best = min(errors, key=lambda g: (errors[g], g))
    return best, tried[best]


def _limited(rate: float, levels: int, eps: float) -> float:
    """The rate, at most that of plain local privacy."""
    return min(rate, blanket_rate(levels + 1, eps))


def _gaussian_ratio(eps: float, delta: float) -> float:
    def excess(log_ratio: float) -> float:
        return log_gaussian_delta(math.exp(log_ratio), eps) - math.log(delta)

    return math.exp(root_below(excess, 0.0, -math.inf, math.inf, xtol=1e-4))
