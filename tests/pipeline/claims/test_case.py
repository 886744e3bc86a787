"""Verdicts, and one outcome for several accountings."""

from typing import get_args

import pytest

from shuffledp.pipeline.claims.case import Verdict, combined
from shuffledp.pipeline.query import Outcome, Points


@pytest.mark.parametrize(
    "found, outcome",
    [(True, "holds"), (False, "fails"), (Points(3, 0), "holds"), ("untestable", "untestable")],
)
def test_a_verdict_is_what_was_found(found, outcome):
    assert Verdict("", found, "").verdict == outcome


@pytest.mark.parametrize(
    "outcomes, together",
    [
        (("holds", "holds"), "holds"),
        (("fails", "fails"), "fails"),
        (("holds", "in part"), "in part"),
        (("holds", "fails"), "in part"),
        (("holds", "untestable"), "holds"),
        (("untestable", "untestable"), "untestable"),
    ],
)
def test_tested_accountings_decide_together(outcomes, together):
    assert set(outcomes) <= set(get_args(Outcome))
    assert combined(outcomes) == together


def test_without_verdicts_nothing_is_combined():
    with pytest.raises(ValueError, match="no verdict"):
        combined([])
