"""What the multi-message protocols for bits share: noise of every user, then additive secret shares.

A participant scales its bit by the precision p, adds integer noise and splits the result, modulo the group order q,
into m shares: m - 1 uniform ones and one that makes the sum right. Shuffled with those of the others, the shares
reveal little more than their sum, and that carries the noise of everybody. Protocols differ in the noise.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.numerics import discrete_gaussian, discrete_gaussian_pmf, polya_difference
from shuffledp.numerics.samplers import discrete_gaussian_variance
from shuffledp.populations import Law
from shuffledp.protocols.base import Cost, Messages, ProtocolBase
from shuffledp.protocols.frequency._randomized_response import held_counts
from shuffledp.tasks import Floats, Ints, Participants, Public, Users

#: Differences and sums of two group elements fit into an int64 below this.
LARGEST_GROUP = 2**62
#: From this tau on, the probabilities of a sum of n discrete Gaussians and of one with the total variance differ
#: by a factor below ``1 + 10 n exp(-pi^2 tau^2)``, 1 + 2e-26 n. Below it the fast law adds up the users' own laws.
_SMOOTH = 2.5


def discretise(values: NDArray[np.generic], precision: int, rng: np.random.Generator) -> Ints:
    """Round ``precision * value`` up or down at random, so that its mean is right; (n,) values in [0, 1].

    Bits need no rounding and draw nothing.

    Raises
    ------
    ValueError
        If a value is outside [0, 1].
    """
    given = np.asarray(values)
    if given.size and not (given.min() >= 0 and given.max() <= 1):
        raise ValueError(f"Values must lie in [0, 1], got {given.min()}..{given.max()}.")
    if np.issubdtype(given.dtype, np.integer):
        return given.astype(np.int64) * precision
    scaled = given.astype(np.float64) * precision
    floor = np.floor(scaled)
    return np.asarray(floor + (rng.random(given.shape) < scaled - floor), np.int64)


def split(values: Ints, shares: int, group_order: int, rng: np.random.Generator) -> Ints:
    """Additive shares of every value modulo q, (n, m): any m - 1 of them are independent and uniform."""
    uniform = rng.integers(0, group_order, size=(len(values), shares - 1))
    last = np.mod(values, group_order)
    for column in uniform.T:  # one by one: a sum of many elements of a large group overflows
        last = np.mod(last - column, group_order)
    return np.column_stack((uniform, last))


def sum_modulo(elements: Ints, group_order: int) -> int:
    """Sum of group elements modulo q, without overflow: upper and lower 31 bits are added apart."""
    upper, lower = int(np.sum(elements >> 31)), int(np.sum(elements & (2**31 - 1)))
    return ((upper << 31) + lower) % group_order


@dataclass(frozen=True)
class SecretShares(ProtocolBase):
    """Frequencies of bits from secret shares of noisy values.

    Parameters
    ----------
    population : Law
        Law of the number of *other* users.
    eps : float
        The guarantee that the noise was made for, in nats.
    precision : int
        p: a bit counts as 0 or p.
    shares : int
        m, messages per participant.
    group_order : int
        q, below 2^62.
    security_bits : float
        sigma: the shuffled shares are within 2^-sigma of what their sum allows.
    room : bool
        Whether q leaves room for the noise, so that the sum does not wrap around but with negligible
        probability. The printed q does not.
    """

    population: Law
    eps: float
    precision: int
    shares: int
    group_order: int
    security_bits: float
    room: bool

    def __post_init__(self) -> None:
        if not 2 <= self.group_order < LARGEST_GROUP:
            raise ValueError(
                f"{self.name}: the group order must be in [2, 2^62), got {self.group_order}; "
                "take a larger delta or a smaller precision."
            )
        if self.shares < 1:
            raise ValueError(f"{self.name}: at least one share is needed, got {self.shares}.")

    # -- the noise ----------------------------------------------------------------------------------------------

    @abstractmethod
    def user_noise(self, users: int, rng: np.random.Generator) -> Ints:
        """Noise of every user, (users,)."""

    @abstractmethod
    def total_noise(self, n_users: Ints, rng: np.random.Generator) -> Ints:
        """Exact law of the sum of N users' noise, (R,), at a cost that does not depend on N."""

    @abstractmethod
    def noise_variance(self, n_users: Ints) -> Floats:
        """Variance of `total_noise`, (R,)."""

    # -- the protocol -------------------------------------------------------------------------------------------

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """(n m,): the shares of every user's noisy value, user by user; reals in [0, 1] are rounded at random."""
        noisy = discretise(users.values, self.precision, rng) + self.user_noise(len(users), rng)
        return Messages(split(noisy, self.shares, self.group_order, rng).ravel())

    def aggregate(self, messages: Messages) -> NDArray[Any]:
        """(2,): sum modulo q, and number of messages.

        Over chunks, sums of the first may exceed q: `estimate` takes them modulo q again.

        Raises
        ------
        ValueError
            If a message is not in 0..q-1.
        """
        elements = messages.payload.astype(np.int64)
        if elements.size and not (elements.min() >= 0 and elements.max() < self.group_order):
            least, most = elements.min(), elements.max()
            raise ValueError(
                f"{self.name}: messages must lie in 0..{self.group_order - 1}, got {least}..{most}."
            )
        return np.array([sum_modulo(elements, self.group_order), elements.size], np.int64)

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the aggregate, (R, 2), at a cost that does not depend on the number of users."""
        n = np.asarray(participants.public.n_users, np.int64)
        held = np.asarray(held_counts(participants, 2)[:, 1], np.int64)
        total = self.precision * held + self.total_noise(n, rng)
        return np.column_stack((np.mod(total, self.group_order), self.shares * n))

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Relative frequencies of 0 and 1, (R, 2): unbiased as long as the sum does not wrap around.

        N is the number of messages over m. Sums above ``(N p + q) / 2`` are read as negative: this puts the
        range 0..N p of noiseless sums into the middle of the range of decoded ones (errata RP-E27).

        Raises
        ------
        ValueError
            If there are not m messages per participant.
        """
        table = np.asarray(aggregate)
        n, q = np.asarray(public.n_users, np.int64), self.group_order
        if not np.array_equal(table[:, 1], self.shares * n):
            raise ValueError(f"{self.name}: expected {self.shares} messages from each participant.")
        total = np.mod(table[:, 0].astype(np.int64), q)
        negative = total - q > n * self.precision - total  # 2 total > N p + q, without overflow
        ones = (total - q * negative) / (n * float(self.precision))
        return np.column_stack((1 - ones, ones))

    def expected_variance(self, participants: Participants) -> Floats | None:
        """Variance of each frequency, (R, 2): that of the noise; None where the group leaves it no room."""
        if not self.room:
            return None
        n = participants.public.n_users
        variance = self.noise_variance(n) / (self.precision * n.astype(np.float64)) ** 2
        return np.column_stack((variance, variance))

    def cost(self) -> Cost:
        """M messages of log2(q) bits per user."""
        return Cost(float(self.shares), math.log2(self.group_order))

    def parameters(self) -> dict[str, float]:
        """Precision, shares, group order and security of the secure sum."""
        return {
            "precision": float(self.precision),
            "shares": float(self.shares),
            "group_order": float(self.group_order),
            "security_bits": self.security_bits,
        }


