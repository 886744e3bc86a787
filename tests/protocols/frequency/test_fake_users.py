"""Fake users: numbers of the specification, the divergence by enumeration, and the cost of linked rows."""

from __future__ import annotations

import itertools
import math

import numpy as np

from enumerated_reports import histogram, stick
from shuffledp.protocols.frequency.fake_users import fake_users_delta


def row_law(value, q):
    """Return the law of a row of three bits with the value's bit set, if each bit is flipped with probability q."""
    return np.array(
        [
            math.prod(1 - q if bit == (v == value) else q for v, bit in enumerate(bits))
            for bits in itertools.product((0, 1), repeat=3)
        ]
    )


def true_delta(eps, q, others):
    """Return the divergence of all rows between user 1's values 0 and 1, with two fake users."""
    rest = [row_law(v, q) for v in (None, None, *others)]
    return stick(*(histogram([row_law(v, q), *rest]) for v in (0, 1)), eps)


def test_other_rows_are_bounded():
    """The rows of other users are bounded, and bits that are linked cost privacy."""
    true = true_delta(0.5, 0.25, (2, 2))
    told, dropped = (fake_users_delta(0.5, 3, 2, 0.25, other_rows=rows) for rows in ("blanket", "dropped"))
    assert [round(x, 4) for x in (true, told, dropped)] == [0.1721, 0.2037, 0.2407]
    worst = max(true_delta(0.5, 0.25, held) for held in itertools.product(range(3), repeat=2))
    assert worst <= told
