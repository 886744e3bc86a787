"""Views of the frequency protocols, from the definitions of their messages."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.audit.laws import (
    MOST_CELLS,
    TAIL,
    Block,
    Own,
    PairNoise,
    TooLarge,
    binomial_counts,
    mixed,
    multinomial_counts,
    negative_binomial_counts,
    pair_part,
    plus,
    point,
    poisson_counts,
)
from shuffledp.audit.views import ModularView, ProductView, SlotsView, SumView, View
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.frequency._curator_noise import CuratorNoise
from shuffledp.protocols.frequency._dummy_points import FixedDummies, FlexibleDummies
from shuffledp.protocols.frequency._geometric_shuffle import GeometricShuffle
from shuffledp.protocols.frequency._hashing import hash_values
from shuffledp.protocols.frequency._noisy_counts import NoisyCounts
from shuffledp.protocols.frequency._randomized_response import RandomizedResponse
from shuffledp.protocols.frequency._secret_shares import GaussianShares, PolyaShares, SecretShares
from shuffledp.protocols.frequency._unary_bits import FlippedBits, UnaryBits, WholeRows
from shuffledp.protocols.frequency.balls_into_bins import BallsIntoBins
from shuffledp.protocols.frequency.central_gaussian import CentralGaussian
from shuffledp.protocols.frequency.central_laplace import CentralLaplace
from shuffledp.protocols.frequency.correlated_noise import CorrelatedNoise
from shuffledp.protocols.frequency.designated_coins import DesignatedCoins
from shuffledp.protocols.frequency.hashed_balls_into_bins import HashedBallsIntoBins
from shuffledp.protocols.frequency.one_sided_noise import OneSidedCounts
from shuffledp.protocols.frequency.private_coin import PrivateCoin
from shuffledp.protocols.frequency.public_coin import PublicCoin
from shuffledp.protocols.frequency.random_checkin import RandomCheckin
from shuffledp.protocols.frequency.sbin import SBin
from shuffledp.protocols.frequency.silent_users import SilentUsers
from shuffledp.protocols.frequency.skellam import Skellam
from shuffledp.protocols.frequency.solh import Solh
from shuffledp.protocols.frequency.subset_selection import SubsetSelection
from shuffledp.protocols.frequency.truncation import Truncation

#: Cells of a law with all kinds of messages; beyond it two values are told apart and the others are lumped together.
_ALL_KINDS = 30_000
#: Many users can be enumerated where what the others hold does not matter.
MANY = 1_000_000


def unit(place: int, axes: int) -> tuple[int, ...]:
    """One message of a kind; none of the counted ones if there is no such axis."""
    return tuple(int(i == place) for i in range(axes))


def response(value: int, k: int, eps_local: float, axes: int) -> Own:
    """One report of generalized randomized response, as counts of the first `axes` values."""
    keep = 1 / (1 + (k - 1) * math.exp(-eps_local))
    law: dict[tuple[int, ...], float] = {}
    for sent in range(k):
        chance = keep if sent == value else math.exp(-eps_local) * keep
        place = unit(sent, axes)
        if chance > 0:
            law[place] = law.get(place, 0.0) + chance
    return law


def plain(payload: NDArray[Any]) -> NDArray[np.int64]:
    """Messages that are numbers are their own kinds."""
    return np.asarray(payload, np.int64)


def randomized_response(protocol: RandomizedResponse, eps: float) -> View:
    """Reports of the users, and of dummies with input 0: k, or as many as the other users fall short of k."""
    k, axes = protocol.domain_size, protocol.domain_size - 1
    own = tuple(response(v, k, protocol.eps_local, axes) for v in range(k))

    def dummies(n: int) -> Block:
        count = max(protocol.dummy_count - (n - 1), 0) if protocol.adaptive else protocol.dummy_count
        block = point(axes)
        for _ in range(count):
            block = plus(block, own[0])
        return block

    return SumView(
        inputs=tuple(range(k)),
        eps=eps,
        most={2: 22, 3: 9}.get(k, 6),
        alone=protocol.trust == "local",
        noise=dummies,
        own=own,
        kinds=plain,
    )


def random_checkin(protocol: RandomCheckin, eps: float) -> View:
    """Reports in slots; the filler has input 0."""
    k = protocol.domain_size
    return SlotsView(
        inputs=tuple(range(k)),
        eps=eps,
        slots=protocol.slots,
        most={2: 22, 3: 8}.get(k, 6),
        own=tuple(response(v, k, protocol.eps_local, k - 1) for v in range(k)),
        kinds=lambda payload: np.asarray(payload[:, 0], np.int64),
        rate=protocol.population.rate if protocol.threat == "own_coin" else None,
        population=protocol.population,
    )


def _tracked(k: int, messages: int) -> int:
    """Values whose counts are kept: all but one, or two where that is too many."""
    return k - 1 if k == 2 or (messages + 1) ** (k - 1) <= _ALL_KINDS else 2


def fixed_dummies(protocol: FixedDummies, eps: float) -> View:
    """A report of each user, and as many uniform dummies as its place says; all values are alike."""
    k, most = protocol.domain_size, max(protocol.dummies_in_all, protocol.n_users)
    axes = _tracked(k, most + protocol.n_users)
    inputs = range(k if axes == k - 1 else 3)

    def noise(n: int) -> Block:
        total = int(protocol.dummies_of(np.array([n]))[0])
        return multinomial_counts(total, [1 / k] * axes) if total else point(axes)

    return SumView(
        inputs=tuple(inputs),
        eps=eps,
        note="" if axes == k - 1 or protocol.eps_local == math.inf else "two values told apart",
        most=MANY if protocol.eps_local == math.inf else {2: 22, 3: 9}.get(k, 6),
        noise=noise,
        own=tuple(response(v, k, protocol.eps_local, axes) for v in inputs),
        kinds=plain,
        pairs=((0, 1),),
        shifts=protocol.eps_local == math.inf,
    )


def flexible_dummies(protocol: FlexibleDummies, eps: float, number: int | None = None) -> View:
    """Every user sends its dummies with some probability; the number of messages tells how many did."""
    k, each = protocol.domain_size, protocol.per_sender
    users = protocol.n_users if number is None else number
    axes = _tracked(k, (each + 1) * protocol.n_users)
    inputs = range(k if axes == k - 1 else 3)

    def noise(n: int) -> tuple[Block, ...]:
        senders = binomial_counts(n, protocol.rate)
        parts = [
            multinomial_counts(each * s, [1 / k] * axes) if each * s else point(axes) for s in range(n + 1)
        ]
        seen = [Block(part.mass[None], (s, *part.start)) for s, part in enumerate(parts)]
        return (mixed(list(zip(senders.mass.tolist(), seen, strict=True))),)

    def counts(payload: NDArray[Any]) -> list[tuple[int, ...]]:
        kinds = np.bincount(plain(payload), minlength=k)
        return [((len(payload) - users) // each if each else 0, *kinds[:axes].tolist())]

    def own(value: int) -> tuple[Own, ...]:
        law = response(value, k, protocol.eps_local, axes)
        return ({(0, *place): chance for place, chance in law.items()},)

    view = ProductView(
        inputs=tuple(inputs),
        eps=eps,
        note="" if axes == k - 1 or protocol.eps_local == math.inf else "two values told apart",
        most=MANY if protocol.eps_local == math.inf else {2: 22, 3: 9}.get(k, 6),
        noise=noise,
        own=tuple(own(v) for v in inputs),
        counts=counts,
        kinds=plain,
        shifts=protocol.eps_local == math.inf,
        pairs=((0, 1),),
        by_number=None if number is not None else lambda n: flexible_dummies(protocol, eps, n),
    )
    if each == 0:  # whether a user sent none of its none is not seen
        return SumView(
            inputs=view.inputs,
            eps=eps,
            most=view.most,
            noise=lambda n: point(axes),
            kinds=plain,
            pairs=((0, 1),),
            own=tuple(response(v, k, protocol.eps_local, axes) for v in inputs),
        )
    return view


def truncation(protocol: Truncation, eps: float) -> View:
    """The own value, and one more message of every value with probability ``1 - miss_rate``."""
    k = protocol.domain_size
    return ProductView(
        inputs=tuple(range(k)),
        eps=eps,
        most=MANY,
        noise=lambda n: (binomial_counts(n, 1 - protocol.miss_rate),) * k,
        own=tuple(tuple({(int(i == v),): 1.0} for i in range(k)) for v in range(k)),
        counts=lambda payload: [(int(c),) for c in np.bincount(plain(payload), minlength=k)],
        kinds=plain,
        shifts=True,
    )


def noisy_counts(protocol: NoisyCounts, eps: float) -> View:
    """The own value, with some probability, and noise on the count of every value."""
    k, keep = protocol.domain_size, protocol.keep
    own: Own = {(1,): 1.0} if keep == 1 else {(1,): keep, (0,): 1 - keep}
    nothing: Own = {(0,): 1.0}
    return ProductView(
        inputs=tuple(range(k)),
        eps=eps,
        most=MANY if keep == 1 else {2: 16, 3: 8}.get(k, 5),
        noise=lambda n: (_noise_of_a_value(protocol, n),) * k,
        own=tuple(tuple(own if i == v else nothing for i in range(k)) for v in range(k)),
        counts=lambda payload: [(int(c),) for c in np.bincount(plain(payload), minlength=k)],
        kinds=plain,
        pairs=((0, 1),),
        shifts=keep == 1,
    )


def _noise_of_a_value(protocol: NoisyCounts, n: int) -> Block:
    """Noise messages of one value when n users take part."""
    if isinstance(protocol, SBin):
        return binomial_counts(protocol.coins, 0.5)
    if isinstance(protocol, BallsIntoBins):
        return binomial_counts(n, protocol.rate)
    if isinstance(protocol, DesignatedCoins):
        return binomial_counts(min(n, protocol.designated), 0.5)
    if isinstance(protocol, SilentUsers):
        return poisson_counts(protocol.dummy_mean * n / protocol.n_users)
    if isinstance(protocol, OneSidedCounts):
        return negative_binomial_counts(protocol.shape * n / protocol.n_users, -math.expm1(-protocol.decay))
    if isinstance(protocol, GeometricShuffle):
        return _geometric_noise(protocol.half_eps, protocol.share, protocol.turn)
    raise TypeError(f"unknown noise of {protocol.name}")


def _geometric_noise(half: float, share: float, turn: int) -> Block:
    """``left^(turn - z)`` below the mode and ``right^(z - turn)`` from there on, made to sum to 1."""
    left, right = max((math.exp(-half) - 1 + share) / share, 0.0), share / (math.exp(half) - 1 + share)
    down = left ** np.arange(turn, 0, -1, dtype=float)
    up = right ** np.arange(math.ceil(math.log(TAIL) / math.log(right)) + 1, dtype=float)
    total = float(down.sum()) + 1 / (1 - right)
    return Block(np.concatenate((down, up)) / total, (0,))


def correlated_noise(protocol: CorrelatedNoise, eps: float, number: int | None = None) -> View:
    """A +1 of the own value; of every value +1 and -1 noise; planned users' shares of the noise make up all of it."""
    k, users = protocol.domain_size, protocol.n_users
    part = 1.0 if number is None else number / users
    common = ((protocol.shape, -math.expm1(-protocol.decay)),)
    ratio = math.exp(-protocol.eps_geometric)
    pair = PairNoise(ratio, common, max(users, 1))
    whole = part == 1

    def counts(payload: NDArray[Any]) -> list[tuple[int, ...]]:
        kinds = np.bincount(plain(payload), minlength=2 * k).tolist()
        pairs = [(kinds[2 * v], kinds[2 * v + 1]) for v in range(k)]
        return [pair.tallied(*two) for two in pairs] if whole else list(pairs)

    def noise(n: int) -> tuple[Block, ...]:
        return (point(2) if whole else pair_part(ratio, common, part),) * k

    return ProductView(
        inputs=tuple(range(k)),
        eps=eps,
        most=MANY,
        noise=noise,
        own=tuple(tuple({(int(i == v), 0): 1.0} for i in range(k)) for v in range(k)),
        banded=dict.fromkeys(range(k), pair) if whole else {},
        counts=counts,
        kinds=plain,
        pairs=((0, 1),),
        shifts=True,
        by_number=None if number is not None else lambda n: correlated_noise(protocol, eps, n),
    )


