"""The rules of the catalogue, and what a claim says where results are missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from shuffledp.claims.catalogue import OUTCOMES, Claim, Verdict, about, combined, ordering
from shuffledp.claims.evidence import Evidence, Untestable


@pytest.mark.parametrize(
    ("for_it", "against", "outcome"),
    [
        (5, 0, "holds"),
        (4, 1, "in part"),
        (2, 2, "in part"),
        (1, 2, "fails"),
        (0, 3, "fails"),
        (0, 0, "in part"),  # ties alone
    ],
)
def test_an_ordering_holds_everywhere_or_in_part_from_half_of_the_points(for_it, against, outcome):
    assert ordering(for_it, against) == outcome


@pytest.mark.parametrize(
    ("measured", "outcome"),
    [
        (0.5, "holds"),
        (0.451, "holds"),
        (0.549, "holds"),
        (0.44, "in part"),
        (0.9, "in part"),
        (-0.1, "fails"),
    ],
)
def test_about_a_fraction_is_within_five_points(measured, outcome):
    assert about(measured, 0.5) == outcome


@pytest.mark.parametrize(
    ("outcomes", "together"),
    [
        (("holds", "holds"), "holds"),
        (("fails", "fails"), "fails"),
        (("holds", "in part"), "in part"),
        (("holds", "fails"), "in part"),
        (("holds", "untestable"), "holds"),
        (("untestable", "untestable"), "untestable"),
    ],
)
def test_what_can_be_tested_decides_over_several_accountings(outcomes, together):
    assert set(outcomes) <= set(OUTCOMES)
    assert combined([Verdict("", 0.0, outcome, "") for outcome in outcomes]) == together


def test_without_verdicts_nothing_is_combined():
    with pytest.raises(ValueError, match="no verdict"):
        combined([])


def test_a_claim_whose_results_are_missing_is_untestable_and_says_why():
    def decide(evidence: Evidence, accounting: str) -> Verdict:
        raise Untestable(f"nothing with {accounting}")

    claim = Claim("X-01", "x", "1", "It works.", "always", "fig1", {}, decide)
    verdict = claim.judged(Evidence(Path(), "x", {}), "exact")
    assert verdict == Verdict("", 0.0, "untestable", "nothing with exact")
