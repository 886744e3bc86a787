import numpy as np
import pytest

from shuffledp.accounting import (
    Infeasible,
    expected_polya_delta,
    group_order,
    share_count,
)
from shuffledp.accounting.random_population.secure_sum import TOO_MANY, most_users
from shuffledp.populations import (
    Binomial,
    Empirical,
    Fixed,
    MomentBounded,
    Poisson,
    SubGaussian,
)

LAWS = [Fixed(20), Binomial(60, 0.3), Poisson(30), Empirical((0.2, 0.3, 0.5), 4)]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_printed_group_order_by_hand(law):
    window = law.window()
    n = window.support + 1
    for tau in (0.3, 2.0, 8.0, 1e3):
        x = next(x for x in range(1, 10**4) if np.sum((n**2 * window.pmf)[n >= x]) <= tau**2)
        assert group_order(law, 4, tau, form="printed") == 4 * x
    with pytest.raises(Infeasible):
        group_order(SubGaussian(10, 1), 4, 1.0, form="safe")


def test_cantelli_bounds_number_of_users():
    """The law with the largest upper tail has two values; user 1 is on top of the others."""
    for mean, variance in ((10.0, 4.0), (0.5, 300.0)):
        above = most_users(MomentBounded(mean, variance)) - 1 - mean
        tail = variance / (variance + np.array([above, above - 1]) ** 2)
        assert tail[0] <= TOO_MANY < tail[1]
    assert share_count(40.0, 2**32, 1) == 1  # a single user splits nothing
    with pytest.raises(Infeasible, match="MomentBounded is not a law"):
        expected_polya_delta(MomentBounded(30, 4), 2.0, 1.0)
