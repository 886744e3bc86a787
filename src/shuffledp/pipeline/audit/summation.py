"""Views of the protocols for sums, from the definitions of their messages."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import binom

from shuffledp.accounting.summation.noise_atoms import atom_messages
from shuffledp.pipeline.audit.finite_laws import (
    Block,
    Error,
    Jumps,
    Own,
    PairNoise,
    Summand,
    added,
    negative_binomials,
    pair_part,
    point,
    shared,
)
from shuffledp.pipeline.audit.frequency import (
    Noise,
    gaussian_counts,
    laplace_counts,
    noise_law,
    polya_modulo,
    skellam_counts,
)
from shuffledp.pipeline.audit.frequency_reports import flipped_bit
from shuffledp.pipeline.audit.message_positions import MANY, plain, response
from shuffledp.pipeline.audit.views import ModularView, ProductView, SumView, View

if TYPE_CHECKING:
    from shuffledp.protocols.summation._correlated import CorrelatedNoiseSum
    from shuffledp.protocols.summation._curator import NoisySums
    from shuffledp.protocols.summation._levels import LevelReports
    from shuffledp.protocols.summation._sums import Numbers
    from shuffledp.protocols.summation.central_laplace import CentralLaplace
    from shuffledp.protocols.summation.fragmented_rappor import FragmentedRappor
    from shuffledp.protocols.summation.skellam import Skellam
    from shuffledp.protocols.summation.split_and_mix import SplitAndMix
    from shuffledp.protocols.summation.unary_bits import UnaryBits

#: Number of cells of the law of all shares up to which the shares are enumerated, and not only their sum.
_SHARES = 300_000
#: Relative error of the number of ways to split a sum into shares, and of the noise of one user's sum.
_LOG_GAMMA = 2.0**-44


def held_numbers(numbers: Numbers) -> list[tuple[int, int]]:
    """Return the coordinate and the number of every input; 0 is one input, as its coordinate is not sent."""
    copies = range(numbers.coordinates)
    return [(0, 0), *((c, m) for c in copies for m in range(1, numbers.max_value + 1))]


def input_pairs(inputs: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the places of two inputs that are compared; coordinates from 2 on are as those before."""
    few = [i for i, (c, _) in enumerate(inputs) if c <= 1]
    return tuple((a, b) for a, b in combinations(few, 2) if 0 in (inputs[a][0], inputs[b][0]))


def raw_inputs(numbers: Numbers, inputs: list[tuple[int, int]]) -> tuple[Any, ...]:
    """Return inputs as a user holds them: numbers, or pairs of a coordinate and a number."""
    return tuple(m if numbers.coordinates == 1 else (c, m) for c, m in inputs)