def solh(protocol: Solh, eps: float) -> View:
    """A seed and a noisy cell; a report matters by whether it agrees with the hashes of the two values compared.

    The hash functions count as fully random: their patterns occur equally often up to some 1e-5 among the seeds.
    """
    c = protocol.cells
    keep = 1 / (1 + (c - 1) * math.exp(-protocol.eps_local))
    other = (1 - keep) / c  # the report is not the own cell, and another value has this cell

    def agreeing(first: bool) -> Own:
        own, stray = unit(0 if first else 1, 3), unit(1 if first else 0, 3)
        return {unit(2, 3): keep / c, own: keep * (1 - 1 / c), stray: other, (0, 0, 0): 1 - keep - other}

    third = {
        unit(2, 3): 1 / c**2,
        unit(0, 3): (1 - 1 / c) / c,
        unit(1, 3): (1 - 1 / c) / c,
        (0, 0, 0): (1 - 1 / c) ** 2,
    }
    own = (agreeing(True), agreeing(False), third)
    inputs = range(min(protocol.domain_size, 3))

    def kinds(payload: NDArray[Any]) -> NDArray[np.int64]:
        seeds, cells = np.asarray(payload[:, :1], np.uint64), np.asarray(payload[:, 1:], np.uint64)
        agrees = hash_values(seeds, np.arange(2, dtype=np.uint64), c) == cells
        return _pair_kinds(agrees)

    return SumView(
        inputs=tuple(inputs),
        eps=eps,
        note="" if protocol.domain_size == 2 else "two values told apart",
        most=12,
        own=own[: len(inputs)],
        kinds=kinds,
        pairs=((0, 1),),
    )


