"""The finite laws of the audit against plain sums, and its divergences against brute force."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, multinomial, nbinom

from shuffledp.audit import laws
from shuffledp.audit.laws import (
    Block,
    PairNoise,
    binomial_counts,
    hockey_stick,
    mixed,
    multinomial_counts,
    negative_binomials,
    outcomes,
    plus,
    point,
    pooled,
)


def brute_force(pairs, eps):
    total = 0.0
    for cells in product(*(range(p.size) for p, _ in pairs)):
        p = math.prod(pair[0][i] for pair, i in zip(pairs, cells, strict=True))
        q = math.prod(pair[1][i] for pair, i in zip(pairs, cells, strict=True))
        total += max(0.0, p - math.exp(eps) * q)
    return total


def random_pairs(rng, sizes):
    pairs = []
    for size in sizes:
        p, q = rng.dirichlet(np.ones(size)), rng.dirichlet(np.ones(size))
        p[0], q[-1] = 0.0, 0.0  # outcomes that only one of them has
        pairs.append((p / p.sum(), q / q.sum()))
    return pairs


@pytest.mark.parametrize("sizes", [(4,), (3, 5), (4, 3, 5), (3, 3, 3, 4)])
@pytest.mark.parametrize("eps", [0.0, 0.4, 2.0])
def test_hockey_stick_of_products_is_the_sum(sizes, eps):
    pairs = random_pairs(np.random.default_rng([len(sizes), int(10 * eps)]), sizes)
    assert hockey_stick(pairs, eps) == pytest.approx(brute_force(pairs, eps), rel=1e-12)


def test_the_grid_errs_to_the_low_side_and_little(monkeypatch):
    pairs = random_pairs(np.random.default_rng(1), (5, 6, 7))
    exact = brute_force(pairs, 0.7)
    monkeypatch.setattr(laws, "_MULTIPLIED", 1)
    on_grid = hockey_stick(pairs, 0.7)
    assert exact * (1 - 1e-3) <= on_grid <= exact * (1 + 1e-12)
    assert on_grid != exact


def test_what_a_law_leaves_out_is_never_counted_as_loss():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    whole = hockey_stick([(p, q)], 0.1)
    for cut in range(3):
        kept = np.delete(np.arange(3), cut)
        assert hockey_stick([(p[kept], q[kept])], 0.1) <= whole


def test_outcomes_are_matched_by_their_counts():
    first, second = Block(np.array([0.4, 0.6]), (0,)), Block(np.array([0.4, 0.6]), (1,))
    p, q = outcomes(first, second)
    assert p.tolist() == [0.4, 0.6, 0.0]
    assert q.tolist() == [0.0, 0.4, 0.6]


def test_adding_users_convolves():
    block = point(1)
    for _ in range(7):
        block = plus(block, {(0,): 0.7, (1,): 0.3})
    assert block.mass == pytest.approx(binom.pmf(np.arange(8), 7, 0.3))
    moved = plus(block, {(-2,): 1.0})
    assert moved.start == (-2,)
    assert moved.mass == pytest.approx(block.mass)


def test_mixtures_weigh_their_parts():
    found = mixed([(0.25, binomial_counts(1, 0.5)), (0.75, Block(np.ones(1), (2,)))])
    assert found.start == (0,)
    assert found.mass.tolist() == pytest.approx([0.125, 0.125, 0.75])


@pytest.mark.parametrize(
    ("total", "chances"), [(5, [0.2, 0.3]), (90, [0.1, 0.25]), (7, [0.5, 0.5]), (4, [1.0])]
)
def test_multinomial_counts(total, chances):
    block = multinomial_counts(total, chances)
    rest = max(0.0, 1 - sum(chances))
    for place in product(*(range(s, s + n) for s, n in zip(block.start, block.mass.shape, strict=True))):
        left = total - sum(place)
        expected = multinomial.pmf([*place, left], total, [*chances, rest]) if left >= 0 else 0.0
        at = tuple(x - s for x, s in zip(place, block.start, strict=True))
        assert block.mass[at] == pytest.approx(expected, rel=1e-10, abs=1e-300)
    assert block.mass.sum() == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("step", [(0, 0), (1, 0), (2, 3), (-1, 2), (3, 0)])
def test_pair_noise_is_the_law_of_two_counts(step):
    ratio, common, band, top = 0.4, ((0.7, 0.5), (1.3, 0.8)), 3, 60
    both = negative_binomials(common).mass
    alone = nbinom.pmf(np.arange(top), 1, 1 - ratio)
    table = np.zeros((top + both.size, top + both.size))
    for times, chance in enumerate(both):
        table[times : times + top, times : times + top] += chance * np.outer(alone, alone)
    pair = PairNoise(ratio, common, band)
    block = pair.moved(step)
    assert block.mass.sum() == pytest.approx(1, abs=1e-13)
    expected = np.zeros(block.mass.shape)
    for i, j in product(range(len(table)), repeat=2):
        place = pair.tallied(i + step[0], j + step[1])
        at = tuple(x - s for x, s in zip(place, block.start, strict=True))
        if all(0 <= x < n for x, n in zip(at, expected.shape, strict=True)):
            expected[at] += table[i, j]
    assert block.mass == pytest.approx(expected, abs=1e-12)


def test_pooled_tables_keep_the_mass():
    block = multinomial_counts(30, [0.2, 0.5])
    ends, table = pooled(block, 4)
    assert table.sum() == pytest.approx(block.mass.sum())
    assert [len(end) + 1 for end in ends] == list(table.shape)
    x = np.arange(block.mass.shape[0]) + block.start[0]
    inside = np.searchsorted(ends[0], x, side="right") == 1
    assert table[1].sum() == pytest.approx(block.mass[inside].sum())
