"""Pictures of fronts: dominance, omitted methods, and the drawn picture."""

import csv
import io
from dataclasses import asdict

import numpy as np
import pytest
from made_up_cells import cells_of, summary_of

from shuffledp.pipeline.figures.curves import INFEASIBLE
from shuffledp.pipeline.figures.fronts import Offer, by_trust, front, offers
from shuffledp.pipeline.figures.palette import numbered_look
from shuffledp.pipeline.figures.pareto import TOLERANCE, pareto
from shuffledp.pipeline.figures.style import figure_style

USERS = 100
CELLS = cells_of(
    "method trust guarantee accounting values messages_per_user error",
    ("cheap", "shuffler", "exact", "exact", 10, 1.0, 8.0),
    ("good", "shuffler", "upper", "exact", 10, 2.0, 2.0),
    ("beaten", "shuffler", "exact", "exact", 10, 3.0, 4.0),
    ("printed", "shuffler", "upper", "printed", 10, 4.0, 1.0),
    ("doubtful", "shuffler", "unproven", "exact", 10, 1.0, 0.5),
    ("curator", "central", "exact", "exact", 10, 1.0, 0.25),
    ("cheap", "shuffler", "exact", "exact", 20, 1.0, 8.0),
    ("good", "shuffler", "upper", "exact", 20, 6.0, 2.0),
    ("beaten", "shuffler", "exact", "exact", 20, 3.0, 9.0),
    ("printed", "shuffler", None, "printed", 20, None, None),
)
CELLS = CELLS.assign(
    label=CELLS["method"].str.capitalize(),
    status=np.where(CELLS["error"].notna(), "ok", "infeasible"),
    reason="too many values",
    error=CELLS["error"] / USERS**2,
)
METHODS = [*CELLS["method"].unique()]
SUMMARY = summary_of(CELLS)


def job(**entry):
    """Return a job for these results."""
    drawn = {
        "title": "Protocols",
        "kind": "pareto",
        "x": "messages_per_user",
        "y": "mse",
        "methods": METHODS,
        "controls": ["curator"],
        "unit": "counts",
        **entry,
    }
    return {
        "entry": drawn,
        "where": {"accounting": ["exact", "printed"], "values": 10},
        "labels": dict.fromkeys(METHODS),
        "looks": {method: asdict(numbered_look(place)) for place, method in enumerate(METHODS)},
        "grid": {"values": [10, 20]},
        "accountings": ["printed", "exact"],
    }


def picture(made):
    with figure_style():
        return made.draw()


def rows(text):
    return list(csv.DictReader(io.StringIO(text.decode())))


def offer(method, cost, error, guarantee="exact", trust="shuffler"):
    return Offer(method, trust, guarantee, "exact", cost, error)


def test_front_has_exactly_unbeaten_methods():
    some = [offer("a", 2, 5), offer("b", 1, 9), offer("c", 2, 6), offer("d", 3, 5), offer("e", 4, 1)]
    assert [o.method for o in front(some)] == ["b", "a", "e"]


def test_gain_below_tolerance_is_ignored():
    some = [offer("a", 0.999, 9), offer("b", 1, 5), offer("c", 1.5, 4.98), offer("d", 2, 4)]
    assert [o.method for o in front(some)] == ["a", "b", "c", "d"]
    assert [o.method for o in front(some, tolerance=0.01)] == ["b", "d"]
    alike = [offer("a", 1, 5), offer("b", 1.005, 4.98)]  # neither is better by more
    assert [o.method for o in front(alike, tolerance=0.01)] == ["a", "b"]


def test_fronts_ignore_doubtful_claims():
    some = [offer("doubt", 1, 1, "unproven"), offer("a", 2, 3), offer("b", 3, 4)]
    assert [o.method for o in front(some)] == ["a"]


def test_trust_models_have_leaderboard_order():
    some = [offer("a", 1, 1, trust="local"), offer("b", 1, 1, trust="secure_sum"), offer("c", 1, 1)]
    assert list(by_trust(some)) == ["shuffler", "secure_sum", "local"]


