"""The largest number of messages of many users, against laws in scipy."""

import tracemalloc

import numpy as np
import pytest
from scipy.stats import nbinom, poisson

from shuffledp.accounting.expected_errors.most_messages import RARE, PoissonMessages, most_sent
from shuffledp.designs.coarse_shares import CoarseCentralNoise
from shuffledp.protocols._noise_shares import AtomNoise, JumpShare, NegativeBinomialShare


def most_of(noise, users, share=1.0):
    return most_sent([noise], share, users)


def smallest(tail, allowed):
    """Return the least number whose tail is at most `allowed`, by bisection."""
    low, high = -1, 1
    while tail(high) > allowed:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if tail(middle) <= allowed else (middle, high)
    return high


@pytest.mark.parametrize("users", [1, 100, 30_000, 1e9])
@pytest.mark.parametrize("mean", [0.0, 1e-9, 1e-4, 0.9, 12.0, 5_000.0])
def test_poisson_numbers(mean, users):
    assert most_of(PoissonMessages(mean), users) == smallest(lambda m: poisson.sf(m, mean), RARE / users)


@pytest.mark.parametrize("users", [1, 30_000, 1e9])
@pytest.mark.parametrize("ratio", [0.01, 0.5, 0.99])
@pytest.mark.parametrize("shape", [1e-9, 1e-4, 0.9, 300.0])
def test_negative_binomial_numbers_and_their_multiples(shape, ratio, users):
    found = smallest(lambda m: nbinom.sf(m, shape, 1 - ratio), RARE / users)
    noise = NegativeBinomialShare(shape, 1 - ratio)
    assert most_of(noise, users) == found
    assert most_of(NegativeBinomialShare(7 * shape, 1 - ratio), users, 1 / 7) == found
    assert most_of(AtomNoise(noise, ((1, 2), (-2, 1))), users) == 3 * found


@pytest.mark.parametrize(
    "noise",
    [
        NegativeBinomialShare(0.3, 0.02),
        JumpShare(2.5, 30.0),
        AtomNoise(JumpShare(2.5, 30.0), ((1, 2), (-2, 1))),
        CoarseCentralNoise(0.9, 4),
    ],
)
def test_moments_are_those_of_the_rates(noise):
    rates = noise.rates(5_000)
    for tilt in (1e-6, 1e-3, 0.01):
        direct = rates @ np.expm1(tilt * np.arange(rates.size))
        bound = noise.log_moment(tilt)
        if isinstance(noise, CoarseCentralNoise):
            assert direct <= bound <= direct + 2.0
        else:
            assert bound == pytest.approx(direct, rel=1e-9)


def test_many_noise_parts_are_not_enumerated():
    """If all parts were in memory at once, their rates would need 24 GB."""
    parts = [NegativeBinomialShare(1.0, 1e-4)] + [NegativeBinomialShare(1.0, 0.5)] * 3_000
    tracemalloc.start()
    most = most_sent(parts, 1e-4, 100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 1e4 < most < 1e6
    assert peak < 2**27
