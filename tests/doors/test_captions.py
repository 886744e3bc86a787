"""A caption rounds a number behind "at most" up, and a number behind "at least" down."""

import re
from pathlib import Path

import pytest

from shuffledp.pipeline.figures.drawings import PAPERS

CAPTIONS = sorted(PAPERS.glob("*/captions/*.rst"))
#: Numbers of a person's choice, and counts: they are printed whole.
WHOLE = re.compile(r"\b(little|tolerance|integer)\b")
SIDES = {"at most": "rounded_up", "at least": "rounded_down"}


@pytest.mark.parametrize("path", CAPTIONS, ids=lambda path: f"{path.parts[-3]}/{path.stem}")
def test_a_bound_in_a_caption_is_rounded_to_its_side(path: Path) -> None:
    text = " ".join(path.read_text(encoding="utf-8").split())
    bounds = [
        (side, number)
        for side, number in re.findall(r"(at most|at least) \{\{ (.*?) \}\}", text)
        if not WHOLE.search(number)
    ]
    assert [(side, number) for side, number in bounds if SIDES[side] not in number] == []
