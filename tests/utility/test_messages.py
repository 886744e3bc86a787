"""The most messages that any of many users sends, against laws that scipy knows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import nbinom, poisson

from shuffledp.utility.messages import RARE, most_sent, single_messages


def negative_binomial(shape, ratio, times=1):
    def rates(size):
        found = np.zeros(size)
        j = np.arange(1, -(-size // times))
        found[times * j] = shape * ratio**j / j
        return found

    return rates


def smallest(tail, allowed):
    """The least number whose tail is at most `allowed`, by bisection."""
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
    assert most_sent(single_messages(mean), users) == smallest(lambda m: poisson.sf(m, mean), RARE / users)


@pytest.mark.parametrize("users", [1, 30_000, 1e9])
@pytest.mark.parametrize("ratio", [0.01, 0.5, 0.99])
@pytest.mark.parametrize("shape", [1e-9, 1e-4, 0.9, 300.0])
def test_negative_binomial_numbers_and_their_multiples(shape, ratio, users):
    found = smallest(lambda m: nbinom.sf(m, shape, 1 - ratio), RARE / users)
    assert most_sent(negative_binomial(shape, ratio), users) == found
    assert most_sent(negative_binomial(shape, ratio, times=3), users) == 3 * found


def test_very_many_messages_have_a_bound_that_is_not_far_above():
    found = smallest(lambda m: nbinom.sf(m, 300.0, 1e-4), RARE)
    assert found <= most_sent(negative_binomial(300.0, 0.9999), 1) <= 1.05 * found


@pytest.mark.parametrize(("users", "failure"), [(0, 1e-6), (10, 0.0), (10, 1.0)])
def test_numbers_outside_of_their_range_are_refused(users, failure):
    with pytest.raises(ValueError, match="must"):
        most_sent(single_messages(1.0), users, failure=failure)