def _pair_kinds(counts_for: NDArray[np.bool_]) -> NDArray[np.int64]:
    """0 for messages that count for the first of two values only, 1 for the second only, 2 for both, 3 for none."""
    first, second = counts_for.T.astype(np.int64)
    return np.asarray(np.array([[3, 1], [0, 2]])[first, second], np.int64)


def row_law(protocol: UnaryBits, value: int) -> Own:
    """Bits of the first two values in a row: set for the first only, the second only, both."""
    one, two = (protocol.own_rate if v == value else protocol.other_rate for v in (0, 1))
    return {
        unit(0, 3): one * (1 - two),
        unit(1, 3): (1 - one) * two,
        unit(2, 3): one * two,
        (0, 0, 0): (1 - one) * (1 - two),
    }


def whole_rows(protocol: WholeRows, eps: float) -> View:
    """Rows of bits, of which those of two values matter; rows without a value are noise."""
    inputs = range(min(protocol.domain_size, 3))
    empty = row_law(protocol, -1)
    fakes = protocol.rows_per_user - 1

    def noise(n: int) -> Block:
        return multinomial_counts(fakes * n, [empty[unit(i, 3)] for i in range(3)]) if fakes else point(3)

    return SumView(
        inputs=tuple(inputs),
        eps=eps,
        note="" if protocol.domain_size == 2 else "two values told apart",
        most=12 if fakes == 0 else max(2, 24 // fakes),
        noise=noise,
        own=tuple(row_law(protocol, v) for v in inputs),
        kinds=lambda payload: _pair_kinds(np.asarray(payload[:, :2], bool)),
        pairs=((0, 1),),
    )


def flipped_bits(protocol: FlippedBits, eps: float) -> View:
    """A bit per value, each flipped with probability p; only the counts of one-bits are seen."""
    p, k = protocol.flip_probability, protocol.domain_size
    summed = protocol.trust == "secure_sum"

    def own(value: int) -> tuple[Own, ...]:
        return tuple(
            {(1,): 1 - p if bit == value else p, (0,): p if bit == value else 1 - p} for bit in range(k)
        )

    def counts(payload: NDArray[Any]) -> list[tuple[int, ...]]:
        ones = payload.sum(axis=0) if summed else np.bincount(plain(payload), minlength=k)
        return [(int(c),) for c in ones]

    return ProductView(
        inputs=tuple(range(k)),
        eps=eps,
        noise=lambda n: (point(1),) * k,
        own=tuple(own(v) for v in range(k)),
        counts=counts,
        kinds=(lambda payload: np.zeros(len(payload), np.int64)) if summed else plain,
        pairs=((0, 1),),
    )


def subset_selection(protocol: SubsetSelection, eps: float) -> View:
    """Subsets, of which it matters whether they hold each of the two values compared."""
    report, k = protocol.report, protocol.domain_size
    if math.comb(k, report.size) > MOST_CELLS:
        raise TooLarge("too many subsets")
    subsets = list(combinations(range(k), report.size))

    def law(value: int) -> Own:
        weights = [1.0 if value in subset else math.exp(-report.eps_local) for subset in subsets]
        found: dict[tuple[int, ...], float] = {}
        for subset, weight in zip(subsets, weights, strict=True):
            kind = int(_pair_kinds(np.array([[0 in subset, 1 in subset]]))[0])
            found[unit(kind, 3)] = found.get(unit(kind, 3), 0.0) + weight / sum(weights)
        return found

    inputs = range(min(k, 3))
    return SumView(
        inputs=tuple(inputs),
        eps=eps,
        note="" if k == 2 else "two values told apart",
        most=12,
        own=tuple(law(v) for v in inputs),
        kinds=lambda payload: _pair_kinds(np.column_stack([np.any(payload == v, axis=1) for v in (0, 1)])),
        pairs=((0, 1),),
    )


def hashed_balls_into_bins(protocol: HashedBallsIntoBins, eps: float) -> View:
    """A hash function and a bin; a message matters by whether the two values compared are hashed to its bin."""
    q, b = protocol.family.prime, protocol.family.bins
    if q * q > MOST_CELLS:
        raise TooLarge(f"{q * (q - 1)} hash functions")
    u, v = (part.ravel() for part in np.meshgrid(np.arange(1, q), np.arange(q)))
    bins = [(u * value + v) % q % b for value in range(min(protocol.domain_size, 3))]

    def counted(payload: NDArray[Any]) -> NDArray[np.int64]:
        first, second, own = payload[:, 1] % b, (payload[:, 0] + payload[:, 1]) % q % b, payload[:, 2]
        return _pair_kinds(np.column_stack([first == own, second == own]))

    def law(own: NDArray[np.int64]) -> dict[tuple[int, ...], float]:
        kinds = _pair_kinds(np.column_stack([bins[0] == own, bins[1] == own]))
        return {unit(i, 3): float(np.mean(kinds == i)) for i in range(4) if np.any(kinds == i)}

    every = [law(np.full(len(u), w)) for w in range(b)]
    uniform = [sum(one.get(unit(i, 3), 0.0) for one in every) / b for i in range(3)]

    def noise(n: int) -> Block:
        return multinomial_counts(int(protocol.dummies_of(np.array([n]))[0]), uniform)

    return SumView(
        inputs=tuple(range(len(bins))),
        eps=eps,
        note="" if protocol.domain_size == 2 else "two values told apart",
        most=8,
        noise=noise,
        own=tuple(law(own) for own in bins),
        kinds=counted,
        pairs=((0, 1),),
    )


def private_coin(protocol: PrivateCoin, eps: float) -> View:
    """Tuples matter by whether all their entries are orthogonal to the vectors of the two values compared."""
    bits, entries = protocol.bits, protocol.entries
    inputs = range(min(protocol.domain_size, 4))

    def law(own: int | None) -> dict[tuple[int, ...], float]:
        """Kinds of a uniform tuple, or of one whose entries are orthogonal to the vector of a value."""
        vectors = [v for v in range(2**bits) if own is None or (v & (own + 1)).bit_count() % 2 == 0]
        first = [(v & 1).bit_count() % 2 == 0 for v in vectors]
        second = [(v & 2).bit_count() % 2 == 0 for v in vectors]
        both = sum(x and y for x, y in zip(first, second, strict=True)) / len(vectors)
        one, two, both = (
            (share**entries) for share in (sum(first) / len(vectors), sum(second) / len(vectors), both)
        )
        chances = {unit(0, 3): one - both, unit(1, 3): two - both, unit(2, 3): both}
        chances[(0, 0, 0)] = 1 - sum(chances.values())
        return {place: chance for place, chance in chances.items() if chance > 0}

    uniform = law(None)
    counted = [uniform.get(unit(i, 3), 0.0) for i in range(3)]

    def kinds(payload: NDArray[Any]) -> NDArray[np.int64]:
        odd = [np.bitwise_count(np.asarray(payload, np.uint64) & np.uint64(v)) & 1 for v in (1, 2)]
        return _pair_kinds(np.column_stack([np.all(o == 0, axis=1) for o in odd]))

    return SumView(
        inputs=tuple(inputs),
        eps=eps,
        note="" if protocol.domain_size == 2 else "two values told apart",
        noise=lambda n: multinomial_counts(protocol.tuples * n, counted) if protocol.tuples else point(3),
        own=tuple(law(v) for v in inputs),
        kinds=kinds,
        pairs=((0, 1),),
    )


def public_coin(protocol: PublicCoin, eps: float) -> View:
    """Cells of the hash functions that the public coin fixed: marks of users, and a coin of each user for each."""
    k, columns = protocol.domain_size, 2 * protocol.n_users
    rows = np.arange(protocol.rows)[:, None]
    hashed = hash_values(protocol.hash_seed * 2**16 + rows, np.arange(k), columns)
    cells = hashed.astype(np.int64) + rows * columns
    used = np.unique(cells)
    # Rows where two values share a cell show nothing of them, so the pair with the fewest such rows shows most.
    worst = max(
        combinations(range(k), 2), key=lambda ab: np.count_nonzero(cells[:, ab[0]] != cells[:, ab[1]])
    )

    def counts(payload: NDArray[Any]) -> list[tuple[int, ...]]:
        marks = np.bincount(plain(payload), minlength=protocol.rows * columns)
        return [(int(marks[cell]),) for cell in used]

    return ProductView(
        inputs=tuple(range(k)),
        eps=eps,
        most=MANY,
        noise=lambda n: (binomial_counts(n, protocol.rate),) * len(used),
        own=tuple(tuple({(int(cell in cells[:, v]),): 1.0} for cell in used) for v in range(k)),
        counts=counts,
        kinds=plain,
        pairs=(worst,),
        shifts=True,
    )


# -- shares ------------------------------------------------------------------------------------------------------


def polya_modulo(order: int, ratio: float, shape: float) -> NDArray[np.float64]:
    """Law modulo q of a difference of two negative binomial variables, from its characteristic function."""
    if order > MOST_CELLS:
        raise TooLarge(f"a group of order {order}")
    angle = 2 * np.pi * np.arange(order // 2 + 1) / order
    # |1 - r e^(i t)|^2 = (1 - r)^2 + 4 r sin^2(t / 2)
    size = (1 - ratio) ** 2 / ((1 - ratio) ** 2 + 4 * ratio * np.sin(angle / 2) ** 2)
    return np.maximum(np.fft.irfft(size**shape, order), 0.0)


def gaussian_modulo(order: int, tau: float, users: int) -> NDArray[np.float64]:
    """Law modulo q of a sum of discrete Gaussians."""
    reach = math.ceil(14 * tau) + 2
    if max(order, 2 * reach) > MOST_CELLS:
        raise TooLarge(f"a group of order {order}")
    x = np.arange(-reach, reach + 1)
    weights = np.exp(-(x**2) / (2 * tau**2))
    one = np.bincount(np.mod(x, order), weights=weights / weights.sum(), minlength=order)
    return np.maximum(np.fft.irfft(np.fft.rfft(one) ** users, order), 0.0)


def secret_shares(protocol: SecretShares, eps: float) -> View:
    """The sum modulo q that all shares add up to."""

    def noise(n: int) -> NDArray[np.float64]:
        if isinstance(protocol, PolyaShares):
            ratio = math.exp(-protocol.eps / protocol.precision)
            return polya_modulo(protocol.group_order, ratio, n / protocol.base_users)
        if isinstance(protocol, GaussianShares):
            return gaussian_modulo(protocol.group_order, protocol.tau, n)
        raise TypeError(f"unknown noise of {protocol.name}")

    return ModularView(
        inputs=(0, 1),
        eps=eps,
        note="only the sum of the shares",
        most=MANY,
        shifts=True,
        order=protocol.group_order,
        noise=noise,
        worth=(0, protocol.precision),
    )


# -- noise of a curator or of a secure sum ---------------------------------------------------------------------------


def laplace_counts(ratio: float) -> Block:
    """Law of discrete Laplace noise, probabilities proportional to ``ratio^|y|``."""
    reach = math.ceil(-38 / math.log(ratio))
    if 2 * reach + 1 > MOST_CELLS:
        raise TooLarge(f"noise up to {reach}")
    y = np.abs(np.arange(-reach, reach + 1)).astype(float)
    return Block((1 - ratio) / (1 + ratio) * ratio**y, (-reach,))


def gaussian_counts(sigma: float) -> Block:
    """Law of discrete Gaussian noise."""
    reach = math.ceil(9 * sigma)
    if 2 * reach + 1 > MOST_CELLS:
        raise TooLarge(f"noise up to {reach}")
    weights = np.exp(-np.square(np.arange(-reach, reach + 1) / sigma) / 2)
    # Normalized by what lies outside too, which is far below rounding.
    return Block(weights / weights.sum(), (-reach,))


def skellam_counts(variance: float) -> Block:
    """Law of the difference of two Poisson counts."""
    one = poisson_counts(variance / 2)
    least, most = one.start[0], one.start[0] + one.mass.size - 1
    return Block(np.convolve(one.mass, one.mass[::-1]), (least - most,))


def curator_noise(protocol: CuratorNoise, eps: float) -> View:
    """Noisy counts, as the curator is trusted; all values are alike."""
    k = protocol.domain_size
    if isinstance(protocol, CentralLaplace):
        noise = laplace_counts(math.exp(-protocol.eps / (2 if protocol.relation == "replace_one" else 1)))
    elif isinstance(protocol, CentralGaussian):
        noise = gaussian_counts(protocol.sigma)
    else:
        raise TypeError(f"unknown noise of {protocol.name}")

    def counts(payload: NDArray[Any]) -> list[tuple[int, ...]]:
        return [(int(payload[payload[:, 0] == j, 1].sum()),) for j in range(k)]

    return ProductView(
        inputs=tuple(range(k)),
        eps=eps,
        most=MANY,
        noise=lambda n: (noise,) * k,
        own=tuple(tuple({(int(v == j),): 1.0} for j in range(k)) for v in range(k)),
        counts=counts,
        kinds=lambda payload: np.sign(payload[:, 1]) + 1,
        pairs=((0, 1),),
        shifts=True,
    )


def skellam(protocol: Skellam, eps: float) -> View:
    """Noisy counts, as only sums are revealed; all values are alike."""
    k = protocol.domain_size
    return ProductView(
        inputs=tuple(range(k)),
        eps=eps,
        most=MANY,
        noise=lambda n: (skellam_counts(protocol.variance * n / protocol.n_users),) * k,
        own=tuple(tuple({(int(v == j),): 1.0} for j in range(k)) for v in range(k)),
        counts=lambda payload: [(int(c),) for c in payload.sum(axis=0)],
        kinds=lambda payload: np.minimum(np.abs(payload).sum(axis=1), 2),
        pairs=((0, 1),),
        shifts=True,
    )


VIEWS: tuple[tuple[type[ProtocolBase], Callable[..., View]], ...] = (
    (RandomizedResponse, randomized_response),
    (RandomCheckin, random_checkin),
    (FixedDummies, fixed_dummies),
    (FlexibleDummies, flexible_dummies),
    (Truncation, truncation),
    (NoisyCounts, noisy_counts),
    (CorrelatedNoise, correlated_noise),
    (Solh, solh),
    (WholeRows, whole_rows),
    (FlippedBits, flipped_bits),
    (SubsetSelection, subset_selection),
    (HashedBallsIntoBins, hashed_balls_into_bins),
    (PrivateCoin, private_coin),
    (PublicCoin, public_coin),
    (SecretShares, secret_shares),
    (CuratorNoise, curator_noise),
    (Skellam, skellam),
)
