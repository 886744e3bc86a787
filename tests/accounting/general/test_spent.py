"""The smallest eps at which a profile meets the delta of a budget."""

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import GaussianProfile
from shuffledp.accounting.general.spent import spent_epsilon
from shuffledp.tasks import Budget


class Broken:
    def delta(self, eps):
        raise Infeasible("too wide")


def test_missing_profile_has_no_spent_eps():
    assert spent_epsilon(None, Budget(1.0, 1e-5)) is None
    assert spent_epsilon(Broken(), Budget(1.0, 1e-5)) is None
    assert spent_epsilon(GaussianProfile(1.0), Budget(1.0, 1e-5)) > 1


def test_spending_all_is_the_budget():
    class Exactly:
        def delta(self, eps):
            return np.where(np.asarray(eps) >= 1.0, 1e-5, 2e-5)

    assert spent_epsilon(Exactly(), Budget(1.0, 1e-5)) == 1.0
