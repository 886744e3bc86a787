"""Deltas of the protocols for sums at any scale; secret shares are reduced to their sum."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from shuffledp.pipeline.audit import pairs
from shuffledp.pipeline.audit.finite_laws import (
    Pair,
    PairNoise,
    Place,
    TooLargeError,
    added,
    averaged,
    binomial_counts,
    hockey_stick,
    largest,
    move_law,
    negative_binomials,
    outcomes,
)
from shuffledp.pipeline.audit.frequency import laplace_counts, polya_modulo, turned
from shuffledp.pipeline.audit.measured import (
    BINARY,
    TWO,
    Measured,
    MissingProfileError,
    Profile,
    number_of,
    truth,
)
from shuffledp.pipeline.audit.summation import correlated_sum, curator_noise, skellam
from shuffledp.pipeline.audit.vectors import central_gaussian
from shuffledp.pipeline.audit.views import ProductView, View
from shuffledp.populations.base import Law

if TYPE_CHECKING:
    from shuffledp.protocols.frequency._polya_shares import PolyaShares
    from shuffledp.protocols.summation._correlated import CorrelatedNoiseSum
    from shuffledp.protocols.summation._curator import NoisySums
    from shuffledp.protocols.summation._levels import LevelReports
    from shuffledp.protocols.summation.fragmented_rappor import FragmentedRappor
    from shuffledp.protocols.summation.skellam import Skellam
    from shuffledp.protocols.summation.split_and_mix import SplitAndMix
    from shuffledp.protocols.summation.unary_bits import UnaryBits
    from shuffledp.protocols.vectors.central_gaussian import CentralGaussian

_SUMS = "the noise of sums, moved by user 1"
#: Standard deviations, and scales of a geometric law, beyond which noise is negligible.
_FAR, _FADED = 24, 80
#: Largest number of inputs of user 1 that are compared with 0, and the difference of +1 and -1 up to which both are
#: counted.
_NUMBERS, _BAND = 3, 12
#: Likely numbers of one noise message up to which its law is used; beyond it, other users hide user 1's messages far
#: better.
_MOST_DRAWS = 100_000

_drawn = lru_cache(32)(negative_binomials)  # the same for all numbers


def polya_shares(protocol: PolyaShares, population: Law, level: int, eps: float) -> Measured:
    """Return delta of the sum of the shares modulo q, or modulo a smaller number that the noise rarely exceeds."""
    return _shares(protocol, population, eps, protocol.precision, float(protocol.base_users))


def split_shares(protocol: SplitAndMix, population: Law, level: int, eps: float) -> Measured:
    """Return delta of the sum of the shares, which contains user 1's number."""
    return _shares(protocol, population, eps, protocol.numbers.max_value, float(protocol.n_users))


def _shares(
    protocol: PolyaShares | SplitAndMix, population: Law, eps: float, worth: int, planned: float
) -> Measured:
    fading, bounds = worth / protocol.eps, []
    for others, weight in pairs.ranges(population, 8):
        shape = (others + 1) / planned
        likely = math.ceil((_FAR * math.sqrt(2 * shape) + _FADED) * fading + 2 * worth)
        circle = min(protocol.group_order, 1 << likely.bit_length())
        law = polya_modulo(circle, math.exp(-1 / fading), shape)
        bounds.append(
            (weight, hockey_stick([outcomes(law, turned(law, worth))], eps))
        )  # the noise is symmetric
    return Measured(averaged(bounds), "lower", "the sum of all shares")


def noisy_sums(protocol: NoisySums, population: Law, level: int, eps: float) -> Measured:
    """Return the largest delta of noisy sums over all pairs of inputs."""
    return _moved_sums(curator_noise(protocol, eps), population, eps)


def secure_sums(protocol: Skellam, population: Law, level: int, eps: float) -> Measured:
    """Return the largest delta of noisy sums without a curator, over all pairs of inputs."""
    return _moved_sums(skellam(protocol, eps), population, eps)


def _moved_sums(view: View, population: Law, eps: float) -> Measured:
    assert isinstance(view, ProductView)
    noises, bounds = view.noise(number_of(population)), []
    last = len(view.inputs) - 1
    for a, b in {(0, last), (last, 0), (1, last), (last, 1), (0, 1), (1, 0)}:
        moves = [(*view.own[a][i], *view.own[b][i]) for i in range(len(noises))]
        laws = [
            outcomes(move_law(noise, first), move_law(noise, second))
            for noise, (first, second) in zip(noises, moves, strict=True)
        ]
        bounds.append(hockey_stick(laws, eps))
    return Measured(largest(bounds), "exact", _SUMS)


def correlated_sums(protocol: CorrelatedNoiseSum, population: Law, level: int, eps: float) -> Measured:
    """Return delta of the messages with and without a number of user 1; the messages of each noise add up to 0.

    Parts of the view are independent, so that omission of parts whose law is too large can only decrease delta. The
    reduction of the messages +1 and -1 to their difference can also only decrease delta.
    """
    if number_of(population) != protocol.n_users:
        raise MissingProfileError("another number of users than planned")
    return _one_sum(replace(protocol, numbers=replace(protocol.numbers, coordinates=1), n_users=1), eps)


