"""Pictures of curves: panels, gaps, both accountings, names at their own ends, and legible letters."""

import io
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from legible import assert_legible, texts
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Annotation

from color_vision import contrast
from shuffledp.identities import identity_of
from shuffledp.pipeline.figures import curves, palette, panels, spotlight
from shuffledp.pipeline.figures.curves import draw
from shuffledp.pipeline.figures.end_names import spread
from shuffledp.pipeline.figures.numerals import number_text, power, typeset
from shuffledp.pipeline.figures.picture import Part, Picture
from shuffledp.pipeline.figures.style import column_style, figure_style


def made(drawing, numbers, labels=None, kind="computed", at=(1.0, 2.0), **more):
    """Return a picture of curves by their numbers at some eps."""
    rows = [(c, kind, x, y) for c, own in numbers.items() for x, y in zip(at, own, strict=True)]
    labels = labels or {curve: curve.upper() for curve in numbers}
    frame = pd.DataFrame(rows, columns=["curve", "kind", "eps", "mean"]).assign(standard_error=np.nan)
    looks = {curve: palette.numbered_look(i) for i, curve in enumerate(labels)}
    return Picture({"x": "eps", "y": "mse", **drawing}, frame, labels, looks, **more)


def of_both(ratio, *labels):
    """Return a picture of both accountings, whose printed numbers are a ratio above the exact ones."""
    numbers, looks = {}, {}
    for i, name in enumerate(labels):
        for part, by in (("printed", ratio), ("exact", 1.0)):
            numbers[f"{name}|{part}"] = [(i + 1) * by, (i + 1) * by / 2]
            looks[f"{name}|{part}"] = palette.of_accounting(part, palette.numbered_look(i))
    parts = {part: Part(part, palette.of_accounting(part)) for part in ("printed", "exact")}
    what = made({"y_scale": "log"}, numbers, {name: name for name in labels}, parts=parts, ratios=True)
    return replace(what, looks=looks)


def line(ax, label):
    (artist,) = [one for one in ax.lines if one.get_label() == label]
    return artist


def names(figure):
    """Return the names beside the panels and in the key."""
    keys = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    return [note.get_text().replace("\n", " ") for ax in figure.axes for note in ax.texts] + keys


def test_panels_hold_every_method(pictures):
    axes = pictures["fig1_printed"].axes
    assert [ax.get_title(loc="left") for ax in axes] == ["rate = 0.5", "rate = 0.1"]
    for ax in axes:
        assert len(set(line(ax, "constant").get_ydata())) == 1  # the method that does not depend on eps
        assert {"local means", "picky means"} <= {bars.get_label() for bars in ax.containers}


def test_points_are_means_with_bars(pictures, files):
    numbers = pd.read_csv(io.BytesIO(files["fig1_printed.csv"]))
    own = numbers.query("method == 'local' and rate == 0.5 and kind == 'simulated'").set_index("eps")
    containers = {bars.get_label(): bars for bars in pictures["fig1_printed"].axes[0].containers}
    barred = containers["local means"]
    at = barred.lines[0].get_xdata()
    assert barred.lines[0].get_ydata() == pytest.approx(own["mse"][at].tolist(), rel=1e-8)
    half = [(top - bottom) / 2 for (_, bottom), (_, top) in barred.lines[2][0].get_segments()]
    assert half == pytest.approx(own["standard_error"][at].tolist(), rel=1e-8)
    # With a budget of 9.5 hardly a report is false: nearly all repeats are the same, and no error is reliable.
    assert containers["local means without bars"].lines[0].get_markerfacecolor() == "white"
    assert 9.5 not in at


def test_both_accountings_are_drawn_with_ratio(pictures, files):
    numbers = pd.read_csv(io.BytesIO(files["fig1.csv"]))
    panel, _, strip, _ = pictures["fig1"].axes
    color = identity_of("frequency", "local").color
    printed, exact = line(panel, "local|printed"), line(panel, "local|exact")
    assert printed.get_color() == exact.get_color() == color
    assert printed.is_dashed() and not exact.is_dashed()
    shown = numbers.query("method == 'local' and rate == 0.5 and kind == 'expected'").pivot_table(
        index="eps", columns="accounting", values="mse"
    )
    assert np.allclose(line(strip, "local|exact").get_ydata(), shown["printed"] / shown["exact"])
    for ax, curve in ((panel, "picky|exact"), (panel, "picky|printed"), (strip, "picky|exact")):
        assert np.isnan(line(ax, curve).get_ydata()).tolist() == [False, True, False, False]
    assert strip.get_ylabel() == "printed /\nexact"
    shown = {"as printed", "exact", "simulated mean", "PICKY_ONE (unproven)"}
    assert shown <= set(names(pictures["fig1"]))