def number_rows(numbers: Numbers, payload: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the coordinates and the numbers of messages."""
    rows = np.asarray(payload, np.int64)
    return (np.zeros(len(rows), np.int64), rows) if numbers.coordinates == 1 else (rows[:, 0], rows[:, 1])


# -- one noise from a curator --------------------------------------------------------------------------------------


def curator_noise(protocol: NoisySums, eps: float) -> View:
    """Return the view of a trusted curator's noisy sums."""
    numbers = protocol.numbers
    inputs = held_numbers(numbers)
    noise = noise_law(_NOISES, protocol)(protocol, 1)

    def counts(payload: NDArray[Any]) -> list[tuple[int, ...]]:
        where, number = number_rows(numbers, payload)
        return [(int(number[where == c].sum()),) for c in range(numbers.coordinates)]

    return ProductView(
        inputs=raw_inputs(numbers, inputs),
        eps=eps,
        most=MANY,
        noise=lambda n: (noise,) * numbers.coordinates,
        own=tuple(tuple({(m * (c == i),): 1.0} for i in range(numbers.coordinates)) for c, m in inputs),
        counts=counts,
        kinds=lambda payload: np.sign(number_rows(numbers, payload)[1]) + 1,
        pairs=input_pairs(inputs),
        shifts=True,
    )


def _laplace(protocol: CentralLaplace, n: int) -> Block:
    numbers, several = protocol.numbers, 2 if protocol.relation == "replace_one" else 1
    return laplace_counts(
        math.exp(-protocol.noise.eps / (numbers.max_value * min(numbers.coordinates, several)))
    )


#: Noise of one sum, by the family of the protocol.
_NOISES: Mapping[str, Noise] = {
    "summation.central_laplace.CentralLaplace": _laplace,
    "summation.central_gaussian.CentralGaussian": lambda p, n: gaussian_counts(p.noise.sigma),
}


def skellam(protocol: Skellam, eps: float) -> View:
    """Return the view of the noisy sum alone."""
    most = protocol.numbers.max_value
    return ProductView(
        inputs=tuple(range(most + 1)),
        eps=eps,
        most=MANY,
        noise=lambda n: (skellam_counts(protocol.variance * n / protocol.n_users),),
        own=tuple(({(m,): 1.0},) for m in range(most + 1)),
        counts=lambda payload: [(int(payload.sum()),)],
        kinds=lambda payload: np.sign(plain(payload)) + 1,
        shifts=True,
    )


# -- correlated noise ----------------------------------------------------------------------------------------------


def correlated_sum(protocol: CorrelatedNoiseSum, eps: float, number: int | None = None) -> View:
    """Return the view of numbers among noise; the messages of each noise add up to 0.

    In the order D, -D, .., 2, -2, every noise except {+1, -1} has one message whose number no later noise has. The
    count of number D is therefore the number of draws of noise D. Once the messages of these draws are subtracted, the
    same holds for the next noise. The remaining +1 and -1 are the noise of the sum. The counts found in this way are
    independent, and an input shifts them.
    """
    design, numbers = protocol.design, protocol.numbers
    levels, copies = design.max_value, numbers.coordinates
    content = {
        index: atom_messages(index, levels, atoms=design.atoms, hubs=design.hubs or None)
        for index in design.indices
    }
    noises: dict[int, list[Summand]] = {}  # a kind of noise may be there several times
    for index, shape, ratio in zip(design.indices, design.shapes, design.ratios, strict=True):
        summand = Jumps(shape, ratio / (1 - ratio)) if design.law == "jumps" else (shape, 1 - ratio)
        noises.setdefault(index, []).append(summand)
    letters = [sign * j for j in range(levels, 1, -1) for sign in (1, -1)]
    order = {letter: place for place, letter in enumerate([*letters, 1, -1])}
    for index, messages in content.items():
        first = min(messages, key=order.__getitem__)
        if index != 1 and (first != index or messages[index] != 1):
            raise TypeError(f"the noise {index} of {messages} cannot be inferred from its largest number")

    def peeled(counts: Mapping[int, int]) -> list[tuple[int, ...]]:
        remainder = dict(counts)
        tallies: list[tuple[int, ...]] = []
        for letter in letters:
            draws = remainder.get(letter, 0)
            tallies.append((draws,))
            for message, times in content.get(letter, {}).items():
                remainder[message] = remainder.get(message, 0) - times * draws
        return [*tallies, (remainder.get(1, 0), remainder.get(-1, 0))]

    inputs = [(c, m) for c, m in held_numbers(numbers) if m * levels % numbers.max_value == 0]
    moves = [peeled({m * levels // numbers.max_value: 1} if m else {}) for _, m in inputs]
    still = peeled({})
    most = max(abs(move[-1][0] - move[-1][1]) for move in moves)
    band = max(1, most * protocol.n_users)
    pair = PairNoise(design.central_ratio, tuple(noises.get(1, ())), band)

    part = 1.0 if number is None else number / protocol.n_users  # share of the noise from n users
    whole = part == 1

    def noise(n: int) -> tuple[Block, ...]:
        of_letters = [
            negative_binomials([shared(summand, part) for summand in noises.get(j, ())]) for j in letters
        ]
        ones = point(2) if whole else pair_part(design.central_ratio, noises.get(1, ()), part)
        return (*of_letters, ones) * copies

    def own(coordinate: int, move: list[tuple[int, ...]]) -> tuple[Own, ...]:
        return tuple({m: 1.0} for c in range(copies) for m in (move if c == coordinate else still))

    def counts(payload: NDArray[Any]) -> list[tuple[int, ...]]:
        where, number = number_rows(numbers, payload)
        tallies: list[tuple[int, ...]] = []
        for c in range(copies):
            kinds, times = np.unique(number[where == c], return_counts=True)
            *draws, ones = peeled(dict(zip(kinds.tolist(), times.tolist(), strict=True)))
            tallies += [*draws, pair.tallied(*ones) if whole else ones]
        return tallies

    parts = len(letters) + 1
    return ProductView(
        inputs=raw_inputs(numbers, inputs),
        eps=eps,
        note="" if levels == numbers.max_value else "inputs that are not rounded",
        most=MANY,
        noise=noise,
        own=tuple(own(c, move) for (c, _), move in zip(inputs, moves, strict=True)),
        banded={c * parts + parts - 1: pair for c in range(copies)} if whole else {},
        counts=counts,
        kinds=lambda payload: number_rows(numbers, payload)[1] + levels,
        pairs=input_pairs(inputs),
        shifts=True,
        by_number=None if number is not None else lambda n: correlated_sum(protocol, eps, n),
    )


# -- randomized bits -----------------------------------------------------------------------------------------------


def fragmented_rappor(protocol: FragmentedRappor, eps: float) -> View:
    """Return the view of one bit per value, each flipped with probability p; only ones are sent."""
    laws, most = flipped_bit(protocol.flip_probability), protocol.numbers.max_value
    bits = range(1 if protocol.estimator == "plain" else 0, most + 1)
    return ProductView(
        inputs=tuple(range(most + 1)),
        eps=eps,
        noise=lambda n: (point(1),) * len(bits),
        own=tuple(tuple(laws[bit == v] for bit in bits) for v in range(most + 1)),
        counts=lambda payload: [(int(c),) for c in np.bincount(plain(payload), minlength=len(bits))],
    )


# -- levels --------------------------------------------------------------------------------------------------------


def _levels(number: int, most: int, steps: int) -> list[tuple[int, float]]:
    """Return the levels to which a number is rounded, with their probabilities."""
    below, part = divmod(number * steps, most)
    return [(below, 1 - part / most), *([(below + 1, part / most)] if part else [])]


def level_reports(protocol: LevelReports, eps: float) -> View:
    """Return the view of one of g + 1 levels per user, after generalized randomized response."""
    steps, most = protocol.levels, protocol.numbers.max_value

    def own(number: int) -> Own:
        law: dict[tuple[int, ...], float] = {}
        for level, chance in _levels(number, most, steps):
            for place, mass in response(level, steps + 1, protocol.eps_local, steps).items():
                law[place] = law.get(place, 0.0) + chance * mass
        return law

    return SumView(
        inputs=tuple(range(most + 1)),
        eps=eps,
        most={2: 22, 3: 9}.get(max(steps, most) + 1, 6),
        own=tuple(own(number) for number in range(most + 1)),
    )


def unary_bits(protocol: UnaryBits, eps: float) -> View:
    """Return the view of the number of ones among all users' bits."""
    bits, half, most = protocol.bits, protocol.uniform_rate / 2, protocol.numbers.max_value

    def own(number: int) -> Own:
        law = np.zeros(bits + 1)
        for level, chance in _levels(number, most, bits):
            ones = binom.pmf(np.arange(level + 1), level, 1 - half)
            law += chance * np.convolve(ones, binom.pmf(np.arange(bits - level + 1), bits - level, half))
        return {(c,): float(mass) for c, mass in enumerate(law)}

    return SumView(
        inputs=tuple(range(most + 1)),
        eps=eps,
        most=6,
        own=tuple(own(number) for number in range(most + 1)),
        kinds=lambda payload: 1 - plain(payload),
    )


# -- shares --------------------------------------------------------------------------------------------------------


class SharesView(SumView):
    """View of the shares of a small group as counts by value."""

    def _more(self, block: Block, law: Own) -> Block:
        return added(block, _dense(law))


def _dense(law: Own) -> Block:
    places = np.array(list(law))
    mass = np.zeros(places.max(axis=0) + 1)
    mass[tuple(places.T)] = list(law.values())
    return Block(mass, (0,) * places.shape[1], Error(share=_LOG_GAMMA))


def _share_counts(shares: int, order: int, total: NDArray[np.float64]) -> Own:
    """Return the law of the numbers of shares with each value but the last, for m shares and the law of their sum."""
    law: dict[tuple[int, ...], float] = {}

    def extend(place: tuple[int, ...], remaining: int) -> None:
        if len(place) < order - 1:
            for c in range(remaining + 1):
                extend((*place, c), remaining - c)
            return
        all_counts = np.array([*place, remaining])
        ways = math.exp(gammaln(shares + 1) - gammaln(all_counts + 1).sum() - (shares - 1) * math.log(order))
        law[place] = ways * float(total[int(all_counts @ np.arange(order)) % order])

    extend((), shares)
    return law


def split_and_mix(protocol: SplitAndMix, eps: float) -> View:
    """Return the view of shares modulo q of noisy numbers: all shares of a small group, otherwise the sum."""
    n, order, numbers, shares = protocol.n_users, protocol.group_order, protocol.numbers, protocol.shares
    ratio = math.exp(-protocol.eps / numbers.max_value)
    inputs = tuple(range(numbers.max_value + 1))
    if order < 2 or (n * shares + 1) ** (order - 1) > _SHARES:
        return ModularView(
            inputs=inputs,
            eps=eps,
            note="only the sum of the shares",
            most=MANY,
            shifts=True,
            order=order,
            noise=lambda users: polya_modulo(order, ratio, users / n),
            worth=inputs,
        )
    noisy = polya_modulo(order, ratio, 1 / n)
    return SharesView(
        inputs=inputs,
        eps=eps,
        noise=lambda users: point(order - 1),
        own=tuple(_share_counts(shares, order, np.roll(noisy.mass, x)) for x in inputs),
    )


VIEWS: Mapping[str, Callable[..., View]] = {
    "summation._curator.NoisySums": curator_noise,
    "summation._correlated.CorrelatedNoiseSum": correlated_sum,
    "summation.fragmented_rappor.FragmentedRappor": fragmented_rappor,
    "summation._levels.LevelReports": level_reports,
    "summation.skellam.Skellam": skellam,
    "summation.split_and_mix.SplitAndMix": split_and_mix,
    "summation.unary_bits.UnaryBits": unary_bits,
}
