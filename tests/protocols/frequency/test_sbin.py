"""Fair coins of a trusted shuffler: the table of the specification, sums over outcomes, and the closed form."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp.protocols.frequency._count_shares import sampled_count_variance
from shuffledp.protocols.frequency.sbin import BinomialDummies, sbin_dummies


def double_sum(coins, share, eps):
    """Return the hockey-stick divergence over both counts."""
    law = np.append(binom.pmf(np.arange(coins + 1), coins, 0.5), 0.0)
    held = (1 - share) * law + share * np.append(0.0, law[:-1])
    return np.maximum(np.outer(held, law) - math.exp(eps) * np.outer(law, held), 0).sum()


@pytest.mark.parametrize(
    ("coins", "share", "eps"), [(0, 0.4, 0.3), (7, 1.0, 0.8), (12, 0.6, 0.4), (40, 0.9, 2.0)]
)
def test_delta_is_the_sum_over_both_counts(coins, share, eps):
    assert BinomialDummies(share, coins).delta(eps) == pytest.approx(double_sum(coins, share, eps), rel=1e-12)


def test_many_more_values_than_users_leave_a_small_share():
    found = sbin_dummies(1_000, 10**6, 1.0, 1e-6)
    assert found.delta(1.0) <= 1e-6
    error = sampled_count_variance(found.variance, found.share, 1e-3)
    for beta in (0.02, 0.1, 0.3, 0.6, 1.0):
        other = sbin_dummies(1_000, 10**6, 1.0, 1e-6, beta=beta)
        assert error <= 1.01 * sampled_count_variance(other.variance, beta, 1e-3)


@pytest.mark.parametrize(("eps", "delta", "beta"), [(4.0, 0.3, 0.1), (0.5, 0.1, 0.05), (2000.0, 1e-6, 1.0)])
def test_the_closed_form_holds_at_its_corners(eps, delta, beta):
    """The corners include zero coins, where the kept messages need no noise."""
    printed = sbin_dummies(10, 2, eps, delta, accounting="printed", beta=beta)
    assert printed.delta(eps) <= delta
    assert sbin_dummies(10, 2, eps, delta, beta=beta).coins <= printed.coins


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"beta": 0.0}, "beta must be"),
        ({"beta": 1.5}, "beta must be in"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        sbin_dummies(10, 2, 1.0, 1e-3, **arguments)
