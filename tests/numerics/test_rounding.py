"""Decimal texts rounded to a side."""

import math

import pytest
from hypothesis import given, strategies as st

from shuffledp.numerics.rounding import decimals_text, number_text

finite = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)


@given(finite, st.integers(1, 15))
def test_text_is_on_its_side(value, digits):
    up, down, nearest = (number_text(value, side, digits) for side in ("up", "down", "nearest"))
    assert float(down) <= value <= float(up)
    assert nearest in (up, down)


@pytest.mark.parametrize(
    "value, side, text",
    [
        (1.0000001, "up", "1.00001"),
        (1.0000001, "down", "1"),
        (1.9999999, "down", "1.99999"),
        (-1.0000001, "up", "-1"),
        (0.0, "up", "0"),
        (0.1, "up", "0.1"),
        (math.inf, "up", "inf"),
        (183_376_426, "up", "183,376,426"),
    ],
)
def test_printed_bounds(value, side, text):
    assert number_text(value, side) == text  # type: ignore[arg-type]


def test_decimals_are_rounded_to_a_side():
    assert decimals_text(0.1, "up", 3) == "0.100"
    assert (decimals_text(12.34501, "up", 2), decimals_text(12.34999, "down", 2)) == ("12.35", "12.34")
    assert decimals_text(1e-9, "up", 3) == "0.001"
    assert decimals_text(float("inf"), "up", 3) == "inf"
