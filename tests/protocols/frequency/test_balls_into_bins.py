"""Dummies by coins of all users: the table of the specification, and settings where the authors' search fails."""

import math

import pytest
from scipy.stats import binom

from shuffledp.accounting.errors import Infeasible
from shuffledp.protocols.frequency.balls_into_bins import bin_dummy_rate, search_delta


def test_search_delta_is_its_definition():
    n, rate, eps = 40, 0.3, 0.4
    wanted = sum(
        binom.pmf(b, n, rate) * binom.sf(math.ceil(math.exp(eps) * b - 1) - 1, n, rate) for b in range(n + 1)
    )
    assert search_delta(eps, n, rate) == pytest.approx(wanted, rel=1e-12)


def test_fair_coins_are_the_limit():
    assert bin_dummy_rate(148, 1.0, 1e-6) <= 0.5
    with pytest.raises(Infeasible, match="147 users are too few"):
        bin_dummy_rate(147, 1.0, 1e-6)
    with pytest.raises(Infeasible, match="fair coin"):
        bin_dummy_rate(5, 0.1, 0.2, accounting="printed", search=True)
    with pytest.raises(Infeasible, match="more than the 100 users"):
        bin_dummy_rate(100, 1.0, 1e-6, accounting="printed")
