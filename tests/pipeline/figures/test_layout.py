"""Panels fill their grid, and texts fit."""

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from shuffledp.pipeline.figures.layout import laid_out, legend_of, plot_width, rows_of, text_inches, wrapped
from shuffledp.pipeline.figures.style import SETTINGS, figure_style


def plan(panels, **changes):
    given = {"titles": True, "strips": False, "above": 0, "left": 0.3, "label_lines": 1, "legend_rows": 2}
    return laid_out(panels, **(given | changes))


@pytest.mark.parametrize("strips", [False, True])
@pytest.mark.parametrize("panels", range(1, 31))
def test_a_grid_of_panels_has_no_holes_and_labels_where_nothing_stands_below(panels, strips):
    places = plan(panels, strips=strips).places
    assert len(places) == sum(rows_of(panels)) == panels
    rows = {}
    for place in places:
        rows.setdefault(round(place.box.bottom, 6), []).append(place)
    assert max(map(len, rows.values())) <= 5
    for row in rows.values():
        assert row[0].box.left == pytest.approx(places[0].box.left)
        right = row[-1].box.left + row[-1].box.width
        assert right - row[0].box.left == pytest.approx(plot_width(panels))
        assert [p.first for p in row] == [True] + [False] * (len(row) - 1)
    below = {(p.box.left, p.box.width) for p in places}
    for place in places:
        under = [o for o in places if o.box.bottom < place.box.bottom and o.box.left == place.box.left]
        neighbour = any(o.box.width == place.box.width for o in under)
        assert place.last or neighbour
    assert below


def test_nothing_overlaps_or_leaves_the_picture():
    for panels in (1, 3, 5, 7, 11):
        found = plan(panels, strips=True, above=2)
        boxes = [box for p in found.places for box in (p.box, p.strip)]
        for i, a in enumerate(boxes):
            assert 0 < a.left < a.left + a.width < found.width
            assert found.below < a.bottom < a.bottom + a.height < found.height
            for b in boxes[:i]:
                apart = a.left + a.width < b.left or b.left + b.width < a.left
                assert apart or a.bottom + a.height < b.bottom or b.bottom + b.height < a.bottom


def test_texts_are_measured_and_wrapped():
    assert 0 < text_inches("iiii", 9) < text_inches("wwww", 9) < text_inches("wwww", 18)
    lines = wrapped("squared error, summed over both values", 9, 1.5).split("\n")
    assert len(lines) > 1
    assert all(text_inches(line, 9) <= 1.5 for line in lines)


def test_a_legend_text_that_is_wider_than_the_picture_goes_over_lines():
    long = "coarse correlated noise of one million users ≈ coarse correlated noise of ten million users"
    form = legend_of(["short", long], 1, 3.0)
    assert (form.columns, form.texts[0]) == (1, "short")
    assert form.texts[1].replace("\n", " ") == long
    assert form.rows == 1 + len(form.texts[1].split("\n")) > 2
    size = SETTINGS["legend.fontsize"]
    assert max(text_inches(line, size) for text in form.texts for line in text.split("\n")) < 3.0


def test_a_legend_has_the_columns_that_fit():
    texts = ["short", "also short", "x", "y"]
    assert (legend_of(texts, 1, 20.0).columns, legend_of(texts, 1, 20.0).rows) == (4, 1)
    assert (legend_of(texts, 1, 1.6).columns, legend_of(texts, 1, 1.6).rows) == (1, 4)
    assert legend_of(texts, 4, 3.6).columns < legend_of(texts, 1, 3.6).columns


@pytest.mark.parametrize("points", [5.5, 6.5, 7.5, 9.0])
def test_widths_of_texts_are_their_widths_in_the_picture(points):
    text = "central discrete Laplace (control)"
    with figure_style():
        figure = Figure(dpi=SETTINGS["savefig.dpi"])
        drawn = figure.text(0, 0, text, fontsize=points).get_window_extent(
            FigureCanvasAgg(figure).get_renderer()
        )
        assert text_inches(text, points) == pytest.approx(drawn.width / figure.dpi, rel=0.05)
