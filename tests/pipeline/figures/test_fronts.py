"""Pictures of fronts and regions: dominance, omitted methods, and the drawn picture."""

import csv
import io
import math
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from shuffledp.pipeline.figures.fronts import Offer, by_trust, columns, front, offers
from shuffledp.pipeline.figures.palette import GRAY, numbered_look
from shuffledp.pipeline.figures.pareto import FRONT, TOLERANCE, pareto
from shuffledp.pipeline.figures.regions import regions, regions_of
from shuffledp.pipeline.figures.sheet import INFEASIBLE
from shuffledp.pipeline.figures.style import figure_style

USERS = 100
# method, trust, guarantee, accounting, messages and error at 10 and at 20 values; none: infeasible
METHODS: dict[str, tuple[str, str, str, dict[int, tuple[float, float] | None]]] = {
    "cheap": ("shuffler", "exact", "exact", {10: (1.0, 8.0), 20: (1.0, 8.0)}),
    "good": ("shuffler", "upper", "exact", {10: (2.0, 2.0), 20: (6.0, 2.0)}),
    "beaten": ("shuffler", "exact", "exact", {10: (3.0, 4.0), 20: (3.0, 9.0)}),
    "printed": ("shuffler", "upper", "printed", {10: (4.0, 1.0), 20: None}),
    "doubtful": ("shuffler", "unproven", "exact", {10: (1.0, 0.5), 20: (1.0, 0.5)}),
    "curator": ("central", "exact", "exact", {10: (1.0, 0.25), 20: (1.0, 0.25)}),
}