def test_extreme_ratios_are_marked():
    """A ratio beyond the strip has an arrow, and one below 1 a red ground."""
    beyond = draw(of_both(2500.0, "A"))
    assert "▲ 2,500×" in names(beyond)
    assert beyond.axes[1].get_ylim()[1] < 2 * panels.CLIP
    below = draw(of_both(0.5, "A")).axes[1]
    assert any(mpl.colors.to_hex(patch.get_facecolor()) == panels.RED.lower() for patch in below.patches)


def test_name_starts_at_most_exact_curve():
    figure = draw(of_both(3.0, "A", "B", "C"))
    ends = {note.get_text(): note.xy for note in figure.axes[0].texts if isinstance(note, Annotation)}
    assert ends == {"A": (2.0, 0.5), "B": (2.0, 1.0), "C": (2.0, 1.5)}


UNPROVEN = {c: f"{c.upper()} (unproven)" for c in "abc"}


@pytest.mark.parametrize(
    "numbers, labels, shown",
    [
        (
            {"a": [1, 3], "b": [1.0001, 3.0003], "c": [3, 9]},
            {"a": "A, n = 1", "b": "A, n = 2", "c": "C", "d": "D"},
            ["A, n = 1 = n = 2", "C"],
        ),
        (
            {"a": [1.002, 2.004], "b": [1, 2]},
            {"a": "proven", "b": "lost by one (lower bound, no guarantee)"},
            ["proven (a lower bound is within 0.21 %)"],
        ),
        (
            {c: [i + 1, i + 2] for i, c in enumerate("abcd")},
            UNPROVEN | {"d": "D"},
            ["A", "B", "C", "D", "unproven: all but D"],
        ),
        ({"a": [1, 0], "b": [0, 0]}, None, ["A", "B: 0"]),
    ],
    ids=["equal curves", "equal lower bound", "mostly unproven", "zeros"],
)
def test_names_of_curves_and_in_key(numbers, labels, shown):
    figure = draw(made({"y_scale": "log"}, numbers, labels))
    assert sorted(names(figure)) == shown
    gaps = np.isnan(line(figure.axes[0], "a").get_ydata()).tolist()
    assert gaps == [False, numbers["a"][1] == 0]


def test_gap_is_where_x_jumps():
    drawing, at, numbers = {"x_scale": "log", "along": "round"}, [1, 2, 90, 100], [0.1, 0.5, 0.6, 0.9]
    (ax,) = draw(made(drawing, {"a": numbers}, kind="simulated", at=at)).axes
    x, y = line(ax, "a").get_data()
    assert (x[~np.isnan(x)].tolist(), y[~np.isnan(y)].tolist()) == (at, numbers)
    assert np.isnan(x).nonzero()[0].tolist() == [2]


RISING = {"a": [1.0, 2.0]}


def test_paper_points_are_crosses_within_axes():
    (ax,) = draw(made({}, RISING, points=[(None, 1.5, 9.0)])).axes
    (cross,) = [one for one in ax.lines if one.get_marker() == "x"]
    assert cross.get_xydata().tolist() == [[1.5, 9.0]] and ax.get_ylim()[1] > 9


def test_stated_numbers_are_dotted_lines():
    stated = {"x": {"5": 1.5}, "label": "lowest in the text"}
    figure = draw(made({"stated": stated, "panels": "n"}, RISING, panels=[5, 50]))
    dotted = [[own.get_xdata()[0] for own in ax.lines if own.get_linestyle() == ":"] for ax in figure.axes]
    assert dotted == [[1.5], []] and "lowest in the text" in names(figure)
    higher = draw(made({"stated": {"y": 9.0, "label": "text"}}, RISING))
    assert higher.axes[0].get_ylim()[1] > 9


def test_means_along_variable_have_band():
    what = made({"along": "eps"}, RISING, kind="simulated")
    what = replace(what, selection=what.selection.assign(standard_error=0.25))
    (band,) = draw(what).axes[0].collections
    assert band.get_paths()[0].vertices[:, 1].min() == 0.75


def test_five_panels_are_in_one_row():
    figure = draw(made({"panels": "rate"}, RISING, panels=[0.1, 0.2, 0.3, 0.4, 0.5]))
    assert len({round(ax.get_position().y0, 6) for ax in figure.axes}) == 1


