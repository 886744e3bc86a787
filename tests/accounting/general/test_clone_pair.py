"""Clones by contour integrals: equal to sums over their number, and at least a randomizer's own blanket."""

import itertools

import pytest

from shuffledp.accounting import GRR, LaplaceRandomizer, SubsetSelection, amplified_epsilon, blanket_epsilon
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
        low, high = (population_epsilon(pair, population, delta, side) for side in ("lower", "upper"))
        assert exact * (1 - 1e-5) - 1e-11 <= low <= exact * (1 + 1e-9)
        assert exact * (1 - 1e-9) <= high <= exact * (1 + 1e-5) + 1e-11


def test_a_blanket_is_never_worse_than_clones():
    kinds = {
        "clones": (GRR(2.0, 2), GRR(2.0, 40), LaplaceRandomizer(2.0), SubsetSelection(2.0, 20, 4)),
        "randomized_response": (GRR(2.0, 2), GRR(2.0, 40)),
    }
    for reduction, randomizers in kinds.items():
        for randomizer, users in itertools.product(randomizers, (3, 200, 10**5)):
            clones = amplified_epsilon(Fixed(users - 1), 2.0, 1e-6, reduction=reduction)
            assert blanket_epsilon(randomizer, users, 1e-6) <= clones * (1 + 1e-5)
