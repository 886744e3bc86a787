"""Pictures over all papers, drawn from the kept tables."""

import io

import numpy as np
import pytest
from matplotlib.text import Text
from PIL import Image

from shuffledp.pipeline.figures.best_protocols import draw_best
from shuffledp.pipeline.figures.overall import read_kept
from shuffledp.pipeline.figures.overall_jobs import KEPT
from shuffledp.pipeline.figures.panels import write_title
from shuffledp.pipeline.figures.privacy_profiles import draw_profiles
from shuffledp.pipeline.figures.rows import (
    NO_GUARANTEE,
    RED,
    draw_errors,
    draw_gaps,
    draw_robustness,
    draw_verdicts,
    draw_years,
)
from shuffledp.pipeline.figures.style import figure_style, rendered

DRAWN = {
    "best_protocols": draw_best,
    "by_year": draw_years,
    "dumbbells": draw_errors,
    "gaps": draw_gaps,
    "profiles": draw_profiles,
    "robustness": draw_robustness,
    "verdicts": draw_verdicts,
}


@pytest.fixture(scope="module")
def pictures():
    with figure_style():
        tables = {name: read_kept(KEPT, name) for name in DRAWN}
        figures = {name: draw(tables[name]) for name, draw in DRAWN.items()}
        for figure in figures.values():
            write_title(figure, "A title")
        return {name: (tables[name], figure, rendered(figure, "png")) for name, figure in figures.items()}


def texts(figure):
    return [text for text in figure.findobj(Text) if text.get_text().strip()]


@pytest.mark.parametrize("name", DRAWN)
def test_borders_are_empty_and_letters_large(pictures, name):
    _, figure, png = pictures[name]
    pixels = np.asarray(Image.open(io.BytesIO(png)).convert("L"))
    edges = [pixels[:2], pixels[-2:], pixels[:, :2], pixels[:, -2:]]
    assert all((edge == 255).all() for edge in edges)
    assert min(text.get_fontsize() for text in texts(figure)) >= 6.5


def test_unguaranteed_printed_errors_are_red(pictures):
    table, figure, _ = pictures["dumbbells"]
    weak = table["printed_over_curator"] < 0.99 * table["over_curator"]
    red = [text.get_text() for text in texts(figure) if text.get_color() == RED]
    assert weak.sum() == len(red) > 0 and all(text.endswith(f": {NO_GUARANTEE}") for text in red)


def test_gaps_are_sorted_and_marked(pictures):
    table, figure, _ = pictures["gaps"]
    (ax,) = figure.axes
    shown = [label.get_text().partition(" (")[0] for label in ax.get_yticklabels()]
    order = table.sort_values("median", ascending=False, kind="stable")["method"]
    assert shown == [name.partition(" (")[0] for name in order]
    red = [text.get_text() for text in texts(figure) if text.get_color() == RED]
    assert len(red) == (table["median"] < 0.99).sum() > 0 and all(NO_GUARANTEE in text for text in red)


def test_every_year_is_labeled_once(pictures):
    table, figure, _ = pictures["by_year"]
    shown = table[table["trust"] != "curator"].reset_index(drop=True)
    first = shown.drop_duplicates("year")
    found = {
        round(text.xy[1]): text.get_text() for text in texts(figure) if hasattr(text, "xy") and text.xy[0] > 1
    }
    years = {i: str(year) for i, year in first["year"].items()}
    assert {i: text for i, text in found.items() if text in years.values()} == years


def test_protocols_without_guarantee_are_red(pictures):
    table, figure, _ = pictures["robustness"]
    red = [text.get_text() for text in texts(figure) if text.get_color() == RED]
    assert len(red) == np.isinf(table["eps_colluding"]).sum() > 0


def test_every_claim_is_in_a_bar(pictures):
    table, figure, _ = pictures["verdicts"]
    (ax,) = figure.axes
    bars = {bars.get_label(): [int(width) for width in bars.datavalues[::-1]] for bars in ax.containers}
    assert bars == {
        verdict: part["claims"].tolist() for verdict, part in table.groupby("verdict", sort=False)
    }


def test_profile_key_names_every_protocol_once(pictures):
    table, figure, _ = pictures["profiles"]
    names = [text.get_text().replace("\n", " ") for text in figure.legends[0].get_texts()]
    assert sorted(" = ".join(names).split(" = ")) == sorted([*table["label"].unique(), "the budget"])
