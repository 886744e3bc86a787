"""Reference lines: the table of variances, windows against mpmath, deltas against sums over all outcomes."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting.baselines.noisy_counts import (
    discrete_gaussian_window,
    gaussian_ratio,
    noisy_count_delta,
    noisy_count_variance,
    noisy_counts_profile,
    skellam_window,
)
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.sums import discrete_laplace_variance
from shuffledp.accounting.general.count_pairs import added_message, settled_count_delta
from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.numerics.windows import binomial_window, poisson_window

EPS = (0.2, 0.5, 1.0, 2.0)


def column(noise, counts):
    return [noisy_count_variance(eps, 1e-6, noise, counts=counts) for eps in EPS]


def test_variances_of_two_counts():
    laplace = [discrete_laplace_variance(eps / 2) for eps in EPS]
    assert_allclose(laplace, [199.83, 31.834, 7.8354, 1.8413], rtol=3e-5)
    gaussian = column("gaussian", 2)
    assert_allclose(gaussian, [721.15, 129.81, 35.720, 9.9372], rtol=3e-5)
    assert_allclose(np.sqrt(gaussian), [26.854, 11.394, 5.9766, 3.1523], rtol=6e-5)
    assert_allclose(column("skellam", 2), [719.42, 128.01, 33.721, 7.9830], rtol=3e-5)


def test_variances_of_one_count():
    laplace = [discrete_laplace_variance(eps) for eps in EPS]
    assert_allclose(laplace, [49.834, 7.8354, 1.8413, 0.36203], rtol=3e-5)
    assert_allclose(np.sqrt(column("gaussian", 1)), [18.991, 8.0525, 4.2308, 2.2466], rtol=3e-5)
    assert_allclose(column("skellam", 1), [357.29, 61.227, 14.241, 2.1976], rtol=3e-5)


@pytest.mark.parametrize(
    ("eps", "half_coins", "mean"),
    [(0.2, 722.25, 726.69), (0.5, 131.00, 136.10), (1.0, 37.00, 42.655), (2.0, 11.25, 18.087)],
)
def test_the_lines_of_coins_and_of_poisson_dummies_are_the_least_that_meet_the_budget(eps, half_coins, mean):
    """In the same table: M / 4 for M fair coins, and the mean of Poisson dummies."""

    def coins(count):
        return settled_count_delta(lambda tail: added_message(binomial_window(count, 0.5, tail)), eps)

    def poisson(level):
        return settled_count_delta(lambda tail: added_message(poisson_window(level, tail)), eps)

    least = round(4 * half_coins)
    assert coins(least) <= 1e-6 < coins(least - 1)
    assert poisson(mean * (1 + 5e-5)) <= 1e-6 < poisson(mean * (1 - 5e-5))


@pytest.mark.parametrize("variance", [0.01, 3.0, 719.42])
def test_windows_hold_the_laws(variance):
    with mpmath.workdps(40):
        sigma = mpmath.sqrt(variance)
        total = mpmath.nsum(lambda y: mpmath.exp(-(y**2) / (2 * variance)), [-mpmath.inf, mpmath.inf])
        for window, exact in (
            (
                discrete_gaussian_window(float(sigma), 1e-30),
                lambda y: mpmath.exp(-(mpmath.mpf(y) ** 2) / (2 * variance)) / total,
            ),
            (
                skellam_window(variance, 1e-30),
                lambda y: mpmath.exp(-variance) * mpmath.besseli(abs(y), variance),
            ),
        ):
            law = dict(zip(window.support.tolist(), window.pmf.tolist(), strict=True))
            for y in (0, 1, -2, round(5 * float(sigma)), window.stop - 1):
                if exact(y) > 1e-290:
                    assert law[y] == pytest.approx(float(exact(y)), rel=3e-13)
            assert 1 - window.pmf.sum() < 1e-13


@pytest.mark.parametrize("noise", ["gaussian", "skellam"])
@pytest.mark.parametrize(("shift", "eps", "variance"), [(1, 0.3, 2.0), (1, 1.5, 0.4), (3, 0.5, 12.0)])
def test_deltas_are_sums_over_all_outcomes(noise, shift, eps, variance):
    reach = 60 + shift
    y = np.arange(-reach, reach + 1)
    window = (
        discrete_gaussian_window(math.sqrt(variance), 1e-60)
        if noise == "gaussian"
        else skellam_window(variance, 1e-60)
    )
    law = dict(zip(window.support.tolist(), window.pmf.tolist(), strict=True))
    absent = np.array([law.get(int(c), 0.0) for c in y])
    held = np.array([law.get(int(c) - shift, 0.0) for c in y])
    one = np.maximum(held - math.exp(eps) * absent, 0).sum()
    two = np.maximum(np.outer(held, absent) - math.exp(eps) * np.outer(absent, held), 0).sum()
    assert noisy_count_delta(eps, noise, variance, shift=shift, counts=1) == pytest.approx(one, rel=1e-11)
    assert noisy_count_delta(eps, noise, variance, shift=shift) == pytest.approx(two, rel=1e-11)


@pytest.mark.parametrize("noise", ["gaussian", "skellam"])
@pytest.mark.parametrize(("eps", "delta", "shift"), [(0.05, 1e-9, 1), (1.0, 1e-2, 1), (6.0, 1e-4, 2)])
def test_less_noise_does_not_meet_the_budget(noise, eps, delta, shift):
    found = noisy_count_variance(eps, delta, noise, shift=shift)
    assert noisy_counts_profile(noise, found, shift, 2).delta(eps) <= delta * (1 + 1e-9)
    assert noisy_count_delta(eps, noise, found * (1 - 1e-4), shift=shift) > delta


def test_gaussian_ratio_is_the_analytic_gaussian_mechanism():
    for eps, delta in ((0.1, 1e-6), (1.0, 1e-8), (8.0, 0.3)):
        assert log_gaussian_delta(gaussian_ratio(eps, delta), eps) == pytest.approx(math.log(delta), abs=1e-8)


def test_shares_of_a_discrete_gaussian_are_no_noise():
    """With 100,000 users, eps = 1 and delta = 1e-6; a Skellam share is other than 0 about as often as it should be."""
    n = 10**5
    share = noisy_count_variance(1.0, 1e-6, "gaussian") / n
    assert share == pytest.approx(3.6e-4, rel=0.01)
    log_chance = math.log(2) - 1 / (2 * share)  # of 1 or -1; all other values are less likely still
    assert log_chance == pytest.approx(math.log(2) - 1400, abs=1)
    assert discrete_gaussian_window(math.sqrt(share), 1e-300).pmf.max() == 1.0
    skellam = noisy_count_variance(1.0, 1e-6, "skellam") / n
    assert 1 - skellam_window(skellam, 1e-30).pmf.max() == pytest.approx(skellam, rel=1e-3)


def test_noise_that_is_too_wide_is_refused():
    with pytest.raises(Infeasible, match="too wide"):
        noisy_count_variance(0.01, 1e-6, "gaussian", shift=10**5)
