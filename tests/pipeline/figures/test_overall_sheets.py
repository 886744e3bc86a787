"""Colors of one picture stay apart for color-blind readers."""

from itertools import combinations

import numpy as np
import pytest

from shuffledp.pipeline.figures import best_protocols, overall, palette, rows
from shuffledp.pipeline.figures.overall_sheets import APART, REST

#: Machado, Oliveira and Fernandes (2009), complete loss of a kind of cones, on linear RGB.
SIGHT = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
WHITE = np.array([0.95047, 1.0, 1.08883])
LEAST = 10.0  # a CIELAB distance of 2.3 is just noticeable side by side


def lab(color, sight):
    rgb = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(SIGHT[sight] @ linear, 0, 1) / WHITE
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def least(colors, sight):
    return min(np.linalg.norm(lab(a, sight) - lab(b, sight)) for a, b in combinations(colors, 2))


PICTURES = {
    "profiles": (*APART, REST),
    "best protocols": tuple(map(best_protocols.fill_of, APART)),
    "rows": (rows.BLUE, rows.GOLD, rows.RED, rows.DARK, rows.PALE),
    "robustness": (palette.GRAY, *palette.COLORS[:2]),
    "verdicts": tuple(overall.VERDICTS.values()),
}


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("colors", PICTURES.values(), ids=PICTURES)
def test_colors_of_a_picture_stay_apart(colors, sight):
    assert least(colors, sight) > LEAST
