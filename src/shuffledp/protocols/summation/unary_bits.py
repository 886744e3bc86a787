r"""Unary bits: a number as r bits, as many ones as its level; fair coins replace bits with probability lambda.

The protocol is by Cheu, Smith, Ullman, Zeber and Zhilyaev (2019), for real numbers; the accounting is derived for this
project. Let the adversary know which bits of the *other* users became coins. For all inputs of the others, M fair coins
then add to the number of ones, ``M ~ Bin(r (n - 1), lambda)``. The likelihood ratio of a larger to a smaller level of
user 1 grows with the count, so that the best event is "the count is at least t" (or at most t). The gain of this event
is largest between the levels 0 and r. So delta is at most the delta of the count

.. math:: Bin(M, 1/2) + Bin(r, 1 - \lambda/2) \quad\text{against}\quad Bin(M, 1/2) + Bin(r, \lambda/2),

averaged over M. Counting zeros instead of ones exchanges the two laws, so that both directions have the same delta.
Replacement neighbors; eps in nats.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.general.matched_blanket import pmf_rows
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import FromOne
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, settled
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.saddlepoint import ErrorLaw, poisson_term
from shuffledp.numerics.windows import Window, binomial_window
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols.messages import Cost, Messages
from shuffledp.protocols.request import Request
from shuffledp.protocols.summation._sums import Numbers, SumReports, numbers_of
from shuffledp.tasks import Array, Floats, Participants, Public, Users

#: Default limit on the bits of a user: twice as many would hardly reduce the error of the noise.
_MOST_BITS = 64
#: Numbers of coins are grouped into blocks of this part of their mean, which adds less than 1 % to delta.
_BLOCKS = 1200
#: Mass, relative to delta, that windows may omit on either side in the search; the mass is added to delta.
_OMITTED = 1e-7
#: Largest eps whose exponential does not overflow; the divergence no longer changes beyond it.
_MOST_EPS = 700.0
_XTOL = 1e-7


def unary_bits_delta(eps: float, n: int, bits: int, uniform_rate: float) -> float:
    """Return an upper bound on delta for every data set of n users; grouping numbers of coins adds less than 1 %."""
    return settled(lambda tail: _delta(n, bits, uniform_rate, eps, tail))


@remember(1024)
def unary_bits_rate(n: int, bits: int, eps: float, delta: float) -> float:
    """Return the smallest lambda for the bound, rounded up by at most 1e-7 relative.

    It is at most ``2 / (e^(eps/r) + 1)``, for which a user's bits are private without other users.
    """
    tail = max(_OMITTED * delta, 1e-300)

    def excess(minus_log_rate: float) -> float:
        return log_ratio(_delta(n, bits, math.exp(-minus_log_rate), eps, tail), delta)

    def typical(minus_log_rate: float) -> float:
        rate = math.exp(-minus_log_rate)
        coins = Window(round(bits * (n - 1) * rate), np.ones(1))
        return log_ratio(_mixed_delta(coins, bits, rate, eps, tail), delta)

    alone = math.log1p(math.expm1(eps / bits) / 2)  # minus the log of the rate of local privacy
    guess = root_below(typical, alone + 1, alone, math.inf, xtol=1e-5)
    step = 1e-3
    rise = typical(guess + step) - typical(guess)
    slope = rise / step if math.isfinite(rise) else None
    return math.exp(-root_below(excess, guess, alone, math.inf, xtol=_XTOL, slope=slope))


def _delta(n: int, bits: int, rate: float, eps: float, tail: float) -> float:
    most = bits * (n - 1)
    block = max(1, math.floor(most * rate / _BLOCKS))
    return _mixed_delta(binomial_window(most, rate, tail), bits, rate, eps, tail, block)


def _mixed_delta(coins: Window, bits: int, rate: float, eps: float, tail: float, block: int = 1) -> float:
    """Return delta averaged over the other users' number of coins, which the adversary knows."""
    lowest_block = coins.start // block
    weights = np.bincount(coins.support // block - lowest_block, coins.pmf)
    number = block * (lowest_block + np.arange(weights.size))  # the fewest of each block
    lowest, highest = (binomial_window(int(m), 0.5, tail) for m in (number[0], number[-1]))
    # Only counts above the middle speak for the level `bits`.
    first, last = max(lowest.start, int(number[0]) // 2 - bits), highest.stop

    noise = pmf_rows(number, first, last - 1, 0.5)
    changed_bits = binomial_window(bits, rate / 2, tail)  # bits that are not as the level says
    present = _with_own(noise, changed_bits, bits, turned=True)
    absent = _with_own(noise, changed_bits, bits, turned=False)
    # The first places lack the noise below the table.
    excess = np.maximum(present - math.exp(min(eps, _MOST_EPS)) * absent, 0.0)[
        :, bits if first > lowest.start else 0 :
    ]
    omitted = coins.omitted + max(lowest.omitted, highest.omitted) + changed_bits.omitted
    return min(float(weights @ excess.sum(axis=1)) + omitted, 1.0)


def _with_own(noise: Floats, bit_law: Window, bits: int, *, turned: bool) -> Floats:
    """Return the laws (rows, w + bits) of noise plus user 1's ones at level 0 or, `turned`, at level r."""
    law = np.zeros((noise.shape[0], noise.shape[1] + bits))
    for ones, mass in zip(bit_law.support.tolist(), bit_law.pmf.tolist(), strict=True):
        place = bits - ones if turned else ones
        law[:, place : place + noise.shape[1]] += mass * noise
    return law


def bit_variances(numbers: Numbers, bits: int, uniform_rate: float) -> Floats:
    """Return the exact variance of a user's part of the sum, over the squared largest number, (max_value + 1,)."""
    half = uniform_rate / 2
    return half * (1 - half) / (bits * (1 - 2 * half) ** 2) + numbers.rounding_variance(bits)


@dataclass(frozen=True)
class UnaryBits(SumReports):
    """Bits as messages, r per user, with as many ones as the number's level; users rely on all others for coins.

    Each bit is replaced by a fair coin with probability lambda, the ``uniform_rate``.
    """

    no_client = "No client is written for several bits per number; single_message_sum has one for levels."

    bits: int
    uniform_rate: float

    name = "unary_bits"
    label = "unary randomized bits"
    source = (
        "Cheu, Smith, Ullman, Zeber and Zhilyaev 2019, real sums; the accounting is derived for this project"
    )
    guarantees = under(exact=UPPER)
    reported = ("bits", "uniform_rate")

    @classmethod
    def fit(cls, request: Request, *, bits: FromOne | None = None) -> Self:
        """Find the smallest probability of a fair coin under a bound for all data sets.

        ``bits`` is r >= 1; the default is the largest number, without rounding, but at most 64.
        """
        numbers = numbers_of(request.task)
        chosen = min(numbers.max_value, _MOST_BITS) if bits is None else bits
        return cls(request.n, numbers, chosen, unary_bits_rate(request.n, chosen, request.eps, request.delta))

    def local_epsilon(self) -> float:
        """Return the local eps of all bits of a user; every bit may differ between two numbers."""
        return self.bits * (math.log(2 - self.uniform_rate) - math.log(self.uniform_rate))

    def cost(self) -> Cost:
        """Return the cost of r messages of one bit per user."""
        bits = float(self.bits)
        return Cost(bits, 1.0, own_messages=bits, most_messages=bits)

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw the bits of all users, each replaced by a fair coin with probability lambda."""
        levels = self.numbers.rounded_inputs(self.bits, self.numbers.inputs(users)[1], rng)
        ones = np.arange(self.bits) < levels[:, None]
        coins = rng.random(ones.shape) < self.uniform_rate
        return Messages(np.where(coins, rng.random(ones.shape) < 0.5, ones).astype(np.int64).ravel())

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the numbers of zeros and ones, (R, 2), from their exact law, at a cost independent of n."""
        true_counts = self.numbers.held(participants).astype(np.int64)
        ones = self.numbers.rounded(self.bits, true_counts, rng) @ np.arange(self.bits + 1)
        all_bits = self.bits * participants.public.n_users
        half = self.uniform_rate / 2
        seen_ones = rng.binomial(ones, 1 - half) + rng.binomial(all_bits - ones, half)
        return np.column_stack((all_bits - seen_ones, seen_ones))

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased sums, (R,)."""
        _, seen_ones = np.transpose(aggregate)
        coins = self.bits * public.n * self.uniform_rate
        return np.asarray((seen_ones - coins / 2) / (self.bits * (1 - self.uniform_rate)) * self.numbers.unit)

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return a law with the variance, in steps of a bit."""
        step = self.numbers.unit / (self.bits * (1 - self.uniform_rate))
        return ErrorLaw([poisson_term(self.expected_variance(participants)[:, None], step)], step)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of the sum given the numbers, (R,), with the variance of rounding."""
        each = bit_variances(self.numbers, self.bits, self.uniform_rate)
        return self.numbers.held(participants) @ each * self.numbers.unit**2

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the profile, an upper bound for every data set of the other users."""
        return Profile(
            lambda eps: unary_bits_delta(eps, users, self.bits, self.uniform_rate),
            "one count among fair coins, the others' being told from their bits",
        )
