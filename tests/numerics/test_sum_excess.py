"""Expected positive parts of sums: within two bounds by enumeration and mpmath, for all sizes."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy.stats import poisson

from references.laws import binomial
from shuffledp.numerics.sum_excess import Summands, expected_positive_part


def enumerated(values, masses, copies):
    values, masses = [0.0, *values], [1 - sum(masses), *masses]
    total = 0.0
    for places in itertools.product(range(len(values)), repeat=copies):
        total += math.prod(masses[i] for i in places) * max(sum(values[i] for i in places), 0.0)
    return total


def two_point(down, up, copies):
    """Return the excess of a sum of values 1 (probability `up`) and ``down``, with 30 digits."""
    with mpmath.workdps(30):
        values = {j: j + (copies - j) * mpmath.mpf(down) for j in range(copies + 1)}
        law = binomial(copies, up, digits=600)
        return mpmath.fsum(mass * values[j] for j, mass in law.items() if values[j] > 0)


def bounds(*args, **options):
    summands = Summands(*(np.asarray(a, float) for a in args[:2]), *args[2:])
    return [expected_positive_part(summands, side, **options) for side in ("lower", "upper")]


@pytest.mark.parametrize(
    "values, masses, copies",
    [
        ([1.7, -2.1], [0.3, 0.6], 1),
        ([1.7, -2.1], [0.3, 0.7], 5),
        ([2.0, -3.0, -0.3], [0.1, 0.1, 0.5], 6),
        ([1e-3, -1.1e-3], [0.4, 0.4], 4),
        ([3e4, -9e4, -5.0], [1e-5, 1e-5, 0.1], 4),
        ([0.5, 0.0, -0.7], [0.3, 0.2, 0.3], 4),
        ([1.0, -1.0], [0.5, 0.5], 6),  # sums that are exactly 0
    ],
)
def test_bounds_enclose_what_enumeration_finds(values, masses, copies):
    low, high = bounds(values, masses, copies)
    truth = enumerated(values, masses, copies)
    assert truth * (1 - 3e-4) <= low <= truth * (1 + 1e-13)
    assert truth * (1 - 1e-13) <= high <= truth * (1 + 3e-4)  # sums that cancel count noise


SMALL = [
    (copies, down, up)
    for copies in (1, 7, 60, 300)
    for down, up in [(-1.313, 0.5), (-2.017, 0.3), (-9.03, 0.02), (-1.0523, 0.01)]
    if two_point(down, up, copies) > 1e-280
]


@pytest.mark.parametrize("copies, down, up", SMALL)
def test_small_results_keep_their_digits(copies, down, up):
    truth = two_point(down, up, copies)
    low, high = bounds([1.0, down], [up, 1 - up], copies)
    assert truth * (1 - 1e-6) <= low <= truth * (1 + 1e-11)
    assert truth * (1 - 1e-11) <= high <= truth * (1 + 1e-6)


@pytest.mark.parametrize("mean", [0.3, 4.0, 50.0])
def test_poisson_copies_are_a_mean(mean):
    values, masses = [1.0, -1.5], [0.5, 0.5]
    truth = sum(poisson.pmf(k, mean) * float(two_point(-1.5, 0.5, k)) for k in range(1, 30 + int(2.6 * mean)))
    low, high = bounds(values, masses, mean, True)
    assert truth * (1 - 1e-6) <= low <= truth * (1 + 1e-10)
    assert truth * (1 - 1e-10) <= high <= truth * (1 + 1e-3)


@pytest.mark.parametrize("down", [3527.14, 3530.06, 3585.0])
def test_dominant_values_differ_from_nothing(down):
    """The transform is the least float or 0, and the ratio of both overflows."""
    up, other = 0.96466316, 0.0003
    values, masses = [1.0, -55.598 * down, -down], [up, 1 - up - other, other]
    low, high = bounds(values, masses, 10)
    truth = 10 * up**10
    assert truth * (1 - 1e-6) <= low <= truth <= high <= truth * (1 + 1e-6)


def test_nothing_positive_is_nothing():
    assert bounds([-1.0, -0.0], [0.4, 0.5], 9) == [0.0, 0.0]
    assert bounds([], [], 9) == [0.0, 0.0]


def test_upper_bound_holds_beyond_floats():
    low, high = bounds([1.0, -1.0], [1e-6, 1 - 1e-6], 1000)
    assert low == 0.0
    assert 0 < high < 1e-290


def test_results_below_floor_are_bounded():
    low, high = bounds([1.0, -1.0], [0.1, 0.9], 100)
    assert low > 0
    floored = bounds([1.0, -1.0], [0.1, 0.9], 100, floor=1e-3)
    assert floored[0] == 0.0
    assert high < floored[1] < 1e-3


def test_wider_gap_gives_wider_bounds():
    values, masses, copies = [1.0, -1.1, -0.2], [0.2, 0.3, 0.4], 40
    fine, coarse = bounds(values, masses, copies), bounds(values, masses, copies, gap=1e-3)
    assert coarse[0] < fine[0] < fine[1] < coarse[1]
    assert coarse[1] / coarse[0] < 1.01
