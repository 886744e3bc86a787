"""Correlated noise of a counter: every budget gives an answer or a reason, and other sums confirm the privacy."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from numerical.counts import lone_counter
from numpy.testing import assert_allclose
from scipy.signal import lfilter
from scipy.stats import nbinom

from shuffledp.accounting.baselines import correlated_counts
from shuffledp.accounting.baselines.correlated_counts import (
    CORRELATED_ACCOUNTINGS,
    CounterNoise,
    both_counters_delta,
    correlated_noise,
    counter_delta,
)
from shuffledp.accounting.errors import Infeasible

EPS = (0.1, 0.5, 2.0, 8.0)
DELTAS = (0.9, 1e-2, 1e-6)
SHARES = (0.01, 0.1, 0.5, 0.99)


@pytest.mark.parametrize("accounting", CORRELATED_ACCOUNTINGS)
@pytest.mark.parametrize("eps", EPS)
def test_every_budget_and_share_has_an_answer_that_keeps_its_target(eps, accounting):
    for delta, share in itertools.product(DELTAS, SHARES):
        noise = correlated_noise(eps, delta, accounting=accounting, share=share)
        assert counter_delta(eps / 2, noise) <= delta / 2
        assert both_counters_delta(eps, noise) <= delta
        assert math.isfinite(noise.messages) and noise.variance > 0


@pytest.mark.parametrize("accounting", CORRELATED_ACCOUNTINGS)
@pytest.mark.parametrize("eps", [1e-3, 12.0, 2000.0])
def test_far_away_budgets_have_an_answer_that_keeps_its_target(eps, accounting):
    for delta, share in itertools.product((1 - 1e-12, 0.999, 1e-6, 1e-100), (0.01, 0.99)):
        if eps < 1 and (delta < 1e-6 or share < 0.1):
            continue  # too wide, see below, or seconds of work
        noise = correlated_noise(eps, delta, accounting=accounting, share=share)
        assert math.isfinite(noise.messages) and noise.variance >= 0
        assert counter_delta(eps / 2, noise) <= delta / 2


@pytest.mark.parametrize("eps, delta, share", [(0.001, 1e-15, 0.01)])
def test_noise_too_wide_to_account_for_is_refused_with_a_reason(eps, delta, share):
    with pytest.raises(Infeasible, match=f"too wide: with {share} of eps = {eps}"):
        correlated_noise(eps, delta, accounting="exact", share=share)


# -- privacy by other sums -----------------------------------------------------------------------------------------


def by_joint_law(eps, noise, size):
    """Return the hockey-stick divergence of a counter's messages +1 and -1, from the laws of its three noises."""
    q = math.exp(-noise.eps_geometric)
    z = np.arange(size)
    alone = (1 - q) * q**z
    pairs = nbinom.pmf(z, noise.shape, -math.expm1(-noise.decay)) if noise.shape else (z == 0).astype(float)
    law = np.zeros((size + 1, size))  # one more user at most
    for common in range(size):
        if pairs[common] > 0:
            law[common:-1, common:] += pairs[common] * np.outer(
                alone[: size - common], alone[: size - common]
            )
    with_user = np.zeros_like(law)
    with_user[1:] = law[:-1]
    first = np.maximum(law - math.exp(eps) * with_user, 0).sum()
    return max(first, np.maximum(with_user - math.exp(eps) * law, 0).sum())


@pytest.mark.parametrize(
    "eps, delta, share",
    [
        (8.0, 1e-4, 0.1),
        (4.0, 1e-3, 0.5),
        (4.0, 0.9, 0.01),
        (2.0, 0.3, 0.5),
        (8.0, 0.3, 0.9),
        (6.0, 1e-6, 0.75),
        (0.5, 0.3, 0.1),  # few pairs, nearly Poisson
        (0.5, 0.3, 0.75),  # no pairs
        (1.0, 0.75, 0.1),  # hardly any
    ],
)
def test_targets_are_kept_by_the_joint_law_of_the_messages(eps, delta, share):
    noise = correlated_noise(eps, delta, accounting="exact", share=share)
    got = by_joint_law(eps / 2, noise, 400)
    assert got <= delta / 2 * (1 + 1e-9)
    assert_allclose(counter_delta(eps / 2, noise), got, rtol=1e-9)
    if noise.shape:
        assert got >= delta / 2 * (1 - 1e-6)