@dataclass(frozen=True)
class PolyaShares(SecretShares):
    """Noise is a difference of Polya variables with shape 1/n1: n1 users together add two-sided geometric noise.

    Parameters
    ----------
    base_users : int
        n1, users whose noise suffices for pure eps.
    """

    base_users: int

    @property
    def ratio(self) -> float:
        """Ratio of neighbouring probabilities of the geometric noise, ``exp(-eps / p)``."""
        return math.exp(-self.eps / self.precision)

    def user_noise(self, users: int, rng: np.random.Generator) -> Ints:
        """Polya differences, (users,)."""
        return polya_difference(1 / self.base_users, self.ratio, rng, users)

    def total_noise(self, n_users: Ints, rng: np.random.Generator) -> Ints:
        """Polya variables of equal ratio add up: one difference with shape N/n1."""
        return polya_difference(n_users / self.base_users, self.ratio, rng)

    def noise_variance(self, n_users: Ints) -> Floats:
        """``(N / n1) 2 ratio / (1 - ratio)^2``."""
        single = 2 * self.ratio / math.expm1(-self.eps / self.precision) ** 2
        return np.asarray(n_users / self.base_users * single)

    def parameters(self) -> dict[str, float]:
        """n1, and those of the secure sum."""
        return {"n1": float(self.base_users)} | super().parameters()


@dataclass(frozen=True)
class GaussianShares(SecretShares):
    """Noise is discrete Gaussian.

    Parameters
    ----------
    tau : float
        Standard deviation parameter of each user's noise.
    """

    tau: float

    def user_noise(self, users: int, rng: np.random.Generator) -> Ints:
        """Discrete Gaussians, (users,)."""
        return discrete_gaussian(self.tau, rng, users)

    def total_noise(self, n_users: Ints, rng: np.random.Generator) -> Ints:
        """One discrete Gaussian of variance ``N tau^2``; for small tau the exact sum, from counts per value."""
        if self.tau >= _SMOOTH:
            return discrete_gaussian(self.tau * np.sqrt(n_users), rng)
        pmf = discrete_gaussian_pmf(self.tau)
        values = np.arange(pmf.size) - pmf.size // 2
        return np.asarray(rng.multinomial(n_users, pmf) @ values, np.int64)

    def noise_variance(self, n_users: Ints) -> Floats:
        """``N`` times the variance of a discrete Gaussian, which is tau^2 unless tau is small."""
        return np.asarray(n_users * discrete_gaussian_variance(self.tau))

    def parameters(self) -> dict[str, float]:
        """Tau, and those of the secure sum."""
        return {"tau": self.tau} | super().parameters()
