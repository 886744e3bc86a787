"""Pictures of curves: panels, gaps, both accountings, names at their own ends, and legible letters."""

import io
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.image import imread
from matplotlib.text import Annotation, Text

from shuffledp.identities import identity_of
from shuffledp.pipeline.figures import curves, palette, panels, spotlight
from shuffledp.pipeline.figures.curves import draw
from shuffledp.pipeline.figures.end_names import spread
from shuffledp.pipeline.figures.numerals import number_text, power, typeset
from shuffledp.pipeline.figures.picture import Part, Picture
from shuffledp.pipeline.figures.style import column_style, figure_style, rendered

#: Least contrast of letters on white; a name in the color of its curve is large enough for three.
LEAST_CONTRAST = 3.0


def made(drawing, rows, labels, **more):
    """Return a picture of some rows of numbers."""
    frame = pd.DataFrame(rows, columns=["curve", "kind", "eps", "mean"]).assign(standard_error=np.nan)
    looks = {curve: palette.numbered_look(i) for i, curve in enumerate(labels)}
    return Picture({"x": "eps", "y": "mse", **drawing}, frame, labels, looks, **more)


def of_both(ratio, **labels):
    """Return a picture of both accountings, whose printed numbers are a ratio above the exact ones."""
    rows = [
        (f"{name}|{part}", "computed", x, (i + 1) * by / x)
        for i, name in enumerate(labels)
        for part, by in (("printed", ratio), ("exact", 1.0))
        for x in (1.0, 2.0)
    ]
    parts = {part: Part(part, palette.of_accounting(part)) for part in ("printed", "exact")}
    looks = {
        f"{name}|{part}": palette.of_accounting(part, palette.numbered_look(i))
        for i, name in enumerate(labels)
        for part in parts
    }
    return replace(made({"y_scale": "log"}, rows, labels), looks=looks, parts=parts, ratios=True)


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


def test_an_infeasible_cell_is_a_gap(pictures):
    for ax in pictures["fig1_printed"].axes:
        gaps = {m: np.isnan(line(ax, m).get_ydata()).tolist() for m in ("local", "picky")}
        assert gaps == {"local": [False] * 4, "picky": [False, True, False, False]}


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
    assert np.isnan(line(strip, "picky|exact").get_ydata()).tolist() == [False, True, False, False]
    assert strip.get_ylabel() == "printed /\nexact"
    assert {"as printed", "exact", "simulated mean"} <= set(names(pictures["fig1"]))


def test_extreme_ratios_are_marked():
    """A ratio beyond the strip has an arrow, and one below 1 a red ground."""
    beyond = draw(of_both(2500.0, a="A"))
    assert "▲ 2,500×" in names(beyond)
    assert beyond.axes[1].get_ylim()[1] < 2 * panels.CLIP
    below = draw(of_both(0.5, a="A")).axes[1]
    assert any(mpl.colors.to_hex(patch.get_facecolor()) == panels.RED.lower() for patch in below.patches)


def test_name_starts_at_most_exact_curve():
    figure = draw(of_both(3.0, a="A", b="B", c="C"))
    ends = {note.get_text(): note.xy for note in figure.axes[0].texts if isinstance(note, Annotation)}
    assert ends == {"A": (2.0, 0.5), "B": (2.0, 1.0), "C": (2.0, 1.5)}


def test_equal_curves_share_a_name():
    rows = [
        (c, "computed", x, y * by)
        for c, by in (("a", 1), ("b", 1.0001), ("c", 3))
        for x, y in ((1, 1), (2, 3))
    ]
    figure = draw(made({"y_scale": "log"}, rows, {"a": "A, n = 1", "b": "A, n = 2", "c": "C", "d": "D"}))
    assert sorted(names(figure)) == ["A, n = 1 = n = 2", "C"]


def test_equal_lower_bound_is_a_text():
    rows = [(c, "computed", x, by * x) for c, by in (("a", 1.002), ("b", 1)) for x in (1, 2)]
    labels = {"a": "proven", "b": "lost by one (lower bound, no guarantee)"}
    assert names(draw(made({}, rows, labels))) == ["proven (a lower bound is within 0.21 %)"]


def test_mostly_unproven_curves_have_one_line():
    rows = [(c, "computed", x, i + x) for i, c in enumerate("abcd") for x in (1, 2)]
    labels = {c: f"{c.upper()} (unproven)" for c in "abc"} | {"d": "D"}
    assert sorted(names(draw(made({}, rows, labels)))) == ["A", "B", "C", "D", "unproven: all but D"]


def test_curve_of_zeros_is_in_key():
    rows = [
        ("a", "computed", 1, 1.0),
        ("a", "computed", 2, 0.0),
        ("b", "computed", 1, 0.0),
        ("b", "computed", 2, 0.0),
    ]
    figure = draw(made({"y_scale": "log"}, rows, {"a": "A", "b": "B"}))
    assert names(figure) == ["A", "B: 0"]
    assert np.isnan(line(figure.axes[0], "a").get_ydata()).tolist() == [False, True]


def test_gap_is_where_x_jumps():
    rows = [("a", "simulated", x, y) for x, y in ((1.0, 0.1), (2.0, 0.5), (90.0, 0.6), (100.0, 0.9))]
    (ax,) = draw(made({"x_scale": "log", "along": "round"}, rows, {"a": "A"})).axes
    drawn = line(ax, "a").get_xydata()
    assert drawn[~np.isnan(drawn[:, 0])].tolist() == [list(row[2:]) for row in rows]
    assert np.isnan(drawn[:, 0]).nonzero()[0].tolist() == [2]


