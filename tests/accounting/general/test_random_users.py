"""Guarantees for a random number of users: stochastically smallest laws, certified means and tail bounds."""

import math

import numpy as np
import pytest

from shuffledp.accounting.general.grr_blanket import grr_blanket_delta
from shuffledp.accounting.general.random_users import (
    LeastNumbers,
    best_split,
    least_numbers,
    mixed_delta,
)
from shuffledp.populations import (
    Binomial,
    Fixed,
    MomentBounded,
    Poisson,
    SubExponential,
    SubGaussian,
)

BOUNDS = [SubGaussian(90.0, 10.0), SubExponential(90.0, 2.0, 0.3), MomentBounded(90.0, 25.0)]


# -- the smallest law ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", BOUNDS)
def test_least_law_has_the_allowed_tail(bound):
    least = least_numbers(bound, 1e-6)
    assert np.all(np.diff(least.others) > 0)
    assert least.others[0] == 0
    assert math.fsum(least.mass) == pytest.approx(1, rel=1e-12)
    for failure in (1e-5, 1e-3, 0.03, 0.4):
        # The bound allows at least `failure` below the number that it gives; so does the law just above it.
        assert least.shortfall(math.floor(bound.lower_bound(failure)) + 2) >= failure


# -- means -----------------------------------------------------------------------------------------------------------


def _grr(others):
    return grr_blanket_delta(0.5, others + 1, 3, 2.0)


@pytest.mark.parametrize("population", [Binomial(60, 0.4), Poisson(30.0), Fixed(11), *BOUNDS])
@pytest.mark.parametrize("gap", [0.2, 0.01])
def test_mean_is_bounded_closely_from_above(population, gap):
    least = least_numbers(population, 1e-6)
    exact = math.fsum(m * _grr(int(n)) for n, m in zip(least.others, least.mass, strict=True))
    found = mixed_delta(_grr, least, gap=gap)
    assert exact * (1 - 1e-12) <= found <= exact * (1 + gap) + least.omitted


def test_omitted_mass_counts_as_no_users():
    least = LeastNumbers(np.array([5, 6]), np.array([0.3, 0.6]), 0.1)
    assert mixed_delta(lambda others: 0.5 * (others == 0), least) == pytest.approx(0.05)
    assert least.shortfall(6) == pytest.approx(0.4)


# -- tail bounds -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("population", [Binomial(29_999, 0.3), Poisson(50.0), *BOUNDS])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.2])
@pytest.mark.parametrize("noise_shares", [False, True])
def test_best_split_adds_up_to_delta(population, delta, noise_shares):
    least = least_numbers(population, delta)
    split = best_split(least, delta, noise_shares=noise_shares)
    assert split.failure + (1 - split.failure) * split.delta <= delta * (1 + 1e-12)
    assert least.shortfall(split.users - 1) <= split.failure * (1 + 1e-12) or split.users == 1
    for other in least.others[:: max(1, least.others.size // 50)].tolist():
        failure = least.shortfall(other)
        if failure < (0.5 * delta if noise_shares else delta):
            left = (delta - failure) / (1 - failure)
            worth = 1 + other if noise_shares else (1 + other) / math.log(2 / left)
            best = split.users if noise_shares else split.users / math.log(2 / split.delta)
            assert worth <= best * (1 + 1e-12)
