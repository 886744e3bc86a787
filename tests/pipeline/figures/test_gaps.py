"""Each reason for a gap gives one line, with its methods and points."""

import json

import pandas as pd

from shuffledp.pipeline.figures.gaps import gaps

NAMES = {"t": "truncation-based", "p": "truncation-based, not truncated", "c": "public-coin"}
GRID = {"delta": [1e-6, 1e-9], "eps": [0.1, 0.2, 0.3, 0.4], "k": [50, 500]}


def cells(*rows):
    columns = ["method", "accounting", "point", "status", "reason"]
    return pd.DataFrame([(m, a, json.dumps(p), "infeasible", r) for m, a, p, r in rows], columns=columns)


def test_equal_reasons_are_one_line():
    rows = [
        (
            method,
            "printed",
            {"delta": 1e-6, "eps": eps},
            f"The theorem needs n >= {users} users, there are 500000.",
        )
        for method in ("p", "t")
        for eps, users in ((0.1, 608072), (0.2, 152018), (0.3, 67564))
    ]
    (line,) = gaps(cells(*rows), NAMES, GRID)
    stopped, reason = line.split(": ")
    assert (
        stopped
        == "truncation-based; truncation-based, not truncated (printed) at delta = 1e-06, eps = 0.1 to 0.3"
    )
    assert reason == "The theorem needs n >= 67564 to 608072 users, there are 500000."


def test_different_reasons_have_separate_lines():
    rows = [
        ("t", "printed", {"eps": 0.1}, "too few"),
        ("p", "printed", {"eps": 0.2}, "too few"),
        ("c", "exact", {"eps": 0.1}, "too few"),
        ("c", "printed", {}, "never"),
    ]
    assert gaps(cells(*rows), NAMES, GRID) == [
        "truncation-based (printed) at eps = 0.1: too few",
        "truncation-based, not truncated (printed) at eps = 0.2: too few",
        "public-coin (exact) at eps = 0.1: too few",
        "public-coin (printed): never",
    ]


def test_irregular_places_are_listed_by_variable():
    points = [(1e-6, 0.1), (1e-6, 0.2), (1e-9, 0.1), (1e-9, 0.2), (1e-9, 0.4)]
    rows = [("c", "printed", {"delta": d, "eps": e}, "no") for d, e in points]
    assert gaps(cells(*rows), NAMES, GRID) == [
        "public-coin (printed) at delta = 1e-06, eps = 0.1 and 0.2; delta = 1e-09, eps = 0.1 and 0.2 and 0.4: no"
    ]


def test_feasible_cells_have_no_line():
    assert gaps(cells(("t", "exact", {"eps": 1}, "")).assign(status="ok"), NAMES, GRID) == []
