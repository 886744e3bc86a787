"""Multi-message protocols for bits: noise of every user, then additive secret shares.

A participant scales a bit by the precision p, adds integer noise and splits the result, modulo the group order q, into
m shares: m - 1 uniform shares and one share that makes the sum correct. Shuffled with the shares of other users, they
reveal little more than their sum, which has the noise of all users. Protocols differ in the noise.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, TypedDict

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.accounting.random_population.population_bounds import population_lower_bound
from shuffledp.accounting.random_population.secure_sum import security_bits, share_count
from shuffledp.populations.base import Law
from shuffledp.protocols._additive_shares import LARGEST_GROUP, split, sum_modulo
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.frequency._value_counts import held_integers
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Floats, Ints, Participants, Public, Users


def discretize(values: NDArray[np.generic], precision: int, rng: Generator) -> Ints:
    """Round ``precision * value``, (n,), at random and unbiased. Raise ValueError for a value outside [0, 1]."""
    numbers = np.asarray(values)
    if numbers.size and not (numbers.min() >= 0 and numbers.max() <= 1):
        raise ValueError(f"Values must lie in [0, 1], got {numbers.min()}..{numbers.max()}.")
    if np.issubdtype(numbers.dtype, np.integer):
        return numbers.astype(np.int64) * precision
    scaled = numbers.astype(np.float64) * precision
    floor = np.floor(scaled)
    return np.asarray(floor + (rng.random(numbers.shape) < scaled - floor), np.int64)


class SecureSum(TypedDict):
    """Fields that all protocols with secret shares have, see `secure_sum`."""

    shares: int
    security_bits: float
    unsecured: float


def secure_sum(law: Law, eps: float, delta: float, group_order: int, *, form: str) -> SecureSum:
    """Return the fields of the secure sum for half of delta, with a form of `shuffledp.accounting.share_count`.

    For ``balle``, this half includes delta / 2000 for the event of too few users. Raises `Infeasible` if the group
    is too large, or if fewer than 19 users are reached for ``balle``.
    """
    if group_order >= LARGEST_GROUP:
        raise Infeasible(
            f"The noise needs a group of order {group_order:.3g}, beyond 2^62: eps is too small."
        )
    unsecured = delta / 2000 if form == "balle" else 0.0
    sigma = security_bits(eps, delta / 2 - unsecured)
    users = None
    if form == "balle":
        users = int(population_lower_bound(law, unsecured, form="exact"))
        if users < 19:
            raise Infeasible(
                f"The bound of Balle et al. needs 19 users; only {users} take part with the required probability."
            )
    shares = share_count(sigma, group_order, users, form=form)
    return {"shares": shares, "security_bits": sigma, "unsecured": unsecured}


def secure_sum_delta(security_bits: float, eps: float) -> float:
    """Return the delta ``(1 + e^eps) 2^-security_bits`` of shares within ``2^-security_bits`` of a law of the sum."""
    return math.exp(min(float(np.logaddexp(0, eps)) - security_bits * math.log(2), 0.0))


def law_for_bits(request: Request) -> Law:
    """Return the law of the population. Raise `Infeasible` for more than two values, for delta 0 or without a law."""
    if request.k != 2:
        raise Infeasible(f"Only bits are summed, but the task has {request.k} values.")
    if request.budget.delta == 0:
        raise Infeasible("Secure sums by shuffled shares need delta > 0.")
    return request.law


@dataclass(frozen=True)
class SecretShares(ProtocolBase):
    """Additive shares modulo q of scaled and noisy bits, as messages, m per user.

    ``precision`` is the scale p, ``shares`` m, ``group_order`` q < 2^62, and ``eps`` the budget of the noise in nats.
    Given their sum, the shuffled shares are within ``2^-security_bits`` of a fixed law, except with probability
    ``unsecured`` that too few users take part. If ``room`` is True the sum hardly ever wraps around modulo q, unlike
    for the printed q.
    """

    no_client = "No client is written for secret shares; correlated_noise has one for noise that users share."

    population: Law
    eps: float
    precision: int
    shares: int
    group_order: int
    security_bits: float
    unsecured: float
    room: bool

    task_kind = "frequency"
    trust = "shuffler"
    relies_on = "shares of the noise"
    poisoning = "range of shares"
    reported: ClassVar[tuple[str, ...]] = ("precision", "shares", "group_order", "security_bits")

    real_inputs = True

    @property
    def capacity(self) -> int | None:
        """Number of users whose bits have a sum below q; None if the sum may wrap around anyway."""
        return (self.group_order - 1) // self.precision if self.room else None

    def profile_without(self, share: float, *, colluding: bool) -> PrivacyProfile | None:
        """Return the profile with the noise of the remaining users; None if the shares need more users."""
        if share == 0:
            return self.privacy_profile()
        enough = self.shares >= share_count(self.security_bits, self.group_order)
        return self.profile_of_remaining(share) if enough else None

    @abstractmethod
    def profile_of_remaining(self, share: float) -> PrivacyProfile:
        """Return the profile without the noise of a share of the users, which is in [0, 1]."""

    def __post_init__(self) -> None:
        if not 2 <= self.group_order < LARGEST_GROUP:
            raise ValueError(f"{self.name}: the group order must be in [2, 2^62), got {self.group_order}.")
        if self.shares < 1:
            raise ValueError(f"{self.name}: at least one share is needed, got {self.shares}.")

    @abstractmethod
    def user_noise(self, users: int, rng: Generator) -> Ints:
        """Draw the noise of every user, (users,)."""

    @abstractmethod
    def total_noise(self, n_users: Ints, rng: Generator) -> Ints:
        """Draw the sum of N users' noise, (R,), from its exact law, at a cost independent of N."""

    @abstractmethod
    def noise_variance(self, n_users: Ints) -> Floats:
        """Return the variance of `total_noise`, (R,)."""

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw the shares of every user's noisy value, (n m,), user by user; reals are first rounded at random."""
        noisy = discretize(users.values, self.precision, rng) + self.user_noise(len(users), rng)
        return Messages(split(noisy, self.shares, self.group_order, rng).ravel())

    def aggregate(self, messages: Messages) -> Array:
        """Return the sum modulo q and the number of messages, (2,). Raise ValueError for invalid messages."""
        elements = messages.payload.astype(np.int64)
        if elements.size and not (elements.min() >= 0 and elements.max() < self.group_order):
            least, most = elements.min(), elements.max()
            raise ValueError(
                f"{self.name}: messages must lie in 0..{self.group_order - 1}, got {least}..{most}."
            )
        return np.array([sum_modulo(elements, self.group_order), elements.size], np.int64)

    def merged(self, first: Array, second: Array) -> Array:
        """Return the sum modulo q and the number of messages of both parts."""
        return np.array([(first[0] + second[0]) % self.group_order, first[1] + second[1]])

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the aggregate, (R, 2), from its exact law, at a cost independent of n."""
        n = np.asarray(participants.public.n_users, np.int64)
        ones = held_integers(participants, 2)[:, 1]
        total = self.precision * ones + self.total_noise(n, rng)
        return np.column_stack((np.mod(total, self.group_order), self.shares * n))

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return relative frequencies of 0 and 1, (R, 2), unbiased if the sum does not wrap around, see `biased`.

        Sums above ``(N p + q) / 2``, N the number of messages over m, are decoded as negative numbers, so that the
        range 0..N p of noiseless sums is in the middle of the decoded range (erratum RP-E27). Raises ValueError unless
        there are m messages per participant.
        """
        residues, messages = np.transpose(aggregate)
        n, q = np.asarray(public.n_users, np.int64), self.group_order
        if not np.array_equal(messages, self.shares * n):
            raise ValueError(f"{self.name}: expected {self.shares} messages from each participant.")
        total = np.mod(residues.astype(np.int64), q)
        negative = total - q > n * self.precision - total  # 2 total > N p + q, without overflow
        ones = (total - q * negative) / (n * float(self.precision))
        return np.column_stack((1 - ones, ones))

    @property
    def biased(self) -> bool:
        """True if the sum may wrap around and move the estimate by a multiple of ``q / (N p)``."""
        return not self.room

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats | None:
        """Return the variance of each frequency from the noise, (R, 2), or None if the sum may wrap around."""
        if not self.room:
            return None
        n = participants.public.n_users
        variance = self.noise_variance(n) / (self.precision * n.astype(np.float64)) ** 2
        return np.column_stack((variance, variance))

    def counted_on(self) -> str:
        """Name the users who send shares of the noise."""
        return f"all users, of whom {1 + self.population.mean:,.12g} are expected"

    def cost(self) -> Cost:
        """Return the cost of m residues modulo q per user."""
        return Cost(float(self.shares), message_bits(self.group_order), most_messages=float(self.shares))
