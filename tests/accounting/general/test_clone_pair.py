"""Clones by contour integrals: equal to sums over their number, and at least a randomizer's own blanket."""

import itertools

import pytest

from enumerated_reports import both_sides
from shuffledp.accounting import amplified_epsilon, clone_delta
from shuffledp.accounting.general.blanket import population_epsilon
from shuffledp.accounting.general.clone_pair import ClonePair
from shuffledp.populations import Binomial, Fixed, Poisson


@pytest.mark.parametrize("reduction", ["clones", "randomized_response"])
@pytest.mark.parametrize(
    "population", [Fixed(0), Fixed(30), Fixed(10**5), Binomial(10**6, 0.1), Poisson(5e4)], ids=repr
)
def test_clones_are_between_the_two_sides(population, reduction):
    for eps_local, delta in itertools.product((0.1, 1.0, 4.0), (1e-3, 1e-9)):
        exact = amplified_epsilon(population, eps_local, delta, reduction=reduction)
        pair = ClonePair(eps_local, reduction)
        low, high = both_sides(population_epsilon, pair, population, delta)
        assert exact * (1 - 1e-5) - 1e-11 <= low <= exact * (1 + 1e-9)
        assert exact * (1 - 1e-9) <= high <= exact * (1 + 1e-5) + 1e-11


def test_large_local_budgets_do_not_overflow():
    for eps_local in (50.0, 800.0, 1e5):
        delta = clone_delta(Binomial(10**6, 0.5), eps_local, 1.0)
        assert 0.99 < delta <= 1
        assert amplified_epsilon(Binomial(10**6, 0.5), eps_local, 1e-5, accounting="exact") == pytest.approx(
            eps_local, rel=1e-3
        )
