"""Two counts that user 1 changes, against sums over all outcomes."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp.pipeline.audit import pairs
from shuffledp.pipeline.audit.finite_laws import binomial_counts
from shuffledp.populations import Binomial, Fixed


def brute_force(total, gains, eps, alone=None):
    laws = ({}, {})
    for (i, j), chance in gains.items():
        own = alone if alone is not None and i + j == 0 else total
        for s, mass in enumerate(own.mass.tolist(), own.start[0]):
            for x in range(s + 1):
                weight = chance * mass * binom.pmf(x, s, 0.5)
                for law, (a, b) in zip(laws, ((i, j), (j, i)), strict=True):
                    law[x + a, s - x + b] = law.get((x + a, s - x + b), 0.0) + weight
    return sum(max(0.0, p - math.exp(eps) * laws[1].get(at, 0.0)) for at, p in laws[0].items())


@pytest.mark.parametrize(
    "gains",
    [
        {(1, 0): 1.0},
        {(1, 0): 0.6, (0, 1): 0.1, (0, 0): 0.3},
        {(3, 0): 1.0},
        pairs.binomial_gains(4, 0.4),
    ],
)
@pytest.mark.parametrize("eps", [0.1, 0.7])
def test_splits_sum_over_all_outcomes(gains, eps):
    total = binomial_counts(20, 0.4)
    found, exact = pairs.of_split(total, gains, eps), brute_force(total, gains, eps)
    assert found.low <= exact * (1 + 1e-12) and exact * (1 - 1e-12) <= found.high
    assert found.low == pytest.approx(found.high, rel=1e-9)


def test_other_messages_depend_on_user_1():
    total, alone = binomial_counts(12, 0.5), binomial_counts(15, 0.4)
    gains = {(1, 0): 0.7, (0, 1): 0.1, (0, 0): 0.2}
    found = pairs.of_split(total, gains, 0.3, alone=alone)
    assert found.low == pytest.approx(brute_force(total, gains, 0.3, alone), rel=1e-9)


@pytest.mark.parametrize("n, each, rate", [(9, 4, 0.3), (500, 3, 0.1), (4, 0, 0.5)])
def test_dummies_of_random_senders(n, each, rate):
    """Their law is a power of the law of one sender."""
    found = pairs.spent(binomial_counts(n, rate), each, 0.4)
    one = rate * binom.pmf(np.arange(each + 1), each, 0.4) + (1 - rate) * (np.arange(each + 1) == 0)
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, one)
    assert found.mass == pytest.approx(law[found.start[0] : found.start[0] + found.mass.size], abs=1e-14)
    assert found.mass.sum() == pytest.approx(1, abs=1e-13)


def test_ranges_are_replaced_by_their_largest():
    assert pairs.ranges(Fixed(7)) == [(7, 1.0)]
    found = pairs.ranges(Binomial(1000, 0.5))
    assert sum(weight for _, weight in found) == pytest.approx(1.0)
    for others, weight in found[:3]:
        assert weight <= binom.cdf(others, 1000, 0.5) + 1e-12


def test_one_and_two_counts():
    noise = binomial_counts(9, 0.3)
    p, q = (
        rate * np.append(0.0, noise.mass) + (1 - rate) * np.append(noise.mass, 0.0) for rate in (0.8, 0.1)
    )
    there, back = pairs.of_one_count(noise, 0.8, 0.1, 0.2)
    assert there.low == pytest.approx(np.maximum(p - math.exp(0.2) * q, 0).sum())
    assert back.low == pytest.approx(np.maximum(q - math.exp(0.2) * p, 0).sum())
    both = np.maximum(np.outer(p, q) - math.exp(0.2) * np.outer(q, p), 0).sum()
    assert pairs.of_two_counts(noise, 0.8, 0.1, 0.2).low == pytest.approx(both)
