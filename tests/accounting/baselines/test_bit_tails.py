"""Curves of one sum from contour integrals: above sums of positive terms, and close to them."""

import math

import numpy as np
import pytest

from shuffledp.accounting.baselines.bit_tails import excess_divergences
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
    "known, p",
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
def test_bound_is_above_the_divergence(known, p):
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
