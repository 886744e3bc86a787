import numpy as np
import pytest
from scipy.optimize import linprog

from shuffledp.accounting import amplified_epsilon, clone_delta, local_budget
from shuffledp.populations import Empirical, Fixed, MomentBounded


def brute_force(mean, variance, eps_local, eps, most, **how):
    """Return the value of the linear program over all numbers of users up to `most`, in plain coordinates."""
    n = np.arange(most + 1)
    values = np.array([clone_delta(Fixed(int(x)), eps_local, eps, **how) for x in n])
    result = linprog(
        -values,
        A_eq=np.vstack((np.ones(n.size), n / mean)),
        b_eq=[1.0, 1.0],
        A_ub=((n - mean) ** 2 / variance)[None, :],
        b_ub=[1.0],
        method="highs",
    )
    return -result.fun


@pytest.mark.parametrize(
    "mean, variance, eps_local, eps, how",
    [
        (20.0, 30.0, 1.0, 0.3, {}),
        (20.5, 300.0, 1.0, 0.3, {}),
        (20.0, 30.0, 1.0, 0.3, {"dummies": 18, "adaptive": True}),
        (20.0, 30.0, 1.0, 0.3, {"reduction": "randomized_response"}),
        # Flat around the mean: the best quadratic is a constant.
        (5.0, 42.9, 1.86, 1.3, {"dummies": 5, "adaptive": True}),
        (1.0, 0.028, 0.0567, 0.0561, {"dummies": 1, "adaptive": True}),
        # The quadratic has its minimum far behind the first grid.
        (6.98, 225.65, 4.86, 1.458, {}),
        (3.366, 2.873, 3.19, 2.23, {}),
        (0.926, 0.8816, 5.96, 0.0596, {}),
    ],
)
def test_worst_case_equals_linear_programme(mean, variance, eps_local, eps, how):
    got = clone_delta(MomentBounded(mean, variance), eps_local, eps, **how)
    # n of fixed populations with adaptive dummies is filled up inside clone_delta.
    want = brute_force(mean, variance, eps_local, eps, 700, **how)
    assert got == pytest.approx(want, rel=3e-6)
    assert got >= want * (1 - 1e-8)


def test_no_variance_is_a_fixed_population():
    assert clone_delta(MomentBounded(300, 0), 1.0, 0.1) == clone_delta(Fixed(300), 1.0, 0.1)
    # A mean between integers needs some variance; the least one is used.
    split = clone_delta(MomentBounded(30.25, 0), 1.0, 0.1)
    law = Empirical((0.75, 0.25), 30)
    assert split == pytest.approx(clone_delta(MomentBounded(30.25, 0.1875), 1.0, 0.1), rel=1e-9)
    assert split >= clone_delta(law, 1.0, 0.1) * (1 - 1e-9)
    assert clone_delta(MomentBounded(0, 0), 1.0, 0.1) == clone_delta(Fixed(0), 1.0, 0.1)
    assert local_budget(MomentBounded(300, 0), 0.1, 1e-6) == local_budget(Fixed(300), 0.1, 1e-6)
    assert clone_delta(MomentBounded(30, 4), 1.0, 1.0) == 0 < clone_delta(MomentBounded(30, 4), 1.0, 0.99)


def test_budget_and_epsilon_are_inverse():
    population = MomentBounded(2000, 1500)
    budget = local_budget(population, 0.1, 1e-3, accounting="exact")
    assert clone_delta(population, budget, 0.1) <= 1e-3
    assert amplified_epsilon(population, budget, 1e-3, accounting="exact") == pytest.approx(0.1, rel=1e-4)
    assert budget > local_budget(population, 0.1, 1e-3, accounting="corrected")
