"""Losses of ``(Sigma, u, v)`` against its shifted law, for the shifts of all pairs of inputs.

The laws are defined in :mod:`shuffledp.designs.coarse_law`, and
:mod:`shuffledp.designs.coarse_noise` uses the losses and bounds the omitted mass.

A cell with the probabilities p and q has the loss ``log p / q``. A loss between two grid points is split between them
so that the totals of both laws are preserved. Then neither ``E (p - e^eps q)^+`` nor ``E (q - e^eps p)^+`` can
decrease, for any eps. So the same cells serve a shift and its opposite, for which a mass p at the loss l becomes
``p e^-l`` at -l; the remaining mass of q has infinite loss. Only shifts that increase Sigma are evaluated.

For large D blocks of cells are evaluated (:mod:`shuffledp.designs.coarse_blocks`).

Derived for this project, from no paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.loss_cells import UNIT, LossGrid, add_cells
from shuffledp.designs.coarse_blocks import LARGEST_LOG, block_cells, partition
from shuffledp.designs.coarse_design import CoarseDesign, input_moves
from shuffledp.designs.coarse_law import CoarseLaw, Slice, coarse_law
from shuffledp.numerics.argument_ranges import check_nonnegative

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Pair = tuple[int, int]
Shift = tuple[int, int, int]


@dataclass(frozen=True)
class Precision:
    """Precision of the losses. Bounds are valid at any precision.

    `steps` is the number of grid steps within ``eps - eps_star``. `tail` is the probability that each part may omit,
    and `threshold` the mass up to which cells are omitted. Both are multiples of the design's delta. `blocks` is the
    approximate change of ratios within a block of cells, in grid steps; 0 means single cells.
    """

    steps: int
    tail: float
    threshold: float
    blocks: float = 0.0


#: Precision for certificates, with an excess of about 1e-3 of delta, and for searches, with some percent.
FINE = Precision(400, 1e-6, 1e-11)
COARSE = Precision(60, 1e-4, 1e-9)
#: Largest grid of losses, and the range in nats beyond eps that it covers at least.
_MOST_CELLS = 2**20
BEYOND = 3.0
#: Estimates omit values of Sigma with a total probability of about e to the power of minus this number.
_LIKELY = 9.0
#: Cells per pass, which fit into a processor's cache.
_BLOCK = 2**16


def loss_grid(design: CoarseDesign, eps: float, precision: Precision, *, largest: float = 0.0) -> LossGrid:
    """Return a grid that resolves ``eps - eps_star`` and exceeds the relevant losses and the eps `largest`.

    Of the design only eps_star matters. Raises Infeasible if the grid would not fit into memory.
    """
    eps = check_nonnegative("eps", eps)
    remaining_eps = max(eps - design.eps_star, 0.01 * max(eps, design.eps_star))
    step = remaining_eps / precision.steps
    size = 1 << math.ceil(math.log2(2 * (max(eps, design.eps_star, largest) + BEYOND) / step))
    if size > _MOST_CELLS:
        raise Infeasible(
            f"eps - eps_star = {remaining_eps:.4g} needs a grid of more than {_MOST_CELLS} losses."
        )
    return LossGrid(step, size, 1)


@dataclass(frozen=True, eq=False)
class JointLosses:
    """Losses of ``(Sigma, u, v)`` against its shifted law on a grid. They give an upper bound on delta, except for
    omitted mass.

    `shifts` are shifts of ``(Sigma, u, t)``. `finite`, (shifts, size), stores grid point j at place j modulo the size;
    `infinite` is the mass of losses beyond the grid. `missing` bounds the omitted mass, `error` the relative error of
    all probabilities, `log_error` the error of the losses in nats.
    """

    grid: LossGrid
    shifts: tuple[Shift, ...]
    finite: Floats
    infinite: Floats
    missing: float
    error: float
    log_error: float


def pair_shift(pair: Pair, max_value: int) -> Shift:
    """Return the change of ``(Sigma, u, t)``, ``t = v - u``, when the second input of a pair replaces the first."""
    moves = input_moves(max_value)  # hubs do not matter here
    s, u, v = (b - a for a, b in zip(*(moves[x][0] for x in pair), strict=True))
    return s, u, v - u


@dataclass(frozen=True, eq=False)
class LossPart:
    """Losses of some slices: masses of cells from the lowest grid point to one above the highest, and the total mass
    `kept`.

    `most` is the largest number of cells in a slice, `largest` the largest ``-log`` of their masses.
    """

    cells: Floats
    kept: float
    most: int
    largest: float


def joint_losses(
    design: CoarseDesign, pairs: Sequence[Pair], precision: Precision, grid: LossGrid, every: int = 1
) -> JointLosses:
    """Return the losses of ``(Sigma, u, v)`` for all pairs on a grid, as an upper bound on the hockey-stick divergence.

    Only the atoms 1 and D of the design matter. With `every` above 1 only every `every`-th cell is evaluated, and only
    for the likely Sigma: the result is then an estimate. Slices are computed one after the other, with D + 1 of them in
    memory. Raises Infeasible if a slice does not fit into memory.
    """
    law, shifts = law_of(design, precision), shifts_of(pairs, design.max_value)
    if every == 1 and precision.blocks:
        return summed_parts(law, shifts, grid, [block_part(law, shifts, grid, 0, law.slices, precision)])
    likely = law.reach if every == 1 else min(math.ceil(_LIKELY / -math.log(design.central_ratio)), law.reach)
    part = loss_part(law, shifts, grid, law.reach - likely, law.reach + likely + 1, every)
    return summed_parts(law, shifts, grid, [part], every)


def law_of(design: CoarseDesign, precision: Precision) -> CoarseLaw:
    """Return the joint law at the given precision, never above the true law except for rounding."""
    return coarse_law(
        design, tail=precision.tail * design.delta, threshold=precision.threshold * design.delta
    )


def shifts_of(pairs: Sequence[Pair], max_value: int) -> tuple[Shift, ...]:
    """Return the sorted distinct shifts of ``(Sigma, u, t)`` by all pairs, each in the order that increases Sigma."""
    return tuple(sorted({pair_shift((min(pair), max(pair)), max_value) for pair in pairs}))


def loss_part(
    law: CoarseLaw, shifts: Sequence[Shift], grid: LossGrid, begin: int, stop: int, every: int = 1
) -> LossPart:
    """Return the losses of the slices ``begin <= number < stop``; slice 0 has the lowest Sigma.

    With `every` above 1 only every `every`-th cell is evaluated. A shift that does not increase Sigma raises
    ValueError.
    """
    if min(s for s, _, _ in shifts) <= 0:
        raise ValueError("shifts must raise Sigma: those that lower it follow from the opposite ones.")
    moments = np.zeros((len(shifts), 3, grid.size + 1))
    total_mass, most, largest = 0.0, 1, 0.0
    drops = sorted({s for s, _, _ in shifts})
    slices: dict[int, Slice] = {}
    for number in range(begin, stop):
        slices = {k: v for k, v in slices.items() if k >= number - drops[-1]}
        for k in (number, *(number - s for s in drops)):
            if k not in slices:
                slices[k] = law.slice(k)
        slice_of_number = slices[number]
        if not slice_of_number.place.size:
            continue
        total_mass += float(np.sum(slice_of_number.mass))
        most = max(most, slice_of_number.place.size)
        largest = max(largest, -float(np.min(slice_of_number.log_mass)))
        for row, (s, u, t) in enumerate(shifts):
            _add(moments[row], slice_of_number, slices[number - s].logs, u * law.width + t, grid, every)
    return LossPart(_split(moments, grid), total_mass, most, largest)


def block_part(
    law: CoarseLaw, shifts: Sequence[Shift], grid: LossGrid, begin: int, stop: int, precision: Precision
) -> LossPart:
    """Return the losses of some slices as :func:`loss_part`, by blocks of cells if ``precision.blocks > 0``.

    The hockey-stick divergence of blocks is never below the divergence of their cells.
    """
    if not precision.blocks:
        return loss_part(law, shifts, grid, begin, stop)
    blocks = partition(law, grid, precision.blocks)
    return LossPart(*block_cells(law, blocks, shifts, grid, begin, stop), LARGEST_LOG)


def summed_parts(
    law: CoarseLaw, shifts: Sequence[Shift], grid: LossGrid, parts: Sequence[LossPart], every: int = 1
) -> JointLosses:
    """Return the losses for `shifts` and their opposites from parts that together contain every slice once.

    The result gives an upper bound on the hockey-stick divergence, or an estimate if the parts contain some cells only.
    """
    cells = every * np.sum([part.cells for part in parts], axis=0)
    mass = math.fsum(part.kept for part in parts)
    # Rounding of sums of n positive numbers, in slices, over slices, and over parts.
    most = max(part.most for part in parts)
    summing = UNIT * (most + law.slices + len(parts) + 20)
    log_error = 8 * UNIT * (max(part.largest for part in parts) + 1)
    # Loss l of mass p in one direction is loss -l of mass p e^-l in the other; the lowest has no place on the grid.
    with np.errstate(over="ignore", invalid="ignore"):  # huge losses without mass
        back = np.exp(-grid.step * np.arange(grid.first + 1, grid.last + 1)) * cells[:, 1:-1]
    back[cells[:, 1:-1] == 0] = 0.0
    rest = np.maximum(mass - np.sum(back, axis=1), 0.0) + 2 * (summing + log_error + 8 * UNIT)
    finite = np.zeros((2 * len(shifts), grid.size))
    for row in range(len(shifts)):
        add_cells(finite[2 * row], grid.first, cells[row, :-1])
        add_cells(finite[2 * row + 1], -grid.last, back[row, ::-1])
    error = law.error + summing
    missing = max(1 - mass * (1 - error), 0.0)
    if every > 1:  # cells that are not evaluated are not missing
        missing, rest = 0.0, np.zeros_like(rest)
    infinite = np.stack((cells[:, -1], rest), axis=1).ravel()
    both = tuple(move for s, u, t in shifts for move in ((s, u, t), (-s, -u, -t)))
    return JointLosses(grid, both, finite, infinite, missing, error, log_error)


def _add(moments: Floats, cells: Slice, other: Floats, back: int, grid: LossGrid, every: int) -> None:
    """Add the cells of one slice for one shift to the grid points. For every grid point, the masses and the first two
    moments of the part of a step above the point are added.

    Losses below the lowest grid point move up to it. Losses above the highest grid point go to the place after it.
    """
    per_step, last = 1 / grid.step, float(grid.size)
    for begin in range(every // 2, cells.place.size, _BLOCK * every):
        block = slice(begin, begin + _BLOCK * every, every)
        mass = cells.mass[block]
        loss = cells.log_mass[block] - np.take(other, cells.place[block] - back, mode="clip")
        loss *= per_step
        loss -= grid.first
        np.minimum(loss, last, out=loss)
        np.maximum(loss, 0.0, out=loss)
        floor = np.floor(loss)
        loss -= floor  # the part of a step
        where = floor.astype(np.int64)
        low = int(where.min())
        where -= low
        weighted = mass * loss
        for moment, weights in enumerate((mass, weighted, None)):
            if weights is None:
                weighted *= loss
                weights = weighted
            total = np.bincount(where, weights)
            moments[moment, low : low + total.size] += total


def _split(moments: Floats, grid: LossGrid) -> Floats:
    """Return cells at grid points, where a loss between two grid points is split so that both totals are preserved.

    With p the part of a step, the higher point's share is ``(1 - e^(-h p)) / (1 - e^-h)``. For steps h up to 1/4 it is
    replaced by its upper bound ``p + p (1 - p) h (1 + h) / 2``, which is linear in moments of p and too large by a term
    of order h^2.
    """
    bend = grid.step * (1 + grid.step) / 2
    total = moments[:, 0]
    raised = np.clip((1 + bend) * moments[:, 1] - bend * moments[:, 2], 0.0, total)
    raised[:, -1] = 0.0  # infinite losses stay
    cells = total - raised
    cells[:, 1:] += raised[:, :-1]
    return np.asarray(cells)
