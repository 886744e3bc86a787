r"""Losses of ``(Sigma, u, v)`` against itself moved, for all moves that pairs of inputs make, slice by slice of Sigma.

The laws are defined in :mod:`shuffledp.accounting.summation.coarse_law`. For the use of the losses, and for the bounds
on omitted mass, see :mod:`shuffledp.accounting.summation.coarse_noise`.

A cell with the probabilities p and q has the loss ``log p / q``. Between two grid points it is split into two, so that
the totals of both laws stay: then neither ``E (p - e^eps q)^+`` nor ``E (q - e^eps p)^+`` can fall, for any eps. So
the same cells serve a move and the opposite one, for which a mass p at the loss l becomes ``p e^-l`` at -l; what is
then left of the total of q has the loss infinity. Only moves that raise Sigma are evaluated.

For large D blocks of cells are evaluated (:mod:`shuffledp.accounting.summation.coarse_blocks`).

Derived for this project, from no paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.coarse_blocks import LARGEST_LOG, block_cells, partition
from shuffledp.accounting.summation.coarse_design import CoarseDesign, input_moves
from shuffledp.accounting.summation.coarse_law import CoarseLaw, Slice, coarse_law
from shuffledp.accounting.summation.loss_cells import UNIT, LossGrid, add_cells
from shuffledp.numerics.argument_ranges import check_nonnegative

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Pair = tuple[int, int]
Shift = tuple[int, int, int]


@dataclass(frozen=True)
class Precision:
    """Precision of the losses: grid steps and omitted mass.

    Parameters
    ----------
    steps : int
        Grid steps within ``eps - eps_star``.
    tail : float
        Probability that each of the parts may omit, over the delta of the design.
    threshold : float
        Cells of the joint law of at most this probability, over the delta of the design, are omitted.
    blocks : float
        Approximate change of ratios within a block of cells, in grid steps, see
        :mod:`shuffledp.accounting.summation.coarse_blocks`; 0 for single cells.

    Notes
    -----
    Derived for this project. Bounds remain bounds at any precision.
    """

    steps: int
    tail: float
    threshold: float
    blocks: float = 0.0


#: For certificates: the excess is about 1e-3 of delta. And for searches: some percent.
FINE = Precision(400, 1e-6, 1e-11)
COARSE = Precision(60, 1e-4, 1e-9)
#: Largest grid of losses, and the range in nats beyond eps that it covers at least.
_MOST_CELLS = 2**20
BEYOND = 3.0
#: For estimates all Sigma are likely but some with a probability of about e to minus this.
_LIKELY = 9.0
#: Cells per pass, which fit into a processor's cache.
_BLOCK = 2**16


def loss_grid(design: CoarseDesign, eps: float, precision: Precision, *, largest: float = 0.0) -> LossGrid:
    """Return a grid that resolves ``eps - eps_star`` and reaches beyond the relevant losses.

    Parameters
    ----------
    design : CoarseDesign
        Only eps_star matters.
    eps : float
        Nats, >= 0.
    precision : Precision
    largest : float
        An eps that the grid must reach beyond too.

    Returns
    -------
    LossGrid
        Exact.

    Raises
    ------
    Infeasible
        If the grid would not fit into memory.

    Notes
    -----
    Derived for this project.
    """
    eps = check_nonnegative("eps", eps)
    left = max(eps - design.eps_star, 0.01 * max(eps, design.eps_star))
    step = left / precision.steps
    size = 1 << math.ceil(math.log2(2 * (max(eps, design.eps_star, largest) + BEYOND) / step))
    if size > _MOST_CELLS:
        raise Infeasible(f"eps - eps_star = {left:.4g} needs a grid of more than {_MOST_CELLS} losses.")
    return LossGrid(step, size, 1)


@dataclass(frozen=True, eq=False)
class JointLosses:
    """Losses of ``(Sigma, u, v)`` against itself moved, on a grid.

    Parameters
    ----------
    grid : LossGrid
    shifts : tuple of (int, int, int)
        Of ``(Sigma, u, t)``.
    finite : (shifts, size) ndarray
        Place j modulo the size holds grid point j.
    infinite : (shifts,) ndarray
        Mass of losses beyond the grid.
    missing : float
        Upper bound on the omitted mass.
    error : float
        Bound on the relative error of all probabilities.
    log_error : float
        Bound on the error of the losses, nats.

    Notes
    -----
    Derived for this project. The hockey stick of the cells is never below the exact one, apart from omitted mass.
    """

    grid: LossGrid
    shifts: tuple[Shift, ...]
    finite: Floats
    infinite: Floats
    missing: float
    error: float
    log_error: float


def pair_shift(pair: Pair, max_value: int) -> Shift:
    """Return the move of ``(Sigma, u, t)``, ``t = v - u``, by a pair.

    Returns
    -------
    (int, int, int)
        Exact.

    Notes
    -----
    Derived for this project.
    """
    moves = input_moves(max_value)  # hubs do not matter here
    s, u, v = (b - a for a, b in zip(*(moves[x][0] for x in pair), strict=True))
    return s, u, v - u


@dataclass(frozen=True, eq=False)
class LossPart:
    """Contribution of some slices to the losses.

    `cells` are from the lowest grid point to one above the highest, per shift. `kept` is their mass, `most` the largest
    number of cells of a slice, `largest` the largest ``-log`` of a cell.

    Notes
    -----
    Derived for this project.
    """

    cells: Floats
    kept: float
    most: int
    largest: float


def joint_losses(
    design: CoarseDesign, pairs: Sequence[Pair], precision: Precision, grid: LossGrid, every: int = 1
) -> JointLosses:
    """Return the losses of ``(Sigma, u, v)`` for all pairs, on a grid.

    Parameters
    ----------
    design : CoarseDesign
        Only the atoms 1 and D matter.
    pairs : sequence of (int, int)
    precision : Precision
    grid : LossGrid
    every : int
        Above 1 only every `every`-th cell is evaluated, and only for the likely Sigma.

    Returns
    -------
    JointLosses
        An upper bound on the hockey stick; an estimate if only some cells are evaluated.

    Raises
    ------
    Infeasible
        If a slice does not fit into memory.

    Notes
    -----
    Derived for this project. Slices of one Sigma are made one after the other, and D + 1 of them kept.
    """
    law, shifts = law_of(design, precision), shifts_of(pairs, design.max_value)
    if every == 1 and precision.blocks:
        return summed_parts(law, shifts, grid, [block_part(law, shifts, grid, 0, law.slices, precision)])
    likely = law.reach if every == 1 else min(math.ceil(_LIKELY / -math.log(design.central_ratio)), law.reach)
    part = loss_part(law, shifts, grid, law.reach - likely, law.reach + likely + 1, every)
    return summed_parts(law, shifts, grid, [part], every)


def law_of(design: CoarseDesign, precision: Precision) -> CoarseLaw:
    """Return the joint law at some precision.

    Returns
    -------
    CoarseLaw
        Never above the true law, but for rounding.

    Notes
    -----
    Derived for this project.
    """
    return coarse_law(
        design, tail=precision.tail * design.delta, threshold=precision.threshold * design.delta
    )


def shifts_of(pairs: Sequence[Pair], max_value: int) -> tuple[Shift, ...]:
    """Return the different moves of ``(Sigma, u, t)`` of some pairs or of their reverses, those that raise Sigma.

    Returns
    -------
    tuple of (int, int, int)
        Exact, in order.

    Notes
    -----
    Derived for this project.
    """
    return tuple(sorted({pair_shift((min(pair), max(pair)), max_value) for pair in pairs}))


def loss_part(
    law: CoarseLaw, shifts: Sequence[Shift], grid: LossGrid, begin: int, stop: int, every: int = 1
) -> LossPart:
    """Return the contribution of the slices ``begin <= number < stop`` to the losses.

    Parameters
    ----------
    law : CoarseLaw
    shifts : sequence of (int, int, int)
        Of ``(Sigma, u, t)``, all with Sigma raised.
    grid : LossGrid
    begin, stop : int
        Within ``0 .. law.slices``: number 0 has the lowest Sigma.
    every : int
        Only every `every`-th cell is evaluated.

    Returns
    -------
    LossPart
        Parts add up, see :func:`summed_parts`.

    Raises
    ------
    ValueError
        If a shift does not raise Sigma.

    Notes
    -----
    Derived for this project.
    """
    if min(s for s, _, _ in shifts) <= 0:
        raise ValueError("shifts must raise Sigma: those that lower it follow from the opposite ones.")
    moments = np.zeros((len(shifts), 3, grid.size + 1))
    kept, most, largest = 0.0, 1, 0.0
    drops = sorted({s for s, _, _ in shifts})
    held: dict[int, Slice] = {}
    for number in range(begin, stop):
        held = {k: v for k, v in held.items() if k >= number - drops[-1]}
        for k in (number, *(number - s for s in drops)):
            if k not in held:
                held[k] = law.slice(k)
        here = held[number]
        if not here.place.size:
            continue
        kept += float(np.sum(here.mass))
        most = max(most, here.place.size)
        largest = max(largest, -float(np.min(here.log_mass)))
        for row, (s, u, t) in enumerate(shifts):
            _add(moments[row], here, held[number - s].logs, u * law.width + t, grid, every)
    return LossPart(_split(moments, grid), kept, most, largest)


def block_part(
    law: CoarseLaw, shifts: Sequence[Shift], grid: LossGrid, begin: int, stop: int, precision: Precision
) -> LossPart:
    """Return the result of :func:`loss_part`, by blocks of cells if `precision.blocks` is positive.

    Parameters
    ----------
    law : CoarseLaw
    shifts : sequence of (int, int, int)
        Of ``(Sigma, u, t)``, all with Sigma raised.
    grid : LossGrid
    begin, stop : int
        Within ``0 .. law.slices``.
    precision : Precision
        Only its `blocks` matter.

    Returns
    -------
    LossPart
        Its hockey stick is never below the hockey stick of the cells.

    Notes
    -----
    Derived for this project.
    """
    if not precision.blocks:
        return loss_part(law, shifts, grid, begin, stop)
    blocks = partition(law, grid, precision.blocks)
    return LossPart(*block_cells(law, blocks, shifts, grid, begin, stop), LARGEST_LOG)


def summed_parts(
    law: CoarseLaw, shifts: Sequence[Shift], grid: LossGrid, parts: Sequence[LossPart], every: int = 1
) -> JointLosses:
    """Return the losses from parts that have all slices between them, each once, or some cells of the likely ones.

    Returns
    -------
    JointLosses
        For the shifts and their opposites. An upper bound on the hockey stick, or an estimate from some cells only.

    Notes
    -----
    Derived for this project.
    """
    cells = every * np.sum([part.cells for part in parts], axis=0)
    kept = math.fsum(part.kept for part in parts)
    # Rounding of sums of n positive numbers, in slices, over slices, and over parts.
    most = max(part.most for part in parts)
    summing = UNIT * (most + law.slices + len(parts) + 20)
    log_error = 8 * UNIT * (max(part.largest for part in parts) + 1)
    # Loss l of mass p in one direction is loss -l of mass p e^-l in the other; the lowest has no place on the grid.
    back = np.exp(-grid.step * np.arange(grid.first + 1, grid.last + 1)) * cells[:, 1:-1]
    rest = np.maximum(kept - np.sum(back, axis=1), 0.0) + 2 * (summing + log_error + 8 * UNIT)
    finite = np.zeros((2 * len(shifts), grid.size))
    for row in range(len(shifts)):
        add_cells(finite[2 * row], grid.first, cells[row, :-1])
        add_cells(finite[2 * row + 1], -grid.last, back[row, ::-1])
    error = law.error + summing
    missing = max(1 - kept * (1 - error), 0.0)
    if every > 1:  # what is not looked at is not missing
        missing, rest = 0.0, np.zeros_like(rest)
    infinite = np.stack((cells[:, -1], rest), axis=1).ravel()
    both = tuple(move for s, u, t in shifts for move in ((s, u, t), (-s, -u, -t)))
    return JointLosses(grid, both, finite, infinite, missing, error, log_error)


def _add(moments: Floats, here: Slice, other: Floats, back: int, grid: LossGrid, every: int) -> None:
    """Add the cells of one slice for one shift: mass, mass times part of a step, and times its square, by grid point.

    Losses below the lowest grid point move up to it; losses above the highest go to the place after it.
    """
    per_step, last = 1 / grid.step, float(grid.size)
    for begin in range(every // 2, here.place.size, _BLOCK * every):
        block = slice(begin, begin + _BLOCK * every, every)
        mass = here.mass[block]
        loss = here.log_mass[block] - np.take(other, here.place[block] - back, mode="clip")
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
    """Return cells at grid points: a loss between two is split so that the totals of both laws are kept.

    The share of the higher one is ``(1 - e^(-h p)) / (1 - e^-h)``, p the part of a step. It is never above
    ``p + p (1 - p) h (1 + h) / 2``, for steps h up to 1/4, and differs in the order of h^2: linear in moments of p.
    """
    bend = grid.step * (1 + grid.step) / 2
    total = moments[:, 0]
    raised = np.clip((1 + bend) * moments[:, 1] - bend * moments[:, 2], 0.0, total)
    raised[:, -1] = 0.0  # infinite losses stay
    cells = total - raised
    cells[:, 1:] += raised[:, :-1]
    return np.asarray(cells)
