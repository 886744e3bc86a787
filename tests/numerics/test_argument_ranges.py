import math

import numpy as np
import pytest

from shuffledp.numerics import argument_ranges

CHECKS = {
    argument_ranges.check_positive: (
        [1e-300, 1, np.float32(0.5)],
        [0, -1, math.inf, math.nan, "1", True, None],
    ),
    argument_ranges.check_nonnegative: ([0, 0.0, 7], [-1e-9, math.inf, math.nan, "0", False]),
    argument_ranges.check_open_unit: ([1e-300, 0.999], [0, 1, -0.1, math.nan, "x", True]),
    argument_ranges.check_unit: ([0, 1, np.float64(0.3)], [-1e-12, 1.0001, math.nan, [], np.True_]),
    argument_ranges.check_count: (
        [0, 5, np.int64(7), 3.0, 2**53],
        [-1, 2.5, math.nan, math.inf, 2**60, 10**400, "3", True],
    ),
}


@pytest.mark.parametrize(("check", "good"), [(c, v) for c, (vs, _) in CHECKS.items() for v in vs])
def test_values_in_range_are_returned(check, good):
    assert check("x", good) == good


@pytest.mark.parametrize(("check", "bad"), [(c, v) for c, (_, vs) in CHECKS.items() for v in vs])
def test_values_out_of_range_are_named(check, bad):
    with pytest.raises(ValueError, match=r"^shares must be ") as caught:
        check("shares", bad)
    assert repr(bad) in str(caught.value)


def test_count_returns_int_and_respects_the_least():
    assert type(argument_ranges.check_count("m", np.float64(4.0), 1)) is int
    with pytest.raises(ValueError, match=r"\[1, 2\^53\]"):
        argument_ranges.check_count("m", 0, 1)


def test_choice_lists_what_is_known():
    assert argument_ranges.check_choice("law", "a", ("a", "b")) == "a"
    with pytest.raises(ValueError, match="law must be one of a, b; got 'c'"):
        argument_ranges.check_choice("law", "c", ("a", "b"))
