"""Losses under the joint law of coarse noise for large D, by blocks of cells.

The losses are defined in :mod:`shuffledp.designs.coarse_losses`, for cells ``(u, t)`` of one Sigma. Where
the law is smooth, neighboring cells have nearly equal losses. A *block* combines the cells with u in one interval and t
in another. Let p and q be the masses of a cell before and after a move. A block has the totals P and Q, and its losses
``log p / q`` lie within bounds ``l <= r``. Replace the block by two cells with the losses l and r and the same totals.
Their hockey-stick divergence is at least the divergence of the block, at any eps and in either direction: ``(p - e^eps
q)^+`` is convex in ``(p, q)``, and each cell of the block is a mixture of the two.

**Bounds without evaluation of every cell.** For any function g of the cell, ``log p / q = (log p - g) - (log q - g)``.
The extreme values of each term in a block are computed once per Sigma and move of ``(u, t)``, not once per pair of
Sigmas. If g is the logarithm of the law at Sigma = 0, both terms are nearly constant.

The bounds hold for any partition; only their tightness depends on it. Derived for this project, from no paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.summation.loss_cells import UNIT, LossGrid
from shuffledp.designs.coarse_law import CoarseLaw

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shift = tuple[int, int, int]
Offset = tuple[int, int]

#: Cells below this count as empty: far below any threshold, and far above where floats lose digits.
_LEAST = 1e-150
#: Logarithm of an empty cell, in grid steps: beyond all grids, with differences that are numbers.
_EMPTY = -1e12
#: Largest multiple of D, of either sign, among the Sigmas at which blocks begin.
_LOOKED_AT = 6
#: Largest width of a block in cells, each way.
_MOST_WIDE = 16
#: Number of powers of two, from 1 on. Losses of a block are put on two points that are a power of two grid steps apart.
_POWERS = 8
_WIDEST = 2 ** (_POWERS - 1)
#: Largest logarithm for which errors of losses are rounding errors: four times the logarithm of a cell, for differences
#: of differences.
LARGEST_LOG = -4 * float(np.log(_LEAST))


@dataclass(frozen=True, eq=False)
class Partition:
    """Partition of the cells into blocks: the starts of the blocks in u and in t, and the values of g (see the module's
    description).
    """

    rows: Ints
    columns: Ints
    reference: Floats

    @property
    def sizes(self) -> Floats:
        """Number of cells of every block, in row order."""
        rows, columns = self.reference.shape
        high, wide = np.diff(self.rows, append=rows), np.diff(self.columns, append=columns)
        return np.asarray(np.outer(high, wide).ravel(), np.float64)


@dataclass(frozen=True, eq=False)
class Bounds:
    """Blocks of one Sigma, moved by one offset: masses, and bounds on ``log p - g`` in grid steps."""

    mass: Floats
    low: Floats
    high: Floats


def partition(law: CoarseLaw, grid: LossGrid, change: float) -> Partition:
    """Return blocks within which the ratio of neighboring masses changes little, at several Sigmas around 0.

    `change` is the largest change of the log ratio along u and along t, in grid steps, > 0.
    """
    numbers = range(law.reach % law.size, law.slices, law.size)
    laws = [law.table(k) for k in numbers if abs(k - law.reach) <= _LOOKED_AT * law.size]
    rows, columns = (_begins([table.sum(axis=axis) for table in laws], change * grid.step) for axis in (1, 0))
    return Partition(rows, columns, np.log(np.maximum(law.table(law.reach), _LEAST)))


def _begins(laws: Sequence[Floats], change: float) -> Ints:
    """Return the starts of intervals within which ``log P(i) / P(i - 1)`` changes by at most `change`."""
    table = np.asarray(laws)
    logs = np.log(np.maximum(table, _LEAST))
    ratios = np.diff(logs, axis=1)
    alone = np.any(np.minimum(table[:, 1:], table[:, :-1]) < _LEAST, axis=0)
    alone[0] = True  # what is before the first value is not known
    begins, low, high = [0], ratios[:, 0], ratios[:, 0]
    for at, now in enumerate(ratios.T, start=1):
        low, high = np.minimum(low, now), np.maximum(high, now)
        if alone[at - 1] or at - begins[-1] >= _MOST_WIDE or np.max(high - low) > change:
            begins.append(at)
            low = high = now  # the step into the block counts too
    return np.array(begins, np.int64)


def block_cells(
    law: CoarseLaw, blocks: Partition, shifts: Sequence[Shift], grid: LossGrid, begin: int, stop: int
) -> tuple[Floats, float, int]:
    """Return the losses of the slices ``begin <= number < stop``, their mass, and the largest number of summands.

    All `shifts` of ``(Sigma, u, t)`` increase Sigma, and slice 0 has the lowest Sigma. The cells, (shifts, size + 1),
    reach from the lowest grid point to one above the highest. Their hockey-stick divergence is never below the true
    divergence. The number of summands is the largest number of blocks in a slice plus the largest number of cells in a
    block.
    """
    offsets = sorted({(0, 0), *((u, t) for _, u, t in shifts)})
    cells = np.zeros((len(shifts), grid.size + 1))
    sums = np.zeros((len(shifts), 2, _POWERS * grid.size))
    sizes = blocks.sizes
    drops = sorted({s for s, _, _ in shifts})
    bounds_of: dict[int, dict[Offset, Bounds]] = {}
    total_mass, most = 0.0, 1
    for number in range(begin, stop):
        bounds_of = {k: v for k, v in bounds_of.items() if k >= number - drops[-1]}
        for k in (number, *(number - s for s in drops)):
            if k not in bounds_of:
                bounds_of[k] = _bounds(law, blocks, k, offsets, grid.step)
        bounds = bounds_of[number][0, 0]
        place = np.flatnonzero(bounds.mass > law.threshold * sizes)
        if not place.size:
            continue
        mass, low, high = bounds.mass[place], bounds.low[place], bounds.high[place]
        total_mass += float(np.sum(mass))
        most = max(most, place.size)
        for row, (s, u, t) in enumerate(shifts):
            other = bounds_of[number - s][u, t]
            start, end = low - other.high.take(place), high - other.low.take(place)
            _add(cells[row], sums[row], mass, other.mass.take(place), start, end, grid)
    most += int(np.max(sizes))
    error = 2 * UNIT * (most + stop - begin + 20)
    for row in range(len(shifts)):
        _split(cells[row], sums[row], error, grid)
    return cells, total_mass, most


def _bounds(
    law: CoarseLaw, blocks: Partition, number: int, offsets: Sequence[Offset], step: float
) -> dict[Offset, Bounds]:
    """Return the blocks of one Sigma for all offsets (du, dt). The cell (u, t) has the mass of the law at ``(u - du, t
    - dt)``.
    """
    rows, columns = blocks.reference.shape
    if not 0 <= number < law.slices:
        shape = blocks.rows.size * blocks.columns.size
        empty = Bounds(np.zeros(shape), np.full(shape, _EMPTY), np.full(shape, _EMPTY))
        return dict.fromkeys(offsets, empty)
    # A border of empty cells: what lies outside of the table has no mass.
    reach = max(max(abs(u), abs(t)) for u, t in offsets)
    wide = np.zeros((rows + 2 * reach, columns + 2 * reach))
    inside = wide[reach : rows + reach, reach : columns + reach]
    inside[:] = law.table(number)
    inside[inside < _LEAST] = 0.0
    logs = np.full_like(wide, _EMPTY * step)
    np.log(wide, out=logs, where=wide > 0)
    bounds = {}
    for u, t in offsets:
        part = (slice(reach - u, reach - u + rows), slice(reach - t, reach - t + columns))
        above = logs[part] - blocks.reference
        bounds[u, t] = Bounds(
            _by_block(np.add, wide[part], blocks),
            _by_block(np.minimum, above, blocks) / step,
            _by_block(np.maximum, above, blocks) / step,
        )
    return bounds


def _by_block(operation: np.ufunc, table: Floats, blocks: Partition) -> Floats:
    """Return the sum or the extreme value of `table` over every block, in row order."""
    by_rows = operation.reduceat(table, blocks.rows, axis=0)
    return np.asarray(operation.reduceat(by_rows, blocks.columns, axis=1).ravel())


def _add(
    cells: Floats, sums: Floats, mass: Floats, other: Floats, start: Floats, end: Floats, grid: LossGrid
) -> None:
    """Add the blocks of one slice for one shift, at the two grid points that enclose the losses of each block.

    `start` and `end` are bounds on the losses, in grid steps, and are overwritten. Losses above the grid go to the
    place after it. Blocks with losses below the grid, or in a wide range, have all their mass at the higher grid point.
    """
    np.floor(start, out=start)
    start -= grid.first
    np.ceil(end, out=end)
    end -= grid.first
    width = end - start
    width -= 0.5  # no rounding of the next power
    plain = (start >= 0) & (end < grid.size - _WIDEST) & (width < _WIDEST)
    if not np.all(plain):
        rest = ~plain
        place = np.clip(end[rest], 0, grid.size).astype(np.int64)
        cells += np.bincount(place, mass[rest], minlength=cells.size)
        mass, other, start, width = mass[plain], other[plain], start[plain], width[plain]
    powers = np.maximum(np.frexp(width)[1], 0)  # the least power of two that is enough
    where = start.astype(np.int64) + grid.size * powers.astype(np.int64)
    for which, weights in enumerate((mass, other)):
        total = np.bincount(where, weights)
        sums[which, : total.size] += total


def _split(cells: Floats, sums: Floats, error: float, grid: LossGrid) -> None:
    """Put the mass of every block on two grid points so that the totals of both laws are preserved.

    Let P and Q be the masses at a loss between ``j h`` and ``(j + w) h``. The higher point gets
    ``(P - e^(j h) Q) / (1 - e^(-w h))``, rounded up by the relative error `error` of the masses. The excess is then
    missing in Q and counts as infinite loss there.
    """
    points = np.exp(grid.step * np.arange(grid.first, grid.last + 1))
    for power in range(_POWERS):
        columns = slice(power * grid.size, (power + 1) * grid.size)
        before, after = sums[0, columns], sums[1, columns]
        width = 2**power
        part = -np.expm1(-grid.step * width)
        raised = np.clip((before - points * after + 2 * error * before) / part, 0.0, before)
        cells[: grid.size] += before - raised
        cells[width : grid.size] += raised[: grid.size - width]
