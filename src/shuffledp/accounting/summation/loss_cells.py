"""Losses of one noise on a grid: the parts that the exact accountant of correlated noise convolves.

:mod:`shuffledp.accounting.summation.joint_noise` defines the ways to put a loss between two grid points, and the
errors in a certified bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import betainc, gammainccinv

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.jump_noise import jump_law, last_noise
from shuffledp.numerics.memoize import remember

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shuffledp.accounting.summation.noise_design import NoiseDesign

    Floats = NDArray[np.float64]

#: Side of a bound on delta; an estimate has none.
Bound = Literal["upper", "lower", "estimate"]
#: Unit of rounding of a float.
UNIT = 2.0**-53
#: Mass that a window may leave out: of a certified bound, and of an estimate.
_OMITTED = {"upper": 1e-17, "lower": 1e-17, "estimate": 1e-13}
#: Probabilities below this are left out at the lower end of a window; denormal numbers are slow.
_TINY = 1e-290
#: Largest window of a noise.
_MOST_WINDOW = 2**24


@dataclass(frozen=True)
class LossGrid:
    """Grid points ``j step`` (nats) for ``-size / 2 <= j < size / 2``, stored at place j modulo `size`, a power of two.

    `stride` is the number of grid steps in ``eps_star / D``.
    """

    step: float
    size: int
    stride: int

    @property
    def first(self) -> int:
        """Index of the lowest grid point."""
        return -self.size // 2

    @property
    def last(self) -> int:
        """Index of the highest grid point."""
        return self.size // 2 - 1


@dataclass(frozen=True, eq=False)
class LossCells:
    """Finite losses on consecutive grid points from `start`, and the mass of infinite loss.

    `clipped` is the mass of finite losses above the grid. It is a part of `infinite`, or is moved down to the grid in a
    lower bound.
    """

    start: int
    mass: Floats
    infinite: float
    clipped: float = 0.0


@dataclass(frozen=True, eq=False)
class Noise:
    """Law of one atom's noise: the masses that are not negligible, and log probabilities up to a constant.

    `omitted` bounds the remaining mass, and `error` the absolute error of `log_law`.
    """

    log_law: Floats
    mass: Floats
    first: int
    omitted: float
    error: float


def add_cells(row: Floats, start: int, mass: Floats) -> None:
    """Add at most ``row.size`` cells to a row that stores grid point j at place j modulo the size."""
    split = -start
    if 0 < split < mass.size:
        row[start:] += mass[:split]
        row[: mass.size - split] += mass[split:]
        return
    begin = start % row.size
    row[begin : begin + mass.size] += mass


def clipped_cells(start: int, mass: Floats, bound: Bound, grid: LossGrid) -> LossCells:
    """Return the cells within the grid. Losses above the grid become infinite, or are rounded down
    for a lower bound.
    """
    stop = start + mass.size
    if start >= grid.first and stop - 1 <= grid.last:
        return LossCells(start, mass, 0.0)
    low, high = max(grid.first - start, 0), max(stop - 1 - grid.last, 0)
    below, above = float(np.sum(mass[:low])), float(np.sum(mass[max(mass.size - high, 0) :]))
    inner = mass[low : mass.size - high].copy()
    if inner.size == 0:
        inner = np.zeros(1)
        start, low = (grid.first, 0) if below > 0 else (grid.last, 0)
    if bound == "lower":  # a loss of minus infinity counts nothing
        inner[-1] += above
        return LossCells(start + low, inner, 0.0, above)
    inner[0] += below
    return LossCells(start + low, inner, above, above)


def atom_noise(design: NoiseDesign, index: int, most_shift: int, bound: Bound, *, central: bool) -> Noise:
    """Return the law of the noise on one atom, plus the geometric part of the central noise if `central`."""
    laws = [
        (r, p) for i, r, p in zip(design.indices, design.shapes, design.ratios, strict=True) if i == index
    ]
    if design.law == "jumps":
        return _jump_noise(design, index, most_shift, bound, central=central)
    shape, ratio = laws[0]
    tail = _OMITTED[bound]
    others = []  # geometric factors; a sum of noises is as private as any of its summands at least
    for r, p in laws[1:]:
        whole = math.ceil(r) if bound == "lower" else math.floor(r)
        others += [p] * whole
    if central:
        others.append(math.exp(-min(2 * design.eps_star / design.max_value, 700.0)))  # of no noise beyond it
    last = _upper_end(shape, ratio, tail)
    beyond = tail
    for p in sorted(set(others)):
        count = others.count(p)
        last += _upper_end(float(count), p, tail)
        beyond += tail
    if last + most_shift > _MOST_WINDOW:
        raise Infeasible(f"The noise of atom {index} has a window of more than {_MOST_WINDOW} values.")
    y = np.arange(1.0, last + most_shift + 1)
    steps = np.log1p((shape - 1) / y)
    growth = np.concatenate(([0.0], np.cumsum(steps)))
    log_ratio = math.log(ratio)
    log_law = growth + log_ratio * np.arange(growth.size)
    start = shape * math.log1p(-ratio)
    largest = float(np.max(np.abs(growth)) + np.max(np.abs(log_law + start)))
    error = 4 * UNIT * growth.size * largest if bound != "estimate" else 0.0
    with np.errstate(under="ignore"):
        law = np.exp(log_law + start)
    law[law < _TINY] = 0.0
    if not others:
        return _windowed(log_law, law, last, beyond, error)
    with np.errstate(under="ignore", divide="ignore"):
        for p in others:
            law = _with_geometric(law, p)
            error += 8 * UNIT * law.size.bit_length() if bound != "estimate" else 0.0
        law[law < _TINY] = 0.0
        return _windowed(np.log(law), law, last, beyond, error)


@remember(1)
def central_noise(design: NoiseDesign, most_shift: int, bound: Bound) -> Noise:
    """Return the law of the noise on atom 1 with the geometric part. It is the widest law of a design and does not
    depend on eps.
    """
    return atom_noise(design, 1, most_shift, bound, central=True)


def _jump_noise(design: NoiseDesign, index: int, most_shift: int, bound: Bound, *, central: bool) -> Noise:
    """Return the law of compound Poisson noise on one atom."""
    place = design.indices.index(index)
    rate, center, tail = design.shapes[place], design.scales[place], _OMITTED[bound]
    geometric = math.exp(-2 * design.eps_star / design.max_value)
    last, beyond = last_noise(rate, center, tail), tail
    central = central and geometric > 0  # it underflows where eps_star / D is large
    if central:
        last += _upper_end(1.0, geometric, tail)
        beyond += tail
    if last + most_shift > _MOST_WINDOW:
        raise Infeasible(f"The noise of atom {index} has a window of more than {_MOST_WINDOW} values.")
    law, error = jump_law(rate, center, last + most_shift + 1)
    if central:
        law = _with_geometric(law, geometric)
        error += 8 * UNIT * law.size.bit_length()
    law[law < _TINY] = 0.0
    with np.errstate(divide="ignore"):
        log_law = np.log(law)
    error += 2 * UNIT * float(np.max(np.abs(log_law[law > 0])))
    return _windowed(log_law, law, last, beyond, 2 * error if bound != "estimate" else 0.0)


def _with_geometric(law: Floats, ratio: float) -> Floats:
    """Return the law of a sum with a geometric variable, ``Pr[j] = (1 - ratio) ratio^j``.

    Every step doubles the length of the sums of powers: positive terms only, and few roundings.
    """
    total, length = law * (1 - ratio), 1
    product = np.empty_like(total)  # one for all steps: fresh memory takes longer than the products
    while length < law.size:
        power = ratio**length
        if power < _TINY:
            break
        total[length:] += np.multiply(total[:-length], power, out=product[length:])
        length *= 2
    return total


def _windowed(log_law: Floats, law: Floats, last: int, beyond: float, error: float) -> Noise:
    mass = law[: last + 1]
    first = int(np.argmax(mass > 1e-40))
    return Noise(log_law, mass, first, beyond + first * 1e-40, error)


def _upper_end(shape: float, ratio: float, tail: float) -> int:
    """Return a value that a negative binomial variable exceeds with probability at most `tail`."""
    scale = 1 / (1 / ratio - 1)
    last = math.ceil(scale * float(gammainccinv(shape, tail))) + 1
    while float(betainc(last + 1, shape, ratio)) > tail:
        last = math.ceil(1.05 * last) + 1
    return last


def cells_of(noise: Noise, shift: int, bound: Bound, grid: LossGrid) -> LossCells:
    """Return the losses of a noise against its shifted law on the grid.

    The hockey-stick divergence of the cells is never below the exact divergence for an upper bound, and never above the
    exact divergence for a lower bound.
    """
    omitted = noise.omitted if bound == "upper" else 0.0
    if shift == 0:
        return LossCells(0, np.ones(1), 0.0)
    stop = noise.mass.size
    first = max(noise.first, shift)
    infinite = float(np.sum(noise.mass[:first])) if shift > 0 else 0.0
    first = min(first, stop)
    mass = noise.mass[first:stop]
    with np.errstate(invalid="ignore"):
        loss = noise.log_law[first:stop] - noise.log_law[first - shift : stop - shift]
        loss /= (
            grid.step
        )  # in place from here on: the arrays are long, and fresh memory takes longer than a pass
    low, high = _ends(loss)
    if not math.isfinite(low + high):  # the other law underflows; not counted from below
        finite = np.isfinite(loss)
        infinite += 0.0 if bound == "lower" else float(np.sum(mass[~finite]))
        mass, loss = mass[finite], loss[finite]
        low, high = _ends(loss)
    clipped = 0.0
    if high > grid.last:
        outside = loss > grid.last
        clipped = float(np.sum(mass[outside]))
        if bound == "lower":
            np.minimum(loss, grid.last, out=loss)
        else:
            infinite += clipped
            mass, loss = mass[~outside], loss[~outside]
        low, high = _ends(loss)
    if low < grid.first:
        if bound == "lower":
            inside = loss >= grid.first
            mass, loss = mass[inside], loss[inside]
        else:
            np.maximum(loss, grid.first, out=loss)
        low, high = _ends(loss)
    if mass.size == 0:
        return LossCells(0, np.zeros(1), infinite + omitted, clipped)
    start, size = math.floor(low), math.floor(high) - math.floor(low) + 2
    floor = np.floor(loss)
    place = floor.astype(np.int64)
    place -= start
    if bound == "lower":
        return LossCells(start, np.bincount(place, mass, size)[:-1].astype(np.float64), infinite, clipped)
    part = np.subtract(loss, floor, out=loss)
    if bound == "estimate":
        cells = np.zeros(size + 2)
        for j, weights in enumerate(_cubic(part)):
            weights *= mass
            cells[j : j + size - 1] += np.bincount(place, weights, size - 1)
        return _trimmed(start - 1, cells, infinite, clipped, bound, grid)
    part *= -grid.step
    raised = np.expm1(part, out=part)
    raised /= math.expm1(-grid.step)
    raised *= mass
    cells = np.zeros(size)
    cells += np.bincount(place, mass - raised, size)
    cells[1:] += np.bincount(place, raised, size)[:-1]
    return _trimmed(start, cells, infinite + omitted, clipped, bound, grid)


def _ends(loss: Floats) -> tuple[float, float]:
    """Return the least and the largest loss; 0 and 0 for an empty array."""
    return (float(np.min(loss)), float(np.max(loss))) if loss.size else (0.0, 0.0)


def _cubic(part: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the shares of a loss in (0, 1) at the grid points -1, 0, 1, 2 that preserve the means of its powers up to
    the third.
    """
    below, above, beyond = part + 1, part - 1, part - 2
    outer = part * above
    outer /= 6
    inner = below * beyond
    inner /= 2
    above *= inner
    inner *= part
    below *= outer
    outer *= beyond
    return np.negative(outer, out=outer), above, np.negative(inner, out=inner), below


def _trimmed(
    start: int, cells: Floats, infinite: float, clipped: float, bound: Bound, grid: LossGrid
) -> LossCells:
    if cells[-1] == 0:
        cells = cells[:-1]
    clipped_part = clipped_cells(start, cells, bound, grid)
    return LossCells(
        clipped_part.start,
        clipped_part.mass,
        infinite + clipped_part.infinite,
        clipped + clipped_part.clipped,
    )
