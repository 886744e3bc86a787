"""Finite laws of counts, and divergences between two of them.

Probabilities follow from the ratios of neighboring probabilities, without an accounting. A hockey-stick divergence is a
sum over outcomes. Every law has a bound on its rounding error and on the omitted mass (`Error`), and every divergence
is an interval that contains the true one (`Bounds`). Calibrated parameters, and rates computed from them, count as
exact floating-point numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfftn, rfftn
from scipy.special import ndtr
from scipy.stats import binom, nbinom, norm, poisson

from shuffledp.tasks import Floats

#: Numbers of messages, one per axis of a block.
Place = tuple[int, ...]
#: Law of one user's contribution to the counts of a block.
Own = Mapping[Place, float]

#: Mass that a law may omit on either side; small compared with every delta in use, times its rounding error.
TAIL = 1e-24
#: Mass that a law of several counts may omit on either side, because its table would have too many cells.
WIDE_TAIL = 1e-16
#: Relative error of one rounding in float64.
UNIT = 2.0**-53
#: Relative error of one rounding in numpy's long double; equal to `UNIT` if that type has no more digits.
LONG_UNIT = float(np.finfo(np.longdouble).eps) / 2
#: Largest sum of cells that round to 0.
_TINY = 1e-290
#: Roundings of a term and of the sum over outcomes: numpy adds up pairwise, in blocks of 128 with 8 partial sums.
_SUMMED = 48
#: Number of cells of two laws up to which their sum is computed directly, without a Fourier transform.
_DIRECT = 4 * 10**9
#: Largest number of outcomes of one law in memory.
MOST_CELLS = 4_000_000
#: Number of outcomes of several factors up to which the factors are multiplied out, and the step of the grid on which
#: losses are added beyond this number.
_MULTIPLIED = 250_000
_GRID = 2e-4
_MOST_GRID = 2**20
#: Part of a step that is added to losses before they are rounded down, larger than the losses' own rounding error.
_NUDGE = 1e-9


class TooLargeError(Exception):
    """Error for a law with too many outcomes for enumeration."""


def check_size(cells: int, what: str = "") -> None:
    """Raise `TooLargeError` for more outcomes than fit in memory; `what` describes them, by default as a law."""
    if cells > MOST_CELLS:
        raise TooLargeError(what or f"a law with {cells} outcomes")


class Bounds(NamedTuple):
    """Interval that contains a number."""

    low: float
    high: float


def largest(bounds: Iterable[Bounds]) -> Bounds:
    """Return bounds on the largest of several numbers, each given by bounds."""
    lows, highs = zip(*bounds, strict=True)
    return Bounds(max(lows), max(highs))


#: Relative error of the probabilities of a population's window, at least twice the largest found in tests.
WINDOW = 2.0**-36


def averaged(parts: Sequence[tuple[float, Bounds]]) -> Bounds:
    """Return bounds on the mean of numbers under given probabilities, with rounding and the omitted mass."""
    share = 0.0 if [weight for weight, _ in parts] == [1.0] else WINDOW
    low, high = (sum(weight * bounds[end] for weight, bounds in parts) for end in (0, 1))
    return Bounds(low * (1 - share), high * (1 + share))


def around(value: float, error: float) -> Bounds:
    """Return the bounds of a nonnegative number whose error is at most `error`."""
    return Bounds(max(0.0, value - error), max(0.0, value) + error)


class Error(NamedTuple):
    """Bound on the error of a table of probabilities.

    `share` is the relative error of every cell. `norm` is an additional absolute error of all cells in the 2-norm, from
    Fourier transforms. `beyond` is the mass that the table omits.
    """

    share: float = 0.0
    norm: float = 0.0
    beyond: float = 0.0

    def rounded(self, times: float) -> Error:
        """Return the error after `times` further roundings of every cell."""
        return self._replace(share=self.share + times * UNIT)

    def and_of(self, other: Error, times: float = 1.0) -> Error:
        """Return the error of sums or products of independent counts; negligible products of errors are omitted."""
        return Error(
            self.share + other.share + times * UNIT, self.norm + other.norm, self.beyond + other.beyond
        )


EXACT = Error()


@dataclass(frozen=True, eq=False)
class Block:
    """Law of a vector of counts, one axis per count, from the cell `start`; the sum may be slightly less than 1."""

    mass: Floats
    start: Place
    error: Error = EXACT

    def __post_init__(self) -> None:
        if self.mass.ndim != len(self.start):
            raise ValueError(f"A law of {self.mass.ndim} counts starts at {self.start}.")
        check_size(self.mass.size)


def point(axes: int) -> Block:
    """Return the law of counts that are 0 with certainty."""
    return Block(np.ones((1,) * axes), (0,) * axes)


def _cells(start: Place, low: Place | NDArray[Any], shape: Place) -> tuple[slice, ...]:
    """Return the slices of a table from `low` that hold a law from `start`."""
    return tuple(slice(int(a - b), int(a - b) + size) for a, b, size in zip(start, low, shape, strict=True))


def plus(block: Block, law: Own) -> Block:
    """Return the law of the counts after the messages of one more user with a `law`."""
    places = np.array(list(law))
    low, high = places.min(axis=0), places.max(axis=0)
    shape = np.array(block.mass.shape) + high - low
    check_size(math.prod(shape.tolist()))
    mass, part = np.zeros(shape), np.empty_like(block.mass)
    for place, chance in law.items():
        mass[_cells(place, low, block.mass.shape)] += np.multiply(block.mass, chance, out=part)
    start = tuple(int(a + b) for a, b in zip(block.start, low, strict=True))
    return Block(mass, start, block.error.rounded(len(law) + 1))


def added(block: Block, other: Block) -> Block:
    """Return the law of the sum of two independent vectors of counts."""
    from scipy.signal import fftconvolve  # slow to import, and seldom needed

    shape = [a + b - 1 for a, b in zip(block.mass.shape, other.mass.shape, strict=True)]
    check_size(math.prod(shape))
    error = block.error.and_of(other.error)
    if min(block.mass.size, other.mass.size) == 1:
        mass = block.mass * other.mass
    elif block.mass.ndim == 1 and block.mass.size * other.mass.size <= _DIRECT:
        shorter, longer = sorted((block.mass, other.mass), key=len)
        step = math.isqrt(shorter.size) + 1  # sums of partial sums: 2 step roundings instead of step^2
        mass, error = np.zeros(shape), error.rounded(2 * step)
        for at in range(0, shorter.size, step):
            part = np.convolve(shorter[at : at + step], longer)
            mass[at : at + part.size] += part
    else:
        mass = np.maximum(fftconvolve(block.mass, other.mass), 0.0)
        error = error._replace(norm=error.norm + transformed(block.mass, other.mass))
    return Block(mass, tuple(a + b for a, b in zip(block.start, other.start, strict=True)), error)


def transformed(*factors: Floats) -> float:
    """Return a bound on the 2-norm of the rounding error when Fourier transforms convolve laws.

    A transform of N numbers has a relative error of at most ``7 u log2 N`` in the 2-norm (Higham, Accuracy and
    Stability of Numerical Algorithms, theorem 24.2), and a law's transform has no value above 1. Each transform adds at
    most this error times the 2-norm of a law. Twice this bound covers lengths that are no powers of 2.
    """
    size = sum(factor.size for factor in factors)
    norms = sum(float(np.linalg.norm(factor)) for factor in factors)
    return 14 * UNIT * math.log2(2 * size) * 3 * norms


def independent(*blocks: Block) -> Block:
    """Return the joint law of several independent vectors of counts."""
    check_size(math.prod(b.mass.size for b in blocks))
    mass = reduce(np.multiply.outer, [b.mass for b in blocks])
    error = reduce(Error.and_of, [b.error for b in blocks])
    return Block(np.asarray(mass, float), tuple(s for b in blocks for s in b.start), error)


def move_law(block: Block, step: Place) -> Block:
    """Return the law after a fixed vector is added to the counts."""
    return replace(block, start=tuple(a + b for a, b in zip(block.start, step, strict=True)))


def mixed(parts: Sequence[tuple[float, Block]]) -> Block:
    """Return the law of a vector that follows one of several laws, chosen with given probabilities."""
    low = np.min([b.start for _, b in parts], axis=0)
    high = np.max([np.add(b.start, b.mass.shape) for _, b in parts], axis=0)
    check_size(math.prod((high - low).tolist()))
    mass = np.zeros(high - low)
    for weight, block in parts:
        mass[_cells(block.start, low, block.mass.shape)] += weight * block.mass
    error = Error(
        max(block.error.share for _, block in parts) + (len(parts) + 1) * UNIT,
        sum(weight * block.error.norm for weight, block in parts),
        sum(weight * block.error.beyond for weight, block in parts),
    )
    return Block(mass, tuple(int(x) for x in low), error)


# -- laws of noise -----------------------------------------------------------------------------------------------


def _from_ratios(ratios: NDArray[np.longdouble], mode: int, falls: float, rises: float, tail: float) -> Block:
    """Return the law with these ratios of successive probabilities, multiplied from the mode and normalized.

    Probabilities do not increase away from cell `mode`. `falls` is the largest ratio above the table and `rises` the
    largest inverse ratio below the table, each 0 without outcomes there. At most the mass `tail` is cut off on either
    side. Each ratio has an error of at most 6 roundings. A product has at most w factors, each with an error of 7
    roundings; the sum of the positive terms has the same relative error.
    """
    with np.errstate(divide="ignore", under="ignore"):
        down, up = np.cumprod(1 / ratios[:mode][::-1])[::-1], np.cumprod(ratios[mode:])
        mass = np.concatenate((down, np.ones(1, np.longdouble), up))
        law = np.asarray(mass / np.sum(mass), float)
    if falls >= 1 or rises >= 1:
        raise TooLargeError(f"a law that does not fall off within {law.size} outcomes")
    below, above = float(law[0]) * rises / (1 - rises), float(law[-1]) * falls / (1 - falls)
    last = law.size - int(np.searchsorted(above + np.cumsum(law[::-1]), tail))
    first = int(np.searchsorted(below + np.cumsum(law), tail))
    beyond = below + above + float(law[:first].sum() + law[last:].sum()) + _TINY
    return Block(law[first:last], (first,), Error(16 * law.size * LONG_UNIT + 2 * UNIT, 0.0, beyond))


def in_cells(edges: Floats) -> Block:
    """Return the standard Gaussian probabilities of the cells between increasing edges and of the two outer cells.

    Probabilities of small cells are differences of the smaller tails. The error is ten times the largest error found in
    tests, for cells of width 1/200 within 12 standard deviations.
    """
    inner = np.where(edges[1:] < 0, np.diff(ndtr(edges)), -np.diff(ndtr(-edges)))
    return Block(np.concatenate(([ndtr(edges[0])], inner, [ndtr(-edges[-1])])), (0,), Error(share=2.0**-30))


def _reach(variance: float) -> float:
    """Return a distance from the mean beyond which a Poisson or binomial count has mass below `TAIL` (Bernstein)."""
    nats = -math.log(TAIL)
    return nats / 3 + math.sqrt(nats**2 / 9 + 2 * variance * nats)


def binomial_counts(trials: int, rate: float, tail: float = TAIL) -> Block:
    """Return the law of a binomial count; it omits a mass of at most `tail` on either side."""
    if rate in (0.0, 1.0) or trials == 0:
        return move_law(point(1), (int(rate) * trials,))
    mean, reach = trials * rate, _reach(trials * rate * (1 - rate))
    low, high = max(0, math.floor(mean - reach)), min(trials, math.ceil(mean + reach))
    x = np.arange(low, high).astype(np.longdouble)
    odds = np.longdouble(rate) / (1 - np.longdouble(rate))
    mode = min(max(int((trials + 1) * rate), low), high) - low
    falls, rises = float((trials - high) / (high + 1) * odds), float(low / (trials - low + 1) / odds)
    return move_law(
        _from_ratios((trials - x) / (x + 1) * odds, mode, falls, rises, tail if trials >= 60 else 0.0), (low,)
    )


def poisson_counts(mean: float, tail: float = TAIL) -> Block:
    """Return the law of a Poisson count; it omits a mass of at most `tail` on either side."""
    if mean == 0:
        return point(1)
    low, high = max(0, math.floor(mean - _reach(mean))), math.ceil(mean + _reach(mean))
    x = np.arange(low, high).astype(np.longdouble)
    block = _from_ratios(np.longdouble(mean) / (x + 1), int(mean) - low, mean / (high + 1), low / mean, tail)
    return move_law(block, (low,))


def negative_binomial_counts(shape: float, stop: float, tail: float = TAIL) -> Block:
    """Return the law of a negative binomial count: ``C(j + shape - 1, j) stop^shape (1 - stop)^j``."""
    if stop >= 1 or shape == 0:
        return point(1)
    high = int(nbinom.isf(tail, shape, stop))
    check_size(high)
    x, go = np.arange(high).astype(np.longdouble), 1 - np.longdouble(stop)
    mode = min(max(int((shape - 1) * (1 - stop) / stop), 0), high)
    falls = float(max((high + shape) / (high + 1), 1.0) * go)
    return _from_ratios((x + np.longdouble(shape)) / (x + 1) * go, mode, falls, 0.0, 0.0)


class Jumps(NamedTuple):
    """Poisson number of jumps of random size; `jump_chances` is the law of a size."""

    rate: float
    center: float

    def part(self, part: float) -> Jumps:
        """Return the jumps with their rate multiplied by `part`."""
        return Jumps(self.rate * part, self.center)


#: Shape and stopping probability of a negative binomial count, or jumps.
Summand = tuple[float, float] | Jumps


def jump_chances(center: float) -> Floats:
    """Return the law of a jump's size 1, 2, ..: a Gaussian shape around the center, and a constant up to it."""
    sizes = np.arange(1, max(3, int(2.125 * center) + 2))
    weights = norm.pdf(sizes, center, 0.225 * center) / norm.pdf(0, 0, 0.225 * center)
    weights += np.where(sizes <= center, 0.136, 0.0)
    return np.asarray(weights / np.sum(weights), float)


