"""Noise atoms: the inverse is correct, it has its closed form, and the dominating vector dominates."""

from __future__ import annotations

import numpy as np
import pytest

from shuffledp.accounting.summation.noise_atoms import (
    atom_indices,
    atom_inverse,
    atom_messages,
    dominating_vector,
    input_changes,
    used_atoms,
)

KINDS = [("halving", None), ("star", None), ("hub", (2,)), ("hub", (4,)), ("hub", (3, 7)), ("hub", (5, 25))]


def messages_of(size):
    return [*range(-size, 0), *range(2, size + 1)]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 13, 64, 100])
@pytest.mark.parametrize(("atoms", "hubs"), KINDS)
def test_atoms_sum_to_zero_and_the_inverse_is_one(size, atoms, hubs):
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


@pytest.mark.parametrize("size", [128, 200, 256])
def test_halving_inverse_of_large_values(size):
    indices = atom_indices(size)
    contents = [atom_messages(i, size) for i in indices]
    matrix = np.array([[c.get(m, 0) for c in contents] for m in messages_of(size)], np.float64)
    assert np.array_equal(matrix @ atom_inverse(size), np.eye(2 * size - 1))


def test_examples_of_atoms_and_columns():
    assert atom_indices(3) == (-3, -2, 1, 2, 3)
    assert atom_messages(-3, 5) == {-3: 1, 1: 1, 2: 1}
    assert atom_messages(3, 5) == {-2: 1, -1: 1, 3: 1}
    assert atom_messages(4, 5) == {-2: 2, 4: 1}
    assert atom_messages(1, 5) == {-1: 1, 1: 1}
    assert atom_messages(4, 5, atoms="star") == {-1: 4, 4: 1}
    assert atom_messages(-5, 14, atoms="hub", hubs=(5,)) == {-5: 1, 1: 5}
    assert atom_messages(13, 14, atoms="hub", hubs=(5,)) == {-5: 2, -1: 3, 13: 1}
    assert atom_messages(5, 14, atoms="hub", hubs=(5,)) == {-5: 1, 5: 1}


def test_hubs_hide_large_values_by_small_shifts():
    changes = input_changes(100, atoms="hub", hubs=(5, 25))
    rows = atom_indices(100, atoms="hub", hubs=(5, 25))
    largest = {i: int(np.abs(row).max()) for i, row in zip(rows, changes, strict=True) if np.any(row)}
    assert largest.pop(-25) == 4
    assert largest.pop(-5) == 4
    assert largest.pop(1) == 4
    assert set(largest.values()) == {1}
    assert set(largest) == set(range(2, 101))


def test_every_column_is_dominated():
    for size in (1, 2, 6, 13, 64):
        assert np.max(np.abs(atom_inverse(size)).T @ (1 / dominating_vector(size))) <= 1 + 1e-12


def test_used_atoms():
    assert used_atoms(1) == (1,)
    assert used_atoms(5, atoms="star") == (1, 2, 3, 4, 5)
    assert used_atoms(5, atoms="hub", hubs=(3,)) == (-3, 1, 2, 3, 4, 5)
    assert used_atoms(5) == (-3, -2, 1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    ("call", "message"),
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


def test_returned_matrices_are_copies():
    atom_inverse(4)[:] = 9
    assert atom_inverse(4).max() < 9
