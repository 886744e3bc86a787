"""Colors of one picture stay apart for color-blind readers."""

from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest

from color_vision import DEUTERANOPIA, PROTANOPIA, seen
from shuffledp.pipeline.figures import best_protocols, overall_jobs, rows
from shuffledp.pipeline.figures.overall import read_kept

SIGHT = {"usual": np.eye(3).tolist(), "protanopia": PROTANOPIA, "deuteranopia": DEUTERANOPIA}
LEAST = 10.0  # a CIELAB distance of 2.3 is just noticeable side by side


def least(colors, sight):
    seen_by = [seen(mpl.colors.to_hex(color), SIGHT[sight]) for color in colors]
    return min(np.linalg.norm(a - b) for a, b in combinations(seen_by, 2))


KEPT = read_kept(overall_jobs.KEPT, "best_protocols")
WINNERS = KEPT.loc[KEPT["trust"] == "shuffler permutes", "best"].unique().tolist()
PICTURES = {
    "best protocols": tuple(map(best_protocols.fill_of, best_protocols.colors_of(WINNERS).values())),
    "rows": (rows.BLUE, rows.GOLD, rows.RED, rows.DARK, rows.PALE),
    "verdicts": tuple(rows.VERDICTS.values()),
}


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("colors", PICTURES.values(), ids=PICTURES)
def test_colors_of_a_picture_stay_apart(colors, sight):
    assert least(colors, sight) > LEAST
