"""Hashed balls into bins: hashed values in bins, hidden among uniform messages of all users."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.hashed_balls import (
    BIN_RULES,
    HashFamily,
    bin_count,
    dummies_in_bins,
    hashed_balls_delta,
)
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import UPPER, Standing
from shuffledp.numerics.argument_ranges import check_choice, check_count
from shuffledp.protocols._random_users import PlannedUsers
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.base import Cost, Messages, message_bits
from shuffledp.protocols.frequency._dummy_points import dealers, dealt_out, most_dealt_out
from shuffledp.protocols.frequency._randomized_response import held_counts
from shuffledp.protocols.reliance import Reliance
from shuffledp.tasks import Floats, Ints, Participants, Public, Users

#: Pairs of a message and a value of its bin that are treated at once.
_PAIRS = 2**20
#: Pairs of values under all hash functions, and different sets of values that a message counts for, up to which the
#: counts of these sets are drawn.
_FEW_PAIRS, _FEW_GROUPS = 2**20, 200


@dataclass(frozen=True)
class HashedBallsIntoBins(PlannedUsers):
    """A message is (u, v, w): a hash function ``x -> ((u x + v) mod q) mod b`` and a bin.

    Every user sends a random function with the bin of its value, and an even part of the uniform messages. The shuffler
    permutes. Users rely on the uniform messages of all users.

    Parameters
    ----------
    n_users : int
        Users that the protocol is calibrated for, user 1 included.
    family : HashFamily
        Values, bins and prime.
    dummies_in_all : int
        Uniform messages of `n_users` users; others than these send what their place in the list says.
    """

    n_users: int
    family: HashFamily
    dummies_in_all: int

    name = "hashed_balls_into_bins"
    task_kind = "frequency"
    label = "hashed balls into bins"
    source = "Luo, Wang and Yi 2022"
    trust = "shuffler"
    relies_on: ClassVar[Reliance] = "others' dummies"
    accountings = ("exact",)
    guarantees: ClassVar[Mapping[str, Standing]] = {"exact": UPPER}
    reduction = "blanket"
    few_numbers = True

    @classmethod
    @from_request
    def calibrate(cls, n: int, k: int, eps: float, delta: float, *, bins: int | str = "logarithmic") -> Self:
        """The smallest total number of uniform messages.

        See :func:`shuffledp.accounting.baselines.hashed_balls.dummies_in_bins`.

        Parameters
        ----------
        task : Frequency
            Of at most 2^31 values.
        bins : int or {"logarithmic", "cubed", "economical"}
            b, at least 2, or a rule, see :func:`shuffledp.accounting.baselines.hashed_balls.bin_count`.

        Raises
        ------
        Infeasible
            If delta is 0, or more messages would be needed than can be summed over.
        """
        if isinstance(bins, str):
            bins = bin_count(check_choice(f"{cls.name}: bins", bins, BIN_RULES), n, k, eps, delta)
        family = HashFamily(k, check_count(f"{cls.name}: bins", bins, 2))
        return cls(n, family, dummies_in_bins(family, eps, delta))

    @property
    def domain_size(self) -> int:
        """Values are 0..domain_size-1."""
        return self.family.domain_size

    def dummies_of(self, users: NDArray[Any], first: int = 0) -> Ints:
        """Uniform messages that the next `users` users after the first `first` send together, (R,)."""
        return dealt_out(self.dummies_in_all, self.n_users, users, first)

    def counted_on(self) -> str:
        """The users who send dummies."""
        return dealers(self.dummies_in_all, self.n_users)

    def cost(self) -> Cost:
        """The own message, and the mean number of uniform ones when as many take part as are expected."""
        dummies = int(self.dummies_of(np.array([self.usual_users]))[0])
        bits = 2 * message_bits(self.family.prime) + message_bits(self.family.bins)
        most = 1 + most_dealt_out(self.dummies_in_all, self.n_users)
        return Cost(1 + dummies / self.usual_users, bits, most_messages=most)

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """(n + dummies, 3): a function and the bin of the own value for each user, and uniform messages."""
        values = np.asarray(users.values, np.int64)
        if values.size and not (values.min() >= 0 and values.max() < self.domain_size):
            raise ValueError(
                f"Values must lie in 0..{self.domain_size - 1}, got {values.min()}..{values.max()}."
            )
        dummies = int(self.dummies_of(np.array([len(users)]), users.offset)[0])
        q, b = self.family.prime, self.family.bins
        payload = np.empty((len(values) + dummies, 3), np.int64)
        payload[:, 0] = rng.integers(1, q, len(payload))
        payload[:, 1] = rng.integers(0, q, len(payload))
        own = payload[: len(values)]
        own[:, 2] = (own[:, 0] * values + own[:, 1]) % q % b
        payload[len(values) :, 2] = rng.integers(0, b, dummies)
        return Messages(payload)

    def aggregate(self, messages: Messages) -> NDArray[Any]:
        """(k,): for each value, how many messages hash it to their bin; time grows with the values of a bin, q / b."""
        q, b, k = self.family.prime, self.family.bins, self.domain_size
        u, v, w = np.asarray(messages.payload, np.int64).T
        counts = np.zeros(k, np.int64)
        residues = np.arange(0, q, b)
        step = max(1, _PAIRS // len(residues))
        for begin in range(0, len(u), step):
            part = slice(begin, begin + step)
            hashed = w[part, None] + residues  # all that fall into the bin, before they are undone
            found = (hashed - v[part, None]) % q * _inverses(u[part], q)[:, None] % q
            counts += np.bincount(found[(hashed < q) & (found < k)], minlength=k)
        return counts

    @property
    def joint_law(self) -> bool:
        """Whether there are so few hash functions that the sets of values which a message counts for are listed."""
        return _groups(self.family) is not None

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Messages that count for each value, (R, k), at a cost that does not grow with the number of users.

        A message counts for a random set of values. Where few sets are possible (`joint_law`), the messages of each set
        are drawn, which is the joint law of the counts. Elsewhere the law of every single count is exact, and counts
        are drawn independently, though two values are both in the bin of a uniform message with probability p_c / b
        instead of 1 / b^2, a correlation of ``(b p_c - 1) / (b - 1)``. That concerns no error of a value, nor their
        mean.
        """
        held = held_counts(participants, self.domain_size).astype(np.int64)
        n, dummies = participants.public.n_users, self.dummies_of(participants.public.n_users)
        groups = _groups(self.family)
        if groups is None:
            strays = rng.binomial(n[:, None] - held, self.family.collision_rate)
            return np.asarray(
                held + strays + rng.binomial(dummies[:, None], 1 / self.family.bins, held.shape)
            )
        counts = np.asarray(rng.multinomial(dummies, groups.uniform) @ groups.holds)
        for value, law in enumerate(groups.own):
            possible = law > 0
            counts += rng.multinomial(held[:, value], law[possible]) @ groups.holds[possible]
        return counts

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Unbiased relative frequencies, (R, k)."""
        n = np.asarray(public.n_users, float)[:, None]
        stray = self.family.collision_rate
        dummies = self.dummies_of(public.n_users)[:, None] / self.family.bins
        return np.asarray((np.asarray(aggregate, float) - dummies - n * stray) / (n * (1 - stray)))

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of each frequency given the participants' values, (R, k)."""
        n = np.asarray(participants.public.n_users, float)[:, None]
        held = np.asarray(held_counts(participants, self.domain_size), float)
        stray, share = self.family.collision_rate, 1 / self.family.bins
        dummies = self.dummies_of(participants.public.n_users)[:, None]
        noise = (n - held) * stray * (1 - stray) + dummies * share * (1 - share)
        return np.asarray(noise / (n * (1 - stray)) ** 2)

    def profile_for(self, users: int) -> PrivacyProfile:
        """The own message among uniform ones."""
        dummies = int(self.dummies_of(np.array([users]))[0])
        return Profile(
            lambda eps: hashed_balls_delta(eps, self.family, dummies),
            "one hashed message among uniform ones, the messages of all others being known",
        )

    def parameters(self) -> dict[str, float]:
        """Bins, prime, collisions and uniform messages: in total and per user."""
        dummies = float(self.dummies_of(np.array([self.usual_users]))[0])
        return {
            "bins": float(self.family.bins),
            "prime": float(self.family.prime),
            "collision_rate": self.family.collision_rate,
            "dummies": dummies,
            "dummies_per_user": dummies / self.usual_users,
        }