def test_offers_have_the_requested_unit():
    at = CELLS[CELLS["values"] == 10]
    entry = job()["entry"]
    found = [(o.method, o.cost, round(o.error, 9)) for o in offers(at, SUMMARY, entry)]
    assert found == [*zip(at["method"], at["messages_per_user"], at["error"] * USERS**2, strict=True)]
    plain = offers(at, SUMMARY, {**entry, "unit": None})
    assert plain[0].error == pytest.approx(8 / USERS**2)


def drawn_points(ax):
    """Return the points of a panel: place to whether the marker is filled."""
    points = [line for line in ax.lines if len(line.get_xdata()) == 1 and line.get_marker() != "None"]
    return {tuple(line.get_xydata()[0].round(9)): line.get_markerfacecolor() != "white" for line in points}


def test_pareto_picture_fills_front_points():
    made = pareto(job(), CELLS, SUMMARY, "made up")
    figure = picture(made)
    everywhere, close = figure.axes
    full = {place for place, filled in drawn_points(everywhere).items() if filled}
    assert full == {(1.0, 8.0), (2.0, 2.0), (4.0, 1.0)}
    (steps,) = [line for line in close.lines if line.get_drawstyle() == "steps-post"]
    assert list(steps.get_ydata())[1:] == pytest.approx([8.0, 2.0, 1.0, 1.0])
    beside = {text.get_text() for text in close.texts}
    assert beside == {"Cheap", "Good", "Printed (as printed)", "Beaten", "Doubtful (unproven)"}
    keys = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "Curator (control): 0.25" in keys and "front: shuffler permutes" in keys
    assert [text.get_text() for text in figure.texts].count("made up") == 1


def test_pareto_table_marks_the_front():
    made = pareto(job(), CELLS, SUMMARY, "")
    found = {row["method"]: row for row in rows(made.numbers)}
    assert [m for m, row in found.items() if row["front"] == "True"] == ["cheap", "good", "printed"]
    assert found["curator"]["control"] == "True" and found["curator"]["trust"] == "curator"
    assert float(found["good"]["messages_per_user"]) == 2 and float(found["good"]["mse"]) == pytest.approx(2)
    assert made.questions["front"]("shuffler") == ["Cheap", "Good", "Printed (as printed)"]
    assert made.questions["front"]("secure_sum") == []
    assert made.questions["tolerance"] == TOLERANCE
    assert made.chart is not None
    assert (made.chart.x, made.chart.y, made.chart.panels) == ("messages_per_user", "mse", "trust")
    assert {curve.id for curve in made.chart.curves} == set(found)


def test_controls_have_lines_of_their_own():
    two = job(controls=["curator", "beaten"])
    looks = {method: {**look, "color": "#000000", "dash": "-"} for method, look in two["looks"].items()}
    made = pareto(two | {"looks": looks}, CELLS, SUMMARY, "")
    assert made.chart is not None
    lines = {curve.id: str(curve.dash) for curve in made.chart.curves}
    assert lines["curator"] != lines["beaten"]
    figure = picture(made)
    levels = [
        line for line in figure.axes[1].lines if line.get_xdata()[0] == 0 and line.get_marker() == "None"
    ]
    assert len({str(line.get_linestyle()) for line in levels}) == 2


def test_methods_in_one_place_share_name():
    cells = CELLS.copy()
    cells.loc[0, ["messages_per_user", "error"]] = 2.001, CELLS["error"][1]  # cheap as good
    figure = picture(pareto(job(), cells, summary_of(cells), ""))
    assert "Good, Cheap" in [text.get_text() for text in figure.axes[1].texts]


def test_infeasible_picture_has_a_text():
    nothing = CELLS.assign(status="infeasible", guarantee=None)
    made = pareto(job(), nothing, SUMMARY[:0], "")
    figure = picture(made)
    assert not figure.axes and [text.get_text() for text in figure.texts] == [INFEASIBLE]
    assert len(rows(made.numbers)) == 0 and made.chart is None
