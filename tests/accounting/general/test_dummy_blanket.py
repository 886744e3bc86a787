"""Sums over evenly spaced numbers of uniform messages, against whole sums."""

import pytest

from shuffledp.accounting.general.dummy_blanket import point_blanket_deltas


@pytest.mark.parametrize("eps", [0.005, 0.01])
def test_spaced_sum_is_just_above(eps):
    whole, spaced = (point_blanket_deltas([200_000], 4, eps, 1.0, 1e-12, most)[0] for most in (10**6, 2048))
    assert whole < spaced <= whole * (1 + 1e-4)
