"""Losses of each ordered pair of inputs, for the exact accountant of correlated noise.

:mod:`shuffledp.accounting.summation.joint_noise` uses the tables, which depend on the atoms only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.accounting.summation.noise_atoms import atom_indices, input_changes
from shuffledp.numerics.memoize import remember

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class PairTable:
    """Losses of the ordered pairs (x, y) of inputs, which depend on the atoms only.

    `parts` are the distinct (row of the atom, shift) of atoms other than 1 with shift not 0. For each pair, `members`
    has the places of its losses in `parts`, and `key_of` the place of its key. `keys` are the distinct (kappa, m, y >
    x).
    """

    pairs: NDArray[np.int64]
    parts: tuple[tuple[int, int], ...]
    members: tuple[NDArray[np.int64], ...]
    keys: tuple[tuple[int, int, bool], ...]
    key_of: NDArray[np.int64]

    def only(self, chosen: Sequence[int] | NDArray[np.int64]) -> PairTable:
        """Return the table of the chosen pairs, in the given order."""
        old_parts = sorted({int(c) for p in chosen for c in self.members[p]})
        old_keys = sorted({int(self.key_of[p]) for p in chosen})
        part_at = {c: i for i, c in enumerate(old_parts)}
        key_at = {c: i for i, c in enumerate(old_keys)}
        return PairTable(
            self.pairs[np.asarray(chosen, np.int64)],
            tuple(self.parts[c] for c in old_parts),
            tuple(np.array([part_at[int(c)] for c in self.members[p]], np.int64) for p in chosen),
            tuple(self.keys[c] for c in old_keys),
            np.array([key_at[int(self.key_of[p])] for p in chosen], np.int64),
        )


def pair_table(max_value: int, atoms: str, hubs: tuple[int, ...]) -> PairTable:
    """Return the table of the D (D + 1) ordered pairs of different inputs of ``{0, .., D}``."""
    return _pair_table(max_value, atoms, tuple(hubs))


@remember(16)
def _pair_table(max_value: int, atoms: str, hubs: tuple[int, ...]) -> PairTable:
    changes = input_changes(max_value, atoms=atoms, hubs=hubs or None)
    first = atom_indices(max_value, atoms=atoms, hubs=hubs or None).index(1)
    part_at: dict[tuple[int, int], int] = {}
    key_at: dict[tuple[int, int, bool], int] = {}
    pairs, members, key_of = [], [], []
    for x in range(max_value + 1):
        for y in range(max_value + 1):
            if x == y:
                continue
            difference = changes[:, y] - changes[:, x]
            mine = [
                part_at.setdefault((int(row), int(difference[row])), len(part_at))
                for row in np.flatnonzero(difference)
                if row != first
            ]
            key = (abs(x - y), int(difference[first]), y > x)
            pairs.append((x, y))
            members.append(np.array(mine, np.int64))
            key_of.append(key_at.setdefault(key, len(key_at)))
    return PairTable(
        np.array(pairs, np.int64), tuple(part_at), tuple(members), tuple(key_at), np.array(key_of, np.int64)
    )
