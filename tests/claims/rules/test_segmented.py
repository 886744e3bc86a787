"""Claims on segmented privacy, on both sides of every threshold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import made_up_results
import pytest
from judged_claims import Verdicts, judged

from shuffledp.claims.reads import READS


def gains(folder: Path, ours: Any, *, shuffled: tuple[str, ...] = ("printed",)) -> Verdicts:
    for experiment, methods in READS["segmented"].items():
        grid: dict[str, Any] = {"n": [5, 50], "split": ["25-50-25", "50-25-25"]}
        for method in methods:
            which = made_up_results.ACCOUNTINGS if method != "subset_shuffled" else shuffled
            own = {**grid, "m": [0.1, 2.0, 10.0]} if method == "segmented" else grid
            value = ours if method == "segmented" else lambda a, p: 1.0
            made_up_results.write(folder, f"segmented.{experiment}.{method}", own, value, accountings=which)
    return judged(folder, "SE-01")


def test_a_gain_is_that_of_the_best_number_of_messages_at_the_first_split(tmp_path):
    found = gains(tmp_path, lambda a, p: 9.0 if p["split"] != "25-50-25" else 0.5 + abs(p["m"] - 2.0))
    assert {(row["verdict"], row["measured"]) for row in found.values()} == {("holds", "50.0 %")}
    assert "in 4 panels" in found["exact", "-"]["why"]
    assert "shuffled subset mechanism: no result with exact accounting" in found["exact", "-"]["why"]


@pytest.mark.parametrize(
    ("left", "outcome"),
    [((0.4, 0.66), "holds"), ((0.2, 0.75), "in part"), ((0.9, 0.9), "in part"), ((1.1, 1.1), "fails")],
)
def test_a_gain_must_be_about_half_and_in_no_panel_small(tmp_path, left, outcome):
    found = gains(tmp_path, lambda a, p: left[p["n"] == 50])
    assert found["printed", "-"]["verdict"] == outcome
