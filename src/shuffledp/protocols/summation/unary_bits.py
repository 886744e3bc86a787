"""Unary bits: a number as so many bits, each replaced by a fair coin with some probability."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.bit_sums import unary_bits_delta, unary_bits_rate
from shuffledp.accounting.expected_errors.level_sums import unary_bits_variance
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import check_count
from shuffledp.protocols._random_users import PlannedUsers
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.base import Cost, Messages
from shuffledp.protocols.summation._levels import rounded, rounded_inputs, unit
from shuffledp.protocols.summation._sums import Numbers, numbers_of
from shuffledp.tasks import Floats, Participants, Public, Task, Users

#: Bits of a user at most, unless the option says otherwise: twice as many hardly lower the error of noise.
_MOST_BITS = 64


@dataclass(frozen=True)
class UnaryBits(PlannedUsers):
    """A message is one bit; the shuffler permutes, and all other users are relied on for fair coins.

    Parameters
    ----------
    n_users : int
        Users that the protocol is calibrated for, user 1 included.
    numbers : Numbers
        What users hold.
    bits : int
        r >= 1, messages of each user; as many are ones as its number has levels of ``1 / r``.
    uniform_rate : float
        Probability lambda of a fair coin in place of a bit.
    """

    n_users: int
    numbers: Numbers
    bits: int
    uniform_rate: float

    name = "unary_bits"
    task_kind = "summation"
    label = "unary randomized bits"
    source = (
        "Cheu, Smith, Ullman, Zeber and Zhilyaev 2019, real sums; the accounting is derived for this project"
    )
    trust = "shuffler"
    relies_on = "others' reports"
    guarantees = under(exact=UPPER)

    @classmethod
    @from_request
    def calibrate(cls, task: Task, n: int, eps: float, delta: float, *, bits: int | None = None) -> Self:
        """The smallest probability of a fair coin.

        Parameters
        ----------
        task : Summation
            One sum of numbers that are not negative.
        accounting : {"exact"}
            A bound for all data sets; it tells which bits of the others became coins.
        bits : int, optional
            Of each user, >= 1. Default: the largest number, so that nothing is rounded, and 64 at most.

        Raises
        ------
        Infeasible
            If delta is 0, numbers may be negative, or there are several sums.
        """
        numbers = numbers_of(task)
        chosen = min(numbers.max_value, _MOST_BITS) if bits is None else check_count("bits", bits, 1)
        rate = unary_bits_rate(n, chosen, eps, delta)
        return cls(n, numbers, chosen, rate)

    def local_epsilon(self) -> float:
        """Of all bits of a user, each of which may differ between two numbers."""
        return self.bits * (math.log(2 - self.uniform_rate) - math.log(self.uniform_rate))

    def cost(self) -> Cost:
        """So many messages of one bit, all of them the user's own."""
        bits = float(self.bits)
        return Cost(bits, 1.0, own_messages=bits, most_messages=bits)

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """The bits of all users, each a fair coin with probability lambda."""
        levels = rounded_inputs(self.numbers, self.bits, users, rng)
        ones = np.arange(self.bits) < levels[:, None]
        coins = rng.random(ones.shape) < self.uniform_rate
        return Messages(np.where(coins, rng.random(ones.shape) < 0.5, ones).astype(np.int64).ravel())

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the zeros and ones, (R, 2), at a cost that does not depend on the number of users."""
        held = self.numbers.held(participants).astype(np.int64)
        ones = rounded(self.numbers, self.bits, held, rng) @ np.arange(self.bits + 1)
        every = self.bits * participants.public.n_users
        half = self.uniform_rate / 2
        seen = rng.binomial(ones, 1 - half) + rng.binomial(every - ones, half)
        return np.column_stack((every - seen, seen))

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Unbiased sums, (R,)."""
        seen = np.asarray(aggregate, float)[:, 1]
        coins = self.bits * np.asarray(public.n_users, float) * self.uniform_rate
        return np.asarray((seen - coins / 2) / (self.bits * (1 - self.uniform_rate)) * unit(self.numbers))

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of the sum given the participants' numbers, (R,), rounding included."""
        each = unary_bits_variance(
            np.arange(self.numbers.max_value + 1), self.numbers.max_value, self.bits, self.uniform_rate
        )
        return np.asarray(self.numbers.held(participants) @ each * unit(self.numbers) ** 2)

    def profile_for(self, users: int) -> PrivacyProfile:
        """The bound for every data set of the others."""
        return Profile(
            lambda eps: unary_bits_delta(eps, users, self.bits, self.uniform_rate),
            "one count among fair coins, the others' being told from their bits",
        )

    def parameters(self) -> dict[str, float]:
        """Bits of each user, and probability of a fair coin."""
        return {"bits": float(self.bits), "uniform_rate": self.uniform_rate}
