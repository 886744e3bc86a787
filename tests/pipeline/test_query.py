"""Queries about results with gaps, and points for and against a statement."""

import math

import numpy as np
import pandas as pd
import pytest

from shuffledp.pipeline.formatters import finite
from shuffledp.pipeline.query import (
    Array,
    MissingResultsError,
    Points,
    Query,
    at_any,
    compare,
    dataset,
    grade,
    lines,
    mapped,
    monotone,
    near,
    select,
    share,
    slope,
    slopes,
    steps,
    total,
)

ROWS = {
    "ours": [(0.1, 1, 4.0), (0.1, 2, 8.0), (0.5, 1, 1.0), (0.5, 2, 2.0)],
    "gap": [(0.1, 1, 2.0), (0.5, 1, 2.0), (0.5, 2, 2.0)],
    "small": [(0.1, 1, 4.0), (0.1, 2, 1.0)],
    "open": [(0.1, 1, math.nan)],
}


class Planted:
    def dataset(self, method, at):
        if method not in ROWS:
            raise MissingResultsError(f"there is no {method}")
        table = pd.DataFrame(ROWS[method], columns=["eps", "k", "error"]).set_index(["eps", "k"])
        return dataset(table, method, ["eps", "k", "experiment"])


QUERY = Query(Planted())


def test_variables_are_selected_by_name():
    assert QUERY("error", "ours").dims == ("eps", "k")
    assert QUERY("error", "ours", eps=0.1).to_numpy().tolist() == [4.0, 8.0]
    assert float(QUERY.where(k=2, experiment="one")("error", "ours", eps=0.1 + 1e-17)) == 8.0
    assert [float(query("error", "ours", k=1)) for query in QUERY.each("eps", (0.1, 0.5))] == [4.0, 1.0]


@pytest.mark.parametrize(
    "asked, error, said",
    [
        (("eror", "ours", {}), ValueError, r"ours has no 'eror'. Known: .*error"),
        (("error", "ours", {"esp": 1}), ValueError, r"ours has no variable esp. Known: eps, k, experiment"),
        (("error", "other", {}), MissingResultsError, "there is no other"),
        (("error", "ours", {"k": 3}), MissingResultsError, "papers' grid: there is no k = 3"),
        (("error", "gap", {"eps": 0.1, "k": 2}), MissingResultsError, "no number at eps = 0.1, k = 2"),
        (("error", "open", {}), MissingResultsError, "open has no error"),
    ],
)
def test_missing_and_misspelt_names_are_errors(asked, error, said):
    quantity, method, at = asked
    with pytest.raises(error, match=said):
        QUERY(quantity, method, **at)


def test_grids_may_lack_wanted_values():
    errors = QUERY("error", "ours", k=1)
    assert at_any(errors, "eps", (0.1, 0.2)).to_numpy().tolist() == [4.0]
    with pytest.raises(MissingResultsError, match=r"there is no eps = 0\.2"):
        at_any(errors, "eps", (0.2, 0.3))


def test_ratios_have_the_common_points():
    assert finite(QUERY("error", "ours") / QUERY("error", "gap")).tolist() == [2.0, 0.5, 1.0]


def test_the_best_of_several_skips_gaps():
    least = QUERY.least("error", ("ours", "gap", "small", "other"))
    assert finite(least).tolist() == [2.0, 1.0, 1.0, 2.0]
    assert finite(QUERY.greatest("error", ("ours", "gap"))).tolist() == [4.0, 8.0, 2.0, 2.0]
    with pytest.raises(MissingResultsError, match="no method of other has results"):
        QUERY.least("error", ("other",))


def test_ties_win_for_all():
    assert QUERY.winners("error", ("ours", "gap", "small")) == {
        "gap": Points(2, 2),
        "ours": Points(2, 2),
        "small": Points(1, 3),
    }


def test_gaps_count_for_neither_side():
    ours, gap = QUERY("error", "ours"), QUERY("error", "gap")
    assert compare(ours, gap) == Points(1, 1, 1)
    assert share(ours < 3, ours, gap) == Points(2, 1)
    assert share([True, False, True]) == Points(2, 1)
    with pytest.raises(MissingResultsError, match="both sides"):
        compare(ours.where(ours < 0), gap)


def test_ties_are_within_half_a_percent():
    assert compare([1.0, 1.0, 1.0, 1.0], [1.004, 0.996, 1.02, 0.98]) == Points(1, 1, 2)


@pytest.mark.parametrize(
    "points, outcome, never_above",
    [
        (Points(5, 0), "holds", "holds"),
        (Points(4, 1), "in part", "in part"),
        (Points(2, 2), "in part", "in part"),
        (Points(1, 2), "fails", "fails"),
        (Points(0, 0, 3), "in part", "holds"),
        (Points(1, 2, 1), "fails", "in part"),
    ],
)
def test_points_decide_from_half_on(points, outcome, never_above):
    assert (points.outcome, points.with_ties.outcome) == (outcome, never_above)


@pytest.mark.parametrize(
    "points, text",
    [
        (Points(20, 0), "all 20 points"),
        (Points(13, 7), "13 of 20 points"),
        (Points(0, 1500), "none of 1,500 points"),
        (Points(1, 0), "the only point"),
        (Points(0, 1), "no point"),
    ],
)
def test_points_are_a_share_in_words(points, text):
    assert str(points) == text
    assert points.of("entries").endswith(("entries", "entry"))


def test_points_add_up():
    assert total([Points(1, 2, 3), Points(4, 5, 6)]) == Points(5, 7, 9)


def test_grades_have_a_weaker_reading():
    assert [grade(strict=True), grade(strict=False, weak=True), grade(strict=False)] == [
        "holds",
        "in part",
        "fails",
    ]
    measured = (0.5, 0.451, 0.549, 0.44, 0.9, -0.1)
    assert [near(value, 0.5, 0.05) for value in measured] == ["holds"] * 3 + ["in part"] * 2 + ["fails"]


def test_lines_have_no_gaps():
    named = {name: line.to_numpy().tolist() for name, line in lines(QUERY("error", "gap"), "k")}
    assert named == {"eps = 0.1": [2.0], "eps = 0.5": [2.0, 2.0]}
    assert [name for name, _ in lines(QUERY("error", "ours", eps=0.1), "k")] == [""]


def test_steps_run_along_each_line():
    ours = QUERY("error", "ours")
    assert steps(ours, "k") == [2.0, 2.0]
    assert monotone(ours, "k", rising=True) == Points(2, 0)
    assert monotone(ours, "eps", rising=True) == Points(0, 2)
    assert monotone(ours * 0 + 1, "eps", rising=False) == Points(0, 0, 2)


def test_scaling_law_is_logarithmic_slope():
    x = [10.0, 100.0, 1000.0]
    assert slope(x, [5 / value for value in x]) == pytest.approx(-1)
    assert slopes(QUERY("error", "ours"), "k") == pytest.approx([1.0, 1.0])
    with pytest.raises(MissingResultsError, match="two different x"):
        slope([3.0, 3.0], [1.0, 2.0])


def test_functions_skip_gaps():
    gap = QUERY("error", "gap")
    doubled = mapped(lambda error, k: error * k, gap, gap["k"])
    assert np.array_equal(doubled, [[2.0, math.nan], [2.0, 4.0]], equal_nan=True)


def test_texts_are_values_too():
    values = Array([1.0, 2.0], {"data": ["a", "b"]}, ["data"])
    assert float(select(values, data="b")) == 2.0
