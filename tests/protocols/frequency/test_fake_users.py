"""Fake users: numbers of the specification, the divergence by enumeration, and the cost of linked rows."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np

from shuffledp.accounting import hockey_stick
from shuffledp.protocols.frequency.fake_users import (
    fake_users_delta,
)


def row_law(value, k, q):
    """Return the law of a row of k bits with the value's bit set, if each bit is flipped with probability q."""
    return {
        bits: math.prod(1 - q if bit == (v == value) else q for v, bit in enumerate(bits))
        for bits in itertools.product((0, 1), repeat=k)
    }


def shuffled(laws):
    """Return the law of the unordered rows."""
    view: Counter[tuple[tuple[int, ...], ...]] = Counter({(): 1.0})
    for law in laws:
        grown: Counter[tuple[tuple[int, ...], ...]] = Counter()
        for seen, mass in view.items():
            for row, chance in law.items():
                grown[tuple(sorted((*seen, row)))] += mass * chance
        view = grown
    return view


def true_delta(eps, k, q, fakes, others):
    """Return the divergence of all rows between user 1's values 0 and 1."""
    rest = [row_law(None, k, q)] * fakes + [row_law(v, k, q) for v in others]
    views = [shuffled([row_law(v, k, q), *rest]) for v in (0, 1)]
    rows = sorted(views[0])
    logs = [np.log([view[r] for r in rows]) for view in views]
    return float(hockey_stick(logs[0], logs[1], eps))


def test_other_rows_are_bounded():
    """The rows of other users are bounded, and bits that are linked cost privacy."""
    true = true_delta(0.5, 3, 0.25, 2, (2, 2))
    told, dropped = (fake_users_delta(0.5, 3, 2, 0.25, other_rows=rows) for rows in ("blanket", "dropped"))
    assert [round(x, 4) for x in (true, told, dropped)] == [0.1721, 0.2037, 0.2407]
    worst = max(true_delta(0.5, 3, 0.25, 2, held) for held in itertools.product(range(3), repeat=2))
    assert worst <= told