def test_paper_points_are_crosses_within_axes():
    rows = [("a", "computed", 1, 1.0), ("a", "computed", 2, 2.0)]
    (ax,) = draw(made({}, rows, {"a": "A"}, points=[(None, 1.5, 9.0)])).axes
    (cross,) = [one for one in ax.lines if one.get_marker() == "x"]
    assert cross.get_xydata().tolist() == [[1.5, 9.0]] and ax.get_ylim()[1] > 9


def test_stated_numbers_are_dotted_lines():
    rows = [("ours", "computed", x, x) for x in (1.0, 2.0)]
    stated = {"x": {"5": 1.5}, "label": "lowest in the text"}
    figure = draw(made({"stated": stated, "panels": "n"}, rows, {"ours": "ours"}, panels=[5, 50]))
    dotted = [[own.get_xdata()[0] for own in ax.lines if own.get_linestyle() == ":"] for ax in figure.axes]
    assert dotted == [[1.5], []] and "lowest in the text" in names(figure)
    higher = draw(made({"stated": {"y": 9.0, "label": "text"}}, rows, {"ours": "ours"}))
    assert higher.axes[0].get_ylim()[1] > 9


def test_means_along_variable_have_band():
    rows = [("ours", "simulated", x, x) for x in (1.0, 2.0)]
    what = made({"along": "eps"}, rows, {"ours": "ours"})
    what = replace(what, selection=what.selection.assign(standard_error=0.25))
    (band,) = draw(what).axes[0].collections
    assert band.get_paths()[0].vertices[:, 1].min() == 0.75


def test_five_panels_are_in_one_row():
    rows = [("a", "computed", x, x) for x in (1, 2)]
    figure = draw(made({"panels": "rate"}, rows, {"a": "A"}, panels=[0.1, 0.2, 0.3, 0.4, 0.5]))
    assert len({round(ax.get_position().y0, 6) for ax in figure.axes}) == 1


def test_infeasible_figure_has_no_axes():
    figure = draw(made({}, [], {"a": "A"}))
    assert figure.axes == [] and figure.texts[0].get_text() == curves.INFEASIBLE


def test_column_style_sets_width_and_font():
    labels = {f"m{i}": f"M{i}" for i in range(8)}
    rows = [(c, "computed", x, x + 3.0 * i) for i, c in enumerate(labels) for x in (1, 2)]
    what = made({}, rows, labels, title="A title")
    with column_style():
        figure = draw(what)
    (key,) = figure.legends
    assert figure.get_size_inches()[0] == pytest.approx(3.3)
    assert {text.get_fontname() for text in key.get_texts()} == {"DejaVu Serif"}
    assert len(key.get_texts()) == 8 and figure.get_suptitle() == ""


def test_labels_of_a_column_stay_apart():
    """Two rows of low panels have room for the labels of vertical axes."""
    drawing = {"panels": "rate", "y_label": "squared l2 error of the mean"}
    rows = [("a", "computed", x, x) for x in (1, 2)]
    with column_style():
        figure = draw(made(drawing, rows, {"a": "A"}, panels=[0.1, 0.2, 0.3]))
        renderer = FigureCanvasAgg(figure).get_renderer()
        upper, lower = (ax.yaxis.label.get_window_extent(renderer) for ax in figure.axes if ax.get_ylabel())
    assert not upper.overlaps(lower) and upper.y1 <= figure.bbox.y1 and lower.y0 >= 0


def test_method_panels_show_factors_in_order():
    what = of_both(4.0, base="Base", b="B", c="C")
    what = replace(what, drawing={**what.drawing, "over": "base"})
    figure = spotlight.draw(what)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["Base", "B", "C"]
    assert [ax.texts[0].get_text() for ax in figure.axes] == [
        "1×\nprinted 4×", "2×\nprinted 8×", "3×\nprinted 12×"
    ]  # fmt: skip
    assert figure.get_suptitle().endswith("× is over Base at eps\xa0=\xa02")


def test_single_printed_point_has_marker():
    what = of_both(4.0, a="A", b="B")
    single = what.selection[(what.selection["curve"] != "a|printed") | (what.selection["eps"] == 2)]
    (ax, _) = draw(replace(what, selection=single)).axes
    markers = {curve: line(ax, curve).get_marker() for curve in ("a|printed", "b|printed")}
    assert markers == {"a|printed": what.looks["a|printed"].marker, "b|printed": "None"}


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


def contrast(color):
    channels = np.array(mpl.colors.to_rgb(color))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return 1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05)


PICTURES = {
    "both": lambda: draw(of_both(2500.0, a="A long name of a protocol, with an option", b="B")),
    "methods": lambda: spotlight.draw(
        (lambda what: replace(what, drawing={**what.drawing, "over": "a"}, title="A title of some length"))(
            of_both(3.0, **{c: f"Protocol {c}" for c in "abcdefgh"})
        )
    ),
    "marked": lambda: draw(replace(of_both(3.0, a="A"), mark="data rebuilt from summaries", title="Errors")),
}


@pytest.mark.parametrize("name", PICTURES)
def test_borders_are_empty_and_letters_legible(name):
    with figure_style():
        figure = PICTURES[name]()
        pixels = imread(io.BytesIO(rendered(figure, "png")))[..., :3]
    for side in (pixels[:2], pixels[-2:], pixels[:, :2], pixels[:, -2:]):
        assert (side > 0.98).all()
    letters = [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    assert min(text.get_fontsize() for text in letters) >= panels.SMALL
    assert min(contrast(text.get_color()) for text in letters) >= LEAST_CONTRAST
