"""Blocks of cells: divergences are at least the cells' divergences, and close to these for small blocks."""

from dataclasses import replace

import numpy as np
import pytest

from shuffledp.designs import CoarseDesign
from shuffledp.designs.coarse_losses import (
    Precision,
    joint_losses,
    law_of,
    loss_grid,
    shifts_of,
)
from shuffledp.designs.coarse_noise import all_pairs

#: Design wide enough for blocks of several cells.
DESIGN = CoarseDesign(3, 3.6, (6.0, 9.0, 6.0), (4.0, 3.0, 5.0), 4.0, 1e-3)
PRECISION = Precision(100, 1e-6, 1e-9)
PAIRS = all_pairs(3)


def sticks(joint, eps):
    """Return hockey-stick divergences of all moves at some eps, from losses on the grid."""
    grid = joint.grid
    points = np.arange(grid.size)
    points = grid.step * np.where(points > grid.last, points - grid.size, points)
    test = np.maximum(-np.expm1(np.minimum(eps - points, 1.0)), 0.0)
    return joint.finite @ test + joint.infinite


def exact_sticks(design, precision, shifts, eps):
    """Return the same divergences from one table of all cells, without a grid, loss bounds or omitted mass."""
    law = law_of(design, precision)
    whole = np.pad(
        np.stack([law.table(k) for k in range(law.slices)]), [(design.max_value + 1,) * 2, (2, 2), (2, 2)]
    )
    found = [
        np.maximum(whole - np.exp(eps) * np.roll(whole, move, (0, 1, 2)), 0).sum()
        for s, u, t in shifts
        for move in ((s, u, t), (-s, -u, -t))
    ]
    return np.array(found)


@pytest.mark.parametrize("change, most", [(0.5, 0.02), (1e6, None)])
def test_blocks_are_never_below_their_cells(change, most):
    """The bound holds for blocks of any size, and smaller blocks are closer."""
    grid = loss_grid(DESIGN, DESIGN.eps, PRECISION, largest=6.0)
    shifts = shifts_of(PAIRS, 3)
    joint = joint_losses(DESIGN, PAIRS, replace(PRECISION, blocks=change), grid)
    for eps in (0.5, 3.9, 4.5):
        want = exact_sticks(DESIGN, PRECISION, shifts, eps)
        found = sticks(joint, eps)
        assert np.all(found + joint.missing >= want * (1 - 1e-9)), eps
        if most is not None:
            assert np.all(found <= want * (1 + most) + 30 * joint.missing), eps
    assert joint.missing < 3e-8
