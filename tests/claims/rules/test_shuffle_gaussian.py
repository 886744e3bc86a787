"""Claims on the shuffle Gaussian mechanism, on both sides of every threshold."""

from __future__ import annotations

import made_up_results
import pytest
from judged_claims import judged

from shuffledp.claims.rules.shuffle_gaussian import TERMS


@pytest.mark.parametrize(
    ("clones", "outcome", "measured"),
    [
        (lambda rounds: 0.5 * rounds, "holds", "1.01 to 3.54 times tighter"),
        (lambda rounds: 0.0, "fails", "0 times tighter"),
    ],
)
def test_composition_is_judged_from_two_rounds_on(tmp_path, clones, outcome, measured):
    for experiment, ours, theirs, _ in TERMS.values():
        for method, value in ((ours, lambda a, p: 0.99), (theirs, lambda a, p: clones(p["rounds"]))):
            made_up_results.write(
                tmp_path,
                f"shuffle_gaussian.{experiment}.{method}",
                {"rounds": [1, 2, 3, 7, 100]},
                value,
                accountings=["printed"],
            )
    found = judged(tmp_path, "SG-12")
    assert {(row["verdict"], row["measured"]) for row in found.values()} == {(outcome, measured)}
    assert all("of 3 numbers of rounds" in row["why"] for row in found.values())
