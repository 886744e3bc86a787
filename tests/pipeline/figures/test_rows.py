"""Pictures over all papers, drawn from the kept tables."""

from itertools import combinations

import numpy as np
import pytest
from legible import assert_legible, texts
from matplotlib.colors import to_hex

from color_vision import distance
from shuffledp.pipeline.figures import best_protocols, rows
from shuffledp.pipeline.figures.overall import read_kept
from shuffledp.pipeline.figures.overall_jobs import KEPT
from shuffledp.pipeline.figures.panels import write_title
from shuffledp.pipeline.figures.privacy_profiles import draw_profiles
from shuffledp.pipeline.figures.rows import NO_GUARANTEE, RED
from shuffledp.pipeline.figures.style import figure_style

DRAWN = {
    "best_protocols": best_protocols.draw_best,
    "by_year": rows.draw_years,
    "dumbbells": rows.draw_errors,
    "gaps": rows.draw_gaps,
    "profiles": draw_profiles,
    "robustness": rows.draw_robustness,
    "verdicts": rows.draw_verdicts,
}


@pytest.fixture(scope="module")
def pictures():
    """Return the table and the picture of each name."""
    with figure_style():
        tables = {name: read_kept(KEPT, name) for name in DRAWN}
        found = {name: (tables[name], draw(tables[name])) for name, draw in DRAWN.items()}
        for _, figure in found.values():
            write_title(figure, "A title")
    return found


@pytest.mark.parametrize("name", DRAWN)
def test_borders_are_empty_and_letters_legible(pictures, name):
    assert_legible(pictures[name][1])


WINNERS = read_kept(KEPT, "best_protocols").query("trust == 'shuffler permutes'")["best"].unique().tolist()
COLORS = {
    "best protocols": map(best_protocols.fill_of, best_protocols.colors_of(WINNERS).values()),
    "rows": (rows.BLUE, rows.GOLD, rows.RED, rows.DARK, rows.PALE),
    "verdicts": rows.VERDICTS.values(),
}


@pytest.mark.parametrize("colors", COLORS.values(), ids=COLORS)
def test_colors_of_a_picture_stay_apart(colors):
    """They do for color-blind readers, too."""
    assert min(distance(one, other) for one, other in combinations(map(to_hex, colors), 2)) > 10


def test_unguaranteed_printed_errors_are_red(pictures):
    table, figure = pictures["dumbbells"]
    weak = table["printed_over_curator"] < 0.99 * table["over_curator"]
    red = [text.get_text() for text in texts(figure) if text.get_color() == RED]
    assert weak.sum() == len(red) > 0 and all(text.endswith(f": {NO_GUARANTEE}") for text in red)


def test_gaps_are_sorted_and_marked(pictures):
    table, figure = pictures["gaps"]
    (ax,) = figure.axes
    shown = [label.get_text().partition(" (")[0] for label in ax.get_yticklabels()]
    order = table.sort_values("median", ascending=False, kind="stable")["method"]
    assert shown == [name.partition(" (")[0] for name in order]
    red = [text.get_text() for text in texts(figure) if text.get_color() == RED]
    assert len(red) == (table["median"] < 0.99).sum() > 0 and all(NO_GUARANTEE in text for text in red)


def test_every_year_is_labeled_once(pictures):
    table, figure = pictures["by_year"]
    shown = table[table["trust"] != "curator"].reset_index(drop=True)
    first = shown.drop_duplicates("year")
    found = {
        round(text.xy[1]): text.get_text() for text in texts(figure) if hasattr(text, "xy") and text.xy[0] > 1
    }
    years = {i: str(year) for i, year in first["year"].items()}
    assert {i: text for i, text in found.items() if text in years.values()} == years


def test_protocols_without_guarantee_are_red(pictures):
    table, figure = pictures["robustness"]
    red = [text.get_text() for text in texts(figure) if text.get_color() == RED]
    assert len(red) == np.isinf(table["eps_colluding"]).sum() > 0


def test_every_claim_is_in_a_bar(pictures):
    table, figure = pictures["verdicts"]
    (ax,) = figure.axes
    bars = {bars.get_label(): [int(width) for width in bars.datavalues[::-1]] for bars in ax.containers}
    assert bars == {
        verdict: part["claims"].tolist() for verdict, part in table.groupby("verdict", sort=False)
    }


def test_profile_key_names_every_protocol_once(pictures):
    table, figure = pictures["profiles"]
    names = [text.get_text().replace("\n", " ") for text in figure.legends[0].get_texts()]
    assert sorted(" = ".join(names).split(" = ")) == sorted([*table["label"].unique(), "the budget"])