def compound_counts(rates: Mapping[Place, float], low: Place, shape: Place, beyond: float) -> Block:
    """Return the law of a sum of independent Poisson multiples of fixed vectors, on a box of cells.

    `rates` has the expected number of each vector, `low` and `shape` the first cell and the sides of the box. Mass
    outside of the box wraps around into it; `beyond` bounds this mass from above. The transform of the rates has an
    absolute error of 7 roundings of their sum per level of the transform, and its exponential has the same relative
    error. Cells with a probability below the error are omitted.
    """
    check_size(math.prod(shape))
    table = np.zeros(shape)
    for vector, rate in rates.items():
        table[tuple(v % side for v, side in zip(vector, shape, strict=True))] += rate
    law = irfftn(np.exp(rfftn(table) - table.sum()), s=shape)
    law = np.roll(law, [-x for x in low], range(len(shape)))
    norm = transformed(law) * (1 + float(table.sum()))
    blurred = law <= WIDE_TAIL
    omitted = beyond + float(np.abs(law[blurred]).sum())
    return Block(np.where(blurred, 0.0, law), low, Error(2 * UNIT, norm, omitted))


def jump_counts(jumps: Jumps) -> Block:
    """Return the law of the sum of the jumps."""
    chances = jump_chances(jumps.center).tolist()
    rates: dict[Place, float] = {(j,): jumps.rate * chance for j, chance in enumerate(chances, 1)}
    # The sum is below that of as many jumps of the largest size.
    most = int(poisson.isf(WIDE_TAIL, jumps.rate) + 1)
    block = compound_counts(rates, (0,), (len(chances) * most,), WIDE_TAIL)
    last = int(np.flatnonzero(block.mass)[-1])
    return replace(block, mass=block.mass[: last + 1])


