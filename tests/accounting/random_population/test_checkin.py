import math

import pytest

from shuffledp.accounting import (
    amplified_epsilon,
    checkin_epsilon,
    checkin_local_budget,
    local_budget,
)
from shuffledp.populations import (
    Fixed,
)

D = 1e-5


def test_checkin_extremes():
    assert checkin_epsilon(10, 1e4, D, accounting="printed") == 1e4
    assert checkin_epsilon(10, 1e4, D, rate=0.0, accounting="printed") == 0.0
    assert checkin_local_budget(10, 1.0, D, rate=0.0, accounting="printed") == math.inf
    assert checkin_epsilon(1, 1.0, D, accounting="printed") == 1.0
    assert checkin_local_budget(1, 1.0, D, accounting="printed") == 1.0


def test_exact_checkin_shuffles_the_slots():
    assert checkin_epsilon(2442, 0.4, D, accounting="exact") == amplified_epsilon(
        Fixed(2441), 0.4, D, accounting="exact"
    )
    assert checkin_local_budget(2442, 0.04, D, accounting="exact") == local_budget(
        Fixed(2441), 0.04, D, accounting="exact"
    )
    for call in (checkin_epsilon, checkin_local_budget):
        with pytest.raises(ValueError, match="rate must be 1"):
            call(2442, 0.4, D, rate=0.5, accounting="exact")
