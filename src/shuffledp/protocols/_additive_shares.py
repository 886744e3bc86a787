"""Additive secret shares modulo a number: any but all of them are uniform, and all of them add up to the value."""

from __future__ import annotations

import numpy as np

from shuffledp.tasks import Ints

#: Differences and sums of two group elements fit into an int64 below this.
LARGEST_GROUP = 2**62


def split(values: Ints, shares: int, group_order: int, rng: np.random.Generator) -> Ints:
    """Additive shares of every value modulo q, (n, m): any m - 1 of them are independent and uniform."""
    uniform = rng.integers(0, group_order, size=(len(values), shares - 1))
    last = np.mod(values, group_order)
    for column in uniform.T:  # one by one: a sum of many elements of a large group overflows
        last = np.mod(last - column, group_order)
    return np.column_stack((uniform, last))


def sum_modulo(elements: Ints, group_order: int) -> int:
    """Sum of group elements modulo q, without overflow: upper and lower 31 bits are added apart."""
    upper, lower = int(np.sum(elements >> 31)), int(np.sum(elements & (2**31 - 1)))
    return ((upper << 31) + lower) % group_order
