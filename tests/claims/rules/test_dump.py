"""Claims on DUMP, on both sides of every threshold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import made_up_results
import pytest
from judged_claims import judged

from shuffledp.claims.reads import READS

EPS = [0.1, 0.5]


def errors(folder: Path, rival: Any) -> dict[tuple[str, str], dict[str, str]]:
    """DU-03 where pureDUMP has error 1, SOLH ``rival`` and all others 5."""
    for experiment, methods in READS["dump"].items():
        for method in methods:
            which = (
                (lambda a, p: 1.0)
                if method == "pure_dump"
                else rival
                if method == "solh"
                else (lambda a, p: 5.0)
            )
            made_up_results.write(folder, f"dump.{experiment}.{method}", {"eps": EPS}, which)
    return judged(folder, "DU-03")


@pytest.mark.parametrize(
    ("rival", "outcome", "measured"),
    [
        (1.2, "holds", "lowest at 6 of 6 points"),
        (1.004, "in part", "lowest at 0 of 6 points, tied at 6"),
        (0.9, "fails", "lowest at 0 of 6 points, not lowest at 6"),
    ],
)
def test_the_lowest_error_is_below_the_best_rival_at_every_point(tmp_path, rival, outcome, measured):
    found = errors(tmp_path, lambda a, p: rival)
    assert {(row["verdict"], row["measured"]) for row in found.values()} == {(outcome, measured)}


def test_infeasible_rivals_are_no_rivals(tmp_path):
    found = errors(tmp_path, lambda a, p: None if p["eps"] == 0.1 else 0.5)["printed", "-"]
    assert found["measured"] == "lowest at 3 of 6 points, not lowest at 3"
    assert "0.5 to 5 times" in found["why"]
