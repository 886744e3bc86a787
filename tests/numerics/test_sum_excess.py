"""Expected positive parts of sums: within two bounds by enumeration and mpmath, for all sizes."""

import itertools
import math

import mpmath
import numpy as np
import pytest

from shuffledp.numerics.sum_excess import Summands, _product, expected_positive_part


def enumerated(values, masses, copies):
    values, masses = [0.0, *values], [1 - sum(masses), *masses]
    total = 0.0
    for places in itertools.product(range(len(values)), repeat=copies):
        total += math.prod(masses[i] for i in places) * max(sum(values[i] for i in places), 0.0)
    return total


def two_point(value_up, value_down, up, copies, digits=60):
    """Return the excess of a sum of values ``value_up`` (probability `up`) and ``value_down``, by mpmath."""
    with mpmath.workdps(digits):
        p, total = mpmath.mpf(up), mpmath.mpf(0)
        for j in range(copies + 1):
            value = j * mpmath.mpf(value_up) + (copies - j) * mpmath.mpf(value_down)
            if value > 0:
                total += mpmath.binomial(copies, j) * p**j * (1 - p) ** (copies - j) * value
        return total


def bounds(*args, **options):
    summands = Summands(*(np.asarray(a, float) for a in args[:2]), *args[2:])
    return [expected_positive_part(summands, side, **options) for side in ("lower", "upper")]


@pytest.mark.parametrize(
    ("values", "masses", "copies"),
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
    if two_point(1.0, down, up, copies) > 1e-280
]


@pytest.mark.parametrize(("copies", "down", "up"), SMALL)
def test_small_results_keep_their_digits(copies, down, up):
    truth = two_point(1.0, down, up, copies)
    low, high = bounds([1.0, down], [up, 1 - up], copies)
    assert truth * (1 - 1e-6) <= low <= truth * (1 + 1e-11)
    assert truth * (1 - 1e-11) <= high <= truth * (1 + 1e-6)


def test_many_copies_are_a_normal_law():
    """For a billion signs with a mean, E (sum)^+ = deviation (phi(z) - z Phi(-z))."""
    copies, mean = 10**9, -3.0 / math.sqrt(1e9)
    low, high = bounds([1.0 + mean, -1.0 + mean], [0.5, 0.5], copies, gap=1e-6)
    z = 3.0
    truth = math.sqrt(copies) * (
        math.exp(-z * z / 2) / math.sqrt(2 * math.pi) - z * 0.5 * math.erfc(z / math.sqrt(2))
    )
    assert low <= high
    assert high / low < 1 + 1e-5
    assert abs(high / truth - 1) < 1e-5


@pytest.mark.parametrize("mean", [0.3, 4.0, 50.0])
def test_a_poisson_number_of_copies_is_the_mean_over_numbers(mean):
    values, masses = [1.0, -1.5], [0.5, 0.5]
    truth = sum(
        math.exp(-mean + k * math.log(mean) - math.lgamma(k + 1)) * float(two_point(1.0, -1.5, 0.5, k, 30))
        for k in range(1, 30 + int(2.6 * mean))
    )
    low, high = bounds(values, masses, mean, True)
    assert truth * (1 - 1e-6) <= low <= truth * (1 + 1e-10)
    assert truth * (1 - 1e-10) <= high <= truth * (1 + 1e-3)


def test_sums_that_are_exactly_zero_count_noise():
    """With values -2 and 1, every third number of ups gives 0. The upper bound is within a percent of the truth."""
    truth = two_point(1.0, -2.0, 0.3, 60)
    low, high = bounds([1.0, -2.0], [0.3, 0.7], 60)
    assert truth * (1 - 1e-6) <= low <= truth
    assert truth * (1 + 1e-6) < high < truth * (1 + 1e-2)


@pytest.mark.parametrize("down", [3527.14, 3530.06, 3585.0])
def test_values_that_no_others_make_up_for_are_told_from_nothing(down):
    """The transform is the least float or 0, and the ratio of both overflows."""
    up, other = 0.96466316, 0.0003
    values, masses = [1.0, -55.598 * down, -down], [up, 1 - up - other, other]
    low, high = bounds(values, masses, 10)
    truth = 10 * up**10
    assert truth * (1 - 1e-6) <= low <= truth <= high <= truth * (1 + 1e-6)


def test_most_of_the_contour_of_many_copies_is_skipped():
    """Two laws have a hundred million signs, one on a lattice; skipping moves the bounds by less than rounding."""
    from shuffledp.numerics import sum_excess

    values, masses = np.array([1.0, -1.0001, -0.3]), np.array([0.3, 0.31, 0.2])
    law = sum_excess.PositiveSums(Summands(values, masses, 10**8), 1.0)
    kept, relative = law.relative(1e-3, 1e-4, 20_000, 40.0)
    assert kept[0] == 0
    assert 0 < kept.size < 2_000
    assert np.max(np.abs(relative)) <= abs(relative[0]) * (1 + 1e-6)
    with mpmath.workdps(30):
        for k in (0, 3, 5_000, 19_999):
            s = mpmath.mpc(1e-3, k * 1e-4)
            whole, real = (
                (
                    mpmath.fsum(m * mpmath.exp(z * v) for v, m in zip(values, masses, strict=True))
                    + mpmath.mpf("0.19")
                )
                for z in (s, s.real)
            )
            size = float(abs(whole / real)) ** 1e8
            found = np.abs(relative[kept == k])
            assert found == pytest.approx([size], rel=1e-3) if found.size else size < 1e-16


def test_nothing_positive_is_nothing():
    assert bounds([-1.0, -0.0], [0.4, 0.5], 9) == [0.0, 0.0]
    assert bounds([], [], 9) == [0.0, 0.0]


def test_where_floats_end_the_upper_bound_is_still_above():
    low, high = bounds([1.0, -1.0], [1e-6, 1 - 1e-6], 1000)
    assert low == 0.0
    assert 0 < high < 1e-290


def test_below_the_floor_only_the_side_counts():
    low, high = bounds([1.0, -1.0], [0.1, 0.9], 100)
    assert low > 0
    floored = bounds([1.0, -1.0], [0.1, 0.9], 100, floor=1e-3)
    assert floored[0] == 0.0
    assert high < floored[1] < 1e-3


def test_a_wider_gap_gives_wider_bounds_on_the_right_sides():
    values, masses, copies = [1.0, -1.1, -0.2], [0.2, 0.3, 0.4], 40
    fine, coarse = bounds(values, masses, copies), bounds(values, masses, copies, gap=1e-3)
    assert coarse[0] < fine[0] < fine[1] < coarse[1]
    assert coarse[1] / coarse[0] < 1.01


@pytest.mark.parametrize("shape", [(3, 5, 4), (90, 40, 700), (400, 3, 300)])
def test_products_in_parts(shape):
    rng = np.random.default_rng(3)
    left = rng.normal(size=shape[:2]) + 1j * rng.normal(size=shape[:2])
    right = rng.normal(size=shape[1:]) + 1j * rng.normal(size=shape[1:])
    assert np.allclose(_product(left, right), np.einsum("ij,jk->ik", left, right), rtol=1e-12, atol=1e-12)
