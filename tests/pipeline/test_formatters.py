"""Numbers in sentences."""

import math

import pytest

from shuffledp.pipeline.formatters import (
    changes,
    finite,
    integer,
    listed,
    number,
    percent,
    percents,
    rounded_down,
    rounded_up,
    span,
)


@pytest.mark.parametrize(
    "value, text",
    [
        (0, "0"),
        (2.0, "2"),
        (0.9996, "1.00"),
        (1234.5, "1,230"),
        (3.97e6, "3,970,000"),
        (1.23e-6, "1.23e-6"),
        (4.4e12, "4.40e12"),
        (math.inf, "infinitely many"),
    ],
)
def test_numbers_have_three_digits(value, text):
    assert number(value) == text


def test_several_numbers_are_no_number():
    assert integer([48841]) == "48,841"
    for formatter in (number, integer):
        with pytest.raises(ValueError, match="2 numbers"):
            formatter([1, 2])


def test_gaps_are_no_numbers():
    assert finite([1.0, math.nan], {"a": 2.0}.values()).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="No point"):
        span([math.nan])


def test_equal_ends_are_one_number():
    assert [span(both) for both in ([3, 1.0], [2.0, 2.0001], [1, 10], [0.5, math.inf])] == [
        "1 to 3",
        "2.00",
        "1 to 10",
        "0.500 to infinitely many",
    ]


def test_bound_is_rounded_to_its_side():
    assert (rounded_down([1.239, 5]), rounded_up([1, 5.001])) == ("1.23", "5.01")


def test_percentages_hide_rounding_errors():
    assert [percent(v) for v in (-1e-12, -0.012, 0.4874, (0.11, 0.14))] == [
        "0 %",
        "-1.20 %",
        "48.7 %",
        "11 to 14 %",
    ]
    assert percents([0.5, -1e-6]) == "50, 0 %"


@pytest.mark.parametrize(
    "ratios, text",
    [
        ([1.001, 1], "does not change it"),
        ([1.02, 1], "changes it by at most 2 %"),
        ([2, 4], "lowers it 2 to 4 times"),
        ([0.5, 0.25], "raises it 2 to 4 times"),
        ([1, 4], "lowers it up to 4 times"),
        ([1, 0.25], "raises it up to 4 times"),
        ([0.5, 4], "multiplies it by 0.250 to 2"),
    ],
)
def test_a_ratio_is_a_change(ratios, text):
    assert changes(ratios, "it") == text


def test_names_are_listed():
    assert [listed(names) for names in (["a"], ["a", "b"], [1, 0.5, 1e-6])] == [
        "a",
        "a and b",
        "1, 0.5 and 1e-06",
    ]
