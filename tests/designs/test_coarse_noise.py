"""The exact accountant of coarse noise against the law of all message counts, and its certificates."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.fft import irfftn, rfftn

from shuffledp.accounting import Infeasible, jump_sizes
from shuffledp.designs import CoarseDesign
from shuffledp.designs.coarse_design import (
    atom_content,
    jump_content,
)
from shuffledp.designs.coarse_losses import (
    COARSE,
    Precision,
    joint_losses,
    loss_grid,
)
from shuffledp.designs.coarse_noise import all_pairs, bounds, certify, pair_draws

#: Precision at which rounding of losses adds less than 1e-9.
FINEST = Precision(4000, 1e-11, 1e-14)
SMALL = {
    1: CoarseDesign(1, 1.5, (4.0,), (2.0,), 2.0, 1e-2),
    2: CoarseDesign(2, 1.5, (2.0, 4.0), (1.0, 1.6), 2.0, 1e-2),
    3: CoarseDesign(3, 3.0, (1.0, 0.7, 2.5), (1.0, 1.0, 1.0), 4.0, 1e-1),
    4: CoarseDesign(4, 5.0, (0.3, 0.3, 0.3, 0.6), (0.6, 0.6, 0.6, 0.6), 5.5, 1e-1),
}
#: Numbers of distinguished counts of each message, in the order 1..D, -D; wrapping adds less than 1e-10.
BOX = {1: (128, 128), 2: (80, 80, 80), 3: (64, 24, 40, 48), 4: (60, 11, 11, 15, 21)}


def law_of_counts(design, box):
    """Return the law of the numbers of all messages, from the rates of all events and their messages.

    The law is compound Poisson, with one dimension per message. Its characteristic function is the exponential of the
    transform of the jump measure.
    """
    size, a = design.max_value, design.central_ratio
    letters = [*range(1, size + 1), -size]
    measure = np.zeros(box)

    def add(content, times, rate):
        place = tuple(
            (times * content.get(letter, 0)) % width for letter, width in zip(letters, box, strict=True)
        )
        measure[place] += rate

    for j in range(1, 400):
        for sign in (1, -1):
            add(jump_content(sign * j, size), 1, a**j / j)
    for index, (rate, center) in enumerate(zip(design.rates, design.centers, strict=True), 1):
        for times, chance in enumerate(jump_sizes(center), 1):
            add(atom_content(index, size, design.hubs), times, rate * chance)
    spectrum = rfftn(measure)
    spectrum -= measure.sum()
    return np.maximum(irfftn(np.exp(spectrum), s=box), 0.0)


def brute_force(design, eps, box):
    """Return the divergences of all ordered pairs, from the law of all counts."""
    size = design.max_value
    law = law_of_counts(design, box)
    axis = {**{m: m - 1 for m in range(1, size)}, size: size - 1}
    moved = [law if x == 0 else np.roll(law, 1, axis[x]) for x in range(size + 1)]
    factor = math.exp(eps)
    return {(x, y): float(np.maximum(moved[x] - factor * moved[y], 0).sum()) for x, y in all_pairs(size)}


@pytest.mark.parametrize("size", list(SMALL))
def test_all_pairs_agree_with_counts_law(size):
    design = SMALL[size]
    want = brute_force(design, design.eps, BOX[size])
    # So wide that hardly any loss lies beyond it: those count as infinite.
    grid = loss_grid(design, design.eps, FINEST, largest=2 * design.eps)
    pairs = all_pairs(size)
    deltas, margins = bounds(design, joint_losses(design, pairs, FINEST, grid), design.eps, pairs)
    for pair, delta, margin in zip(pairs, deltas, margins, strict=True):
        assert -1e-10 <= delta - want[pair] <= 1e-9 + margin, pair
        assert margin < 1e-9
    assert max(want.values()) > 1e-4  # there is something to agree on


def test_hub_atoms_are_moved_together():
    design = CoarseDesign(13, 9.0, (1.0,) * 13, (1.0,) * 13, 9.5, 1e-1, (2,))
    assert pair_draws((0, 7), 13, (2,)) == {7: 1, 2: -3, 11: 3}
    assert pair_draws((7, 2), 13, (2,)) == {7: -1, 2: 4, 11: -4}
    assert certify(design, 9.5, [(0, 7), (7, 2)], Precision(20, 1e-3, 1e-6)).delta > 1e-3


def test_what_is_left_out_is_counted():
    """Coarse precision omits more mass, but its bound is never below the bound of fine precision."""
    design = SMALL[2]
    fine = certify(design, design.eps, precision=FINEST)
    for precision in (
        Precision(4000, 1e-2, 1e-13),
        Precision(4000, 1e-9, 1e-4),
        Precision(10, 1e-9, 1e-13),
    ):
        rough = certify(design, design.eps, precision=precision)
        assert rough.delta >= fine.delta - 1e-12
        assert rough.delta - rough.margin <= fine.delta * 1.01
    assert certify(design, design.eps, precision=Precision(4000, 1e-9, 1e-4)).margin > 100 * fine.margin
    assert fine.pairs == 6 and fine.worst in all_pairs(2)


def test_some_cells_estimate_what_all_bound():
    design = CoarseDesign(2, 0.9, (12.0, 12.0), (5.0, 9.0), 1.0, 1e-4)
    pairs = all_pairs(2)
    grid = loss_grid(design, 1.0, COARSE)
    found = [bounds(design, joint_losses(design, pairs, COARSE, grid, every), 1.0, pairs) for every in (1, 7)]
    (whole, margin), (some, _) = found
    large = whole > 0.1 * whole.max()
    assert some[large] == pytest.approx((whole - margin)[large], rel=1e-2)


def test_bad_designs_are_refused():
    with pytest.raises(ValueError, match="hubs must grow"):
        CoarseDesign(4, 0.9, (1.0,) * 4, (1.0,) * 4, 1.0, 1e-6, (2,))
    with pytest.raises(ValueError, match="rates and centers must have 2 values"):
        CoarseDesign(2, 0.9, (1.0,), (1.0,), 1.0, 1e-6)
    with pytest.raises(ValueError, match="keys"):
        CoarseDesign.from_dict({"max_value": 1})
    with pytest.raises(ValueError, match="index must be in"):
        atom_content(3, 2)
    with pytest.raises(Infeasible, match="grid"):
        certify(replace(SMALL[1], eps=1.0), 1.0, precision=Precision(10**6, 1e-9, 1e-12))
    assert CoarseDesign.from_dict(SMALL[3].to_dict()) == SMALL[3]
