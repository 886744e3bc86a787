"""A caption rounds a number behind "at most" up, and a number behind "at least" down. Tables round bounds likewise."""

import re

import pandas as pd
import pytest

from shuffledp.numerics.statements import side_of
from shuffledp.pipeline.figures.drawings import PAPERS
from shuffledp.pipeline.figures.drawn_tables import as_leaderboard, in_three_forms
from shuffledp.pipeline.site.csv_tables import cell

CAPTIONS = sorted(PAPERS.glob("*/captions/*.rst"))
#: Numbers of a person's choice, and counts: they are printed whole.
WHOLE = re.compile(r"\b(little|tolerance|integer)\b")
SIDES = {"at most": "rounded_up", "at least": "rounded_down"}


@pytest.mark.parametrize("path", CAPTIONS, ids=lambda path: f"{path.parts[-3]}/{path.stem}")
def test_caption_bounds_round_to_their_sides(path):
    text = " ".join(path.read_text(encoding="utf-8").split())
    bounds = [
        (side, number)
        for side, number in re.findall(r"(at most|at least) \{\{ (.*?) \}\}", text)
        if not WHOLE.search(number)
    ]
    assert [(side, number) for side, number in bounds if SIDES[side] not in number] == []


#: Headings of bounds, numbers just beyond four digits, and the sign of the side.
BOUNDS = [
    *((name, 1) for name in ("eps_spent", "eps spent", "eps_dropped", "eps_colluding", "poisoning_gain")),
    ("slack", -1),
]


@pytest.mark.parametrize("name, sign", BOUNDS)
@pytest.mark.parametrize("value", [1.16324, 0.0123449, 7010.4, 2.0])
def test_page_bounds_round_to_their_sides(name, sign, value):
    frame = pd.DataFrame({"label": ["a"], name: [value]})
    texts = [
        in_three_forms(frame.astype(str))["md"],
        as_leaderboard({}, frame, [name])["md"],
        f"| {cell(str(value), side_of(name)).text} |",
    ]
    for text in texts:
        printed = float(re.search(r"([\d.e-]+) *\|$", text.rstrip())[1])
        assert 0 <= sign * (printed - value) < 1e-3 * value
