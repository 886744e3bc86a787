"""Local privacy from a user's own dummies: three forms of Theorem 5.7, and Corollary 5.3."""

import pytest

from shuffledp.accounting import blanket_delta
from shuffledp.accounting.dump.against_shuffler import (
    SHUFFLER_ACCOUNTINGS,
    mix_shuffler_epsilon,
)


@pytest.mark.parametrize("values", [2, 50, 500])
@pytest.mark.parametrize("eps_local", [0.5, 8.0])
@pytest.mark.parametrize("dummies", [0, 3, 4000])
def test_exact_form_is_the_smallest(values, eps_local, dummies):
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
