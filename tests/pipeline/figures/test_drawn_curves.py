"""Equal curves and reliable standard errors."""

import numpy as np
import pandas as pd
import pytest

from shuffledp.pipeline.figures.drawn_curves import (
    BEHIND_BAR,
    Strand,
    equal_curves,
    has_bar,
    leading,
    repeats_behind_bars,
    strands,
)


def behind(*values):
    frame = pd.DataFrame(
        {"cell": "c", "metric": "mse", "kind": "simulated", "value": np.array(values, float)}
    )
    return repeats_behind_bars(frame)[BEHIND_BAR].item()


def test_standard_error_counts_differing_repeats():
    assert behind(*[4e-6] * 50) == 0
    assert behind(*[4e-6] * 25, *[4e-6 * (1 + 1e-15)] * 25) == 0  # rounding
    assert behind(*[0] * 49, 1) == pytest.approx(1, rel=0.05)
    assert behind(*[0] * 48, 1, 1) == pytest.approx(2, rel=0.1)
    assert behind(*[1, -1] * 25) == pytest.approx(50)
    normal = np.random.default_rng(5).standard_normal(3000)
    assert behind(*normal) == pytest.approx(1000, rel=0.1)


def test_bar_needs_enough_differing_repeats():
    found = has_bar(np.array([0.0, 2.9, 3.0, 1.2, 1.25, np.nan]), np.array([50.0, 50, 50, 10, 10, 1]))
    assert found.tolist() == [False, False, True, False, True, False]


def test_nearly_equal_repeats_have_no_bar():
    rows = pd.DataFrame(
        {
            "curve": "a", "kind": "simulated", "eps": [1.0, 2.0], "mean": [1.0, 2.0], "standard_error": [0.1, 0.2],
            "count": 50, BEHIND_BAR: [1.4, 17.0],
        }
    )  # fmt: skip
    (found,) = strands(rows, "eps", None, None, None)
    assert np.isnan(found.error).tolist() == [True, False]


def test_curves_by_panel_level_and_order():
    rows = pd.DataFrame(
        {
            "curve": ["a", "a", "a", "level", "all"],
            "kind": "computed",
            "eps": [2.0, 1.0, 1.0, np.nan, 3.0],
            "rate": [0.1, 0.1, 0.5, 0.5, np.nan],
            "mean": [20.0, 10.0, 5.0, 7.0, 8.0],
            "standard_error": np.nan,
        }
    )
    found = {(s.curve, s.panel): s for s in strands(rows, "eps", "rate", None, None)}
    assert found["a", 0.1].numbers_by_position() == {1.0: 10.0, 2.0: 20.0}
    assert found["a", 0.1].x.tolist() == [1, 2]
    assert found["level", 0.5].level
    assert found["all", None].numbers_by_position() == {3.0: 8.0}
    named = strands(rows.assign(eps=["u", "v", "v", None, "v"]), "eps", "rate", None, {"v": 0.0, "u": 1.0})
    assert {(s.curve, s.panel): s for s in named}["a", 0.1].numbers_by_position() == {0.0: 10.0, 1.0: 20.0}


def curve(*numbers):
    return dict(enumerate(numbers))


def test_equal_curves_are_grouped():
    numbers = {
        "a": curve(1.0, 2.0, 3.0),
        "equal": curve(1.001, 2.001, 3.0),
        "near": curve(1.0, 2.08, 3.0),
        "shorter": curve(1.0, 2.0),
    }
    assert equal_curves(numbers, list(numbers)) == [["a", "equal"], ["near"], ["shorter"]]


def strand(name, *numbers, kind="computed"):
    y = np.array(numbers, float)
    return Strand(name, kind, None, np.arange(float(len(y))), y, np.full(len(y), np.nan))


def test_the_closed_form_comes_first():
    every = [
        strand("a", 1, kind="simulated"),
        strand("a", 2, kind="expected"),
        strand("b", 3, kind="simulated"),
    ]
    assert {s.curve: s.kind for s in leading(every)} == {"a": "expected", "b": "simulated"}
