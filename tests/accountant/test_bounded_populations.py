"""Shuffled batches for which only a lower tail of the number of users is known."""

import math

import pytest

from shuffledp.accountant import bounded_populations, budget
from shuffledp.accountant.bounded_populations import bounded_delta, bounded_epsilon
from shuffledp.accounting import (
    GRR,
    GaussianRandomizer,
    amplified_epsilon,
)
from shuffledp.populations import MomentBounded, SubExponential, SubGaussian

TAILS = [SubGaussian(9_000.0, 80.0), SubExponential(9_000.0, 1.0, 0.02)]
POPULATIONS = [*TAILS, MomentBounded(9_000.0, 100.0)]
DELTA = 1e-6


@pytest.mark.parametrize("population", TAILS)
def test_mean_is_sharper_than_closed_form(population):
    closed = amplified_epsilon(population, 4.0, DELTA, accounting="corrected")
    assert bounded_epsilon("clones", population, 4.0, DELTA) < 0.6 * closed


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("report", ["clones", GRR(4.0, 50)])
def test_eps_is_the_inverse_of_delta(population, report):
    eps = bounded_epsilon(report, population, 4.0, DELTA)
    assert bounded_delta(report, population, 4.0, eps, DELTA) <= DELTA
    assert bounded_delta(report, population, 4.0, 0.99 * eps, DELTA) > DELTA


def test_report_that_reveals_has_no_eps(monkeypatch):
    monkeypatch.setattr(bounded_populations, "population_delta", lambda *given: 1.0)
    assert math.isinf(bounded_epsilon(GaussianRandomizer(1.0), TAILS[0], math.inf, DELTA))


def test_ends():
    assert bounded_delta("clones", TAILS[0], 1.0, 1.0, DELTA) == 0
    alone = MomentBounded(3.0, 1e6)
    assert bounded_epsilon("clones", alone, 1.0, DELTA) == pytest.approx(1.0, rel=1e-4)


@pytest.mark.parametrize("population", TAILS)
def test_a_budget_is_met(population):
    found = budget(1.0, delta=DELTA, population=population, randomizer="grr", domain_size=50)
    fixed = budget(1.0, 9_001, DELTA, randomizer="grr", domain_size=50)
    assert found.eps <= 1
    assert 0.99 * fixed.eps_local < found.eps_local < fixed.eps_local