def results() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return cells and their summary; errors are of frequencies."""
    cells, numbers = [], []
    for method, (trust, guarantee, accounting, points) in METHODS.items():
        for values, offer in points.items():
            cell = f"{method} {values}"
            cells.append(
                {
                    "cell": cell,
                    "method": method,
                    "label": method.capitalize(),
                    "accounting": accounting,
                    "trust": trust,
                    "guarantee": guarantee if offer else None,
                    "status": "ok" if offer else "infeasible",
                    "reason": "" if offer else "too many values",
                    "values": values,
                    "users_expected": float(USERS),
                    "messages_per_user": offer[0] if offer else None,
                    "parameters": "{}",
                }
            )
            if offer:
                error = offer[1] / USERS**2
                numbers += [
                    {
                        "cell": cell,
                        "metric": "mse",
                        "kind": kind,
                        "mean": by * error,
                        "standard_error": math.nan,
                    }
                    for kind, by in (("simulated", 1.5), ("expected", 1.0))
                ]
    frame = pd.DataFrame(cells)
    return frame, pd.DataFrame(numbers).merge(frame, on="cell")


def job(kind: str, **entry: Any) -> dict[str, Any]:
    """Return a job for these results."""
    drawn = {
        "title": "Protocols",
        "kind": kind,
        "methods": list(METHODS),
        "controls": ["curator"],
        "unit": "counts",
        **entry,
    }
    return {
        "entry": drawn,
        "where": {
            "accounting": ["exact", "printed"],
            **({"values": 10} if kind == "pareto" else {"trust": "shuffler"}),
        },
        "labels": dict.fromkeys(METHODS),
        "looks": {method: asdict(numbered_look(place)) for place, method in enumerate(METHODS)},
        "grid": {"values": [10, 20]},
        "accountings": ["printed", "exact"],
    }


PARETO = {"x": "messages_per_user", "y": "mse"}
REGIONS = {"x": "values", "x_unit": "users", "y": "messages_per_user", "value": "mse"}


def rows(text: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.decode())))


def offer(method: str, cost: float, error: float, guarantee: str = "exact", trust: str = "shuffler") -> Offer:
    return Offer(method, trust, guarantee, "exact", cost, error)


def test_nothing_on_a_front_is_beaten_and_everything_else_is():
    some = [offer("a", 2, 5), offer("b", 1, 9), offer("c", 2, 6), offer("d", 3, 5), offer("e", 4, 1)]
    assert [o.method for o in front(some)] == ["b", "a", "e"]
    best = front(some)
    for one in some:
        beaten = any(o.cost <= one.cost and o.error <= one.error for o in best)
        assert beaten  # on the front by itself
        assert (one in best) != any(o != one and o.cost <= one.cost and o.error <= one.error for o in best)


def test_a_method_that_is_better_by_less_than_the_tolerance_is_not_on_the_front_for_it():
    some = [offer("a", 0.999, 9), offer("b", 1, 5), offer("c", 1.5, 4.98), offer("d", 2, 4)]
    assert [o.method for o in front(some)] == ["a", "b", "c", "d"]
    assert [o.method for o in front(some, tolerance=0.01)] == ["b", "d"]
    alike = [offer("a", 1, 5), offer("b", 1.005, 4.98)]  # neither is better by more
    assert [o.method for o in front(alike, tolerance=0.01)] == ["a", "b"]


def test_controls_and_claims_in_doubt_neither_stand_on_a_front_nor_keep_others_off():
    some = [offer("doubt", 1, 1, "unproven"), offer("control", 1, 1), offer("a", 2, 3), offer("b", 3, 4)]
    assert [o.method for o in front(some, ["control"])] == ["a"]


def test_trust_models_are_in_the_order_of_leaderboards():
    some = [offer("a", 1, 1, trust="local"), offer("b", 1, 1, trust="secure_sum"), offer("c", 1, 1)]
    assert list(by_trust(some)) == ["shuffler", "secure_sum", "local"]


def test_offers_have_closed_forms_in_the_unit_that_is_asked_for():
    cells, summary = results()
    at = cells[cells["values"] == 10]
    entry = job("pareto", **PARETO)["entry"]
    assert [(o.method, o.cost, round(o.error, 9)) for o in offers(at, summary, entry, "mse")] == [
        (method, *numbers[3][10]) for method, numbers in METHODS.items() if numbers[3][10]
    ]
    plain = offers(at, summary, {**entry, "unit": None}, "mse")
    assert plain[0].error == pytest.approx(8 / USERS**2)


def test_a_pareto_picture_has_a_panel_per_trust_a_stepped_front_and_the_others_pale():
    made = pareto(job("pareto", **PARETO), *results(), "made up")
    with figure_style():
        figure = made.draw()
    assert [ax.get_title() for ax in figure.axes] == ["shuffler permutes"]  # the curator is a level line
    lines = {line.get_label(): line for line in figure.axes[0].get_children() if isinstance(line, Line2D)}
    steps = lines[FRONT]
    assert (
        list(steps.get_ydata())[1:] == pytest.approx([8.0, 2.0, 1.0, 1.0])
        and steps.get_drawstyle() == "steps-post"
    )
    full = {name for name in METHODS if name in lines and lines[name].get_markerfacecolor() != "none"}
    assert full == {"cheap", "good", "printed"}
    assert lines["beaten"].get_color() == lines["doubtful"].get_color() == GRAY
    numbered = [text.get_text() for text in figure.legends[0].get_texts()]
    assert numbered[:2] == ["1  Beaten", "2  Doubtful (unproven)"]
    beside = {text.get_text() for text in figure.axes[0].texts}
    assert beside == {"Cheap", "Good", "Printed (as printed)", "1", "2", "Curator (control)"}
    assert [text.get_text() for text in figure.texts].count("made up") == 1


def test_the_table_of_a_pareto_picture_says_what_is_on_the_front_and_the_caption_may_ask():
    made = pareto(job("pareto", **PARETO), *results(), "")
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


def test_methods_in_one_place_are_named_together():
    cells, summary = results()
    twin = cells["cell"] == "good 10"
    cells.loc[cells["cell"] == "cheap 10", "messages_per_user"] = 2.001
    summary.loc[summary["cell"] == "cheap 10", "mean"] = summary.loc[
        summary["cell"] == "good 10", "mean"
    ].to_numpy()
    assert twin.sum() == 1
    with figure_style():
        figure = pareto(job("pareto", **PARETO), cells, summary, "").draw()
    assert "Cheap = Good" in [text.get_text() for text in figure.axes[0].texts]


def test_the_name_of_a_control_does_not_meet_the_front():
    cells, summary = results()
    at = summary["cell"] == "curator 10"
    assert at.sum() == 2
    for error in (1.0, 1.9, 2.0, 7.5):
        summary.loc[at, "mean"] = error / USERS**2
        with figure_style():
            figure = pareto(job("pareto", **PARETO), cells, summary, "").draw()
            (ax,) = figure.axes
            (name,) = [text for text in ax.texts if text.get_text() == "Curator (control)"]
            box = name.get_window_extent(FigureCanvasAgg(figure).get_renderer())
        (steps,) = [line for line in ax.get_children() if line.get_label() == FRONT]
        x, y = ax.transData.transform(steps.get_xydata()).T
        for start, end, before, after in zip(x, x[1:], y, y[1:], strict=False):
            assert not (box.y0 < before < box.y1 and start < box.x1 and box.x0 < end)
            assert not (box.x0 < end < box.x1 and min(before, after) < box.y1 and box.y0 < max(before, after))


def test_a_column_of_regions_is_the_front_of_one_trust_model_at_a_place():
    found = columns(job("regions", **REGIONS), *results())
    assert [(c.place, [o.method for o in c.front]) for c in found] == [
        (0.1, ["cheap", "good", "printed"]),
        (0.2, ["cheap", "good"]),
    ]
    every = regions_of(found)
    assert [(r.offer.method, r.low, r.high) for r in every] == [
        ("cheap", 1, 2), ("good", 2, 4), ("printed", 4, math.inf), ("cheap", 1, 6), ("good", 6, math.inf)
    ]  # fmt: skip


def test_of_several_points_at_one_place_that_with_the_most_users_is_shown():
    cells, summary = results()
    second = cells["values"] == 20
    cells.loc[second, "users_expected"] = 2.0 * USERS  # then both have a tenth as many values as users
    summary["users_expected"] = summary["cell"].map(cells.set_index("cell")["users_expected"])
    (column,) = columns(job("regions", **REGIONS), cells, summary)
    assert column.place == 0.1 and column.point == {"values": 20}


def test_regions_tile_the_map_up_to_its_end_and_each_winner_is_in_the_legend():
    made = regions(job("regions", **REGIONS), *results(), "")
    with figure_style():
        figure = made.draw()
    (ax,) = figure.axes
    boxes = [a for a in ax.get_children() if isinstance(a, Rectangle) and a is not ax.patch]
    assert [box.get_label() for box in boxes] == ["cheap", "good", "printed", "cheap", "good"]
    for place in (0, 1):
        own = boxes[:3] if place == 0 else boxes[3:]
        ends = [(b.get_y(), b.get_y() + b.get_height()) for b in own]
        assert all(a[1] == pytest.approx(b[0]) for a, b in pairwise(ends))
        assert ends[-1][1] == pytest.approx(ax.get_ylim()[1])
    assert boxes[0].get_x() + boxes[0].get_width() == pytest.approx(math.sqrt(0.1 * 0.2))  # half of the way
    assert boxes[3].get_x() == pytest.approx(math.sqrt(0.1 * 0.2))
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["Cheap", "Good", "Printed (as printed)"]
    assert str(made.questions["wins"]("printed")) == "1 of 2 columns"
    assert made.questions["winners"] == texts
    table = rows(made.numbers)
    assert [(row["method"], float(row["from"]), float(row["to"])) for row in table[:3]] == [
        ("cheap", 1, 2), ("good", 2, 4), ("printed", 4, math.inf)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "make", "entry"), [("pareto", pareto, PARETO), ("regions", regions, REGIONS)]
)
def test_where_nothing_is_feasible_the_picture_says_so(kind, make, entry):
    cells, summary = results()
    nothing = cells.assign(status="infeasible", guarantee=None)
    made = make(job(kind, **entry), nothing, summary[:0], "")
    with figure_style():
        figure = made.draw()
    assert not figure.axes and [text.get_text() for text in figure.texts] == [INFEASIBLE]
    assert len(rows(made.numbers)) == 0 and made.chart is None
