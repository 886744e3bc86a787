"""Exact accounting of summation by coarse noise: certified bounds for all ordered pairs of inputs.

By :mod:`shuffledp.designs.coarse_design`, the analyzer's view is ``(Sigma, u, v)`` and the independent
``y_j``. Replacing the input x by y shifts the view by a known vector. Let P be the law of ``(Sigma, u, v)`` and d its
shift. The loss of x against y is ``log P(w) / P(w - d)`` plus the losses of the y_j against their own shifted laws. All
these losses are independent, and

    delta = E (1 - e^(eps - loss))^+.

Many pairs share a d, which is ``(y - x, 0, 0)``, ``(y - x, 0, -1)`` or a shift with a change of u: about 5 D different
shifts, half of them opposite to the others. For each d the losses are put on a grid
(:mod:`shuffledp.designs.coarse_losses`). The split of losses between grid points preserves the totals of
both laws and can only increase delta. The losses are then convolved with the losses of the ``y_j``. The time grows with
the number of slices times the number of shifts, as D^2 or slightly faster; a further pair costs little.

**Sources of error.** Let X be the cells of :mod:`shuffledp.designs.coarse_law`, ``X <= (1 + r) P``. Then
``[P - e^eps P']^+ <= [P - X]^+ + [X - e^eps X']^+ + e^eps [X' - P']^+`` cell by cell. So the bound adds to the delta
of X: (i) the mass that X omits, ``1 - sum X``, once; (ii) ``(1 + e^eps) r`` for the rounding of all probabilities,
bounded in advance because they are sums and products of positive numbers; (iii) the rounding of logarithms, as a change
of eps; (iv) losses beyond the grid, as infinite ones; (v) the rounding of the transforms in the convolutions, by their
l2 norms, and losses that wrap around there, by Chernoff bounds. The *margin* of a certificate is the sum of (i) to
(iii) and (v).

Derived for this project, from no paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.summation.jump_noise import jump_law, last_noise
from shuffledp.accounting.summation.loss_cells import UNIT, LossCells, LossGrid, Noise, add_cells, cells_of
from shuffledp.accounting.summation.loss_sums import summed_losses
from shuffledp.designs.coarse_design import CoarseDesign, input_moves
from shuffledp.designs.coarse_losses import (
    BEYOND,
    COARSE,
    FINE,
    JointLosses,
    Pair,
    Precision,
    joint_losses,
    loss_grid,
    pair_shift,
)
from shuffledp.numerics.argument_ranges import EpsAt, check_nonnegative
from shuffledp.numerics.memoize import remember

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Mass that the window of a noise of an independent part may leave out.
_OMITTED = 1e-15


@dataclass(frozen=True)
class CoarseCertificate:
    """Certified upper bound on the delta of a design.

    Parameters
    ----------
    delta : float
        Upper bound for all evaluated pairs.
    margin : float
        Part of `delta` for omitted mass and rounding, for the worst pair.
    pairs : int
        Number of evaluated ordered pairs of inputs.
    worst : (int, int)
        The pair with the largest bound.
    """

    delta: float
    margin: float
    pairs: int
    worst: Pair


def all_pairs(max_value: int) -> tuple[Pair, ...]:
    """Return the D (D + 1) ordered pairs of different inputs of ``{0, .., D}``."""
    inputs = range(max_value + 1)
    return tuple((x, y) for x in inputs for y in inputs if x != y)


def coarse_noise_delta(design: CoarseDesign, eps: EpsAt) -> float:
    """Return an upper bound on the delta of a coarse design, over all ordered pairs of inputs.

    Derived for this project, see the module's description.

    Parameters
    ----------
    design : CoarseDesign
        Replacement neighbors: one input of ``{0, .., D}`` becomes another.
    eps : float
        Nats, >= 0.

    Returns
    -------
    float
        In [0, 1], a certified upper bound. It takes seconds of processor time up to D = 3, minutes at D = 10.

    Raises
    ------
    Infeasible
        If the calculation does not fit into memory.
    """
    return certify(design, eps).delta


def coarse_noise_deltas(design: CoarseDesign, eps: Floats, precision: Precision = COARSE) -> Floats:
    """Return certified upper bounds on delta at several eps (nats, >= 0) from one joint law, at any `precision`.

    The bounds do not increase with eps. Above twice the design's eps plus 3 nats, the bound at this value is returned.
    """
    points = np.minimum(np.asarray(eps, np.float64), 2 * design.eps + BEYOND)
    pairs = all_pairs(design.max_value)
    grid = loss_grid(design, design.eps, precision, largest=float(np.max(points, initial=0.0)))
    joint = _remembered_losses(design, precision, grid)
    values = np.array([float(np.max(bounds(design, joint, float(e), pairs)[0])) for e in points.flat])
    order = np.argsort(points, axis=None, kind="stable")
    values[order] = np.minimum.accumulate(values[order])
    return values.reshape(points.shape)


@remember(4)
def _remembered_losses(design: CoarseDesign, precision: Precision, grid: LossGrid) -> JointLosses:
    return joint_losses(design, all_pairs(design.max_value), precision, grid)


def certify(
    design: CoarseDesign, eps: float, pairs: Sequence[Pair] | None = None, precision: Precision = FINE
) -> CoarseCertificate:
    """Return the certificate of :func:`coarse_noise_delta`, by default for all pairs. It is a bound
    at any `precision`.
    """
    chosen = all_pairs(design.max_value) if pairs is None else tuple(pairs)
    grid = loss_grid(design, eps, precision)
    return certificate_of(design, joint_losses(design, chosen, precision, grid), eps, chosen)


def certificate_of(
    design: CoarseDesign, joint: JointLosses, eps: float, pairs: Sequence[Pair]
) -> CoarseCertificate:
    """Return the certificate for some pairs from their joint losses."""
    chosen = tuple(pairs)
    deltas, margins = bounds(design, joint, eps, chosen)
    at = int(np.argmax(deltas))
    return CoarseCertificate(float(deltas[at]), float(margins[at]), len(chosen), chosen[at])


def pair_draws(pair: Pair, max_value: int, hubs: tuple[int, ...] = ()) -> dict[int, int]:
    """Return the nonzero shifts of the ``y_j`` when the second input of a pair replaces the first."""
    moves = input_moves(max_value, hubs)
    before, after = (moves[x][1] for x in pair)
    shifts = {j: after.get(j, 0) - before.get(j, 0) for j in sorted(before.keys() | after.keys())}
    return {j: shift for j, shift in shifts.items() if shift}


class PairLosses:
    """Losses of all pairs: of the joint part, for every shift, and of the independent parts, for every atom and shift.

    All losses give upper bounds on the hockey-stick divergence of their part. `joint` has the losses of these pairs,
    and possibly of further pairs.
    """

    def __init__(self, design: CoarseDesign, joint: JointLosses, pairs: Sequence[Pair]) -> None:
        self.joint = joint
        size = design.max_value
        at = {shift: place for place, shift in enumerate(joint.shifts)}
        self.key_of = np.array([at[pair_shift(pair, size)] for pair in pairs], np.int64)
        parts: dict[tuple[int, int], int] = {}
        self.members = tuple(
            np.array(
                [parts.setdefault(part, len(parts)) for part in pair_draws(pair, size, design.hubs).items()],
                np.int64,
            )
            for pair in pairs
        )
        self.parts = tuple(parts)
        most: dict[int, int] = {}
        for j, shift in parts:
            most[j] = max(most.get(j, 0), abs(shift))
        noises = {j: part_noise(design, j, shift) for j, shift in sorted(most.items())}
        self.cells: list[LossCells] = [cells_of(noises[j], shift, "upper", joint.grid) for j, shift in parts]
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
        """Return the losses of the joint part for some shifts: finite, (keys, size), and infinite."""
        return self.joint.finite[keys], self.joint.infinite[keys]

    def log_error(self, members: Ints) -> float:
        """Return a bound on the total error of the logarithms of a pair's losses."""
        return self.joint.log_error + float(np.sum(self.errors[members]))


def part_noise(design: CoarseDesign, index: int, most_shift: int) -> Noise:
    """Return the law of the draws of an atom in [2, D - 1], with bounds on omitted mass and rounding."""
    rate, center = design.rates[index - 1], design.centers[index - 1]
    last = last_noise(rate, center, _OMITTED)
    law, error = jump_law(rate, center, last + 1 + most_shift)
    with np.errstate(divide="ignore"):
        logs = np.log(law)
    error += 2 * UNIT * float(np.max(np.abs(logs[law > 0])))
    return Noise(logs, law[: last + 1], 0, _OMITTED, 2 * error)


def bounds(
    design: CoarseDesign, joint: JointLosses, eps: float, pairs: Sequence[Pair]
) -> tuple[Floats, Floats]:
    """Return upper bounds on the delta of every pair, and the margin of each, both (pairs,).

    `joint` has the design's atoms 1 and D, and the losses of these pairs.
    """
    eps = check_nonnegative("eps", eps)
    losses = summed_losses(PairLosses(design, joint, pairs), eps, "upper", joint.grid)
    margin = joint.missing + (1 + math.exp(eps)) * joint.error
    return np.minimum(losses.deltas + margin, 1.0), losses.margins + margin
