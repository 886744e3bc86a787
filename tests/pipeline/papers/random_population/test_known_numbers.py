"""Table II, multi-message protocols, and the best number of dummies, against known numbers."""

import pytest

from shuffledp.accounting import (
    best_polya_shape,
    population_lower_bound,
)
from shuffledp.pipeline.papers.random_population import lower_bounds
from shuffledp.pipeline.papers.random_population.settings import dummies_error
from shuffledp.populations import Binomial


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.1, 0.2, 0.5])
def test_unsafe_bound_keeps_multi_union_delta(rate):
    law = Binomial(48841, rate)
    printed = population_lower_bound(law, 5e-6, form="printed")
    assert all(best_polya_shape(law, eps, 1e-5) > printed for eps in (0.001, 0.5))


def test_table_two():
    table = lower_bounds.table_two().set_index("law")
    verdicts = table["verdict"]
    assert list(verdicts.iloc[:6]) == ["unsafe"] * 4 + ["safe"] * 2
    assert list(verdicts.iloc[6:]) == ["safe"] * 4 + ["open", "right", "safe"]
    assert (table["corrected bound"].iloc[:10] <= table["exact quantile"].iloc[:10]).all()


def test_dummies_gain_nothing_with_exact_accounting():
    adult = Binomial(48_841, 0.05)
    for accounting, adaptive, error, tolerance in (
        ("printed", False, 0.875, 5e-4),
        ("corrected", False, 0.972, 5e-4),
        ("exact", False, 1, 1e-9),
        ("exact", True, 1, 1e-3),
    ):
        found = dummies_error(adult, 0.001, accounting, adaptive=adaptive)
        assert found == pytest.approx(error, abs=tolerance)
