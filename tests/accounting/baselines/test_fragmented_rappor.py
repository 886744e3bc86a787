"""Baselines of summation: the published numbers, and exact enumeration where that is possible."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom

from shuffledp.accounting.baselines.fragmented_rappor import rappor_delta, rappor_flip_probability
from shuffledp.accounting.baselines.split_and_mix import (
    ikos_distance,
    ikos_shares,
)
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.sums import (
    central_laplace_mse,
    rappor_count_variance,
    rappor_mse,
    real_summation_levels,
)


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
    found = rappor_flip_probability(n, 1.0, 1e-6, calibration="optimistic")
    assert_allclose(found, p, rtol=1.3e-5)
    assert_allclose(rappor_count_variance(n, found), noise, atol=6e-4)

    def delta_of(p):
        return rappor_delta(n, p, 1.0, calibration="optimistic")

    assert delta_of(found) <= 1e-6 < delta_of(found * (1 - 1e-6))
    other = rappor_flip_probability(n, 1.0, 1e-6, calibration="worst_case")
    assert_allclose(rappor_count_variance(n, other), worst or 50.04, atol=0.006)
    ratio = rappor_delta(n, found, 1.0, calibration="worst_case") / delta_of(found)
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
            "calibration must be one of sound, proven, worst_case, optimistic",
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
