import numpy as np
import pytest

from shuffledp.accounting import Infeasible
from shuffledp.accounting.segmented.item_calibration import (
    blankets_for_full_reporting,
    reporting_rate,
)
from shuffledp.accounting.segmented.items import (
    all_counts_delta,
    segmented_delta,
)
from shuffledp.accounting.segmented.users import (
    user_level_blankets,
    user_level_delta,
)

# -- one item -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["binomial", "poisson"])
def test_delta_of_one_item_at_ends(law):
    assert segmented_delta(0.1, 0.0, 10, 1.0, 5, blanket_law=law) == 0
    assert segmented_delta(0.1, 0.3, 10, 0.0, 5, blanket_law=law) == 0.3
    assert reporting_rate(10, 0.0, 5, 0.1, 1e-3, blanket_law=law) == 1e-3
    assert reporting_rate(10_000, 5.0, 5, 0.5, 1e-6, blanket_law=law) == 1.0
    assert segmented_delta(0.1, 0.5, 20, 1.0, 5) < all_counts_delta(0.1, 0.5, 20, 1.0, 5) < 0.5
    rates = [segmented_delta(0.1, r, 100, 0.7, 5, blanket_law=law) / r for r in np.linspace(0.02, 1, 30)]
    assert np.all(np.diff(rates) >= 0)  # delta is convex in the rate


# -- arguments --------------------------------------------------------------------------------------------------


def test_too_many_messages_are_refused():
    with pytest.raises(Infeasible, match="too many"):
        segmented_delta(0.1, 0.5, 2**40, 2.0**12, 3)
    with pytest.raises(Infeasible):
        blankets_for_full_reporting(1, 10**6, 3, 1e-5, 1e-9)
    with pytest.raises(Infeasible):
        user_level_blankets(1, 10**6, 3, 1e-4, 1e-9)
    with pytest.raises(Infeasible, match="too many"):
        user_level_delta(0.1, 0.5, 2**40, 2.0**12, 3, 1)
