"""The smallest eps at which a profile meets the delta of a budget."""

from __future__ import annotations

import numpy as np
import pytest

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import GaussianProfile
from shuffledp.accounting.general.spent import PRECISION, spent_epsilon
from shuffledp.tasks import Budget


class Broken:
    def delta(self, eps):
        raise Infeasible("too wide")


@pytest.mark.parametrize("mu", [0.05, 0.2, 1.0])
def test_the_spent_eps_is_the_smallest_from_above(mu):
    profile = GaussianProfile(mu)
    spent = spent_epsilon(profile, Budget(1.0, 1e-5))
    assert profile.delta(spent) <= 1e-5 * (1 + 1e-9)
    assert profile.delta(spent * (1 - 2 * PRECISION)) > 1e-5
    assert (spent > 1) == (mu == 1.0)  # a claim that does not hold is seen


def test_the_spent_eps_of_what_has_none():
    assert spent_epsilon(None, Budget(1.0, 1e-5)) is None
    assert spent_epsilon(Broken(), Budget(1.0, 1e-5)) is None
    assert spent_epsilon(GaussianProfile(1.0), Budget(1.0, 1e-5)) > 1


def test_all_of_a_budget_is_the_budget():
    class Exactly:
        def delta(self, eps):
            return np.where(np.asarray(eps) >= 1.0, 1e-5, 2e-5)

    assert spent_epsilon(Exactly(), Budget(1.0, 1e-5)) == 1.0
