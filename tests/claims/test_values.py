"""Numbers of the documentation's sentences against other ways to them."""

from __future__ import annotations

import math
import re

import pytest

from shuffledp.accounting.baselines.fragmented_rappor import rappor_flip_probability
from shuffledp.claims import comparisons, shuffle_gaussian, summation, values
from shuffledp.populations import Binomial
from shuffledp.utility.sums import central_laplace_mse, rappor_mse


@pytest.mark.parametrize("group", sorted(values.VALUES))
def test_every_number_is_one(group):
    for name, text in values.VALUES[group]().items():
        assert re.fullmatch(r"[0-9][0-9.,e-]*(?: to [0-9][0-9.,]*| of (?:the )?[0-9]+)?(?: %)?", text), (
            name,
            text,
        )


def test_numbers_are_rounded_to_significant_digits():
    assert values._number(9416.7, 4) == "9,417"
    assert values._number(0.00996, 2) == "0.010"
    assert values._number(0.0) == "0"
    assert values._span([2.04, 1.96]) == "2.0"
    assert values._span([11.4, 3.26]) == "3.3 to 11"
    assert values._percent(0.0301) == "3.0 %"


def test_the_errors_of_rappor_are_those_of_its_estimators():
    published = rappor_flip_probability(10**6, 1.0, 1e-6)
    least, most = (
        math.sqrt(rappor_mse(10**6, size, published, estimator=estimator) / central_laplace_mse(size, 1.0))
        for size, estimator in ((2, "centred"), (15, "plain"))
    )
    assert values.summation_values()["rappor published"] == f"{least:.1f} to {most:.0f}"


def test_the_bits_are_those_of_the_points_of_figure_1():
    points = summation.figure_points()
    last = points[(points["panel"] == "c") & (points["curve"] == "correlated noise")].iloc[-1]
    numbers = values.VALUES["summation"]()
    assert numbers["bits best"] == f"{last['other']:.2f}"
    assert numbers["bits modular"] == f"{last['ours']:.1f}"
    assert numbers["bits of the figure"] == f"{last['paper']:.1f}"


def test_the_check_in_budgets_fall_in_the_order_of_the_table():
    budgets = values.checkin_budgets()
    assert budgets["eps"].is_monotonic_decreasing
    by_name = dict(budgets.to_numpy().tolist())
    half = shuffle_gaussian.checkin_budgets(shuffle_gaussian.CHECKIN_SIGMA / 2)
    assert (half.set_index("accountant")["eps"] >= budgets.set_index("accountant")["eps"] * (1 - 1e-9)).all()
    assert by_name["the pair of Theorem 1"] < by_name["convexity of the divergence"]


def test_the_gain_of_figure_3_is_that_of_the_search_over_all_numbers():
    gain, best = values._figure_3_gain(Binomial(5000, 0.2))
    assert best % 10 == 0
    assert 0 < gain < 1
    assert values.VALUES["random population"]()["figure 3 squared gain"] == f"{100 * gain:.1f} %"


def test_dummies_leave_the_error_as_it_is_where_none_are_best():
    assert comparisons.dummies_error(Binomial(5000, 0.2), 0.05, "exact", adaptive=False) == pytest.approx(
        1, abs=1e-12
    )
    assert comparisons.dummies_error(Binomial(5000, 0.2), 0.05, "printed", adaptive=False) < 0.95
