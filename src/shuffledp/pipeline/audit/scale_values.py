"""Deltas of the protocols for frequencies at any scale, from two values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.pipeline.audit import pairs
from shuffledp.pipeline.audit.finite_laws import (
    PairNoise,
    TooLargeError,
    added,
    averaged,
    binomial_counts,
    hockey_stick,
    in_cells,
    largest,
    move_law,
    outcomes,
)
from shuffledp.pipeline.audit.frequency import (
    count_noise,
    gaussian_modulo,
    laplace_counts,
    noise_of_a_value,
    turned,
)
from shuffledp.pipeline.audit.frequency_reports import hashed_balls_into_bins, row_law
from shuffledp.pipeline.audit.measured import (
    BINARY,
    SPLIT,
    TWO,
    Measured,
    MissingProfileError,
    Profile,
    Side,
    gains_of,
    number_of,
    truth,
)
from shuffledp.pipeline.audit.message_positions import unit
from shuffledp.pipeline.audit.views import SumView
from shuffledp.populations.base import Law
from shuffledp.protocols.frequency._hashing import hash_values

if TYPE_CHECKING:
    from shuffledp.protocols.frequency import (
        _curator_noise as frequency_curator,
        skellam as frequency_skellam,
    )
    from shuffledp.protocols.frequency._dummy_points import FixedDummies
    from shuffledp.protocols.frequency._flexible_dummies import FlexibleDummies
    from shuffledp.protocols.frequency._noisy_counts import NoisyCounts
    from shuffledp.protocols.frequency._unary_bits import FlippedBits, WholeRows
    from shuffledp.protocols.frequency.correlated_noise import CorrelatedNoise
    from shuffledp.protocols.frequency.hashed_balls_into_bins import HashedBallsIntoBins
    from shuffledp.protocols.frequency.multi_expected import MultiExpected
    from shuffledp.protocols.frequency.private_coin import PrivateCoin
    from shuffledp.protocols.frequency.public_coin import PublicCoin
    from shuffledp.protocols.frequency.solh import Solh
    from shuffledp.protocols.frequency.subset_selection import SubsetSelection
    from shuffledp.protocols.frequency.truncation import Truncation

#: Least size of a group, in standard deviations of a Gaussian, at which wrapping around is negligible.
_FAR = 12


def fixed_dummies(protocol: FixedDummies, population: Law, level: int, eps: float) -> Measured:
    """Return delta of two values' counts among uniform dummies and the reports of users with a third value."""
    n, k = number_of(population), protocol.domain_size
    dummies = int(protocol.dummies_of(np.array([n]))[0])
    own_rate, other_rate = truth(protocol.eps_local, k)
    if k == 2 and other_rate > 0:
        noise = added(binomial_counts(dummies, 0.5), binomial_counts(n - 1, other_rate))
        return Measured(largest(pairs.of_one_count(noise, own_rate, other_rate, eps)), "lower", BINARY)
    total = binomial_counts(dummies, 2 / k)
    if other_rate > 0:
        total = added(total, binomial_counts(n - 1, 2 * other_rate))
    side: Side = "lower" if other_rate > 0 else "exact"
    return Measured(pairs.of_split(total, gains_of(own_rate, other_rate), eps), side, SPLIT)


def flexible_dummies(protocol: FlexibleDummies, population: Law, level: int, eps: float) -> Measured:
    """Return delta of two values' counts if every user sends dummies with a fixed probability.

    For values sent without noise the likelihood ratio depends on the two counts alone. The number of users who sent
    dummies then adds no information.
    """
    n, k, each = number_of(population), protocol.domain_size, protocol.per_sender
    own_rate, other_rate = truth(protocol.eps_local, k)
    if k == 2 and other_rate > 0:
        raise MissingProfileError("randomized response of two values among a random number of dummies")
    total = pairs.spent(binomial_counts(n, protocol.rate), each, 2 / k)
    if other_rate > 0:
        total = added(total, binomial_counts(n - 1, 2 * other_rate))
    side: Side = "lower" if other_rate > 0 else "exact"
    return Measured(pairs.of_split(total, gains_of(own_rate, other_rate), eps), side, SPLIT)


def truncation(protocol: Truncation, population: Law, level: int, eps: float) -> Measured:
    """Return delta of two values' counts; every user adds a message of each except with probability `miss_rate`."""
    noise = binomial_counts(number_of(population), 1 - protocol.miss_rate)
    return Measured(pairs.of_two_counts(noise, 1.0, 0.0, eps), "exact", TWO)


def noisy_counts(protocol: NoisyCounts, population: Law, level: int, eps: float) -> Measured:
    """Return delta of two values' noisy counts; the other users hold a third value."""
    noise = noise_of_a_value(protocol, number_of(population))
    side: Side = "exact" if protocol.keep == 1 else "lower"
    if side == "lower" and protocol.domain_size == 2:
        raise MissingProfileError("two values only: no third value that the others could hold")
    return Measured(pairs.of_two_counts(noise, protocol.keep, 0.0, eps), side, TWO)


