"""Two sums of randomized bits: the bound is above delta of every data set, but hardly above the largest delta."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp.accounting import rappor_delta
from shuffledp.accounting.baselines.rappor_known_coins import told_bits_delta
from shuffledp.accounting.baselines.summed_bits import blocks, summed_bits_delta, worst_curve

OMITTED = 1e-25


def pair(others, p, ones):
    """Return the laws of a sum with and without the victim's bit if `ones` of the others have bit 1."""
    law = np.convolve(
        binom.pmf(np.arange(ones + 1), ones, 1 - p),
        binom.pmf(np.arange(others - ones + 1), others - ones, p),
    )
    return np.convolve(law, [p, 1 - p]), np.convolve(law, [1 - p, p])


def divergence(first, second, eps):
    return np.maximum(first - math.exp(eps) * second, 0).sum()


def of_data_set(others, p, eps, first, second):
    """Return delta of two sums; `first` and `second` are their numbers of ones, and the second sum is reversed."""
    (p0, q0), (p1, q1) = pair(others, p, first), pair(others, p, second)
    return divergence(np.outer(p0, p1), np.outer(q0, q1), eps)


@pytest.mark.parametrize(("others", "p"), [(1, 0.1), (3, 0.2), (7, 0.05), (12, 0.3), (16, 0.02)])
@pytest.mark.parametrize("eps", [0.0, 0.1, 0.5, 1.0, 2.0])
def test_no_data_set_loses_more(others, p, eps):
    bound = summed_bits_delta(others, p, eps, OMITTED)
    everything = range(others + 1)
    worst = max(of_data_set(others, p, eps, a, c) for a in everything for c in everything)
    assert worst <= bound * (1 + 1e-9) + 1e-15


@pytest.mark.parametrize(("others", "p"), [(4, 0.2), (9, 0.05)])
def test_the_square_of_numbers_of_ones_holds_all_data_sets_and_both_directions(others, p):
    """The direct computation has a holders of the first value and b of the second; the victim changes between them."""
    square = {
        round(of_data_set(others, p, 0.3, a, c), 12) for a in range(others + 1) for c in range(others + 1)
    }
    for a in range(others + 1):
        for b in range(others + 1 - a):
            (p0, q0), (p1, q1) = pair(others, p, a), pair(others, p, b)
            before, after = np.outer(p0, q1), np.outer(q0, p1)
            for one, other in ((before, after), (after, before)):
                assert round(divergence(one, other, 0.3), 12) in square


@pytest.mark.parametrize(
    ("users", "eps_bit", "eps", "excess"),
    [(1_000, 1.0, 0.18, 1e-2), (100_000, 5.0, 0.2974, 5e-3), (100_000, 7.0, 0.95, 5e-3)],
)
def test_hardly_more_than_the_worst_data_set_known(users, eps_bit, eps, excess):
    """All others hold one of the two values. The previous bound revealed bits to the adversary and was much larger."""
    p = 1 / (1 + math.exp(eps_bit))
    bound = summed_bits_delta(users - 1, p, eps, OMITTED)
    known = rappor_delta(users, p, eps, calibration="worst_case")
    assert known < bound < (1 + excess) * known
    assert told_bits_delta(users - 1, p, eps, OMITTED) > 1.5 * bound


@pytest.mark.parametrize("others", [1, 2, 3, 47, 48, 399, 12_345, 10**6])
@pytest.mark.parametrize("p", [0.4999, 0.2, 1e-3])
def test_blocks_cover_every_number_once(others, p):
    found = blocks(others, p)
    assert found[0][0] == 0
    assert found[-1][1] == others
    assert all(after[0] == before[1] + 1 for before, after in pairwise(found))
    assert all(first <= last for first, last in found)
    assert len(found) <= 802


def test_a_handful_of_users_is_told_nothing():
    assert blocks(5, 0.3) == [(i, i) for i in range(6)]


@pytest.mark.parametrize(("others", "p"), [(30, 0.2), (5_000, 0.01)])
def test_the_curve_is_that_of_a_pair_above_those_of_every_number(others, p):
    curve = worst_curve(others, p, OMITTED)
    slopes = np.diff(curve.value) / np.diff(curve.t)
    assert np.all(np.diff(slopes) > -1e-12)
    assert slopes[0] >= -1 - 1e-9 and curve.value[-1] == 0
    for ones in (0, 1, others // 3, others // 2, others):
        first, second = pair(others, p, ones)
        for t in (0.5, 0.9, 1.0, 1.3, 2.5):
            own = np.maximum(first - t * second, 0).sum()
            assert own <= np.interp(t, curve.t, curve.value) + 1e-12


def test_large_sums_use_the_fourier_transform_and_stay_above():
    users, eps_bit, eps = 10**7, 4.0, 0.0152
    p = 1 / (1 + math.exp(eps_bit))
    known = rappor_delta(users, p, eps, calibration="worst_case")
    assert known < summed_bits_delta(users - 1, p, eps, 1e-20) < 1.05 * known