@cache  # the number of users does not matter, and experiments have many
def _one_sum(protocol: CorrelatedNoiseSum, eps: float) -> Measured:
    design, view = protocol.design, correlated_sum(protocol, eps)
    assert isinstance(view, ProductView)
    letters = [sign * j for j in range(design.max_value, 1, -1) for sign in (1, -1)]
    noises_of: dict[int, list[tuple[float, float]]] = {}
    for index, shape, ratio in zip(design.indices, design.shapes, design.ratios, strict=True):
        noises_of.setdefault(index, []).append((shape, 1 - ratio))
    most, bounds = len(view.inputs) - 1, []
    for number in sorted({1, most // 2, most} - {0})[-_NUMBERS:]:
        for a, b in ((0, number), (number, 0)):
            laws = []
            for i, letter in enumerate(letters):
                (first,), (second,) = view.own[a][i], view.own[b][i]
                if first != second:
                    laws += _moved_draws(tuple(noises_of.get(letter, ())), first, second)
            (first,), (second,) = view.own[a][-1], view.own[b][-1]
            laws.append(_moved_ones(design.central_ratio, tuple(noises_of.get(1, ())), first, second))
            bounds.append(hockey_stick(laws, eps, below=True))
    return Measured(largest(bounds), "lower", _SUMS)


def _moved_draws(shapes: tuple[tuple[float, float], ...], first: Place, second: Place) -> list[Pair]:
    if sum(shape / stop + 12 * math.sqrt(shape) / stop for shape, stop in shapes) > _MOST_DRAWS:
        return []
    noise = _drawn(shapes)
    return [outcomes(move_law(noise, first), move_law(noise, second))]


def _moved_ones(ratio: float, common: tuple[tuple[float, float], ...], first: Place, second: Place) -> Pair:
    reach = max(1, *(abs(step[0] - step[1]) for step in (first, second)))
    if reach <= _BAND:
        try:
            noise = PairNoise(ratio, common, reach)
            return outcomes(noise.move_counts(first), noise.move_counts(second))
        except TooLargeError:
            pass  # the difference alone
    difference = laplace_counts(ratio)
    return outcomes(*(move_law(difference, (step[0] - step[1],)) for step in (first, second)))


def level_reports(protocol: LevelReports, population: Law, level: int, eps: float) -> Measured:
    """Return delta of the reports of the highest level; user 1 has the largest number or 0, all others have 0."""
    own_rate, other_rate = truth(protocol.eps_local, protocol.levels + 1)
    noise = binomial_counts(number_of(population) - 1, other_rate)
    return Measured(largest(pairs.of_one_count(noise, own_rate, other_rate, eps)), "lower", BINARY)


def unary_bits(protocol: UnaryBits, population: Law, level: int, eps: float) -> Measured:
    """Return delta of the number of ones among all bits; user 1 has the largest number or 0, all others have 0."""
    half, bits = protocol.uniform_rate / 2, protocol.bits
    noise = binomial_counts(bits * (number_of(population) - 1), half)
    laws = [added(noise, binomial_counts(bits, rate)) for rate in (1 - half, half)]
    bounds = largest(hockey_stick([outcomes(a, b)], eps) for a, b in (laws, laws[::-1]))
    return Measured(bounds, "lower", "ones among all bits")


def fragmented_rappor(protocol: FragmentedRappor, population: Law, level: int, eps: float) -> Measured:
    """Return delta of two numbers' bits, or of one bit for sums of bits; other users have neither number."""
    n, p, most = number_of(population), protocol.flip_probability, protocol.numbers.max_value
    noise = binomial_counts(n - 1, p)
    if most >= 2:
        return Measured(pairs.of_two_counts(noise, 1 - p, p, eps), "lower", TWO)
    return Measured(largest(pairs.of_one_count(noise, 1 - p, p, eps)), "lower", BINARY)


def noisy_vectors(protocol: CentralGaussian, population: Law, level: int, eps: float) -> Measured:
    """Return delta of the first coordinate of the noisy sum, grouped into cells."""
    view = central_gaussian(protocol, eps)
    laws = [view.blocks((i,))[0] for i in range(3)]
    bounds = largest(
        hockey_stick([outcomes(laws[i], laws[j])], eps) for i in range(3) for j in range(3) if i != j
    )
    return Measured(bounds, "lower", "sums grouped into cells")


PROFILES: Mapping[str, Profile] = {
    "frequency._polya_shares.PolyaShares": polya_shares,
    "summation.split_and_mix.SplitAndMix": split_shares,
    "summation._levels.LevelReports": level_reports,
    "summation.unary_bits.UnaryBits": unary_bits,
    "summation._curator.NoisySums": noisy_sums,
    "summation.skellam.Skellam": secure_sums,
    "summation._correlated.CorrelatedNoiseSum": correlated_sums,
    "summation.fragmented_rappor.FragmentedRappor": fragmented_rappor,
    "vectors.central_gaussian.CentralGaussian": noisy_vectors,
}
