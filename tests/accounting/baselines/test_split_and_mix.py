"""Split-and-mix: published numbers of shares, and exact enumeration for few users."""

from __future__ import annotations

import itertools
import math

import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting.baselines.split_and_mix import IKOS_FORMS, ikos_distance


def set_partitions_by_colour(n, q, shares):
    """Return E[q^(C - 1)] by enumeration of all tuples of permutations."""
    total, count = 0.0, 0
    for rest in itertools.product(itertools.permutations(range(n)), repeat=shares - 1):
        label = list(range(n))
        for perm in rest:
            for i, j in enumerate(perm):
                old, new = label[i], label[j]
                label = [new if v == old else v for v in label]
        total += q ** (len(set(label)) - 1)
        count += 1
    return total / count


@pytest.mark.parametrize("n, q, shares", [(2, 2, 3), (3, 3, 2), (3, 5, 3), (4, 4, 3), (4, 9, 3), (3, 40, 4)])
def test_collision_bound_counts_components(n, q, shares):
    want = 0.5 * math.sqrt(set_partitions_by_colour(n, q, shares) - 1)
    assert_allclose(ikos_distance(n, q, shares), min(want, 1.0), rtol=1e-12)


def shuffled_views(inputs, q, shares):
    """Return the law of the sorted messages of all users, by enumeration of all shares."""
    views: dict[tuple[int, ...], float] = {}
    n = len(inputs)
    for free in itertools.product(range(q), repeat=n * (shares - 1)):
        rows = [free[i * (shares - 1) : (i + 1) * (shares - 1)] for i in range(n)]
        sent = [m for row, x in zip(rows, inputs, strict=True) for m in (*row, (x - sum(row)) % q)]
        key = tuple(sorted(sent))
        views[key] = views.get(key, 0.0) + q ** -(n * (shares - 1))
    return views


@pytest.mark.parametrize(
    "inputs, q, shares", [((0, 0), 2, 4), ((0, 1), 3, 3), ((1, 1, 0), 3, 3), ((0, 2), 3, 4)]
)
def test_collision_bound_covers_exact_distance(inputs, q, shares):
    found = shuffled_views(inputs, q, shares)
    n, total = len(inputs), sum(inputs) % q
    uniform: dict[tuple[int, ...], float] = {}
    for sent in itertools.product(range(q), repeat=n * shares):
        if sum(sent) % q == total:
            key = tuple(sorted(sent))
            uniform[key] = uniform.get(key, 0.0) + q ** -(n * shares - 1)
    distance = 0.5 * sum(abs(found.get(k, 0.0) - uniform.get(k, 0.0)) for k in found.keys() | uniform.keys())
    assert 0 < distance <= ikos_distance(n, max(q, n), shares)


def test_lone_user_has_distance_zero():
    assert ikos_distance(1, 7, 2) == 0.0
    assert set(IKOS_FORMS) == {"figure", "average", "worst_case", "collision"}
