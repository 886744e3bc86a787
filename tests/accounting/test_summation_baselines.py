"""Baselines of summation: the published numbers, and exact enumeration where that is possible."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom

from shuffledp.accounting.baselines import told_bits
from shuffledp.accounting.baselines.fragmented_rappor import rappor_delta, rappor_flip_probability
from shuffledp.accounting.baselines.split_and_mix import (
    IKOS_FORMS,
    ikos_distance,
    ikos_group_order,
    ikos_shares,
)
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.random_population.secure_sum import security_bits
from shuffledp.utility.sums import (
    central_laplace_mse,
    discrete_laplace_variance,
    rappor_count_variance,
    rappor_messages,
    rappor_mse,
    real_summation_levels,
    rounded_sum_mse,
    sparse_vector_levels,
)

USERS = (10**4, 10**5, 10**6, 10**7)
VALUES = (2, 3, 5, 10, 15)


def test_central_errors_of_the_figure():
    found = [[round(math.sqrt(central_laplace_mse(d, e)), 3) for d in VALUES] for e in (1.0, 0.9)]
    assert found[0] == [2.799, 4.223, 7.059, 14.136, 21.209]
    assert found[1] == [3.116, 4.696, 7.846, 15.708, 23.567]


@pytest.mark.parametrize("rate", [1e-4, 0.3, 2.0, 20.0, 700.0])
def test_variance_of_discrete_laplace_noise(rate):
    a = math.exp(-rate)
    assert_allclose(discrete_laplace_variance(rate), 2 * a / math.expm1(-rate) ** 2, rtol=1e-12)
    if rate >= 0.3:
        k = np.arange(1, 200)
        assert_allclose(
            discrete_laplace_variance(rate),
            2 * np.sum(k**2.0 * np.exp(-rate * k)) * (1 - a) / (1 + a),
            rtol=1e-12,
        )


@pytest.mark.parametrize(
    ("form", "by_users", "bits_by_users", "bits_by_values"),
    [
        ("figure", [6, 5, 4, 4], [96, 95, 92, 104], [84, 88, 92, 96, 96]),
        ("average", [7, 6, 5, 5], [112, 114, 115, 130], None),
        ("worst_case", [8, 7, 6, 6], [128, 133, 138, 156], None),
    ],
)
def test_shares_and_bits_of_the_figure(form, by_users, bits_by_users, bits_by_values):
    found = [ikos_shares(n, 5, 1.0, 1e-6, form=form) for n in USERS]
    assert found == by_users
    assert [m * math.ceil(math.log2(5 * n)) for m, n in zip(found, USERS, strict=True)] == bits_by_users
    if bits_by_values is not None:
        bits = [ikos_shares(10**6, d, 1.0, 1e-6, form=form) * math.ceil(math.log2(d * 10**6)) for d in VALUES]
        assert bits == bits_by_values


def test_near_tie_and_published_example():
    quotient = (2 * security_bits(1.0, 1e-6) + math.log2(5e4)) / (math.log2(1e4) - math.log2(math.e))
    assert round(quotient, 4) == 5.0031
    # q = 2^32, n = 10^4, 40 bits of security: 12 messages.
    delta = (1 + math.e) * 2.0**-40
    assert ikos_shares(10**4, 1, 1.0, delta, form="worst_case", group_order=2**32) == 12


def set_partitions_by_colour(n, q, shares):
    """E[q^(C - 1)] by drawing all tuples of permutations."""
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


@pytest.mark.parametrize(
    ("n", "q", "shares"), [(2, 2, 3), (3, 3, 2), (3, 5, 3), (4, 4, 3), (4, 9, 3), (3, 40, 4)]
)
def test_collision_bound_counts_components(n, q, shares):
    want = 0.5 * math.sqrt(set_partitions_by_colour(n, q, shares) - 1)
    assert_allclose(ikos_distance(n, q, shares), min(want, 1.0), rtol=1e-12)


def shuffled_views(inputs, q, shares):
    """Law of the sorted messages of all users, by enumeration of all shares."""
    views: dict[tuple[int, ...], float] = {}
    n = len(inputs)
    for free in itertools.product(range(q), repeat=n * (shares - 1)):
        rows = [free[i * (shares - 1) : (i + 1) * (shares - 1)] for i in range(n)]
        sent = [m for row, x in zip(rows, inputs, strict=True) for m in (*row, (x - sum(row)) % q)]
        key = tuple(sorted(sent))
        views[key] = views.get(key, 0.0) + q ** -(n * (shares - 1))
    return views


@pytest.mark.parametrize(
    ("inputs", "q", "shares"), [((0, 0), 2, 4), ((0, 1), 3, 3), ((1, 1, 0), 3, 3), ((0, 2), 3, 4)]
)
def test_collision_bound_holds_for_the_exact_distance(inputs, q, shares):
    found = shuffled_views(inputs, q, shares)
    n, total = len(inputs), sum(inputs) % q
    uniform: dict[tuple[int, ...], float] = {}
    for sent in itertools.product(range(q), repeat=n * shares):
        if sum(sent) % q == total:
            key = tuple(sorted(sent))
            uniform[key] = uniform.get(key, 0.0) + q ** -(n * shares - 1)
    distance = 0.5 * sum(abs(found.get(k, 0.0) - uniform.get(k, 0.0)) for k in found.keys() | uniform.keys())
    assert 0 < distance <= ikos_distance(n, max(q, n), shares)


@pytest.mark.parametrize("n", [100, 1000, 5000])
def test_collision_shares_are_enough_and_near_the_leading_term(n):
    sigma = security_bits(1.0, 1e-6)
    shares = ikos_shares(n, 5, 1.0, 1e-6, form="collision")
    assert ikos_distance(n, 5 * n, shares) <= 2.0**-sigma < ikos_distance(n, 5 * n, shares - 1)
    assert shares == math.ceil(2 + (2 * sigma - 2 + math.log2(5 * n)) / math.log2(n))
    assert shares <= ikos_shares(n, 5, 1.0, 1e-6, form="worst_case")


def test_average_form_is_no_bound_for_all_inputs():
    """Three shares of bits, all zeros against all ones among 10^4 users: the count of ones tells them apart."""
    n, q, shares = 10**4, 2, 3
    # An input 0 sends 0 or 2 ones, an input 1 sends 1 or 3, with probabilities 1/4 and 3/4, 3/4 and 1/4.
    counts = np.arange(3 * n + 1)
    zeros = np.where(counts % 2 == 0, binom.pmf(counts // 2, n, 0.75), 0.0)
    moved = counts - n
    ones = np.where((moved % 2 == 0) & (moved >= 0), binom.pmf(moved // 2, n, 0.25), 0.0)
    distance = 0.5 * float(np.sum(np.abs(zeros - ones)))
    formula = 2.0 ** -(((shares - 1) * (math.log2(n) - math.log2(math.e)) - math.log2(q)) / 2)
    assert_allclose(distance, 2.9e-3, rtol=0.02)
    assert_allclose(formula, 3.8e-4, rtol=0.02)


def test_group_order_leaves_room_for_the_noise():
    order = ikos_group_order(10**4, 5, 1.0, 1e-10)
    assert order == 5 * 10**4 + 1 + 2 * math.ceil(5 * math.log(2e10))
    a, r = math.exp(-1 / 5), (order - 1 - 5 * 10**4) // 2
    assert 2 * a ** (r + 1) / (1 + a) <= 1e-10


@pytest.mark.parametrize(
    ("n", "p", "noise", "worst"),
    [
        (10**4, 4.2105e-3, 42.642, 50.04),
        (10**5, 4.2599e-4, 42.653, None),
        (10**6, 4.2649e-5, 42.654, None),
        (10**7, 4.2654e-6, 42.6545, None),
    ],
)
def test_flip_probabilities_of_the_figure(n, p, noise, worst):
    found = rappor_flip_probability(n, 1.0, 1e-6)
    assert_allclose(found, p, rtol=1.3e-5)
    assert_allclose(rappor_count_variance(n, found), noise, atol=6e-4)
    assert rappor_delta(n, found, 1.0) <= 1e-6 < rappor_delta(n, found * (1 - 1e-6), 1.0)
    other = rappor_flip_probability(n, 1.0, 1e-6, calibration="worst_case")
    assert_allclose(rappor_count_variance(n, other), worst or 50.04, atol=0.006)
    ratio = rappor_delta(n, found, 1.0, calibration="worst_case") / rappor_delta(n, found, 1.0)
    assert_allclose(ratio, 4.72, atol=0.02)
    if n == 10**4:
        assert_allclose(other, 4.930e-3, rtol=1e-4)


@pytest.mark.parametrize("eps", [0.3, 1.0, 2.5])
@pytest.mark.parametrize(("n", "p"), [(2, 0.2), (5, 0.1), (30, 0.05)])
def test_rappor_delta_equals_enumeration(n, p, eps):
    k = np.arange(n + 1)
    flips = binom.pmf(k, n, p)
    moved = p * binom.pmf(k, n - 1, p) + (1 - p) * binom.pmf(k - 1, n - 1, p)
    pairs = {
        "optimistic": [(np.outer(moved, flips), np.outer(flips, moved))],
        "sound": [told(n, p)],
        "worst_case": [
            (np.outer(flips, flips), np.outer(moved, moved)),
            (np.outer(moved, moved), np.outer(flips, flips)),
        ],
    }
    for calibration, laws in pairs.items():
        want = max(float(np.maximum(u - math.exp(eps) * v, 0).sum()) for u, v in laws)
        found = rappor_delta(n, p, eps, calibration=calibration)
        assert_allclose(found, want, rtol=1e-6 if calibration == "sound" else 1e-10, atol=1e-15)
        assert found >= want * (1 - 1e-12)


@pytest.mark.parametrize("eps", [0.0, 0.1, 0.7, 2.0])
@pytest.mark.parametrize("p", [0.01, 0.1, 0.3, 0.45])
@pytest.mark.parametrize("n", [2, 3, 5, 25])
def test_sound_calibration_bounds_delta_of_every_data_set(n, p, eps):
    """Any number of others on either of the two values, both directions, and a victim of whom one bit changes."""

    def count(holders):
        law = binom.pmf(np.arange(holders + 1), holders, 1 - p)
        return np.convolve(law, binom.pmf(np.arange(n - holders + 1), n - holders, p))

    def stick(one, two):
        return float(np.maximum(one - math.exp(eps) * two, 0).sum())

    pairs = [
        (np.outer(count(i + 1), count(j)), np.outer(count(i), count(j + 1)))
        for i in range(n)
        for j in range(n - i)
    ]
    pairs += [(count(i + 1), count(i)) for i in range(n)]
    worst = max(max(stick(a, b), stick(b, a)) for a, b in pairs)
    bound = rappor_delta(n, p, eps, calibration="sound")
    assert worst <= bound * (1 + 1e-12)


def test_worst_case_is_not_the_worst_for_few_users():
    """Three users, others on a third value: worse than others on one of the two, so no proof for all n exists."""
    found = {c: rappor_delta(3, 0.2, 1.0, calibration=c) for c in ("optimistic", "worst_case", "sound")}
    assert_allclose(found["optimistic"], 0.27666924, rtol=1e-7)
    assert_allclose(found["worst_case"], 0.21760767, rtol=1e-7)
    assert found["worst_case"] < found["optimistic"] < found["sound"]


def test_required_flips_by_calibration():
    """Expected flips n p at n = 10^5, delta = 1e-6: a bound for all data sets costs less than twice the noise."""
    found = {
        c: [1e5 * rappor_flip_probability(10**5, e, 1e-6, calibration=c) for e in (0.2, 0.5, 1.0, 2.0)]
        for c in ("optimistic", "worst_case", "sound")
    }
    assert_allclose(found["optimistic"], [711.2, 135.5, 42.60, 18.08], rtol=4e-4)
    assert_allclose(found["worst_case"], [753.6, 152.8, 49.97, 20.15], rtol=2e-4)
    assert_allclose(found["sound"], [1367.3, 260.3, 74.92, 24.43], rtol=2e-4)
    small = [rappor_delta(60, 0.15, 0.5, calibration=c) for c in found]
    assert_allclose(small, [0.01865, 0.02416, 0.0447], rtol=5e-4)


@pytest.mark.parametrize(
    ("n", "flips", "eps"), [(10**6, 2e4, 0.03), (10**9, 3e6, 0.0027), (10**4, 4e3, 0.02)]
)
def test_blocks_of_coins_raise_the_bound_by_little(monkeypatch, n, flips, eps):
    args = (n - 1, flips / n, eps, 1e-20)
    coarse = told_bits.told_bits_delta(*args)
    monkeypatch.setattr(told_bits, "_CELLS", 20 * told_bits._CELLS)
    told_bits._signs._cached.cache_clear()
    fine = told_bits.told_bits_delta(*args)
    told_bits._signs._cached.cache_clear()
    assert 1e-8 < fine <= coarse * (1 + 1e-12) and coarse <= fine * (1 + 1e-3)


def test_sound_calibration_for_many_users():
    found = told_bits.told_bits_delta(10**8 - 1, 145e-8, 1.0, 1e-20)
    assert 9e-11 < found < 1e-10


def test_no_flip_probability_is_claimed_where_none_is_found():
    with pytest.raises(Infeasible, match="No flip probability below 1/2"):
        rappor_flip_probability(2, 1e-14, 1e-14, calibration="sound")


def told(n, p):
    """Laws of both counts and of which bits of the others are uniform, for the two values of the victim."""
    up, down = [], []
    for coins in range(n):
        weight = binom.pmf(coins, n - 1, 2 * p)
        fair = binom.pmf(np.arange(coins + 1), coins, 0.5)
        up.append(weight * np.convolve(fair, [p, 1 - p]))
        down.append(weight * np.convolve(fair, [1 - p, p]))
    one, zero = np.concatenate(up), np.concatenate(down)
    return np.outer(one, zero), np.outer(zero, one)


def test_worst_histogram_is_enumerated_as_described():
    """All others hold value 1 or 2: counts of both bits by the literal protocol, for few users."""
    n, p, eps = 6, 0.15, 0.8

    def count(ones, others):
        law = np.ones(1)
        for keep in [1 - p] * ones + [p] * others:
            law = np.convolve(law, [1 - keep, keep])
        return law

    for mine in range(n):  # others who hold value 1
        theirs = n - 1 - mine
        from_1 = np.outer(count(mine + 1, theirs), count(theirs, mine + 1))
        from_2 = np.outer(count(mine, theirs + 1), count(theirs + 1, mine))
        want = max(
            float(np.maximum(u - math.exp(eps) * v, 0).sum()) for u, v in ((from_1, from_2), (from_2, from_1))
        )
        bound = rappor_delta(n, p, eps, calibration="worst_case")
        assert want <= bound * (1 + 1e-12)
        if mine in (0, n - 1):
            assert_allclose(want, bound, rtol=1e-10)


def test_errors_of_rappor_in_the_figure():
    n = 10**6
    p = rappor_flip_probability(n, 1.0, 1e-6)
    plain = [math.sqrt(rappor_mse(n, d, p, estimator="plain")) for d in VALUES]
    centred = [math.sqrt(rappor_mse(n, d, p, estimator="centred")) for d in VALUES]
    assert [round(v, 1) for v in plain] == [14.6, 24.4, 48.4, 128.1, 230.0]
    assert_allclose(centred, [9.24, 14.6, 27.3, 68.5, 120.4], rtol=2e-3)
    # The published curve is sqrt(2) times the centred one.
    assert_allclose(np.sqrt(2) * np.array(centred), [13.06, 20.65, 38.64, 96.87, 170.31], rtol=2e-4)
    assert_allclose(np.sqrt(2) * np.array(centred), [13.1, 20.6, 38.8, 96.9, 169.8], atol=0.55)
    assert_allclose(rappor_messages(5, p), 1 + 3 * p, rtol=1e-12)


def test_levels_of_real_summation():
    assert real_summation_levels(10**6, 1.0, 0.1) == 994
    assert real_summation_levels(10**6, 1.0, 0.2) == 618
    assert real_summation_levels(10**4, 1.0, 0.2) == 62
    for n, eps, zeta in itertools.product((10**3, 10**6), (0.3, 1.0, 2.0), (0.05, 0.2, 0.4)):
        levels = real_summation_levels(n, eps, zeta)
        assert levels <= eps / 2 * math.sqrt(n / (2 * zeta)) + 1
        allowed = 2 / ((1 - zeta) * eps) ** 2
        printed = [n / (4 * d * d) + 2 / ((1 - zeta / 2) * eps) ** 2 for d in (levels - 1 or 1, levels)]
        assert printed[1] <= allowed * (1 + 1e-12)
        assert levels == 1 or printed[0] > allowed
        assert rounded_sum_mse(n, levels, (1 - zeta / 2) * eps) <= allowed


def test_levels_of_sparse_vectors():
    for n, d, eps, zeta in itertools.product((10**4, 10**6), (1, 17, 100), (0.5, 1.0), (0.1, 0.3)):
        levels = sparse_vector_levels(n, d, eps, zeta)
        error = rounded_sum_mse(n, levels, (1 - zeta / 2) * eps / 2, dimension=d)
        assert error <= 8 * d / ((1 - zeta) * eps) ** 2
        assert levels <= real_summation_levels(n, eps / 2, zeta) / math.sqrt(d) + 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: ikos_shares(10, 5, 1.0, 1e-6, form="best"),
            ValueError,
            "form must be one of figure, average",
        ),
        (lambda: ikos_shares(2, 5, 1.0, 1e-6, form="figure"), ValueError, "n must be an integer in"),
        (lambda: ikos_shares(10**6, 5, 1.0, 1e-6, form="collision"), Infeasible, "n = 1000000"),
        (lambda: ikos_shares(3, 5, 1.0, 1e-300, form="collision"), Infeasible, "64 shares of 3 users"),
        (lambda: ikos_distance(10, 5, 3), ValueError, "group_order must be an integer in"),
        (lambda: rappor_flip_probability(1, 1.0, 1e-6), ValueError, "n must be an integer in"),
        (
            lambda: rappor_flip_probability(10, 1.0, 1e-6, calibration="hopeful"),
            ValueError,
            "calibration must be one of sound, worst_case, optimistic",
        ),
        (lambda: rappor_delta(10, 0.5, 1.0), ValueError, "flip_probability must be in"),
        (lambda: rappor_count_variance(10, 0.7), ValueError, "flip_probability must be in"),
        (
            lambda: rappor_mse(10, 5, 0.1, estimator="best"),
            ValueError,
            "estimator must be one of plain, centred",
        ),
        (lambda: real_summation_levels(10, 1.0, 1.0), ValueError, "zeta must be in"),
        (lambda: central_laplace_mse(0, 1.0), ValueError, "max_value must be"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_one_user_has_nothing_to_hide_among():
    assert ikos_distance(1, 7, 2) == 0.0
    assert set(IKOS_FORMS) == {"figure", "average", "worst_case", "collision"}
