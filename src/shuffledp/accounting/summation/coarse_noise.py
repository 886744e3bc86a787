r"""Exact accounting of summation by coarse noise: all ordered pairs of inputs, everything certified.

By :mod:`shuffledp.accounting.summation.coarse_design`, what the analyzer sees is ``(Sigma, u, v)`` and the independent
``y_j``, and replacing the input x by y moves it by a known vector. So with P the law of ``(Sigma, u, v)`` and d the
difference of the moves, the loss of x against y is ``log P(w) / P(w - d)`` plus the losses of the y_j against
themselves shifted, all independent, and

    delta = E (1 - e^(eps - loss))^+.

Many pairs share a d: it is ``(y - x, 0, 0)``, ``(y - x, 0, -1)`` or with u moved, about 5 D different ones. For each
the losses are put on a grid as in :mod:`shuffledp.accounting.summation.joint_noise`, ``upper``: split so that the
totals of both laws are kept, which can only raise the answer. They are then convolved with those of the ``y_j``.

**What is counted.** Let X be the cells of :mod:`shuffledp.accounting.summation.coarse_law`, ``X <= (1 + r) P``. Then
``[P - e^eps P']^+ <= [P - X]^+ + [X - e^eps X']^+ + e^eps [X' - P']^+`` cell by cell, so that beside the delta of X
there are (i) the mass that X leaves out, ``1 - sum X``, once; (ii) ``(1 + e^eps) r`` for the rounding of all
probabilities, an a-priori bound as there are only sums and products of positive numbers; (iii) the rounding of
logarithms, as a change of eps; (iv) losses beyond the grid, as infinite ones; (v) the rounding of the transforms that
convolve, by their l2 norms, and losses that wrap around there, by Chernoff. The sum of (i) to (iii) and (v) is the
*margin* of a certificate.

Derived for this project; nothing of it is taken from a paper.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.coarse_design import CoarseDesign, input_move
from shuffledp.accounting.summation.coarse_law import CoarseLaw, Slice, coarse_law
from shuffledp.accounting.summation.jump_noise import jump_law, last_noise
from shuffledp.accounting.summation.loss_cells import UNIT, Cells, LossGrid, Noise, add_cells, cells_of
from shuffledp.accounting.summation.loss_sums import summed_losses
from shuffledp.numerics.checks import check_nonnegative
from shuffledp.numerics.remember import remember

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Pair = tuple[int, int]
Shift = tuple[int, int, int]


@dataclass(frozen=True)
class Precision:
    """How finely, and how much is left out.

    Parameters
    ----------
    steps : int
        Grid steps within ``eps - eps_star``.
    tail : float
        Probability that each of the parts may leave out, over the delta of the design.
    threshold : float
        Cells of the joint law of at most this probability, over the delta of the design, are left out.

    Notes
    -----
    Derived for this project. Bounds remain bounds at any precision.
    """

    steps: int
    tail: float
    threshold: float


#: For certificates: the excess is about 1e-3 of delta. And for searches: some percent.
FINE = Precision(400, 1e-6, 1e-11)
COARSE = Precision(60, 1e-4, 1e-9)
#: Largest grid of losses, and the range in nats beyond eps that it covers at least.
_MOST_CELLS = 2**20
_BEYOND = 3.0
#: Mass that the window of a noise of an independent part may leave out.
_OMITTED = 1e-15


@dataclass(frozen=True)
class CoarseCertificate:
    """What was found about a design.

    Parameters
    ----------
    delta : float
        Upper bound for all pairs that were looked at.
    margin : float
        How much of it, for the worst pair, is counted for what was left out and rounded.
    pairs : int
        Ordered pairs of inputs that were looked at.
    worst : (int, int)
        The pair with the largest bound.

    Notes
    -----
    Derived for this project.
    """

    delta: float
    margin: float
    pairs: int
    worst: Pair


def all_pairs(max_value: int) -> tuple[Pair, ...]:
    """Return all ordered pairs of different inputs of ``{0, .., D}``.

    Parameters
    ----------
    max_value : int
        D, >= 1.

    Returns
    -------
    tuple of (int, int)
        D (D + 1) pairs (x, y), exact.

    Notes
    -----
    Derived for this project.
    """
    inputs = range(max_value + 1)
    return tuple((x, y) for x in inputs for y in inputs if x != y)


def coarse_noise_delta(design: CoarseDesign, eps: float) -> float:
    """Return an upper bound on the delta of a coarse design, over all ordered pairs of inputs.

    Parameters
    ----------
    design : CoarseDesign
        Replacement neighbors: one input of ``{0, .., D}`` becomes another.
    eps : float
        Nats, >= 0.

    Returns
    -------
    float
        In [0, 1], a certified upper bound, see the module's description. Seconds of processor time up to D = 3, minutes
        at 10.

    Raises
    ------
    Infeasible
        If the calculation does not fit into memory.

    Notes
    -----
    Derived for this project.
    """
    return certify(design, eps).delta


def coarse_noise_deltas(design: CoarseDesign, eps: Floats, precision: Precision = COARSE) -> Floats:
    """Return upper bounds on delta at several eps, from one joint law.

    Parameters
    ----------
    design : CoarseDesign
    eps : ndarray
        Nats, >= 0.
    precision : Precision
        Any precision gives certified upper bounds.

    Returns
    -------
    ndarray
        In [0, 1], in the shape of `eps`; does not grow with eps. From twice the eps of the design plus 3 nats on, the
        bound there stands for all larger ones.

    Raises
    ------
    Infeasible
        As :func:`coarse_noise_delta`.

    Notes
    -----
    Derived for this project.
    """
    wanted = np.minimum(np.asarray(eps, np.float64), 2 * design.eps + _BEYOND)
    pairs = all_pairs(design.max_value)
    grid = loss_grid(design, design.eps, precision, largest=float(np.max(wanted, initial=0.0)))
    joint = _remembered_losses(design, precision, grid)
    values = np.array([float(np.max(bounds(design, joint, float(e), pairs)[0])) for e in wanted.flat])
    order = np.argsort(wanted, axis=None, kind="stable")
    values[order] = np.minimum.accumulate(values[order])
    return values.reshape(wanted.shape)


@remember(4)
def _remembered_losses(design: CoarseDesign, precision: Precision, grid: LossGrid) -> JointLosses:
    return joint_losses(design, all_pairs(design.max_value), precision, grid)


def certify(
    design: CoarseDesign, eps: float, pairs: Sequence[Pair] | None = None, precision: Precision = FINE
) -> CoarseCertificate:
    """Return what :func:`coarse_noise_delta` is based on.

    Parameters
    ----------
    design : CoarseDesign
    eps : float
        Nats, >= 0.
    pairs : sequence of (int, int), optional
        Default: :func:`all_pairs`.
    precision : Precision
        Any precision gives a certified upper bound.

    Returns
    -------
    CoarseCertificate

    Raises
    ------
    Infeasible
        As :func:`coarse_noise_delta`.

    Notes
    -----
    Derived for this project.
    """
    chosen = all_pairs(design.max_value) if pairs is None else tuple(pairs)
    grid = loss_grid(design, eps, precision)
    return certificate_of(design, joint_losses(design, chosen, precision, grid), eps, chosen)


def certificate_of(
    design: CoarseDesign, joint: JointLosses, eps: float, pairs: Sequence[Pair]
) -> CoarseCertificate:
    """Return what the losses of the joint part say about a design.

    Parameters
    ----------
    design : CoarseDesign
    joint : JointLosses
        For these pairs.
    eps : float
        Nats, >= 0.
    pairs : sequence of (int, int)

    Returns
    -------
    CoarseCertificate
        An upper bound for these pairs.

    Notes
    -----
    Derived for this project.
    """
    chosen = tuple(pairs)
    deltas, margins = bounds(design, joint, eps, chosen)
    at = int(np.argmax(deltas))
    return CoarseCertificate(float(deltas[at]), float(margins[at]), len(chosen), chosen[at])


def loss_grid(design: CoarseDesign, eps: float, precision: Precision, *, largest: float = 0.0) -> LossGrid:
    """Return a grid that resolves ``eps - eps_star`` and reaches beyond the losses that matter.

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
    size = 1 << math.ceil(math.log2(2 * (max(eps, design.eps_star, largest) + _BEYOND) / step))
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
        Upper bound on the mass that is left out.
    error : float
        Bound on the relative error of all probabilities.
    log_error : float
        Bound on the error of the losses, nats.

    Notes
    -----
    Derived for this project. The hockey stick of the cells is never below the exact one but for what is left out.
    """

    grid: LossGrid
    shifts: tuple[Shift, ...]
    finite: Floats
    infinite: Floats
    missing: float
    error: float
    log_error: float


def pair_shift(pair: Pair, max_value: int) -> Shift:
    """Return by how much a pair moves ``(Sigma, u, t)``, ``t = v - u``.

    Returns
    -------
    (int, int, int)
        Exact.

    Notes
    -----
    Derived for this project.
    """
    before, after = (input_move(x, max_value)[0] for x in pair)
    s, u, v = (b - a for a, b in zip(before, after, strict=True))
    return s, u, v - u


def pair_draws(pair: Pair, max_value: int) -> dict[int, int]:
    """Return by how much a pair moves the ``y_j``, where it does.

    Returns
    -------
    dict of int to int
        Exact.

    Notes
    -----
    Derived for this project.
    """
    before, after = (input_move(x, max_value)[1] for x in pair)
    moved = {j: after.get(j, 0) - before.get(j, 0) for j in sorted(before.keys() | after.keys())}
    return {j: shift for j, shift in moved.items() if shift}


@dataclass(frozen=True, eq=False)
class LossPart:
    """What some slices add to the losses: `cells` from the lowest grid point to one above the highest, per shift.

    `kept` is their mass, `most` the largest number of cells of a slice, `largest` the largest ``-log`` of a cell.

    Notes
    -----
    Derived for this project.
    """

    cells: Floats
    kept: float
    most: int
    largest: float


def joint_losses(
    design: CoarseDesign, pairs: Sequence[Pair], precision: Precision, grid: LossGrid
) -> JointLosses:
    """Return the losses of ``(Sigma, u, v)`` for all pairs, on a grid.

    Parameters
    ----------
    design : CoarseDesign
        Only the atoms 1 and D matter.
    pairs : sequence of (int, int)
    precision : Precision
    grid : LossGrid

    Returns
    -------
    JointLosses
        An upper bound on the hockey stick.

    Raises
    ------
    Infeasible
        If a slice does not fit into memory.

    Notes
    -----
    Derived for this project. Slices of one Sigma are made one after the other, and 2 D + 1 of them kept.
    """
    law, shifts = law_of(design, precision), shifts_of(pairs, design.max_value)
    return summed_parts(law, shifts, grid, [loss_part(law, shifts, grid, 0, law.slices)])


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
    """Return the different moves of ``(Sigma, u, t)`` of some pairs, in order.

    Returns
    -------
    tuple of (int, int, int)
        Exact.

    Notes
    -----
    Derived for this project.
    """
    return tuple(sorted({pair_shift(pair, max_value) for pair in pairs}))


def loss_part(law: CoarseLaw, shifts: Sequence[Shift], grid: LossGrid, begin: int, stop: int) -> LossPart:
    """Return what the slices ``begin <= number < stop`` add to the losses.

    Parameters
    ----------
    law : CoarseLaw
    shifts : sequence of (int, int, int)
        Of ``(Sigma, u, t)``.
    grid : LossGrid
    begin, stop : int
        Within ``0 .. law.slices``: number 0 has the lowest Sigma.

    Returns
    -------
    LossPart
        Parts add up, see :func:`summed_parts`.

    Notes
    -----
    Derived for this project.
    """
    window = max(abs(s) for s, _, _ in shifts)
    cells = np.zeros((len(shifts), grid.size + 1))
    kept, most, largest = 0.0, 1, 0.0
    held: deque[Slice] = deque(
        (law.slice(number) for number in range(begin - window, begin + window)), 2 * window + 1
    )
    for number in range(begin, stop):
        held.append(law.slice(number + window))
        here = held[window]
        if not here.place.size:
            continue
        kept += float(np.sum(here.mass))
        most = max(most, here.place.size)
        largest = max(largest, -float(np.min(here.log_mass)))
        for row, (s, u, t) in enumerate(shifts):
            other = held[window - s].logs
            _add(cells[row], here, other[here.place - (u * law.width + t)], grid)
    return LossPart(cells, kept, most, largest)


def summed_parts(
    law: CoarseLaw, shifts: Sequence[Shift], grid: LossGrid, parts: Sequence[LossPart]
) -> JointLosses:
    """Return the losses from parts that have all slices between them, each once.

    Returns
    -------
    JointLosses
        An upper bound on the hockey stick.

    Notes
    -----
    Derived for this project.
    """
    cells = np.sum([part.cells for part in parts], axis=0)
    finite = np.zeros((len(shifts), grid.size))
    for row in range(len(shifts)):
        add_cells(finite[row], grid.first, cells[row, :-1])
    # Rounding of sums of so many positive numbers, in slices, over them, and over parts.
    most = max(part.most for part in parts)
    error = law.error + UNIT * (most + law.slices + len(parts) + 20)
    missing = max(1 - math.fsum(part.kept for part in parts) * (1 - error), 0.0)
    log_error = 8 * UNIT * (max(part.largest for part in parts) + 1)
    return JointLosses(grid, tuple(shifts), finite, cells[:, -1].copy(), missing, error, log_error)


def _add(cells: Floats, here: Slice, other: Floats, grid: LossGrid) -> None:
    """Add the losses of one slice to the cells of one shift.

    A loss between two grid points is split so that the total of both laws is kept. The share of the higher one is
    ``(1 - e^(-h p)) / (1 - e^-h)``, p the part of a step; ``p + p (1 - p) h (1 + h) / 2`` is never below it, for steps
    h up to 1/4, and differs in the order of h^2. What is above the highest point goes to the one above it.
    """
    loss = here.log_mass - other
    loss *= 1 / grid.step
    np.minimum(loss, grid.last + 1.0, out=loss)
    np.maximum(loss, float(grid.first), out=loss)
    place = np.floor(loss)
    loss -= place  # the part of a step
    raised = 1 - loss
    raised *= grid.step * (1 + grid.step) / 2
    raised += 1
    raised *= loss
    raised *= here.mass
    where = place.astype(np.int64)
    where -= grid.first
    low = int(where.min())
    where -= low
    total = np.bincount(where, here.mass)
    moved = np.bincount(where, raised)
    total -= moved
    cells[low : low + total.size] += total
    cells[low + 1 : low + 1 + moved.size] += moved[: cells.size - low - 1]


class _PairLosses:
    """Losses of all pairs: the joint part by the difference of its moves, and those of the independent parts."""

    def __init__(self, design: CoarseDesign, joint: JointLosses, pairs: Sequence[Pair]) -> None:
        self.joint = joint
        size = design.max_value
        at = {shift: place for place, shift in enumerate(joint.shifts)}
        self.key_of = np.array([at[pair_shift(pair, size)] for pair in pairs], np.int64)
        parts: dict[tuple[int, int], int] = {}
        self.members = tuple(
            np.array(
                [parts.setdefault(part, len(parts)) for part in pair_draws(pair, size).items()], np.int64
            )
            for pair in pairs
        )
        noises = {j: part_noise(design, j) for j in sorted({j for j, _ in parts})}
        self.cells: list[Cells] = [cells_of(noises[j], shift, "upper", joint.grid) for j, shift in parts]
        self.infinite = np.array([c.infinite for c in self.cells])
        self.clipped = max((c.clipped for c in self.cells), default=0.0)
        self.errors = np.array([noises[j].error for j, _ in parts])

    def dense(self) -> Floats:
        """Return the finite losses of the independent parts, (parts, size)."""
        out = np.zeros((len(self.cells), self.joint.grid.size))
        for row, cells in zip(out, self.cells, strict=True):
            add_cells(row, cells.start, cells.mass)
        return out

    def mixtures(self, keys: Ints) -> tuple[Floats, Floats]:
        """Return the losses of the joint part for some differences."""
        return self.joint.finite[keys], self.joint.infinite[keys]

    def log_error(self, members: Ints) -> float:
        """Return a bound on the error of all logarithms of a pair."""
        return self.joint.log_error + float(np.sum(self.errors[members]))


def part_noise(design: CoarseDesign, index: int) -> Noise:
    """Return the law of the number of draws of one atom that is an independent part.

    Parameters
    ----------
    design : CoarseDesign
    index : int
        In [2, D - 1].

    Returns
    -------
    Noise
        With upper bounds on what is left out and rounded.

    Notes
    -----
    Derived for this project.
    """
    rate, center = design.rates[index - 1], design.centers[index - 1]
    last = last_noise(rate, center, _OMITTED)
    law, error = jump_law(rate, center, last + 3)
    with np.errstate(divide="ignore"):
        logs = np.log(law)
    error += 2 * UNIT * float(np.max(np.abs(logs[law > 0])))
    return Noise(logs, law[: last + 1], 0, _OMITTED, 2 * error)


def bounds(
    design: CoarseDesign, joint: JointLosses, eps: float, pairs: Sequence[Pair]
) -> tuple[Floats, Floats]:
    """Return upper bounds on the delta of every pair, and how much of each is margin.

    Parameters
    ----------
    design : CoarseDesign
        With the atoms 1 and D of the joint losses.
    joint : JointLosses
        For these pairs, and perhaps others.
    eps : float
        Nats, >= 0.
    pairs : sequence of (int, int)

    Returns
    -------
    deltas, margins : (pairs,) ndarray

    Notes
    -----
    Derived for this project, see the module's description.
    """
    eps = check_nonnegative("eps", eps)
    found = summed_losses(_PairLosses(design, joint, pairs), eps, "upper", joint.grid)
    more = joint.missing + (1 + math.exp(eps)) * joint.error
    return np.minimum(found.deltas + more, 1.0), found.margins + more
