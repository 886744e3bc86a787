"""Noise atoms: the inverse is one, it has its closed form, and the dominating vector dominates."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shuffledp.accounting.summation.noise_atoms import (
    atom_indices,
    atom_inverse,
    atom_messages,
    dominating_vector,
    domination_constant,
    input_changes,
    noise_norm,
    used_atoms,
)

KINDS = [("halving", None), ("star", None), ("hub", (2,)), ("hub", (4,)), ("hub", (3, 7)), ("hub", (5, 25))]


def messages_of(size):
    return [*range(-size, 0), *range(2, size + 1)]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 13, 31, 64, 100])
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


def closed_form(i):
    """Column i of the halving inverse by levels, index -1 standing for atom 1."""
    column: dict[int, int] = {}

    def add(index, value):
        if index != 1:
            key = 1 if index == -1 else index
            column[key] = column.get(key, 0) + value

    level = 0
    while (q := abs(i) >> level) >= 1:
        rest, sign = abs(i) % 2**level, (-1) ** level * (1 if i > 0 else -1)
        add(sign * q, (-1) ** level * (2**level - rest))
        add(sign * (q + 1), (-1) ** level * rest)
        if q == 1:
            add(-sign, (-1) ** (level + 1) * 2 * rest)
        level += 1
    return {k: v for k, v in column.items() if v}


def test_halving_inverse_has_its_closed_form():
    size = 200
    indices, inverse = atom_indices(size), atom_inverse(size)
    for place, message in enumerate(messages_of(size)):
        found = {i: int(v) for i, v in zip(indices, inverse[:, place], strict=True) if v}
        assert found == ({1: 1} if message == -1 else closed_form(message)), message


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
    inverse = atom_inverse(3)
    assert inverse[:, 3].tolist() == [0, 0, -2, 1, 0]
    assert inverse[:, 1].tolist() == [0, 1, 0, 0, 0]
    assert inverse[:, 4].tolist() == [0, -1, -1, 0, 1]
    star = atom_inverse(6, atoms="star")
    assert star[:, -1].tolist() == [0, 0, 0, 0, 0, -6, 0, 0, 0, 0, 1]


def test_hubs_hide_large_values_by_small_shifts():
    changes = input_changes(100, atoms="hub", hubs=(5, 25))
    rows = atom_indices(100, atoms="hub", hubs=(5, 25))
    largest = {i: int(np.abs(row).max()) for i, row in zip(rows, changes, strict=True) if np.any(row)}
    assert largest.pop(-25) == 4
    assert largest.pop(-5) == 4
    assert largest.pop(1) == 4
    assert set(largest.values()) == {1}
    assert set(largest) == set(range(2, 101))


@pytest.mark.parametrize(
    ("size", "gamma", "norm", "load", "used", "norm_used"),
    [
        (2, 4, 20, 1.0, 2, 14),
        (3, 9, 66, 0.7556, 4, 57),
        (4, 12, 102, 1.0, 5, 81),
        (5, 20, 196, 0.7429, 7, 169),
        (8, 32, 406, 1.0, 11, 340),
        (10, 50, 700, 0.7976, 14, 595),
        (15, 75, 1224, 0.9597, 22, 1080),
        (16, 80, 1330, 1.0, 23, 1162),
        (32, 192, 3978, 1.0, 47, 3564),
        (64, 448, 11108, 1.0, 95, 10142),
        (100, 800, 21970, 0.9284, 149, 20245),
        (128, 1024, 29654, 1.0, 191, 27437),
        (256, 2304, 76188, 1.0, 383, 71217),
    ],
)
def test_dominating_vector_has_the_known_numbers(size, gamma, norm, load, used, norm_used):
    indices, bounds = atom_indices(size), dominating_vector(size)
    by_index = dict(zip(indices, bounds.tolist(), strict=True))
    assert domination_constant(size) == gamma == by_index[1]
    assert noise_norm(by_index, size, atoms="halving", hubs=None) == norm
    loads = np.abs(atom_inverse(size)).T @ (1 / bounds)
    assert round(float(loads.max()), 4) == load
    mine = used_atoms(size)
    assert len(mine) == used
    assert noise_norm({i: by_index[i] for i in mine}, size, atoms="halving", hubs=None) == norm_used


def test_every_column_is_dominated_and_the_natural_logarithm_is_not_enough():
    fails = []
    for size in range(1, 65):
        inverse, indices = np.abs(atom_inverse(size)), np.abs(atom_indices(size))
        assert np.max(inverse.T @ (1 / dominating_vector(size))) <= 1 + 1e-12
        gamma = size * (math.ceil(math.log(size)) + 1)
        natural = np.max(inverse.T @ (1 / np.ceil(gamma / indices)))
        if natural > 1 + 1e-12:
            fails.append(size)
        if size == 13:
            assert round(float(natural), 3) == 1.114
    assert fails == [6, 7, *range(11, 21), *range(22, 65)]


def test_used_atoms():
    assert used_atoms(1) == (1,)
    assert used_atoms(5, atoms="star") == (1, 2, 3, 4, 5)
    assert used_atoms(5, atoms="hub", hubs=(3,)) == (-3, 1, 2, 3, 4, 5)
    assert used_atoms(5) == (-3, -2, 1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: atom_indices(0), "max_value must be an integer in"),
        (lambda: atom_indices(4096), r"max_value must be an integer in \[1, 2048\]"),
        (lambda: atom_indices(5, atoms="thirds"), "atoms must be one of halving, star, hub"),
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
