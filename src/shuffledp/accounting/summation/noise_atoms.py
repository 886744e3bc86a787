"""Noise atoms: multisets of messages that sum to zero, and the integer inverse of their matrix.

Messages are integers of ``{-D, .., D}`` without 0. The atom of index 1 is ``{-1, +1}``. Every other atom i contains one
message i and *parts* that sum to -i and precede i in the order of absolute values. In that order the matrix of atoms
without the row of message +1 is triangular, with ones on its diagonal. So its inverse is an integer matrix, too. Column
i of the inverse is the apparent change of all atom counts when one message i is added.

``halving``
    Parts ``-ceil(i/2)`` and ``-floor(i/2)``: Ghazi et al. 2021 (ICML), Section 4.4.
``star``
    Parts are units. Fewest symbols: -1 and 1..D, if inputs are not negative.
``hub``
    The coins are the unit and a few *hub* values. Atom -h of a hub h has units as parts. A positive atom has the fewest
    coins that add up to its value, negated. A change of input shifts only hubs by more than 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from shuffledp.numerics.argument_ranges import FromOne, check_choice, check_count
from shuffledp.numerics.memoize import remember

AtomKind = Literal["halving", "star", "hub"]
ATOM_KINDS: tuple[AtomKind, ...] = get_args(AtomKind)

#: Largest D: the matrix is dense.
MOST_VALUE = 2048
_REMEMBERED = 64


def atom_indices(
    max_value: FromOne, *, atoms: str = "halving", hubs: Sequence[int] | None = None
) -> tuple[int, ...]:
    """Return the indices of all atoms, ascending: ``-D, .., -2, 1, 2, .., D``.

    Ghazi et al. 2021 (ICML), Section 4.4; the order is specific to this project.

    Parameters
    ----------
    max_value : int
        Largest input D, in [1, 2048].
    atoms : {"halving", "star", "hub"}
        See the module's description. The indices are the same for all.
    hubs : sequence of int, optional
        Distinct values in [2, D]. They are required for ``hub`` atoms, and invalid for other atoms.

    Returns
    -------
    tuple of int
        2 D - 1 indices, exact: the columns of :func:`atom_inverse`, with atom 1 at the place of message -1.
    """
    size, _, _ = check_atoms(max_value, atoms, hubs)
    return (*range(-size, -1), 1, *range(2, size + 1))


def atom_inverse(
    max_value: FromOne, *, atoms: str = "halving", hubs: Sequence[int] | None = None
) -> NDArray[np.int64]:
    """Return the inverse C of the atoms' matrix without the row of message +1.

    Parameters
    ----------
    max_value, atoms, hubs
        As in :func:`atom_indices`.

    Returns
    -------
    (2 D - 1, 2 D - 1) ndarray of int64
        Exact integers. Rows in the order of :func:`atom_indices`; columns for the messages ``-D, .., -1, 2, .., D``.

    Notes
    -----
    ``c_1 = 0``, ``c_(-1) = e_1``, ``c_i = e_i - sum of c_part``: atom i produces one message i and parts to be
    canceled, and messages +1 need no atom.

    Ghazi et al. 2021 (ICML), Section 4.4 (Theorem 12); other atoms than ``halving`` are derived for this project.

    Examples
    --------
    Apparent changes of the atoms {-2, 1, 1}, {-1, 1} and {-1, -1, 2} when a message -2, -1 or 2 is added:

    >>> from shuffledp.accounting import atom_indices, atom_inverse
    >>> atom_indices(2)
    (-2, 1, 2)
    >>> print(atom_inverse(2))
    [[ 1  0  0]
     [ 0  1 -2]
     [ 0  0  1]]
    """
    return _inverse(*check_atoms(max_value, atoms, hubs)).copy()


def atom_messages(
    index: int, max_value: FromOne, *, atoms: str = "halving", hubs: Sequence[int] | None = None
) -> dict[int, int]:
    """Return the messages of one atom with their multiplicities.

    Ghazi et al. 2021 (ICML), Section 4.4; other atoms than ``halving`` are derived for this project.

    Parameters
    ----------
    index : int
        One of :func:`atom_indices`.
    max_value, atoms, hubs
        As in :func:`atom_indices`.

    Returns
    -------
    dict of int to int
        Exact multiplicity of every message, in ascending order of the messages. Messages times multiplicities sum to 0.
    """
    size, kind, coins = check_atoms(max_value, atoms, hubs)
    indices = atom_indices(size, atoms=kind, hubs=coins or None)
    if not any(index == number for number in indices):
        raise ValueError(f"index must be 1 or in [2, {size}] up to its sign, got {index!r}.")
    index = int(index)
    if index == 1:
        return {-1: 1, 1: 1}
    content = {index: 1}
    for part, copies in _parts(index, kind, _change(size, coins)).items():
        content[part] = content.get(part, 0) + copies
    return dict(sorted(content.items()))


def used_atoms(
    max_value: FromOne, *, atoms: str = "halving", hubs: Sequence[int] | None = None
) -> tuple[int, ...]:
    """Return the indices of the atoms that inputs of ``{0, .., D}`` can change, ascending.

    Atom 1 is always used, because it hides the unary noise of the sum. Noise on the other atoms is useless if no input
    is negative. Derived for this project, from Theorem 8 of Ghazi et al. 2021 (ICML).

    Parameters
    ----------
    max_value, atoms, hubs
        As in :func:`atom_indices`.

    Returns
    -------
    tuple of int
        Exact: neither more nor fewer.
    """
    changes = input_changes(max_value, atoms=atoms, hubs=hubs)
    indices = atom_indices(max_value, atoms=atoms, hubs=hubs)
    return tuple(i for i, row in zip(indices, changes, strict=True) if i == 1 or np.any(row))


def input_changes(
    max_value: int, *, atoms: str = "halving", hubs: Sequence[int] | None = None
) -> NDArray[np.int64]:
    """Return the change of the atom counts by an input, (2 D - 1, D + 1).

    Rows are in the order of :func:`atom_indices`. Column x is ``c_x`` in Theorem 8 of Ghazi et al. 2021 (ICML), 0 for
    x = 0 and x = 1.
    """
    size, kind, coins = check_atoms(max_value, atoms, hubs)
    inverse = _inverse(size, kind, coins)
    changes = np.zeros((2 * size - 1, size + 1), np.int64)
    changes[:, 2:] = inverse[:, size:]
    return changes


def dominating_vector(max_value: FromOne) -> NDArray[np.int64]:
    """Return a vector t that dominates every column of the halving atoms' inverse: ``sum |c| / t <= 1``.

    Parameters
    ----------
    max_value : int
        Largest input D, in [1, 2048].

    Returns
    -------
    (2 D - 1,) ndarray of int64
        In the order of :func:`atom_indices`. An upper bound, rounded up: smaller vectors may dominate too.

    Notes
    -----
    ``t_i = ceil(Gamma / |i|)`` with ``Gamma = D (ceil(log2 D) + 1)``: repeated halving of i has at most
    ``ceil(log2 |i|) + 1`` levels, and each adds at most ``|i|`` to ``sum |c_j| |j|``. The logarithm has base 2: with
    the natural one the vector no longer dominates for D = 6, 7, 11 and most others. Ghazi et al. 2021, Theorem 12.

    Examples
    --------
    >>> from shuffledp.accounting import atom_indices, dominating_vector
    >>> atom_indices(3)
    (-3, -2, 1, 2, 3)
    >>> print(dominating_vector(3))
    [3 5 9 5 3]
    """
    size, _, _ = check_atoms(max_value, "halving", None)
    gamma = domination_constant(size)
    return np.array([-(-gamma // abs(i)) for i in atom_indices(size)], np.int64)


def domination_constant(max_value: int) -> int:
    """Return Gamma of :func:`dominating_vector`, ``D (ceil(log2 D) + 1)``."""
    size = check_count("max_value", max_value, 1)
    return size * ((size - 1).bit_length() + 1)


def noise_norm(
    weights: Mapping[int, float], max_value: FromOne, *, atoms: str, hubs: Sequence[int] | None
) -> float:
    """Return ``sum |s| w_s``: each atom's weight times the number of its messages.

    Ghazi et al. 2021 (ICML), the norm in Theorem 12 and Observation 6.

    Parameters
    ----------
    weights : mapping of int to float
        Weight by index of the atom, for example its expected number of copies.
    max_value, atoms, hubs
        As in :func:`atom_indices`.

    Returns
    -------
    float
        Exact up to rounding.
    """
    return math.fsum(
        sum(atom_messages(index, max_value, atoms=atoms, hubs=hubs).values()) * weight
        for index, weight in weights.items()
    )


def check_atoms(
    max_value: int, atoms: str, hubs: Sequence[int] | None
) -> tuple[int, AtomKind, tuple[int, ...]]:
    """Return D, the kind of atoms, and the hubs in ascending order, or raise ValueError.

    The hubs are empty for atoms other than ``hub``.
    """
    size = check_count("max_value", max_value, 1)
    if size > MOST_VALUE:
        raise ValueError(f"max_value must be an integer in [1, {MOST_VALUE}], got {max_value!r}.")
    kind = check_choice("atoms", atoms, ATOM_KINDS)
    if kind != "hub":
        if hubs:
            raise ValueError(f"hubs must be left out for atoms {atoms!r}, got {hubs!r}.")
        return size, kind, ()
    coins = tuple(sorted(check_count("hubs", h, 2) for h in hubs or ()))
    if not coins or len(set(coins)) < len(coins) or coins[-1] > size:
        raise ValueError(f"hubs must be distinct integers in [2, {size}], at least one, got {hubs!r}.")
    return size, kind, coins


@remember(_REMEMBERED)
def _change(max_value: int, hubs: tuple[int, ...]) -> tuple[int, ...]:
    """Return the largest coin in the shortest sum of coins for each amount 0..D, and 0 for the amount 0. The coins are
    1 and the hubs.
    """
    fewest, coin = [0], [0]
    for amount in range(1, max_value + 1):
        count, best = min((fewest[amount - c] + 1, -c) for c in (1, *hubs) if c <= amount)
        fewest.append(count)
        coin.append(-best)
    return tuple(coin)


def _parts(index: int, kind: AtomKind, change: tuple[int, ...]) -> dict[int, int]:
    """Return the parts of an atom other than 1, with multiplicities; they sum to -index."""
    if kind == "halving":
        low, high = -(index // 2), -index // 2
        return {low: 2} if low == high else {low: 1, high: 1}
    if kind == "star" or index < 0:
        return {-1 if index > 0 else 1: abs(index)}
    parts: dict[int, int] = {}
    rest = index
    while rest > 0:
        coin = change[rest]
        parts[-coin] = parts.get(-coin, 0) + 1
        rest -= coin
    return parts


@remember(_REMEMBERED)
def _inverse(max_value: int, kind: AtomKind, hubs: tuple[int, ...]) -> NDArray[np.int64]:
    indices = atom_indices(max_value, atoms=kind, hubs=hubs or None)
    row = {index: place for place, index in enumerate(indices)}
    change = _change(max_value, hubs)
    zero = np.zeros(len(indices), np.int64)
    unit = zero.copy()
    unit[row[1]] = 1
    columns = {1: zero, -1: unit}
    for index in sorted(row.keys() - {1}, key=lambda i: (abs(i), i)):
        column = zero.copy()
        column[row[index]] = 1
        for part, copies in _parts(index, kind, change).items():
            column -= copies * columns[part]
        columns[index] = column
    messages = (*range(-max_value, 0), *range(2, max_value + 1))
    return np.stack([columns[m] for m in messages], axis=1)
