"""Noise atoms: the inverse is correct, it has its closed form, and the dominating vector dominates."""

import math

import numpy as np
import pytest

from shuffledp.accounting.summation.loss_cells import LossGrid, Noise, cells_of
from shuffledp.accounting.summation.noise_atoms import (
    atom_indices,
    atom_inverse,
    atom_messages,
)

KINDS = [("halving", None), ("star", None), ("hub", (2,)), ("hub", (4,)), ("hub", (3, 7)), ("hub", (5, 25))]


def messages_of(size):
    return [*range(-size, 0), *range(2, size + 1)]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 13, 64, 100])
@pytest.mark.parametrize("atoms, hubs", KINDS)
def test_atoms_sum_to_zero(size, atoms, hubs):
    if hubs and hubs[-1] > size:
        with pytest.raises(ValueError, match="hubs must be distinct integers"):
            atom_inverse(size, atoms=atoms, hubs=hubs)
        return
    indices = atom_indices(size, atoms=atoms, hubs=hubs)
    assert len(indices) == 2 * size - 1
    contents = [atom_messages(i, size, atoms=atoms, hubs=hubs) for i in indices]
    assert all(sum(m * k for m, k in c.items()) == 0 for c in contents)
    matrix = np.array([[c.get(m, 0) for c in contents] for m in messages_of(size)])
    inverse = atom_inverse(size, atoms=atoms, hubs=hubs)
    assert inverse.dtype == np.int64
    assert np.array_equal(matrix @ inverse, np.eye(2 * size - 1))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: atom_indices(5, atoms="hub"), "hubs must be distinct integers"),
        (lambda: atom_indices(5, atoms="hub", hubs=(2, 2)), "hubs must be distinct integers"),
        (lambda: atom_indices(5, atoms="star", hubs=(2,)), "hubs must be left out"),
        (lambda: atom_messages(-1, 5), "index must be 1 or in"),
        (lambda: atom_messages(6, 5), "index must be 1 or in"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_underflowing_law_has_infinite_losses():
    noise = Noise(np.array([0.0, -math.inf, -1.0, -2.0]), np.array([0.5, 0.0, 0.3, 0.2]), 1, 0.0, 0.0)
    grid = LossGrid(0.1, 256, 1)
    upper, lower = (cells_of(noise, 1, bound, grid) for bound in ("upper", "lower"))
    assert upper.infinite == pytest.approx(lower.infinite + 0.3)
    assert upper.mass.sum() + upper.infinite >= lower.mass.sum() + lower.infinite