def negative_binomials(summands: Sequence[Summand], tail: float = TAIL) -> Block:
    """Return the law of a sum of independent summands: negative binomial counts (shape, stop) or jumps."""
    laws = (
        jump_counts(summand) if isinstance(summand, Jumps) else negative_binomial_counts(*summand, tail)
        for summand in summands
    )
    return reduce(added, laws, point(1))


def shared(summand: Summand, part: float) -> Summand:
    """Return a summand of the noise with its shape or rate multiplied by `part`."""
    if isinstance(summand, Jumps):
        return summand.part(part)
    return (summand[0] * part, summand[1])


def multinomial_counts(total: int, chances: Sequence[float]) -> Block:
    """Return the joint law of the counts of some kinds among `total` items, each kind with its entry of `chances`."""
    block = binomial_counts(total, chances[0], WIDE_TAIL)
    remaining_chance, error = 1 - chances[0], block.error
    spans = [np.arange(block.mass.size) + block.start[0]]
    mass, start = block.mass, block.start
    for chance in chances[1:]:
        alone = binomial_counts(total, chance, WIDE_TAIL)
        check_size(mass.size * alone.mass.size)
        before = np.asarray(sum(np.meshgrid(*spans, indexing="ij", sparse=True)), np.int64)
        least = sum(start)
        rest = np.maximum(total - np.arange(least, before.max() + 1), 0)[:, None]
        x = np.arange(alone.mass.size) + alone.start[0]
        conditional = np.asarray(binom.pmf(x, rest, min(chance / remaining_chance, 1.0)), float)
        mass = mass[..., None] * conditional[before - least]
        error = Error(error.share + binomial_share(total), 0.0, error.beyond + alone.error.beyond)
        spans.append(x)
        start, remaining_chance = (*start, *alone.start), max(remaining_chance - chance, 0.0)
    return Block(np.asarray(mass, float), start, error)


