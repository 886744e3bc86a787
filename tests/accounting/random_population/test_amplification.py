import numpy as np
import pytest

from shuffledp.accounting import (
    Infeasible,
    amplified_epsilon,
    clone_delta,
    local_budget,
)
from shuffledp.accounting.general.clones import OtherReports
from shuffledp.accounting.random_population.closed_forms import (
    corrected_epsilon,
    printed_epsilon,
    simplified_epsilon,
)
from shuffledp.populations import (
    Binomial,
    Empirical,
    Fixed,
    MomentBounded,
    Poisson,
    SubExponential,
    SubGaussian,
)

D = 1e-5


def random_settings(count):
    rng = np.random.default_rng(2023)
    for _ in range(count):
        size = 10 ** rng.uniform(1.5, 5.5)
        rate = 10 ** rng.uniform(-1.5, 0)
        population = Binomial(round(size), rate) if rng.random() < 0.5 else Poisson(size)
        yield population, 10 ** rng.uniform(-1.5, 0.8), 10 ** rng.uniform(-9, -2)


def test_theorems_are_safe_on_random_settings():
    amplified, worst = 0, dict.fromkeys(("printed", "corrected", "simplified"), 0.0)
    for population, eps_local, delta in random_settings(400):
        for accounting in worst:
            eps = amplified_epsilon(population, eps_local, delta, accounting=accounting)
            if eps < eps_local:
                amplified += 1
                worst[accounting] = max(worst[accounting], clone_delta(population, eps_local, eps) / delta)
    assert amplified > 300
    # Safe, and the two full forms waste orders of magnitude of delta.
    assert 0 < worst["printed"] < 2e-4
    assert worst["printed"] < worst["corrected"] < 0.01
    assert 0 < worst["simplified"] < 0.1


@pytest.mark.parametrize("accounting", ["printed", "simplified", "corrected"])
@pytest.mark.parametrize(
    "population", [Fixed(0), Binomial(10, 0.5), Binomial(10**6, 0.0), Poisson(0.0)], ids=repr
)
def test_without_amplification_the_answer_is_local(population, accounting):
    for eps in (1e-6, 0.3, 40.0, 900.0):
        assert local_budget(population, eps, D, accounting=accounting) == eps
        assert amplified_epsilon(population, eps, D, accounting=accounting) == eps


def test_tiny_bounds_fall_back_to_local():
    for population in (
        SubGaussian(10, 100),
        SubExponential(10, 1, 0.01),
        MomentBounded(10, 5),
        Empirical((1.0,), 3),
    ):
        for accounting in ("printed", "corrected"):
            assert amplified_epsilon(population, 1.0, D, accounting=accounting) == 1.0
            assert local_budget(population, 1.0, D, accounting=accounting) == 1.0


@pytest.mark.parametrize("form", [printed_epsilon, simplified_epsilon, corrected_epsilon])
def test_randomized_response_rate_amplifies_more(form):
    clones, response = (
        form(OtherReports(Binomial(10**5, 0.5), reduction=r), D, 1.5)
        for r in ("clones", "randomized_response")
    )
    assert response < clones


def test_a_number_is_no_population():
    with pytest.raises(ValueError, match=r"such as Fixed\(29999\) for 30,000 users, got 29999"):
        local_budget(29999, 1.0, 1e-8)


def test_exact_values_need_more_than_tails():
    for population in (SubGaussian(100, 1), SubExponential(100, 1, 1)):
        for call in (amplified_epsilon, local_budget):
            with pytest.raises(Infeasible, match="corrected"):
                call(population, 1.0, D, accounting="exact")
        with pytest.raises(Infeasible):
            clone_delta(population, 1.0, 0.1)
