"""Local privacy from a user's own dummies: three forms of Theorem 5.7, and Corollary 5.3."""

import math

import numpy as np
import pytest

from shuffledp.accounting import Infeasible, blanket_delta, dummy_epsilon
from shuffledp.accounting.dump.against_shuffler import (
    SHUFFLER_ACCOUNTINGS,
    mix_shuffler_epsilon,
    pure_shuffler_epsilon,
)


@pytest.mark.parametrize("values", [2, 50, 500])
@pytest.mark.parametrize("eps_local", [0.5, 8.0])
@pytest.mark.parametrize("dummies", [0, 3, 4000])
def test_every_form_holds_and_the_exact_one_is_the_smallest(values, eps_local, dummies):
    delta = 1e-6
    eps = {
        a: mix_shuffler_epsilon(values, dummies, delta, eps_local, accounting=a) for a in SHUFFLER_ACCOUNTINGS
    }
    assert eps["exact"] <= min(eps.values()) * (1 + 1e-9)
    assert max(eps.values()) <= eps_local
    for value in eps.values():
        assert blanket_delta(value, dummies, values, eps_local) <= delta * (1 + 1e-9)
    if eps["exact"] > 1e-9:
        assert blanket_delta(eps["exact"] * (1 - 1e-7), dummies, values, eps_local) > delta


def test_without_dummies_the_closed_forms_are_the_local_budget():
    for accounting in ("printed", "corrected"):
        assert mix_shuffler_epsilon(9, 0, 1e-6, 2.5, accounting=accounting) == pytest.approx(2.5, rel=1e-12)
    alone = mix_shuffler_epsilon(4, 0, 1e-3, 2.0, accounting="exact")
    assert alone == pytest.approx(math.log(math.exp(2.0) - 1e-3 * (math.exp(2.0) + 3)), rel=1e-9)


@pytest.mark.parametrize("accounting", SHUFFLER_ACCOUNTINGS)
def test_eps_does_not_grow_with_dummies(accounting):
    grid = np.unique(np.geomspace(1, 50_000, 30).astype(int))
    eps = [mix_shuffler_epsilon(50, int(s), 1e-6, 8.0, accounting=accounting) for s in grid]
    assert np.all(np.diff(eps) <= 1e-9)


def test_extremes():
    assert mix_shuffler_epsilon(2, 1000, 0.9, 0.1, accounting="exact") == 0.0
    assert mix_shuffler_epsilon(2, 10, 1e-6, 900.0, accounting="printed") == 900.0
    assert 890 < mix_shuffler_epsilon(2, 10, 1e-6, 900.0, accounting="exact") <= 900
    assert mix_shuffler_epsilon(5, 0, 1e-6, 1e-13, accounting="exact") <= 1e-13


def test_the_pure_form_is_the_theorem_for_a_single_user():
    got = pure_shuffler_epsilon(50, 20_000, 1e-6, accounting="printed")
    assert got == pytest.approx(math.sqrt(14 * 50 * math.log(2e6) / 19_999), rel=1e-12)
    exact = pure_shuffler_epsilon(50, 20_000, 1e-6, accounting="exact")
    assert exact == dummy_epsilon(50, 20_000, 1e-6, accounting="exact") < got
    # As the budget grows, a GRR report becomes the value itself.
    assert mix_shuffler_epsilon(50, 20_000, 1e-6, 60.0, accounting="exact") == pytest.approx(exact, rel=1e-8)
    with pytest.raises(Infeasible, match="eps <= 1"):
        pure_shuffler_epsilon(50, 2000, 1e-6, accounting="printed")