@pytest.mark.parametrize(
    "eps, noise",
    [
        (0.5, CounterNoise(0.45, 13.0, 0.02)),
        (0.5, CounterNoise(0.5, 13.0, 0.02)),  # all of eps is spent
        (0.3, CounterNoise(0.1, 0.4, 0.01)),  # a shape below 1
        (0.3, CounterNoise(0.29, 0.9, 0.5)),
        (2.0, CounterNoise(0.5, 1e-12, 0.1)),
        (2.0, CounterNoise(0.5, 40.0, 5.0)),  # p < q e^-eps
        (5.0, CounterNoise(0.5, 2e4, 7.6)),
    ],
)
def test_delta_agrees_with_fifty_digits(eps, noise):
    with mpmath.workdps(50):
        want = lone_counter(eps, noise.shape, noise.decay, mpmath.exp(-mpmath.mpf(noise.eps_geometric)))
    assert_allclose(counter_delta(eps, noise), float(want), rtol=1e-10)


@pytest.mark.parametrize(
    "eps, delta, share", [(0.5, 0.3, 0.25), (1.0, 1e-6, 0.1), (4.0, 0.1, 0.5), (8.0, 1e-4, 0.9)]
)
def test_no_other_ratio_needs_fewer_pairs(eps, delta, share):
    noise = correlated_noise(eps, delta, accounting="exact", share=share)
    less = CounterNoise(noise.eps_geometric, noise.shape * (1 - 1e-6), noise.decay)
    assert counter_delta(eps / 2, less) > delta / 2
    for factor in (1e-3, 0.1, 0.5, 0.8, 1.2, 2.0, 10.0, 1e3):
        decay = min(noise.decay * factor, 9.0)
        as_many = noise.pairs / 1.002 * math.expm1(decay)
        assert counter_delta(eps / 2, CounterNoise(noise.eps_geometric, as_many, decay)) > delta / 2


# -- no pairs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eps", [0.1, 0.5, 3.0])
def test_no_pairs_are_needed_where_delta_alone_hides_a_user(eps):
    share = 0.1
    least = -2 * math.expm1(-(1 - share) * eps / 2)
    if least < 1:
        noise = correlated_noise(eps, least * (1 + 1e-12), accounting="exact", share=share)
        assert noise.shape == noise.pairs == 0
        assert noise.messages == pytest.approx(2 / math.expm1(noise.eps_geometric), rel=1e-12)
        assert counter_delta(eps / 2, noise) == pytest.approx(least / 2, rel=1e-12)
    # Where delta falls below that, pairs set in, at first hardly any.
    gap = 1e-6
    delta = min(least * (1 - gap), 0.999999)
    some = correlated_noise(eps, delta, accounting="exact", share=share)
    assert some.pairs > 0
    if least < 1:
        assert some.pairs < 2 * gap
        assert 0 < correlated_noise(eps, least * (1 - 1e-12), accounting="exact", share=share).pairs < 1e-11


def test_the_moments_of_the_noise():
    noise = CounterNoise(0.7, 2.5, 0.3)
    q, p = math.exp(-0.7), math.exp(-0.3)
    assert noise.pairs == pytest.approx(2.5 * p / (1 - p), rel=1e-14)
    assert noise.singles == pytest.approx(2 * q / (1 - q), rel=1e-14)
    assert noise.variance == pytest.approx(2 * q / (1 - q) ** 2, rel=1e-14)
    assert CounterNoise(2000.0, 2.5, 900.0).messages == 0


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 100])
@pytest.mark.parametrize("ratio", [0.0, 0.3, 0.999])
def test_the_sum_with_a_geometric_variable_is_that_of_a_filter_across_blocks(size, ratio, monkeypatch):
    monkeypatch.setattr(correlated_counts, "_BLOCK", 8)
    law = np.random.default_rng(3).random(size)
    found = correlated_counts.with_geometric(law, ratio)
    assert_allclose(found, lfilter([1.0], [1.0, -ratio], law), rtol=1e-15, atol=0)
