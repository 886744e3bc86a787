"""Views of reports that may count for several values: hashed reports, rows of bits, subsets, tuples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.audit.finite_laws import (
    Block,
    Own,
    binomial_counts,
    check_size,
    multinomial_counts,
    point,
)
from shuffledp.pipeline.audit.message_positions import MANY, plain, unit
from shuffledp.pipeline.audit.value_counts import value_counts
from shuffledp.pipeline.audit.views import Kinds, ProductView, SumView, View
from shuffledp.protocols.frequency._hashing import hash_values

if TYPE_CHECKING:
    from shuffledp.protocols.frequency._designs import DesignReports
    from shuffledp.protocols.frequency._unary_bits import FlippedBits, UnaryBits, WholeRows
    from shuffledp.protocols.frequency.hashed_balls_into_bins import HashedBallsIntoBins
    from shuffledp.protocols.frequency.private_coin import PrivateCoin
    from shuffledp.protocols.frequency.public_coin import PublicCoin
    from shuffledp.protocols.frequency.solh import Solh
    from shuffledp.protocols.frequency.subset_selection import SubsetSelection


def _two_values(protocol: Any, eps: float, laws: Sequence[Own], kinds: Kinds, **fields: Any) -> SumView:
    """Return the view of reports by the kinds of `_pair_kinds`: whether they count for each of two values."""
    return SumView(
        inputs=tuple(range(len(laws))),
        eps=eps,
        note="" if protocol.domain_size == 2 else "two values told apart",
        own=tuple(laws),
        kinds=kinds,
        pairs=((0, 1),),
        **fields,
    )


def solh(protocol: Solh, eps: float) -> View:
    """Return the view of a seed and a noisy cell per report, reduced to agreement with two values' hashes.

    Hash functions are treated as fully random; over all seeds, their patterns are equally frequent up to about 1e-5.
    """
    c = protocol.cells
    keep = 1 / (1 + (c - 1) * math.exp(-protocol.eps_local))
    other = (1 - keep) / c  # the report is not the own cell, and another value has this cell

    def agreeing(first: bool) -> Own:
        own_kind, stray_kind = unit(0 if first else 1, 3), unit(1 if first else 0, 3)
        return {
            unit(2, 3): keep / c,
            own_kind: keep * (1 - 1 / c),
            stray_kind: other,
            (0, 0, 0): 1 - keep - other,
        }

    third = {
        unit(2, 3): 1 / c**2,
        unit(0, 3): (1 - 1 / c) / c,
        unit(1, 3): (1 - 1 / c) / c,
        (0, 0, 0): (1 - 1 / c) ** 2,
    }
    laws = (agreeing(True), agreeing(False), third)[: protocol.domain_size]

    def kinds(payload: NDArray[Any]) -> NDArray[np.int64]:
        seeds, cells = np.asarray(payload[:, :1], np.uint64), np.asarray(payload[:, 1:], np.uint64)
        agrees = hash_values(seeds, np.arange(2, dtype=np.uint64), c) == cells
        return _pair_kinds(agrees)

    return _two_values(protocol, eps, laws, kinds, most=12)


def _pair_kinds(counts_for: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return each message's kind: it counts for the first value (0), the second (1), both (2) or neither (3)."""
    first, second = counts_for.T
    return np.where(first, np.where(second, 2, 0), np.where(second, 1, 3))


def row_law(protocol: UnaryBits, value: int) -> Own:
    """Return the law of two values' bits in a row: only the first is set, only the second, or both."""
    first, second = (protocol.own_rate if v == value else protocol.other_rate for v in (0, 1))
    return {
        unit(0, 3): first * (1 - second),
        unit(1, 3): (1 - first) * second,
        unit(2, 3): first * second,
        (0, 0, 0): (1 - first) * (1 - second),
    }