def correlated_counts(protocol: CorrelatedNoise, population: Law, level: int, eps: float) -> Measured:
    """Return delta of two values' counts of +1 and -1."""
    if number_of(population) != protocol.n_users:
        raise MissingProfileError("another number of users than planned")
    return _correlated_pair(
        math.exp(-protocol.eps_geometric), protocol.shape, -math.expm1(-protocol.decay), eps
    )


@cache  # users and values do not matter, and experiments have many of either
def _correlated_pair(ratio: float, shape: float, stop: float, eps: float) -> Measured:
    try:
        noise = PairNoise(ratio, ((shape, stop),), 1)
        with_it, without = noise.move_counts((1, 0)), noise.move_counts((0, 0))
    except TooLargeError:  # the differences alone, which are less than what is seen
        difference = laplace_counts(ratio)
        bounds = pairs.of_two_counts(difference, 1.0, 0.0, eps)
        return Measured(bounds, "lower", "differences of the +1 and -1 of two values")
    return Measured(hockey_stick([outcomes(with_it, without), outcomes(without, with_it)], eps), "exact", TWO)


def solh(protocol: Solh, population: Law, level: int, eps: float) -> Measured:
    """Return delta of reports that agree with one of two values' hashes; hash functions are treated as fully random."""
    cells = protocol.cells
    keep, _ = truth(protocol.eps_local, cells)
    total = pairs.total_of(population, 2 * (1 - 1 / cells) / cells)
    gains = gains_of(keep * (1 - 1 / cells), (1 - keep) / cells)
    if protocol.domain_size == 2:
        raise MissingProfileError("no third value that the others could hold")
    return Measured(pairs.of_split(total, gains, eps), "lower", SPLIT)


def private_coin(protocol: PrivateCoin, population: Law, level: int, eps: float) -> Measured:
    """Return delta of tuples whose entries are all orthogonal to the vector of exactly one of two values.

    The entries of a tuple of a third value are orthogonal to either vector with probability 1/2, like random entries.
    """
    n = number_of(population)
    if protocol.domain_size < 4:
        raise MissingProfileError("too few values for a third value that looks like noise")
    miss = 2.0**-protocol.entries
    total = binomial_counts(protocol.tuples * n + n - 1, 2 * (miss - miss**2))
    return Measured(pairs.of_split(total, gains_of(1 - miss, 0.0), eps), "lower", SPLIT)


def public_coin(protocol: PublicCoin, population: Law, level: int, eps: float) -> Measured:
    """Return delta of the marks in two values' cells, in the rows where the cells differ."""
    n, columns = number_of(population), 2 * protocol.n_users
    rows = np.arange(protocol.rows)[:, None]
    hashed = hash_values(protocol.hash_seed * 2**16 + rows, np.arange(min(protocol.domain_size, 4)), columns)
    apart = max(
        int(np.count_nonzero(hashed[:, a] != hashed[:, b]))
        for a, b in combinations(range(hashed.shape[1]), 2)
    )
    noise = binomial_counts(n * apart, protocol.rate)
    with_it = move_law(noise, (apart,))
    bounds = hockey_stick([outcomes(with_it, noise), outcomes(noise, with_it)], eps)
    side: Side = "exact" if apart == protocol.rows == 1 else "lower"
    return Measured(bounds, side, "marks of all rows of two values, added up")


def gaussian_shares(protocol: MultiExpected, population: Law, level: int, eps: float) -> Measured:
    """Return delta of the sum of the shares, grouped into cells; the sum is approximately Gaussian."""
    bounds = []
    for others, weight in pairs.ranges(population):
        spread = protocol.tau * math.sqrt(others + 1)
        if protocol.tau < 2 or protocol.group_order < _FAR * spread + 2 * protocol.precision:
            noise = gaussian_modulo(protocol.group_order, protocol.tau, others + 1)
            bounds.append((weight, hockey_stick([outcomes(noise, turned(noise, protocol.precision))], eps)))
            continue
        edges = np.linspace(-10, 10, 4001)
        first, second = (in_cells(edges - shift) for shift in (protocol.precision / spread, 0.0))
        bounds.append((weight, hockey_stick([outcomes(first, second)], eps)))
    return Measured(averaged(bounds), "lower", "the sum of all shares, in cells")


def curator_counts(
    protocol: frequency_curator.NoisyHistogram | frequency_skellam.Skellam,
    population: Law,
    level: int,
    eps: float,
) -> Measured:
    """Return delta of two values' noisy counts, or of one count if there are only two values."""
    if protocol.domain_size == 2:
        return presence(protocol, population, eps)
    noise = count_noise(protocol, number_of(population))
    return Measured(pairs.of_two_counts(noise, 1.0, 0.0, eps), "exact", TWO)


