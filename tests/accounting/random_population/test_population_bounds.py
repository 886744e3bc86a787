import math

import numpy as np
import pytest
from scipy.optimize import linprog

from shuffledp.accounting import (
    Infeasible,
    population_lower_bound,
    population_shortfall,
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

LAWS = [Fixed(20), Binomial(60, 0.3), Poisson(30), Empirical((0.2, 0.3, 0.5), 4)]


def test_bounds_of_a_tail_have_no_exact_lower_bound():
    for bound in (SubGaussian(900, 30), SubExponential(900, 2, 0.1)):
        with pytest.raises(Infeasible, match="bounds a tail only"):
            population_lower_bound(bound, 1e-3, form="exact")
        with pytest.raises(Infeasible, match="bounds a tail only"):
            population_shortfall(bound, 3)


@pytest.mark.parametrize("law", [*LAWS, MomentBounded(12.3, 4.0), MomentBounded(9, 0.5)], ids=repr)
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.1, 0.6])
def test_exact_lower_bound_is_the_largest_and_corrected_is_valid(law, delta):
    exact = population_lower_bound(law, delta, form="exact")
    assert isinstance(exact, int)
    assert population_shortfall(law, exact) <= delta < population_shortfall(law, exact + 1)
    assert population_lower_bound(law, delta, form="corrected") <= exact + 1e-9


@pytest.mark.parametrize(("mean", "variance"), [(12.3, 4.0), (9.0, 0.5), (3.5, 0.25), (6.2, 30.0)])
def test_shortfall_for_moments_is_the_linear_programme(mean, variance):
    n = np.arange(400)
    for bound in range(1, math.ceil(mean) + 3):
        answer = linprog(
            -(n + 1 < bound).astype(float),
            A_ub=[(n - mean) ** 2 / 100],
            b_ub=[variance / 100],
            A_eq=[np.ones(400), n],
            b_eq=[1, mean],
        )
        assert population_shortfall(MomentBounded(mean, variance), bound) == pytest.approx(
            -answer.fun, abs=1e-7
        )
