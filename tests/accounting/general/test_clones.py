import pytest

from shuffledp.accounting import (
    amplified_epsilon,
    clone_delta,
)
from shuffledp.populations import Binomial


def test_large_local_budgets_do_not_overflow():
    for eps_local in (50.0, 800.0, 1e5):
        delta = clone_delta(Binomial(10**6, 0.5), eps_local, 1.0)
        assert 0.99 < delta <= 1
        assert amplified_epsilon(Binomial(10**6, 0.5), eps_local, 1e-5, accounting="exact") == pytest.approx(
            eps_local, rel=1e-3
        )