def presence(
    protocol: frequency_curator.NoisyHistogram | frequency_skellam.Skellam, population: Law, eps: float
) -> Measured:
    """Return delta of one value's noisy count with and without user 1, for the add-remove relation."""
    noise = count_noise(protocol, number_of(population))
    return Measured(largest(pairs.of_one_count(noise, 1.0, 0.0, eps)), "exact", "the count of one value")


def flipped_bits(protocol: FlippedBits, population: Law, level: int, eps: float) -> Measured:
    """Return delta of two values' bits; others hold a third value, or the second value if only one bit is sent."""
    p = protocol.flip_probability
    noise = binomial_counts(number_of(population) - 1, protocol.flip_probability)
    if protocol.domain_size == 2:
        return Measured(largest(pairs.of_one_count(noise, 1 - p, p, eps)), "lower", BINARY)
    return Measured(pairs.of_two_counts(noise, 1 - p, p, eps), "lower", TWO)


def whole_rows(protocol: WholeRows, population: Law, level: int, eps: float) -> Measured:
    """Return delta of the counts of rows with exactly one of two values; other users hold a third value."""
    if protocol.domain_size == 2:
        raise MissingProfileError("no third value that the others could hold")
    n = number_of(population)
    own_law, stray_law = row_law(protocol, 0), row_law(protocol, -1)
    total = binomial_counts(protocol.rows_per_user * n - 1, 2 * stray_law[unit(0, 3)])
    gains = gains_of(own_law[unit(0, 3)], own_law[unit(1, 3)])
    return Measured(pairs.of_split(total, gains, eps), "lower", SPLIT)


def subset_selection(protocol: SubsetSelection, population: Law, level: int, eps: float) -> Measured:
    """Return delta of the counts of subsets with exactly one of two values; other users hold a third value."""
    k, w, faint = protocol.domain_size, protocol.report.size, math.exp(-protocol.report.eps_local)
    if k == 2:
        raise MissingProfileError("no third value that the others could hold")
    weight = math.comb(k - 1, w - 1) + faint * math.comb(k - 1, w)
    one_only = math.comb(k - 2, w - 1) / weight
    with_third = math.comb(k - 3, w - 2) if w >= 2 else 0
    stray = (with_third + faint * math.comb(k - 3, w - 1)) / weight
    total = binomial_counts(number_of(population) - 1, 2 * stray)
    return Measured(pairs.of_split(total, gains_of(one_only, faint * one_only), eps), "lower", SPLIT)


def hashed_balls(protocol: HashedBallsIntoBins, population: Law, level: int, eps: float) -> Measured:
    """Return delta of messages whose bin is the hash of exactly one of two values; other users hold a third value."""
    if protocol.domain_size == 2:
        raise MissingProfileError("no third value that the others could hold")
    n, view = number_of(population), hashed_balls_into_bins(protocol, eps)
    assert isinstance(view, SumView)
    first_chances, third_chances = (
        [law.get(unit(i, 3), 0.0) for i in (0, 1)] for law in (view.own[0], view.own[2])
    )
    if abs(third_chances[0] - third_chances[1]) > 1e-12:
        raise MissingProfileError("the third value hits the two bins with different probabilities")
    bins = protocol.family.bins
    chance = (
        first_chances[0] + first_chances[1]
    ) / bins  # of a uniform bin: that of either value, where they differ
    total = added(
        binomial_counts(int(protocol.dummies_of(np.array([n]))[0]), 2 * chance),
        binomial_counts(n - 1, 2 * third_chances[0]),
    )
    return Measured(pairs.of_split(total, gains_of(first_chances[0], first_chances[1]), eps), "lower", SPLIT)


PROFILES: Mapping[str, Profile] = {
    "frequency._dummy_points.FixedDummies": fixed_dummies,
    "frequency._flexible_dummies.FlexibleDummies": flexible_dummies,
    "frequency.truncation.Truncation": truncation,
    "frequency._noisy_counts.NoisyCounts": noisy_counts,
    "frequency.correlated_noise.CorrelatedNoise": correlated_counts,
    "frequency.solh.Solh": solh,
    "frequency.private_coin.PrivateCoin": private_coin,
    "frequency.public_coin.PublicCoin": public_coin,
    "frequency.multi_expected.MultiExpected": gaussian_shares,
    "frequency._curator_noise.NoisyHistogram": curator_counts,
    "frequency.skellam.Skellam": curator_counts,
    "frequency._unary_bits.FlippedBits": flipped_bits,
    "frequency._unary_bits.WholeRows": whole_rows,
    "frequency.subset_selection.SubsetSelection": subset_selection,
    "frequency.hashed_balls_into_bins.HashedBallsIntoBins": hashed_balls,
}
