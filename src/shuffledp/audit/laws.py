"""Finite laws of counts, and how far two of them are apart.

Nothing in here comes from the accounting: probabilities are those of scipy, sums are made by adding up outcomes, and a
hockey-stick divergence is the sum over outcomes. Laws may leave out outcomes of tiny probability; what is left out is
charged to the divergence, so that every number in here errs to the low side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfftn, rfftn
from scipy.signal import fftconvolve, lfilter
from scipy.stats import binom, nbinom, norm, poisson

from shuffledp.tasks import Floats

Place = tuple[int, ...]
"""Counts, one per axis of a block."""
Own = Mapping[Place, float]
"""Law of what one user adds to the counts of a block."""

TAIL = 1e-16
"""Mass that a law may leave out on either side."""
MOST_CELLS = 4_000_000
"""Outcomes of one law that are held at once."""
#: Outcomes of several factors up to which they are multiplied out; beyond it losses are added on a grid of this step.
_MULTIPLIED = 100_000
_GRID = 2e-4
_MOST_GRID = 2**18


class TooLarge(Exception):  # noqa: N818  (a reason, not an error)
    """A law has more outcomes than are enumerated."""


@dataclass(frozen=True, eq=False)
class Block:
    """Law of a vector of counts.

    Parameters
    ----------
    mass : ndarray
        Probabilities, one axis per count; may sum to a little less than 1.
    start : tuple of int
        The counts of the first cell.
    """

    mass: Floats
    start: Place

    def __post_init__(self) -> None:
        if self.mass.ndim != len(self.start):
            raise ValueError(f"A law of {self.mass.ndim} counts starts at {self.start}.")
        if self.mass.size > MOST_CELLS:
            raise TooLarge(f"a law with {self.mass.size} outcomes")


def point(axes: int) -> Block:
    """The law of counts that are all 0."""
    return Block(np.ones((1,) * axes), (0,) * axes)


def _cells(start: Place, low: Place | NDArray[Any], shape: Place) -> tuple[slice, ...]:
    """Where a law that starts at `start` lies in a table that starts at `low`."""
    return tuple(slice(int(a - b), int(a - b) + size) for a, b, size in zip(start, low, shape, strict=True))


def plus(block: Block, own: Own) -> Block:
    """Law of the counts after one more user has added to them."""
    places = np.array(list(own))
    low, high = places.min(axis=0), places.max(axis=0)
    shape = np.array(block.mass.shape) + high - low
    if math.prod(shape.tolist()) > MOST_CELLS:
        raise TooLarge(f"a law with {math.prod(shape.tolist())} outcomes")
    mass = np.zeros(shape)
    for place, chance in own.items():
        mass[_cells(place, low, block.mass.shape)] += chance * block.mass
    return Block(mass, tuple(int(a + b) for a, b in zip(block.start, low, strict=True)))


def added(block: Block, other: Block) -> Block:
    """Law of the sum of two independent vectors of counts."""
    shape = [a + b - 1 for a, b in zip(block.mass.shape, other.mass.shape, strict=True)]
    if math.prod(shape) > MOST_CELLS:
        raise TooLarge(f"a law with {math.prod(shape)} outcomes")
    if min(block.mass.size, other.mass.size) == 1:
        mass = block.mass * other.mass
    elif block.mass.ndim == 1 and min(block.mass.size, other.mass.size) <= 4096:
        mass = np.convolve(block.mass, other.mass)
    else:
        mass = np.maximum(fftconvolve(block.mass, other.mass), 0.0)
    return Block(mass, tuple(a + b for a, b in zip(block.start, other.start, strict=True)))


def independent(*blocks: Block) -> Block:
    """Law of several independent vectors of counts side by side."""
    size = math.prod(b.mass.size for b in blocks)
    if size > MOST_CELLS:
        raise TooLarge(f"a law with {size} outcomes")
    mass = reduce(np.multiply.outer, [b.mass for b in blocks])
    return Block(np.asarray(mass, float), tuple(s for b in blocks for s in b.start))


def moved(block: Block, step: Place) -> Block:
    """The law after a fixed vector was added to the counts."""
    return Block(block.mass, tuple(a + b for a, b in zip(block.start, step, strict=True)))


def mixed(parts: Sequence[tuple[float, Block]]) -> Block:
    """Law of a vector that follows one of several laws, chosen with the given probabilities."""
    low = np.min([b.start for _, b in parts], axis=0)
    high = np.max([np.add(b.start, b.mass.shape) for _, b in parts], axis=0)
    if math.prod((high - low).tolist()) > MOST_CELLS:
        raise TooLarge(f"a law with {math.prod((high - low).tolist())} outcomes")
    mass = np.zeros(high - low)
    for weight, block in parts:
        mass[_cells(block.start, low, block.mass.shape)] += weight * block.mass
    return Block(mass, tuple(int(x) for x in low))


# -- laws of noise -----------------------------------------------------------------------------------------------


def binomial_counts(trials: int, rate: float) -> Block:
    """Law of a binomial count."""
    low, high = (
        (0, trials) if trials < 60 else (int(binom.ppf(TAIL, trials, rate)), _upper(binom, trials, rate))
    )
    x = np.arange(low, high + 1)
    return Block(np.asarray(binom.pmf(x, trials, rate), float), (low,))


def poisson_counts(mean: float) -> Block:
    """Law of a Poisson count."""
    if mean == 0:
        return point(1)
    low, high = int(poisson.ppf(TAIL, mean)), _upper(poisson, mean)
    return Block(np.asarray(poisson.pmf(np.arange(low, high + 1), mean), float), (low,))


def negative_binomial_counts(shape: float, stop: float) -> Block:
    """Law of a negative binomial count: ``C(j + shape - 1, j) stop^shape (1 - stop)^j``."""
    if stop >= 1 or shape == 0:
        return point(1)
    high = _upper(nbinom, shape, stop)
    if high > MOST_CELLS:
        raise TooLarge(f"a law with {high} outcomes")
    return Block(np.asarray(nbinom.pmf(np.arange(high + 1), shape, stop), float), (0,))


class Jumps(NamedTuple):
    """A Poisson number of jumps of random size, see `jump_chances`."""

    rate: float
    center: float

    def part(self, part: float) -> Jumps:
        """So large a part of the noise."""
        return Jumps(self.rate * part, self.center)


Summand = tuple[float, float] | Jumps
"""Shape and probability of stopping of a negative binomial count, or jumps."""


def jump_chances(center: float) -> Floats:
    """Law of the size 1, 2, .. of a jump: around the center, and a constant part below it."""
    sizes = np.arange(1, max(3, int(2.125 * center) + 2))
    weights = norm.pdf(sizes, center, 0.225 * center) / norm.pdf(0, 0, 0.225 * center)
    weights += np.where(sizes <= center, 0.136, 0.0)
    return np.asarray(weights / np.sum(weights), float)


def compound_counts(rates: Mapping[Place, float], low: Place, shape: Place) -> Block:
    """Law of the sum of independent Poisson numbers of fixed vectors, within a box beyond which there is little.

    Parameters
    ----------
    rates : mapping
        Expected number of every vector.
    low, shape : tuple of int
        The box: its first cell and its sides. What lies beyond wraps around into it.
    """
    if math.prod(shape) > MOST_CELLS:
        raise TooLarge(f"a law with {math.prod(shape)} outcomes")
    table = np.zeros(shape)
    for vector, rate in rates.items():
        table[tuple(v % side for v, side in zip(vector, shape, strict=True))] += rate
    law = irfftn(np.exp(rfftn(table) - table.sum()), s=shape)
    law = np.roll(law, [-x for x in low], range(len(shape)))
    return Block(np.where(law > TAIL, law, 0.0), low)


def jump_counts(jumps: Jumps) -> Block:
    """Law of the sum of the jumps."""
    chances = jump_chances(jumps.center).tolist()
    rates: dict[Place, float] = {(j,): jumps.rate * chance for j, chance in enumerate(chances, 1)}
    # The sum is below that of as many jumps of the largest size.
    block = compound_counts(rates, (0,), (len(chances) * int(poisson.isf(TAIL, jumps.rate) + 1),))
    last = int(np.flatnonzero(block.mass)[-1])
    return Block(block.mass[: last + 1], (0,))


def negative_binomials(summands: Sequence[Summand]) -> Block:
    """Law of a sum of independent negative binomial counts, given by shape and probability of stopping, or of jumps."""
    laws = (
        jump_counts(one) if isinstance(one, Jumps) else negative_binomial_counts(*one) for one in summands
    )
    return reduce(added, laws, point(1))


def shared(summand: Summand, part: float) -> Summand:
    """So large a part of a noise."""
    if isinstance(summand, Jumps):
        return summand.part(part)
    return (summand[0] * part, summand[1])


def _upper(law: Any, *parameters: float) -> int:
    return int(law.isf(TAIL, *parameters))


def multinomial_counts(total: int, chances: Sequence[float]) -> Block:
    """Law of the counts of some of the kinds of `total` things, by conditioning from one kind to the next.

    Parameters
    ----------
    total : int
    chances : sequence of float
        Of the kinds that are counted; the rest of 1 belongs to the kinds that are not.
    """
    block = binomial_counts(total, chances[0])
    left = 1 - chances[0]
    spans = [np.arange(block.mass.size) + block.start[0]]
    mass, start = block.mass, block.start
    for chance in chances[1:]:
        alone = binomial_counts(total, chance)
        if mass.size * alone.mass.size > MOST_CELLS:
            raise TooLarge(f"a law with {mass.size * alone.mass.size} outcomes")
        grid = np.meshgrid(*spans, indexing="ij")
        rest = np.maximum(total - sum(grid), 0)[..., None]
        x = np.arange(alone.mass.size) + alone.start[0]
        mass = mass[..., None] * binom.pmf(x, rest, min(chance / left, 1.0))
        spans.append(x)
        start, left = (*start, *alone.start), max(left - chance, 0.0)
    return Block(np.asarray(mass, float), start)


def pair_part(ratio: float, common: Sequence[Summand], part: float) -> Block:
    """Law of two counts with a part of the noise of `PairNoise`: all its summands have so much of their shape.

    Parameters
    ----------
    ratio : float
        a of the geometric laws, which become negative binomial ones of shape `part`.
    common : sequence of Summand
        What both counts have.
    part : float
        Above 0.
    """
    alone = negative_binomial_counts(part, 1 - ratio)
    both = negative_binomials([shared(one, part) for one in common]).mass
    width = alone.mass.size
    if (width + both.size) ** 2 > MOST_CELLS or both.size * width**2 > 100 * MOST_CELLS:
        raise TooLarge(f"{width} and {both.size} noise messages of a kind")
    table = independent(alone, alone).mass
    total = np.zeros((width + both.size - 1,) * 2)
    for c, chance in enumerate(both.tolist()):
        total[c : c + width, c : c + width] += chance * table
    return Block(total, (0, 0))


@dataclass(frozen=True, eq=False)
class PairNoise:
    """Noise of two counts: a geometric one each, and the same number of both, a sum of negative binomial counts.

    With ``a`` the ratio of the geometric laws, (i, j) has the probability ``a^|i - j| h(min(i, j))``, where
    ``h(t) = (1 - a)^2 sum_k common(k) a^(2 (t - k))``. So of a difference ``i - j`` beyond all that inputs can do,
    nothing matters but its sign, and laws are over that difference, cut off, and the smaller count.

    Parameters
    ----------
    ratio : float
        a, in (0, 1).
    common : tuple of Summand
        Of the common part.
    band : int
        Where the difference is cut off; at least all that inputs add to it.
    """

    ratio: float
    common: tuple[Summand, ...]
    band: int

    def smaller(self) -> Floats:
        """Return h, as far as it matters."""
        common = negative_binomials(self.common).mass
        beyond = negative_binomial_counts(1.0, 1 - self.ratio**2).mass.size
        if common.size + beyond > MOST_CELLS // (2 * self.band + 1):
            raise TooLarge(f"{common.size + beyond} noise messages of a kind")
        padded = np.pad(common, (0, beyond))
        return np.asarray((1 - self.ratio) ** 2 * lfilter([1.0], [1.0, -(self.ratio**2)], padded), float)

    def moved(self, step: Place) -> Block:
        """Law of the difference, cut off, and of the smaller count, when inputs added `step` to the counts."""
        h, (u, v), a = self.smaller(), step, self.ratio
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
        return Block(table, (-self.band, start))

    def tallied(self, first: int, second: int) -> Place:
        """The counts as laws of this noise have them."""
        return (max(-self.band, min(self.band, first - second)), min(first, second))


# -- distance ----------------------------------------------------------------------------------------------------

Pair = tuple[Floats, Floats]
"""Probabilities of the same outcomes under two inputs, (w,) each."""


def outcomes(first: Block, second: Block) -> Pair:
    """Both laws over the cells of either; cells that neither reaches are dropped."""
    low = np.minimum(first.start, second.start)
    high = np.maximum(np.add(first.start, first.mass.shape), np.add(second.start, second.mass.shape))
    tables = []
    for block in (first, second):
        table = np.zeros(high - low)
        table[_cells(block.start, low, block.mass.shape)] = block.mass
        tables.append(table.ravel())
    some = (tables[0] > 0) | (tables[1] > 0)
    return tables[0][some], tables[1][some]


def hockey_stick(pairs: Sequence[Pair], eps: float) -> float:
    """Lower bound on ``sum max(P - e^eps Q, 0)`` for products of laws; exact up to rounding for two factors.

    Parameters
    ----------
    pairs : sequence of Pair
        Factors of P and of Q; those that agree may be left out.
    eps : float
        Nats.

    Notes
    -----
    An outcome that the law Q leaves out would otherwise count in full, so ``e^eps`` times all that Q leaves out is
    subtracted. More factors than can be multiplied out are added up on a grid of losses that are rounded down.
    """
    parts = [p for p in pairs if not np.array_equal(*p)]
    if not parts:
        return 0.0
    missing = max(0.0, 1 - math.prod(float(q.sum()) for _, q in parts))
    parts.sort(key=lambda pair: pair[0].size)
    while len(parts) > 2 and parts[0][0].size * parts[1][0].size <= _MULTIPLIED:
        (p, q), (r, s) = parts[:2]
        parts = sorted(
            [(np.outer(p, r).ravel(), np.outer(q, s).ravel()), *parts[2:]], key=lambda x: x[0].size
        )
    if len(parts) <= 2:
        one = (np.ones(1), np.ones(1))
        found = _of_two(parts[-1], parts[0] if len(parts) == 2 else one, eps)
    else:
        found = _on_grid(parts, eps)
    return max(0.0, found - math.exp(eps) * missing)


def _of_two(large: Pair, small: Pair, eps: float) -> float:
    """The sum itself: for every outcome of one factor those of the other that count are found by their ratio."""
    (p, q), (r, s) = large, small
    p, q = p[p > 0], q[p > 0]
    r, s = r[r > 0], s[r > 0]
    with np.errstate(divide="ignore"):
        ratio = r / s
    order = np.argsort(-ratio, kind="stable")
    ratio = ratio[order]
    above = np.append(0.0, np.cumsum(r[order]))
    below = np.append(0.0, np.cumsum(s[order]))
    most = math.exp(eps) * q / p
    reach = np.searchsorted(-ratio, -most, side="left")  # ratios above `most`
    return float(np.sum(p * above[reach] - math.exp(eps) * q * below[reach]))


def _on_grid(parts: Sequence[Pair], eps: float) -> float:
    kept, sure = [], 1.0  # sure: no factor has shown an outcome that Q never has
    for p, q in parts:
        both = (p > 0) & (q > 0)
        kept.append((p[both], np.log(p[both] / q[both])))
        sure *= 1 - float(p[(p > 0) & (q <= 0)].sum())
    width = sum(float(np.ptp(loss)) if loss.size else 0.0 for _, loss in kept)
    step = max(_GRID, width / _MOST_GRID)
    mass, start = np.ones(1), 0
    for p, loss in kept:
        if not p.size:
            return 1.0
        cell = np.floor(loss / step).astype(np.int64)
        one = np.bincount(cell - cell.min(), weights=p)
        mass = np.maximum(fftconvolve(mass, one), 0.0)
        start += int(cell.min())
    losses = (start + np.arange(mass.size)) * step
    gain = -np.expm1(np.minimum(eps - losses, 0.0))
    return 1 - sure + float(mass @ gain)


def pooled(block: Block, groups: int) -> tuple[list[NDArray[np.int64]], Floats]:
    """A coarse table of a law: the inner ends of up to `groups` ranges of every count, and the table's mass.

    Parameters
    ----------
    block : Block
    groups : int
        Ranges per count, about equally likely.
    """
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