@dataclass(frozen=True)
class _Groups:
    """What messages count for.

    Parameters
    ----------
    holds : (G, k) ndarray of int
        The different sets of values, 1 for each that is in it; the first one is empty.
    own : (k, G) ndarray
        Their probabilities for the message of a user with each value.
    uniform : (G,) ndarray
        And for a uniform message.
    """

    holds: Ints
    own: Floats
    uniform: Floats


@lru_cache(maxsize=64)
def _groups(family: HashFamily) -> _Groups | None:
    """The sets of values that share a bin under some hash function; None where there are many functions or sets."""
    q, b, k = family.prime, family.bins, family.domain_size
    if q * (q - 1) * k * k > _FEW_PAIRS:
        return None
    functions = np.stack(np.meshgrid(np.arange(1, q), np.arange(q), indexing="ij"), axis=-1).reshape(-1, 2, 1)
    bins = (functions[:, 0] * np.arange(k) + functions[:, 1]) % q % b
    shared = bins[:, :, None] == bins[:, None, :]  # (functions, own value, values)
    holds, place = np.unique(shared.reshape(-1, k), axis=0, return_inverse=True)
    if len(holds) > _FEW_GROUPS:
        return None
    place = place.reshape(-1, k)
    own = np.stack([np.bincount(column, minlength=len(holds)) for column in place.T]) / len(functions)
    # A function and one of its b bins: the set of a bin turns up once for every value in it.
    uniform = own.sum(axis=0) / (b * holds.sum(axis=1))
    nothing = max(0.0, 1 - float(uniform.sum()))
    return _Groups(
        np.concatenate((np.zeros((1, k), np.int64), holds.astype(np.int64))),
        np.concatenate((np.zeros((k, 1)), own), axis=1),
        np.concatenate(([nothing], uniform)),
    )


def _inverses(u: Ints, prime: int) -> Ints:
    """Inverses of residues 1..q-1 modulo a prime q, by Fermat's theorem."""
    result, power, exponent = np.ones_like(u), u % prime, prime - 2
    while exponent:
        if exponent & 1:
            result = result * power % prime
        power = power * power % prime
        exponent >>= 1
    return result
