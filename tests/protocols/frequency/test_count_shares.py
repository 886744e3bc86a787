"""Searches for the best share of kept messages."""

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp.protocols.frequency._count_shares import (
    best_share,
    checked_share,
    local_minima,
    sampled_count_variance,
)


def test_the_deeper_of_two_minima_is_found_on_the_fine_grid():
    def errors(shares):
        return np.minimum((shares - 0.2371234) ** 2 + 0.5, (shares - 0.8) ** 2 + 0.6)

    assert best_share(errors, 0.0) == pytest.approx(0.2371234, abs=1e-6)
    assert best_share(errors, 0.6) == pytest.approx(0.8, abs=1e-6)


def test_nothing_is_dropped_for_a_gain_too_small_to_see():
    assert best_share(lambda shares: 1 + 1e-5 * shares, 0.1) == 1.0
    assert best_share(lambda shares: 1 + 1e-2 * shares, 0.1) == pytest.approx(0.1)


def test_ends_count_as_minima_and_the_least_comes_first():
    assert local_minima([3.0, 4.0, 1.0, 5.0, 2.0]) == [2, 4, 0]


@pytest.mark.parametrize("share", [0.0, -1.0, 0.2, 1.01, float("nan")])
def test_a_share_outside_of_its_range_is_refused(share):
    with pytest.raises(ValueError, match="beta must be"):
        checked_share("beta", share, 0.3)


@pytest.mark.parametrize(
    ("noise", "rate", "held"), [(0.0, 0.3, 7), (2.5, 1.0, 4), (1.7, 0.6, 0), (3.0, 0.1, 12)]
)
def test_it_is_the_variance_of_the_estimate(noise, rate, held):
    x = np.arange(held + 1)
    law = binom.pmf(x, held, rate)
    sampled = law @ (x / rate - held) ** 2  # the mean of x / rate is held
    assert sampled_count_variance(noise, rate, held) == pytest.approx(sampled + noise / rate**2, rel=1e-12)
    assert sampled_count_variance([noise, noise], rate, [[held], [0]]).shape == (2, 2)
