"""Curves of one sum from contour integrals: above sums of positive terms, and close to them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp.accounting.baselines import bit_tails
from shuffledp.accounting.baselines.bit_tails import excess_divergences, half_tails
from shuffledp.numerics.windows import binomial_window

OMITTED = 1e-24


def directly(ones, zeros, p, tau):
    """Return hockey-stick divergences of the pair by sums of positive terms, which are precise far into the tail."""
    up, down = binomial_window(zeros, p, 1e-40).pmf, binomial_window(ones, p, 1e-40).pmf[::-1]
    law = np.append(np.convolve(up, down), 0.0)
    tails = np.cumsum(law[::-1])[::-1]
    ratio = ((1 - p) * law[:-1] + p * law[1:]) / (
        p * law[:-1] + (1 - p) * law[1:]
    )  # of P and Q at j = 1, 2, ..
    start = np.searchsorted(ratio, 1 + tau, side="right")
    before = np.append(law, 0.0)[start]
    return (1 - 2 * p - p * tau) * before - tau * np.append(tails, 0.0)[start + 1]


@pytest.mark.parametrize(
    ("known", "p"),
    [
        ((0, 2_000), 0.4),
        ((2_000, 0), 0.4),
        ((700, 1_300), 0.02),
        ((0, 10**6), 3e-5),
        ((10**6, 0), 3e-5),
        ((10**6, 10**7), 2e-5),
        ((300_000, 10_000), 0.3),
        ((4_000, 6_000), 0.4999),
    ],
)
def test_above_the_divergence_and_by_chords_only(known, p):
    ones, zeros = known
    spread = math.sqrt((ones + zeros) * p * (1 - p))
    most = (1 - 2 * p) / p
    tau = np.minimum(np.expm1((1 - 2 * p) / spread * np.linspace(0.05, 9.0, 40)), most)
    tau[0] = 0.0
    exact = directly(ones, zeros, p, tau)
    found = excess_divergences([known], p, tau, OMITTED, 400)
    added = OMITTED * (2 + tau)
    assert np.all(found >= exact * (1 - 1e-10))
    seen = exact > 1e-18
    assert np.sum(seen) > 20
    assert np.all(found[seen] - added[seen] <= exact[seen] * (1 + 2e-4))


def test_the_mean_of_a_billion_bits_keeps_its_fraction():
    ones, zeros, p = 3, 10**9 - 7, 0.2718281828
    mean = zeros * Fraction(p) + ones * (1 - Fraction(p))
    assert bit_tails._before_mean(ones, zeros, p) == pytest.approx(
        float(math.floor(mean) - 1 - mean), abs=1e-15
    )


@pytest.mark.parametrize("step", [1, 7])
def test_tails_of_fair_coins(step):
    numbers = np.array([10_000.0, 10_001.0, 10_500.0])
    tail, point = half_tails(numbers, 1e-30, step, 300)
    places = np.ceil(numbers / 2)[:, None] + step * np.arange(tail.shape[1])
    seen = binom.pmf(places, numbers[:, None], 0.5) > 1e-18
    np.testing.assert_allclose(point[seen], binom.pmf(places, numbers[:, None], 0.5)[seen], rtol=1e-9)
    np.testing.assert_allclose(tail[seen], binom.sf(places - 1, numbers[:, None], 0.5)[seen], rtol=1e-9)


@pytest.mark.parametrize("per_deviation", [100, 3])  # falls from the top, or three sums
def test_data_sets_may_be_looked_at_one_by_one(monkeypatch, per_deviation):
    known = [(ones, 3_000 - ones) for ones in range(0, 3_001, 300)]
    tau = np.append(np.expm1(np.linspace(0, 0.8, 50)), 1.0)
    together = excess_divergences(known, 1 / 3, tau, OMITTED, per_deviation)
    each = [excess_divergences([one], 1 / 3, tau, OMITTED, per_deviation) for one in known]
    monkeypatch.setattr(bit_tails, "_AT_A_TIME", 1)
    np.testing.assert_allclose(
        excess_divergences(known, 1 / 3, tau, OMITTED, per_deviation), together, rtol=1e-9, atol=1e-23
    )
    np.testing.assert_allclose(np.max(each, axis=0), together, rtol=1e-9, atol=1e-23)
