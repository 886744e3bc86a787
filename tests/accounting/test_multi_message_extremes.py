"""Scales far from the first guess, and budgets at which the discrete noise is hardly Gaussian."""

import pytest

from shuffledp.accounting import multi_expected_delta, multi_expected_scale
from shuffledp.populations import Binomial, Empirical


@pytest.mark.parametrize("accounting", ["printed", "exact"])
def test_scale_of_a_population_that_is_sometimes_empty(accounting):
    law = Empirical(
        (1e-3, *[0.0] * 39_999, 0.999)
    )  # alone with probability 1e-3: its noise must suffice by itself
    tau = multi_expected_scale(law, 0.5, 1e-5, 200, accounting=accounting)
    assert multi_expected_delta(law, tau, 0.5, 200, accounting=accounting) <= 0.5e-5 * (1 + 1e-9)
    assert multi_expected_delta(law, tau * 0.999, 0.5, 200, accounting=accounting) > 0.5e-5


def test_large_budgets_raise_no_warning():
    law = Binomial(48841, 0.05)
    tau = multi_expected_scale(law, 6.0, 1e-5, 50, accounting="exact")
    assert 0 < tau < multi_expected_scale(law, 1.0, 1e-5, 50, accounting="exact")