def test_infeasible_figure_has_no_axes():
    figure = draw(made({}, {}))
    assert figure.axes == [] and figure.texts[0].get_text() == curves.INFEASIBLE


def test_column_style_sets_width_and_font():
    what = made({}, {f"m{i}": [1 + 3.0 * i, 2 + 3.0 * i] for i in range(8)}, title="A title")
    with column_style():
        figure = draw(what)
    (key,) = figure.legends
    assert figure.get_size_inches()[0] == pytest.approx(3.3)
    assert {text.get_fontname() for text in key.get_texts()} == {"DejaVu Serif"}
    assert len(key.get_texts()) == 8 and figure.get_suptitle() == ""


def test_labels_of_a_column_stay_apart():
    """Two rows of low panels have room for the labels of vertical axes."""
    drawing = {"panels": "rate", "y_label": "squared l2 error of the mean"}
    with column_style():
        figure = draw(made(drawing, RISING, panels=[0.1, 0.2, 0.3]))
        renderer = FigureCanvasAgg(figure).get_renderer()
        upper, lower = (ax.yaxis.label.get_window_extent(renderer) for ax in figure.axes if ax.get_ylabel())
    assert not upper.overlaps(lower) and upper.y1 <= figure.bbox.y1 and lower.y0 >= 0


def over(name, what):
    """Return a picture of factors over a method."""
    return replace(what, drawing={**what.drawing, "over": name})


def test_method_panels_show_factors_in_order():
    figure = spotlight.draw(over("Base", of_both(4.0, "Base", "B", "C")))
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["Base", "B", "C"]
    assert [ax.texts[0].get_text() for ax in figure.axes] == [
        "1×\nprinted 4×", "2×\nprinted 8×", "3×\nprinted 12×"
    ]  # fmt: skip
    assert figure.get_suptitle().endswith("× is over Base at eps\xa0=\xa02")


def test_single_printed_point_has_marker():
    what = of_both(4.0, "A", "B")
    single = what.selection[(what.selection["curve"] != "A|printed") | (what.selection["eps"] == 2)]
    (ax, _) = draw(replace(what, selection=single)).axes
    markers = {curve: line(ax, curve).get_marker() for curve in ("A|printed", "B|printed")}
    assert markers == {"A|printed": what.looks["A|printed"].marker, "B|printed": "None"}


def test_names_do_not_overlap():
    heights = [0.2, 0.2, 0.4, 0.2, 0.2]
    places = spread([0.5, 0.5, 0.52, 1.9, -1.0], heights, 0.0, 2.0)
    order = np.argsort(places)
    gaps = np.diff(places[order]) - (np.array(heights)[order][1:] + np.array(heights)[order][:-1]) / 2
    assert (gaps >= -1e-12).all() and places[4] >= 0.1 and places[3] <= 1.9
    assert places[4] < places[0] < places[2] < places[3]
    assert spread([1.0, 1.0], [0.2, 0.2], 0.0, 2.0).tolist() == pytest.approx([0.9, 1.1])


@pytest.mark.parametrize(
    "value, text",
    [(0, "0"), (0.001, "0.001"), (1e-4, "10⁻⁴"), (999999, "999,999"), (2e6, "2×10⁶"), (-0.5, "−0.5")],
)
def test_large_numbers_are_powers_of_ten(value, text):
    assert number_text(value) == text


def test_title_numbers_look_like_axis_numbers():
    assert (
        typeset("100000 users, delta = 1e-06, year2020, n = 2.5e5")
        == "100,000 users, delta = 10⁻⁶, year2020, n = 2.5×10⁵"
    )
    assert (power(1e-6), power(12345.0), number_text(5.0, plain=False)) == ("10⁻⁶", "1.23×10⁴", "5×10⁰")


PICTURES = {
    "both": lambda: draw(of_both(2500.0, "A long name of a protocol, with an option", "B")),
    "methods": lambda: spotlight.draw(
        replace(
            over("Protocol a", of_both(3.0, *(f"Protocol {c}" for c in "abcdefgh"))), title="A title of some length"
        )
    ),
    "marked": lambda: draw(replace(of_both(3.0, "A"), mark="data rebuilt from summaries", title="Errors")),
}  # fmt: skip


@pytest.mark.parametrize("name", PICTURES)
def test_borders_are_empty_and_letters_legible(name):
    with figure_style():
        figure = PICTURES[name]()
    assert_legible(figure)
    # A name in the color of its curve is large enough for a contrast of three.
    assert min(contrast(mpl.colors.to_hex(text.get_color())) for text in texts(figure)) >= 3