def binomial_share(trials: int) -> float:
    """Return the relative error of SciPy's binomial probabilities and fair tails, twice the largest error in tests."""
    return (256 + 32 * math.sqrt(trials)) * UNIT


def pair_part(ratio: float, common: Sequence[Summand], part: float) -> Block:
    """Return the law of two counts with a `part` of the noise of `PairNoise`, whose shapes are multiplied by `part`."""
    alone = negative_binomial_counts(part, 1 - ratio, WIDE_TAIL)
    together = negative_binomials([shared(summand, part) for summand in common], WIDE_TAIL)
    both = together.mass
    width = alone.mass.size
    work = max((width + both.size) ** 2, both.size * width**2 // 100)
    check_size(work, f"{width} and {both.size} noise messages of a kind")
    table = independent(alone, alone)
    total = np.zeros((width + both.size - 1,) * 2)
    for c, chance in enumerate(both.tolist()):
        total[c : c + width, c : c + width] += chance * table.mass
    return Block(total, (0, 0), together.error.and_of(table.error, both.size + 1))


@lru_cache(2)  # the same for all that inputs do
def _summands(ratio: float, common: tuple[Summand, ...], tail: float) -> tuple[Block, Block]:
    """Return the laws of the common part of a `PairNoise` and of geometric counts; their sum has the law h."""
    return negative_binomials(common, tail), negative_binomial_counts(1.0, 1 - ratio**2, tail)


@lru_cache(2)
def _smaller_counts(ratio: float, common: tuple[Summand, ...], tail: float) -> Block:
    from scipy.signal import lfilter  # slow to import, and seldom needed

    noise, beyond = _summands(ratio, common, tail)
    padded, a = np.pad(noise.mass, (0, beyond.mass.size)).astype(np.longdouble), np.longdouble(ratio)
    summed = lfilter(np.ones(1, np.longdouble), np.array([1, -(a**2)]), padded)
    error = noise.error.and_of(Error(4 * padded.size * LONG_UNIT, 0.0, beyond.error.beyond), 4)
    # Of the common part's absolute error each cell has a sum with weights that add up to (1 - a) / (1 + a).
    return Block(np.asarray((1 - a) ** 2 * summed, float), (0,), error)


@dataclass(frozen=True, eq=False)
class PairNoise:
    """Noise of two counts: one geometric count for each, and a common count, a sum of negative binomial counts.

    With ``a`` the ratio of the geometric laws in (0, 1), (i, j) has the probability ``a^|i - j| h(min(i, j))``, where
    ``h(t) = (1 - a)^2 sum_k common(k) a^(2 (t - k))``. For a difference ``i - j`` larger than all sums of inputs only
    the sign matters. Laws are therefore over the smaller count and the difference, cut off at `band`, at least the sum
    of all inputs.
    """

    ratio: float
    common: tuple[Summand, ...]
    band: int

    def smaller(self) -> Block:
        """Return the law h without negligible mass."""
        most = MOST_CELLS // (2 * self.band + 1)
        for tail in (TAIL, WIDE_TAIL):
            size = sum(part.mass.size for part in _summands(self.ratio, self.common, tail))
            if size <= most:
                return _smaller_counts(self.ratio, self.common, tail)
        raise TooLargeError(f"{size} noise messages of a kind")

    def move_counts(self, step: Place) -> Block:
        """Return the law of the cut-off difference and the smaller count after inputs add `step` to the counts."""
        smaller, (u, v), a = self.smaller(), step, self.ratio
        h = smaller.mass
        if abs(u - v) > self.band:
            raise ValueError(f"inputs add {u} and {v}, but the difference is cut off at {self.band}")
        start = min(u, v, u - self.band, v - self.band)
        size = h.size + abs(u - v) + 2 * self.band + 1
        table = np.zeros((2 * self.band + 1, size))

        def put(row: int, at: int, factor: float) -> None:
            table[row + self.band, at - start : at - start + h.size] = factor * h

        put(self.band, v, a ** (self.band - (u - v)) / (1 - a))
        put(-self.band, u, a ** (self.band + (u - v)) / (1 - a))
        for row in range(1 - self.band, self.band):
            # Given i - j, the noise has i - u and j - v; the smaller of i and j is what is seen.
            gap = row - (u - v)
            at = v + min(row, 0) if gap >= 0 else u - max(row, 0)
            put(row, at, a ** abs(gap))
        # A row is h times at most 1 / (1 - a), so the rows' absolute errors are at most this much of that of h.
        rows = (2 / (1 - a) + 2 * self.band) * smaller.error.norm
        return Block(table, (-self.band, start), smaller.error.rounded(8)._replace(norm=rows))

    def tallied(self, first: int, second: int) -> Place:
        """Return the cell of a pair of counts: the difference, limited to the band, and the smaller count."""
        return (max(-self.band, min(self.band, first - second)), min(first, second))


# -- distance ----------------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    """Probabilities of the same outcomes under two inputs, (w,) each, with their errors."""

    p: Floats
    q: Floats
    of_p: Error = EXACT
    of_q: Error = EXACT


def outcomes(first: Block, second: Block) -> Pair:
    """Return two laws over the union of their cells, without cells that have probability 0 in both."""
    low = np.minimum(first.start, second.start)
    high = np.maximum(np.add(first.start, first.mass.shape), np.add(second.start, second.mass.shape))
    tables = []
    for block in (first, second):
        table = np.zeros(high - low)
        table[_cells(block.start, low, block.mass.shape)] = block.mass
        tables.append(table.ravel())
    some = (tables[0] > 0) | (tables[1] > 0)
    return Pair(tables[0][some], tables[1][some], first.error, second.error)


def hockey_stick(pairs: Sequence[Pair], eps: float, *, below: bool = False) -> Bounds:
    """Return bounds on ``sum max(P - e^eps Q, 0)`` for products of laws; equal factors of P and Q may be omitted.

    With `below`, only the lower bound holds; the upper end bounds the sum with losses rounded down. The sum is over the
    set A of outcomes with a computed ratio above ``e^eps`` less a few times its error. Hence no outcome outside of A
    has a positive term, and no term in A is below ``-5 share e^eps Q``. Relative errors of cells are weighted by ``P(A)
    + e^eps Q(A)``, the inequality of Cauchy and Schwarz bounds absolute errors, and all mass that P or Q omits is
    added. If there are too many factors to multiply out, their losses are added on a grid, rounded down for the lower
    end and up for the upper end.
    """
    parts = [pair for pair in pairs if not np.array_equal(pair.p, pair.q)]
    if not parts:
        return Bounds(0.0, 0.0)
    share = sum(max(part.of_p.share, part.of_q.share) for part in parts) + _SUMMED * UNIT
    fixed = sum(
        (part.of_p.norm + math.exp(eps) * part.of_q.norm) * math.sqrt(part.p.size)
        + part.of_p.beyond
        + math.exp(eps) * part.of_q.beyond
        for part in parts
    )
    tables = sorted(((part.p, part.q) for part in parts), key=lambda table: table[0].size)
    while len(tables) > 2 and tables[0][0].size * tables[1][0].size <= _MULTIPLIED:
        (p, q), (r, s) = tables[:2]
        tables = sorted(
            [(np.outer(p, r).ravel(), np.outer(q, s).ravel()), *tables[2:]], key=lambda x: x[0].size
        )
    if len(tables) <= 2:
        small = tables[0] if len(tables) == 2 else (np.ones(1), np.ones(1))
        share += small[0].size * LONG_UNIT
        divergence, mass = _of_two(tables[-1], small, eps, 3 * share)
        error = 1.01 * (4 * share * mass + fixed)
        return around(divergence, error)
    low, high, mass, transform_error = _on_grid(tables, eps)
    error = 1.01 * (4 * share * mass + fixed + transform_error)
    return Bounds(around(low, error).low, around(low if below else high, error).high)


Table = tuple[Floats, Floats]


def _of_two(large: Table, small: Table, eps: float, slack: float) -> tuple[float, float]:
    """Return ``P(A) - e^eps Q(A)`` and ``P(A) + e^eps Q(A)``, where P and Q are products of two factors."""
    (p, q), (r, s) = large, small
    likely, some = p > 0, r > 0
    p, q, r, s = p[likely], q[likely], r[some], s[some]
    with np.errstate(divide="ignore"):
        ratio = r / s
    order = np.argsort(-ratio, kind="stable")
    ratio = ratio[order]
    above, below = (
        np.append(0.0, np.asarray(np.cumsum(x[order], dtype=np.longdouble), float)) for x in (r, s)
    )
    most = (1 - slack) * math.exp(eps) * q / p
    reach = np.searchsorted(-ratio, -most, side="left")  # ratios above `most`
    gained, lost = p * above[reach], math.exp(eps) * q * below[reach]
    return float(np.sum(gained - lost)), float(np.sum(gained + lost))


def _on_grid(parts: Sequence[Table], eps: float) -> tuple[float, float, float, float]:
    """Return lower and upper bounds on the divergence, the mass of its terms, and the error of the transforms."""
    from scipy.signal import fftconvolve  # slow to import, and seldom needed

    # sure: log of the chance that no factor has shown an outcome that Q never has
    finite_parts = []
    sure = 0.0
    for p, q in parts:
        both = (p > 0) & (q > 0)
        finite_parts.append((p[both], np.log(p[both] / q[both])))
        never = float(p[(p > 0) & (q <= 0)].sum())
        sure += math.log1p(-never) if never < 1 else -math.inf
    width = sum(float(np.ptp(loss)) if loss.size else 0.0 for _, loss in finite_parts)
    step = max(_GRID, width / _MOST_GRID)
    mass, start, norm = np.ones(1), 0, 0.0
    for p, loss in finite_parts:
        if not p.size:
            return 1.0, 1.0, 1.0, 0.0
        cell = np.floor(loss / step + _NUDGE).astype(np.int64)  # multiples of the step stay where they are
        cells = np.asarray(np.bincount(cell - cell.min(), weights=p), float)
        norm += transformed(mass, cells)
        mass = np.maximum(fftconvolve(mass, cells), 0.0)
        start += int(cell.min())
    losses, sure = (start + np.arange(mass.size)) * step, -math.expm1(sure)
    # A loss is less than a cell above its own, and at most what was added before rounding below it.
    lowest, highest = losses - 2 * _NUDGE * len(finite_parts) * step, losses + len(finite_parts) * step
    low, high = (-np.expm1(np.minimum(eps - x, 0.0)) for x in (lowest, highest))
    total_mass = sure + 2 * float(mass[highest > eps].sum())
    return sure + float(mass @ low), sure + float(mass @ high), total_mass, norm * float(np.linalg.norm(high))


def pooled(block: Block, groups: int) -> tuple[list[NDArray[np.int64]], Floats]:
    """Return a coarse table of a law: the ends of up to `groups` equally likely ranges per count, and their mass."""
    table = block.mass
    ends = []
    for axis in range(block.mass.ndim):
        margin = block.mass.sum(axis=tuple(i for i in range(block.mass.ndim) if i != axis))
        level = np.cumsum(margin) / margin.sum()
        cuts = np.unique(np.searchsorted(level, np.arange(1, groups) / groups) + 1)
        cuts = cuts[cuts < margin.size]
        table = np.add.reduceat(table, np.append(0, cuts), axis=axis)
        ends.append(np.asarray(cuts + block.start[axis], np.int64))
    return ends, table