def whole_rows(protocol: WholeRows, eps: float) -> View:
    """Return the view of rows of bits, reduced to two values' bits; rows without a value are noise."""
    empty = row_law(protocol, -1)
    fakes = protocol.rows_per_user - 1

    def noise(n: int) -> Block:
        return multinomial_counts(fakes * n, [empty[unit(i, 3)] for i in range(3)]) if fakes else point(3)

    laws = [row_law(protocol, v) for v in range(min(protocol.domain_size, 3))]
    most = 12 if fakes == 0 else max(2, 24 // fakes)
    return _two_values(
        protocol,
        eps,
        laws,
        lambda payload: _pair_kinds(np.asarray(payload[:, :2], bool)),
        most=most,
        noise=noise,
    )


def flipped_bit(p: float) -> tuple[Own, Own]:
    """Return the laws of sending a bit 0 and a bit 1: a bit is flipped with probability p, then sent if it is 1."""
    return {(1,): p, (0,): 1 - p}, {(1,): 1 - p, (0,): p}


def flipped_bits(protocol: FlippedBits, eps: float) -> View:
    """Return the view of one bit per value, each flipped with probability p, reduced to the counts of ones."""
    laws, k = flipped_bit(protocol.flip_probability), protocol.domain_size
    view = value_counts(k, eps, lambda n: point(1), laws, most=7, shifts=False)
    if protocol.trust != "secure_sum":
        return view
    return replace(
        view,
        counts=lambda payload: [(int(c),) for c in payload.sum(axis=0)],
        kinds=lambda payload: np.zeros(len(payload), np.int64),
    )


def subset_selection(protocol: SubsetSelection, eps: float) -> View:
    """Return the view of subsets, reduced to whether they contain each of two values."""
    report, k = protocol.report, protocol.domain_size
    check_size(math.comb(k, report.size), "too many subsets")
    subsets = list(combinations(range(k), report.size))

    def law(value: int) -> Own:
        weights = [1.0 if value in subset else math.exp(-report.eps_local) for subset in subsets]
        chances: dict[tuple[int, ...], float] = {}
        for subset, weight in zip(subsets, weights, strict=True):
            kind = int(_pair_kinds(np.array([[0 in subset, 1 in subset]]))[0])
            chances[unit(kind, 3)] = chances.get(unit(kind, 3), 0.0) + weight / sum(weights)
        return chances

    def kinds(payload: NDArray[Any]) -> NDArray[np.int64]:
        return _pair_kinds(np.column_stack([np.any(payload == v, axis=1) for v in (0, 1)]))

    return _two_values(protocol, eps, [law(v) for v in range(min(k, 3))], kinds, most=12)


def design_reports(protocol: DesignReports, eps: float) -> View:
    """Return the view of points of a design, reduced to whether two values favor them."""
    check_size(8 * protocol.alphabet_size, "too many points")
    favored = protocol.favors(np.arange(protocol.alphabet_size), np.arange(min(protocol.domain_size, 3)))
    kinds = _pair_kinds(favored[:, :2])
    weights = np.where(favored, math.exp(protocol.eps_local), 1.0)

    def law(value: int) -> Own:
        masses = np.bincount(kinds, weights[:, value], 4) / weights[:, value].sum()
        return {unit(i, 3): float(mass) for i, mass in enumerate(masses) if mass > 0}

    def classify_messages(payload: NDArray[Any]) -> NDArray[np.int64]:
        return _pair_kinds(protocol.favors(np.asarray(payload, np.int64), np.arange(2)))

    return _two_values(protocol, eps, [law(v) for v in range(favored.shape[1])], classify_messages, most=12)


def hashed_balls_into_bins(protocol: HashedBallsIntoBins, eps: float) -> View:
    """Return the view of a hash function and a bin per message, reduced to agreement with the two values' hashes."""
    q, b = protocol.family.prime, protocol.family.bins
    check_size(q * q, f"{q * (q - 1)} hash functions")
    u, v = (part.ravel() for part in np.meshgrid(*(np.arange(i, q, dtype=np.int32) for i in (1, 0))))
    bins = [(u * value + v) % q % b for value in range(min(protocol.domain_size, 3))]

    def classify_messages(payload: NDArray[Any]) -> NDArray[np.int64]:
        first = payload[:, 1] % b
        second = (payload[:, 0] + payload[:, 1]) % q % b
        bin_of_message = payload[:, 2]
        return _pair_kinds(np.column_stack([first == bin_of_message, second == bin_of_message]))

    def law(bin_of_message: NDArray[np.int64]) -> dict[tuple[int, ...], float]:
        kinds = _pair_kinds(np.column_stack([bins[0] == bin_of_message, bins[1] == bin_of_message]))
        return {unit(i, 3): float(np.mean(kinds == i)) for i in range(4) if np.any(kinds == i)}

    # A uniform bin is that of a value with chance 1/b, whatever the hash function; of both where they share a bin.
    shared = float(np.mean(bins[0] == bins[1]))
    uniform = [(1 - shared) / b, (1 - shared) / b, shared / b]

    def noise(n: int) -> Block:
        return multinomial_counts(int(protocol.dummies_of(np.array([n]))[0]), uniform)

    return _two_values(
        protocol, eps, [law(bins_of_value) for bins_of_value in bins], classify_messages, most=8, noise=noise
    )


def private_coin(protocol: PrivateCoin, eps: float) -> View:
    """Return the view of tuples, reduced to whether all entries are orthogonal to the vectors of two values."""
    bits, entries = protocol.bits, protocol.entries

    def law(value: int | None) -> dict[tuple[int, ...], float]:
        """Return the law of a tuple's kind; entries are uniform or orthogonal to the vector of `value`."""
        vectors = np.arange(2**bits)
        if value is not None:
            vectors = vectors[np.bitwise_count(vectors & (value + 1)) % 2 == 0]
        first, second = vectors & 1 == 0, vectors & 2 == 0
        first_chance, second_chance, both = (
            (int(np.count_nonzero(which)) / vectors.size) ** entries
            for which in (first, second, first & second)
        )
        chances = {unit(0, 3): first_chance - both, unit(1, 3): second_chance - both, unit(2, 3): both}
        chances[(0, 0, 0)] = 1 - sum(chances.values())
        return {place: chance for place, chance in chances.items() if chance > 0}

    uniform = law(None)
    uniform_chances = [uniform.get(unit(i, 3), 0.0) for i in range(3)]

    def kinds(payload: NDArray[Any]) -> NDArray[np.int64]:
        odd = [np.bitwise_count(np.asarray(payload, np.uint64) & np.uint64(v)) & 1 for v in (1, 2)]
        return _pair_kinds(np.column_stack([np.all(o == 0, axis=1) for o in odd]))

    def noise(n: int) -> Block:
        return multinomial_counts(protocol.tuples * n, uniform_chances) if protocol.tuples else point(3)

    laws = [law(v) for v in range(min(protocol.domain_size, 4))]
    return _two_values(protocol, eps, laws, kinds, noise=noise)


def public_coin(protocol: PublicCoin, eps: float) -> View:
    """Return the view of the hash cells: the users' marks, and one coin per user and cell."""
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
        pairs=(worst,),
        shifts=True,
    )


# -- shares ------------------------------------------------------------------------------------------------------
