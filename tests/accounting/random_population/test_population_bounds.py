import pytest

from shuffledp.accounting import (
    Infeasible,
    population_lower_bound,
    population_shortfall,
)
from shuffledp.populations import (
    MomentBounded,
    SubExponential,
    SubGaussian,
)


def test_tail_bounds_have_no_exact_bound():
    for bound in (SubGaussian(900, 30), SubExponential(900, 2, 0.1)):
        with pytest.raises(Infeasible, match="bounds a tail only"):
            population_lower_bound(bound, 1e-3, form="exact")
        with pytest.raises(Infeasible, match="bounds a tail only"):
            population_shortfall(bound, 3)


@pytest.mark.parametrize("delta", [1e-3, 0.1, 0.6])
def test_exact_moment_bound_is_largest(delta):
    moments = MomentBounded(12.3, 4.0)
    exact = population_lower_bound(moments, delta, form="exact")
    assert population_shortfall(moments, exact) <= delta < population_shortfall(moments, exact + 1)
