"""Rules of verdicts, and one outcome for several accountings."""

from __future__ import annotations

from typing import get_args

import pandas as pd
import pytest

from shuffledp.pipeline.claims.outcomes import (
    Outcome,
    Verdict,
    about,
    combined,
    compared,
    exponent,
    never_above,
    ordering,
    percent,
    percents,
    scaling,
    span,
    tally,
)


@pytest.mark.parametrize(
    ("for_it", "against", "outcome"),
    [
        (5, 0, "holds"),
        (4, 1, "in part"),
        (2, 2, "in part"),
        (1, 2, "fails"),
        (0, 3, "fails"),
        (0, 0, "in part"),  # ties alone
    ],
)
def test_an_ordering_holds_everywhere_or_in_part_from_half_of_the_points(for_it, against, outcome):
    assert ordering(for_it, against) == outcome


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        (True, "holds"),
        (False, "fails"),
        (pd.Series([2.0]).gt(1).all(), "holds"),
        ((3, 0), "holds"),
        (tally(pd.Series([1, 2, 3, 4]) > 2), "in part"),
        (tally(x > 5 for x in (1, 2)), "fails"),
        ("untestable", "untestable"),
    ],
)
def test_a_verdict_is_what_was_found_whether_it_holds_or_at_how_many_points(found, outcome):
    assert Verdict("", found, "").verdict == outcome


def test_a_tally_counts_what_is_true_and_names_all():
    found = tally([True, False, True])
    assert (found.for_it, found.against, f"{found}") == (2, 1, "2 of 3")


@pytest.mark.parametrize(
    ("measured", "outcome"),
    [
        (0.5, "holds"),
        (0.451, "holds"),
        (0.549, "holds"),
        (0.44, "in part"),
        (0.9, "in part"),
        (-0.1, "fails"),
    ],
)
def test_about_a_fraction_is_within_five_points(measured, outcome):
    assert about(measured, 0.5) == outcome


@pytest.mark.parametrize(
    ("outcomes", "together"),
    [
        (("holds", "holds"), "holds"),
        (("fails", "fails"), "fails"),
        (("holds", "in part"), "in part"),
        (("holds", "fails"), "in part"),
        (("holds", "untestable"), "holds"),
        (("untestable", "untestable"), "untestable"),
    ],
)
def test_what_can_be_tested_decides_over_several_accountings(outcomes, together):
    assert set(outcomes) <= set(get_args(Outcome))
    assert combined(outcomes) == together


def test_without_verdicts_nothing_is_combined():
    with pytest.raises(ValueError, match="no verdict"):
        combined([])


@pytest.mark.parametrize(
    ("against", "points", "outcome"), [(0, 4, "holds"), (1, 4, "in part"), (2, 4, "in part"), (3, 4, "fails")]
)
def test_never_above_counts_ties_as_no_violation(against, points, outcome):
    assert never_above(against, points) == outcome


def test_without_points_nothing_is_compared():
    with pytest.raises(ValueError, match="no point"):
        never_above(0, 0)


def test_ties_are_within_half_a_percent():
    assert compared([1.0, 1.0, 1.0, 1.0], [1.004, 0.996, 1.02, 0.98]) == (1, 1, 2)


def test_a_scaling_law_is_a_slope_of_logarithms():
    x = [10.0, 100.0, 1000.0]
    assert scaling(x, [5 / v for v in x]) == pytest.approx(-1)
    assert [exponent(e, -1) for e in (-1.09, -0.5, 0.5)] == ["holds", "in part", "fails"]
    with pytest.raises(ValueError, match="two different x"):
        scaling([3.0, 3.0], [1.0, 2.0])


def test_a_percentage_that_rounds_to_zero_has_no_sign():
    assert [percent(v) for v in (-1e-5, 1e-5, -0.012, 0.4874)] == ["0.0 %", "0.0 %", "-1.2 %", "48.7 %"]
    assert percents([0.5, -1e-5]) == "50.0, 0.0 %"


def test_a_span_of_equal_values_is_one_value():
    assert (span([3, 1.0]), span([2.0, 2.0001], " nats")) == ("1 to 3", "2 nats")
