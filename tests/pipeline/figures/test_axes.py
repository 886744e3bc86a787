"""Axes cover the curves of all files, no single curve compresses the others, and every axis is readable."""

import numpy as np
import pytest

from shuffledp.pipeline.figures.axes import Axis, horizontal, power, short, ticks, typeset, vertical
from shuffledp.pipeline.figures.drawn_curves import Strand

X = np.array([1.0, 2.0, 3.0])


def strand(curve, *numbers, error=np.nan):
    y = np.array(numbers, float)
    return Strand(curve, "computed", None, X[: len(y)], y, np.full(len(y), error))


OTHERS = [strand(f"m{i}", 10.0**-i, 2 * 10.0**-i, 3 * 10.0**-i) for i in (5, 6, 7)]


def test_one_curve_far_above_the_others_does_not_squash_them():
    far = strand("far", 0.5e8, 1.0e8, 1.16e8)
    axis = vertical([*OTHERS, far], "log")
    assert 3e-5 < axis.high < 1e-4
    assert axis.low < 1e-7
    # Below as well; where several curves have that part of the axis it is shown, and of three curves each is.
    assert vertical([*OTHERS, strand("low", 1e-15, 1e-13)], "log").low > 1e-8
    assert vertical([*OTHERS, far, strand("far too", 0.1e8, 0.9e8)], "log").high > 1.16e8
    assert vertical([*OTHERS[1:], far], "log").high > 1.16e8
    assert vertical([*OTHERS, strand("near", 1e-4, 2e-4)], "log").high > 2e-4
    assert vertical([*OTHERS, strand("grows", 1e-6, 1e-2, 1.0)], "log").high > 1.0  # it does not lie apart
    # Eight decades hold every curve.
    assert vertical([*OTHERS, strand("far", 0.5, 1.0, 1.16)], "log").high > 1.16
    even = vertical([strand(f"e{i}", 10.0**i, 2 * 10.0**i) for i in range(4)], "log")
    assert even.low < 1 < 2000 < even.high
    both = vertical([*OTHERS, strand("far", 1e9, 1e10), strand("low", 1e-15, 1e-13)], "log")
    assert (both.low < 1e-15, both.high > 1e-3) == (True, False)  # one end only
    linear = vertical([*(strand(f"l{i}", i, i + 1) for i in range(4)), strand("far", 40, 50)], "linear")
    assert 4 < linear.high < 6


def test_points_read_off_the_paper_are_never_cut_off():
    assert vertical([*OTHERS, strand("far", 0.5, 1.16)], "log", [1.0]).high > 1.0


def test_a_number_without_logarithm_leaves_room_for_its_arrow():
    plain, with_zero = (vertical([*OTHERS, strand("z", *z)], "log") for z in ((1e-6, 1e-6), (1e-6, 0.0)))
    assert with_zero.low < plain.low
    assert with_zero.high == plain.high


def test_bars_are_inside_and_one_number_has_an_axis():
    assert vertical([strand("a", 10.0, 11.0, error=2.0)], "linear").low < 8
    for scale in ("linear", "log"):
        axis = vertical([strand("a", 3.0, 3.0)], scale)
        assert axis.low < 3 < axis.high
        assert vertical([], scale).span > 0
        assert horizontal([], scale).span > 0


@pytest.mark.parametrize("most", [3, 6])
@pytest.mark.parametrize(
    ("scale", "low", "high"),
    [
        ("log", 0.017, 0.46), ("log", 0.02, 0.4), ("log", 9.2, 9.7), ("log", 0.8, 1200), ("log", 1e-9, 1.3),
        ("log", 1e-12, 1e12), ("log", 1.0, 2.6), ("log", 0.95, 5.4), ("log", 2e6, 3e6), ("log", 30, 4e5),
        ("linear", 0.08, 1.02), ("linear", -3, 3), ("linear", 1.7, 15.6), ("linear", 0, 1.05e5), ("linear", 7, 7.001),
    ],
)  # fmt: skip
def test_every_axis_has_at_least_two_labels_and_not_many_more_than_asked_for(scale, low, high, most):
    found = ticks(Axis(scale, low, high), most)
    assert 2 <= len(found.major) <= most + 1
    assert len(set(found.labels)) == len(found.labels) == len(found.major)
    assert all(
        low * (1 - 1e-6) <= v <= high * (1 + 1e-6) or abs(v) < 1e-12
        for v in (*found.major, *found.minor)
        if low > 0
    )
    assert not set(found.major) & set(found.minor)
    assert len(found.minor) <= 40


def test_labels_are_plain_numbers_or_powers_throughout():
    assert ticks(Axis("log", 0.0008, 1200), 8).labels == ("0.001", "0.01", "0.1", "1", "10", "100", "1,000")
    assert ticks(Axis("log", 1e-9, 2.0), 6).labels == ("10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "10⁰")
    assert ticks(Axis("linear", -2.1, 2.1), 6).labels == ("−2", "−1", "0", "1", "2")
    assert power(2.5e-7) == "2.5×10⁻⁷"
    assert [short(v) for v in (0, 1.158279, 12000, 4.1e-9)] == ["0", "1.16", "12,000", "4.1×10⁻⁹"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("delta = 1e-06", "delta = 10⁻⁶"),
        ("n = 10000000, k = 5000", "n = 10,000,000, k = 5,000"),
        ("2.5e-07 and 1e+06", "2.5×10⁻⁷ and 10⁶"),
        ("eps = 0.00012 (0.2 to 1000.5)", "eps = 0.00012 (0.2 to 1000.5)"),
        ("S1Geo, MULTI-3e of 100,000", "S1Geo, MULTI-3e of 100,000"),
    ],
)
def test_texts_of_pictures_have_powers_of_ten_and_separators(text, shown):
    assert typeset(text) == shown
