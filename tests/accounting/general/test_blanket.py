"""The blanket accountant: enumeration of small cases, published numbers, and lower bounds below upper bounds."""

import math

import numpy as np
import pytest

from enumerated_reports import both_sides, data_sets, responses, worst_delta
from shuffledp.accounting import (
    GRR,
    FiniteRandomizer,
    Infeasible,
    LaplaceRandomizer,
    blanket_epsilon,
    blanket_randomizer_delta,
)
from shuffledp.accounting.general.blanket import population_delta, population_epsilon
from shuffledp.populations import Binomial, Empirical, Fixed, Poisson

# -- against every data set ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "k, eps_local, users, eps",
    [(2, 1.0, 4, 0.3), (3, 1.0, 4, 0.3), (4, 2.0, 3, 0.5), (5, 1.0, 2, 0.8), (3, 3.0, 5, 1.0)],
)
def test_bounds_enclose_all_responses(k, eps_local, users, eps):
    table = responses(k, eps_local)
    truth = worst_delta(table, data_sets(table, users - 1), eps)
    low, high = both_sides(blanket_randomizer_delta, GRR(eps_local, k), users, eps)
    assert low <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= high
    constant = worst_delta(table, ([row] * (users - 1) for row in table), eps)
    assert low == pytest.approx(constant, rel=1e-5)


def test_exclusive_outputs_count_as_revealed():
    """The third output reveals the first input, so that delta is at least its probability."""
    table = np.array([[0.5, 0.4, 0.1], [0.4, 0.6, 0.0]])
    for eps in (0.0, 0.7, 3.0):
        truth = worst_delta(table, data_sets(table, 2), eps)
        low, high = both_sides(blanket_randomizer_delta, FiniteRandomizer(table), 3, eps)
        assert high >= 0.1 * (1 - 1e-9)
        assert low <= truth * (1 + 1e-9) <= high * (1 + 2e-9)
    assert FiniteRandomizer(table).eps_local == math.inf
    with pytest.raises(Infeasible, match="at every eps"):
        blanket_epsilon(FiniteRandomizer(table), 1000, 1e-3)
    assert blanket_epsilon(FiniteRandomizer(table), 1000, 0.11) < 0.5


def test_disjoint_outputs_have_no_blanket():
    with pytest.raises(Infeasible):
        blanket_epsilon(FiniteRandomizer(np.eye(2)), 1000, 1e-3)


# -- random numbers of users -----------------------------------------------------------------------------------------


def test_random_populations_are_means():
    randomizer, eps = GRR(2.0, 10), 0.2
    for law in (Binomial(300, 0.2), Poisson(40.0)):
        window = law.window(1e-25)
        truth = sum(
            w * blanket_randomizer_delta(randomizer, int(n) + 1, eps)
            for w, n in zip(window.pmf, window.support, strict=True)
            if w > 1e-14
        )
        assert population_delta(randomizer, law, eps, "upper") == pytest.approx(truth, rel=1e-4)


def test_histogram_of_numbers_is_bounded():
    randomizer, law = GRR(2.0, 10), Binomial(300, 0.2)
    window = law.window(1e-12)
    histogram = Empirical(tuple(window.pmf / window.pmf.sum()), window.start)
    exact = population_delta(randomizer, law, 0.2, "upper")
    low, high = both_sides(population_delta, randomizer, histogram, 0.2)
    assert low < exact * (1 + 1e-6)
    assert exact * (1 - 1e-6) < high < 1.3 * exact
    assert population_epsilon(randomizer, law, exact, "upper") == pytest.approx(0.2, rel=1e-5)


def test_nobody_else_is_no_population():
    for law in (Fixed(0), Binomial(0, 0.5), Binomial(9, 0.0), Poisson(0.0)):
        alone = (math.e - math.exp(0.5)) / (math.e + 4)
        assert population_delta(GRR(1.0, 5), law, 0.5, "upper") == pytest.approx(alone, rel=1e-6)


# -- the whole range ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eps_local", [20.0, 40.0, 80.0, 150.0, 300.0])
def test_exposed_budgets_differ_from_rounding(eps_local):
    """The blanket has mass e^-eps_local, so that the probability of no report in it rounds to 1."""
    for randomizer in (GRR(eps_local, 100), LaplaceRandomizer(eps_local)):
        low, high = both_sides(blanket_randomizer_delta, randomizer, 1_000, 1.0)
        assert 0.9 < low <= high <= 1
    alone = blanket_randomizer_delta(GRR(eps_local, 100), 1, 1.0, "lower")
    assert alone == pytest.approx(-math.expm1(1 - eps_local) / (1 + 99 * math.exp(-eps_local)), rel=1e-6)


def test_best_data_set_survives_overflow():
    """There are ten reports over three values. For one data set the root is where a transform is the least float."""
    low, high = both_sides(blanket_epsilon, GRR(4.0, 3), 10, 1e-2)
    assert low == pytest.approx(high, rel=1e-6)
