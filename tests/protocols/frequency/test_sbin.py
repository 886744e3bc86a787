"""Fair coins of a trusted shuffler: the table of the specification, sums over outcomes, and the closed form."""

import pytest

from shuffledp.protocols.frequency._count_shares import sampled_count_variance
from shuffledp.protocols.frequency.sbin import sbin_dummies


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
