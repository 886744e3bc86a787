r"""Hashed balls into bins (Luo, Wang and Yi 2022): public hash functions, and dummies in random bins.

Let b be the number of bins and q a prime above b and the number of values k. A user draws a hash function
``h(x) = ((u x + v) mod q) mod b``, u in ``1..q-1`` and v in ``0..q-1``, and sends ``(u, v, h(x))``; dummies are uniform
triples (u, v, w). A message counts for all x with ``h(x) = w``. Two different values collide with probability

.. math:: p_c = \lfloor q/b \rfloor \, (q \bmod b + q - b) \, / \, (q (q - 1)).

The user's message is uniform among the messages that count for the user's value. A uniform message counts for one value
with probability 1/b, and for two values with probability ``p_c / b``. So
:mod:`shuffledp.accounting.general.matched_blanket` with ``eps_local = inf`` has the exact privacy of the user's message
among M dummies. The adversary knows the messages of all other users. Derived for this project: the smallest M, rounded
up by at most 1e-5 relative if it is too large for a table. The authors' code searches for a number that does not always
suffice.

Two rules for the number of bins are rounded down as in the original: ``logarithmic``, ``n / ln n``, for O(1) messages
per user, and ``cubed``, ``n / ln^3 n``, for 1 + o(1). For ``economical``, with c* dummies per bin, the error is
proportional to ``c* + n / b`` and the number of messages is ``1 + c* b / n``. Their product is least at ``b = n / c*``,
with about two messages per user. There are at most k bins.

Conventions: eps in nats; replacement neighbors; the adversary is the analyzer, who knows the inputs of all others.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Self, get_args

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.dump.dummies import smallest_count
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.matched_blanket import matched_delta, mixed_matched_delta
from shuffledp.accounting.general.matched_contour import contour_delta
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import MOST, check_choice, check_count
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.saddlepoint import ErrorLaw, Term
from shuffledp.numerics.windows import Window
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols.frequency._dummy_points import DealtDummies
from shuffledp.protocols.frequency._hashing import prime_above
from shuffledp.protocols.frequency._value_counts import checked_values, held_counts, held_integers
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Floats, Ints, Participants, Public, Users

BinRule = Literal["logarithmic", "cubed", "economical"]
BIN_RULES: tuple[BinRule, ...] = get_args(BinRule)

#: Largest number of values and of bins at which products of residues fit into 64 bits.
MOST_BINS = 2**31

#: Largest number of cells in the table of matches (of both values, and of one value), and the number of cells per
#: product of the two standard deviations.
_MOST_CELLS, _WINDOWS = 3e5, 550
#: Largest relative excess of delta by a contour instead of the table; the excess of the number of dummies is smaller.
_GAP = 1e-5


@dataclass(frozen=True)
class HashFamily:
    """Hash functions from ``domain_size`` values to ``bins`` bins, both numbers in 2..2^31."""

    domain_size: int
    bins: int

    def __post_init__(self) -> None:
        for name in ("domain_size", "bins"):
            number = check_count(name, getattr(self, name), 2)
            if number > MOST_BINS:
                raise ValueError(f"{name} must be at most 2^31, got {number}.")
            object.__setattr__(self, name, number)

    @property
    def prime(self) -> int:
        """Smallest prime q above k and b."""
        return prime_above(max(self.domain_size, self.bins))

    @property
    def collision_rate(self) -> float:
        """Probability p_c that two different values are in the same bin."""
        q, b = self.prime, self.bins
        return (q // b) * (q % b + q - b) / (q * (q - 1))


def bin_count(rule: BinRule, n: int, domain_size: int, eps: float, delta: float) -> int:
    """Return the number of bins b under a rule, at least 2; the budget matters for ``economical``."""
    logarithm = max(math.log(n), 1e-9)
    most = max(2, math.floor(n / logarithm)) if n > 1 else 2
    if rule == "logarithmic":
        return most
    if rule == "cubed":
        return max(2, min(math.floor(n / logarithm**3), most))
    per_bin = dummies_in_bins(HashFamily(domain_size, most), eps, delta) / most
    return max(2, min(domain_size, round(n / per_bin), most))


def _is_long(family: HashFamily, dummies: int) -> bool:
    """Return whether the table of matches, of both values and of one value, is too large for a search."""
    both = family.collision_rate / family.bins
    return _WINDOWS * dummies * math.sqrt(2 * both / family.bins) > _MOST_CELLS


@remember(1024)
def dummies_in_bins(family: HashFamily, eps: float, delta: float) -> int:
    """Return the smallest total number of dummies, >= 1, among which a message is (eps, delta)-private."""
    tail, rate, both = negligible(delta), 1 / family.bins, family.collision_rate / family.bins

    def excess(dummies: int) -> float:
        messages = Window(dummies, np.ones(1))
        value = mixed_matched_delta(messages, rate, eps, math.inf, tail, both_rate=both)
        return log_ratio(value, delta)

    # Two differences of normal variables: a first guess of the dummies per bin.
    per_bin = 2 * (math.sqrt(2 * math.log(1 / delta)) / eps) ** 2 + 1 / delta**0.1
    guess = family.bins * per_bin
    if not _is_long(family, math.ceil(4 * guess)):
        return smallest_count(excess, guess, math.log(delta) / guess)

    def above(minus_log_dummies: float) -> float:
        dummies = math.ceil(math.exp(-minus_log_dummies))
        value = contour_delta(eps, dummies, rate, math.inf, both, gap=_GAP, floor=1e-9 * delta)
        return log_ratio(value, delta)

    root = root_below(above, -math.log(guess), -math.log(MOST), 0.0, xtol=1e-9, ytol=_GAP)
    least_dummies = math.ceil(math.exp(-root))
    if least_dummies >= MOST:
        raise Infeasible("More than 2^53 dummies would be needed.")
    return (
        least_dummies
        if _is_long(family, least_dummies)
        else smallest_count(excess, least_dummies, math.log(delta) / least_dummies)
    )


@remember(1024)
def hashed_balls_delta(eps: float, family: HashFamily, dummies: int) -> float:
    """Return an upper bound on delta of one hashed message among uniform messages, derived for this project."""
    rate, both = 1 / family.bins, family.collision_rate / family.bins
    if _is_long(family, dummies):
        return contour_delta(eps, dummies, rate, math.inf, both)
    return matched_delta(eps, dummies, rate, both_rate=both)


#: Pairs of a message and a value of its bin per pass.
_PAIRS = 2**20
#: Number of pairs of values under all hash functions, and of different sets of values that a message counts for, up to
#: which the counts of these sets are drawn.
_FEW_PAIRS, _FEW_GROUPS = 2**20, 200


@dataclass(frozen=True)
class HashedBallsIntoBins(DealtDummies):
    """Messages (u, v, w): a hash function ``x -> ((u x + v) mod q) mod b`` and a bin.

    Every user sends a random function with the bin of a value, and an equal part of the ``dummies_in_all`` uniform
    messages. The shuffler permutes. Users rely on all users' uniform messages.
    """

    no_client = "No client is written for its hash functions; balls_into_bins has one for values as they are."

    n_users: int
    family: HashFamily
    dummies_in_all: int

    name = "hashed_balls_into_bins"
    task_kind = "frequency"
    label = "hashed balls into bins"
    source = "Luo, Wang and Yi 2022"
    trust = "shuffler"
    relies_on = "others' dummies"
    guarantees = under(exact=UPPER)
    reduction = "blanket"
    few_numbers = True

    @classmethod
    def fit(cls, request: Request, *, bins: int | str = "logarithmic") -> Self:
        """Find the smallest total number of uniform messages, with ``bins`` b >= 2 or a rule of the module's
        description.
        """
        n, k, eps, delta = request.n, request.k, request.eps, request.delta
        if isinstance(bins, str):
            rule = check_choice(f"{cls.name}: bins", bins, BIN_RULES)
            bins = bin_count(rule, n, k, eps, delta)
        family = HashFamily(k, check_count(f"{cls.name}: bins", bins, 2))
        return cls(n, family, dummies_in_bins(family, eps, delta))

    @property
    def domain_size(self) -> int:
        """Number of values, 0..domain_size-1."""
        return self.family.domain_size

    def cost(self) -> Cost:
        """Return the cost of the user's message and of the mean number of uniform messages."""
        bits = 2 * message_bits(self.family.prime) + message_bits(self.family.bins)
        return Cost(1 + self.usual_dummies / self.usual_users, bits, most_messages=1 + self.most_dummies)

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw each user's function with the bin of the value, and uniform messages, (n + dummies, 3)."""
        values = checked_values(users.values, self.domain_size)
        dummies = self.dummies_among(len(users), users.offset)
        q, b = self.family.prime, self.family.bins
        payload = np.empty((len(values) + dummies, 3), np.int64)
        payload[:, 0] = rng.integers(1, q, len(payload))
        payload[:, 1] = rng.integers(0, q, len(payload))
        user_rows = payload[: len(values)]
        user_rows[:, 2] = (user_rows[:, 0] * values + user_rows[:, 1]) % q % b
        payload[len(values) :, 2] = rng.integers(0, b, dummies)
        return Messages(payload)

    def aggregate(self, messages: Messages) -> Array:
        """Return the number of messages that count for each value, (k,). Time grows with the values per bin, q / b."""
        q, b, k = self.family.prime, self.family.bins, self.domain_size
        u, v, w = np.asarray(messages.payload, np.int64).T
        counts = np.zeros(k, np.int64)
        residues = np.arange(0, q, b)
        step = max(1, _PAIRS // len(residues))
        for begin in range(0, len(u), step):
            part = slice(begin, begin + step)
            hashed = w[part, None] + residues  # all that fall into the bin, before they are undone
            preimages = (hashed - v[part, None]) % q * _inverses(u[part], q)[:, None] % q
            counts += np.bincount(preimages[(hashed < q) & (preimages < k)], minlength=k)
        return counts

    @property
    def joint_law(self) -> bool:
        """True if the sets of values that a message can count for are few enough to be listed."""
        return _groups(self.family) is not None

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the messages that count for each value, (R, k), at a cost independent of n.

        If few sets of values are possible (`joint_law`), the messages per set are drawn, from the joint law of the
        counts. Otherwise each count has its exact law, and counts are independent, without their correlation of
        ``(b p_c - 1) / (b - 1)``, which changes no error of a value, nor the mean error.
        """
        true_counts = held_integers(participants, self.domain_size)
        n, dummies = participants.public.n_users, self.dummies_of(participants.public.n_users)
        groups = _groups(self.family)
        if groups is None:
            strays = rng.binomial(n[:, None] - true_counts, self.family.collision_rate)
            return (
                true_counts + strays + rng.binomial(dummies[:, None], 1 / self.family.bins, true_counts.shape)
            )
        counts = np.asarray(rng.multinomial(dummies, groups.uniform) @ groups.holds)
        for value, law in enumerate(groups.own):
            possible = law > 0
            counts += rng.multinomial(true_counts[:, value], law[possible]) @ groups.holds[possible]
        return counts

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased relative frequencies, (R, k)."""
        n = public.users_column
        stray = self.family.collision_rate
        dummies = self.dummies_of(public.n_users)[:, None] / self.family.bins
        return (aggregate - dummies - n * stray) / (n * (1 - stray))

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the exact law of collisions and of dummies in the bin of a value."""
        n = participants.public.users_column
        stray, share = self.family.collision_rate, 1 / self.family.bins
        others = (n - held_counts(participants, self.domain_size)) * stray
        dummies = self.dummies_of(participants.public.n_users)[:, None] * share
        step = 1 / (n * (1 - stray))
        return ErrorLaw([Term(others, stray, step), Term(dummies, share, step)], step)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each frequency given the values, (R, k)."""
        n = participants.public.users_column
        true_counts = held_counts(participants, self.domain_size)
        stray, share = self.family.collision_rate, 1 / self.family.bins
        dummies = self.dummies_of(participants.public.n_users)[:, None]
        noise = (n - true_counts) * stray * (1 - stray) + dummies * share * (1 - share)
        return np.asarray(noise / (n * (1 - stray)) ** 2)

    def profile_with(self, users: int, dummies: int) -> PrivacyProfile:
        """Return the profile of one user's message among the uniform messages."""
        return Profile(
            lambda eps: hashed_balls_delta(eps, self.family, dummies),
            "one hashed message among uniform ones, the messages of all others being known",
        )

    def parameters(self) -> dict[str, float]:
        """Return bins, prime, collision rate and the number of uniform messages, in total and per user."""
        return {
            "bins": float(self.family.bins),
            "prime": float(self.family.prime),
            "collision_rate": self.family.collision_rate,
            "dummies": float(self.usual_dummies),
            "dummies_per_user": self.usual_dummies / self.usual_users,
        }


@dataclass(frozen=True)
class _Groups:
    """Sets of values that a message can count for, (G, k), with their laws for a user's and for a uniform message."""

    holds: Ints
    own: Floats
    uniform: Floats


@lru_cache(maxsize=64)
def _groups(family: HashFamily) -> _Groups | None:
    """Return the sets of values that share a bin under some hash function; None if there are too many."""
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
    laws_of_values = np.stack([np.bincount(column, minlength=len(holds)) for column in place.T]) / len(
        functions
    )
    # A function and one of its b bins: the set of a bin turns up once for every value in it.
    uniform = laws_of_values.sum(axis=0) / (b * holds.sum(axis=1))
    nothing = max(0.0, 1 - float(uniform.sum()))
    return _Groups(
        np.concatenate((np.zeros((1, k), np.int64), holds.astype(np.int64))),
        np.concatenate((np.zeros((k, 1)), laws_of_values), axis=1),
        np.concatenate(([nothing], uniform)),
    )


def _inverses(u: Ints, prime: int) -> Ints:
    """Return the inverses of residues 1..q-1 modulo a prime q, by Fermat's little theorem."""
    result, power, exponent = np.ones_like(u), u % prime, prime - 2
    while exponent:
        if exponent & 1:
            result = result * power % prime
        power = power * power % prime
        exponent >>= 1
    return result
