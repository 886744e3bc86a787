"""The catalogue of claims: complete, of the required form, and about existing experiments and methods."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from shipped_settings import shipped_settings
from shuffledp.pipeline.claims import errata_data, stated_claims
from shuffledp.pipeline.claims.results_read import papers_with_claims, results_read
from shuffledp.pipeline.claims.stated_claims import claims
from shuffledp.pipeline.figures.drawings import drawings_of

ROOT = Path(__file__).resolve().parents[3]
#: Prefix and number of the claims of each paper, and the orderings about its results.
COUNTS: dict[str, tuple[str, int, range]] = {
    "random_population": ("RP", 48, range(1, 9)),
    "shuffle_gaussian": ("SG", 33, range(9, 14)),
    "dump": ("DU", 44, range(14, 20)),
    "summation": ("SU", 36, range(20, 23)),
    "segmented": ("SE", 37, range(23, 27)),
}
PAPERS = papers_with_claims()
CLAIMS = [claim for paper in PAPERS for claim in claims(paper)]


def numbered(prefix: str, numbers: range) -> list[str]:
    return [f"{prefix}-{number:02d}" for number in numbers]


@pytest.mark.parametrize("paper", COUNTS)
def test_the_catalogue_of_a_paper_is_complete_and_in_order(paper):
    prefix, count, orderings = COUNTS[paper]
    wanted = numbered(prefix, range(1, count + 1)) + numbered("O", orderings)
    assert [claim.id for claim in claims(paper)] == wanted


def test_no_id_is_given_twice_and_every_paper_has_one_headline():
    assert set(COUNTS) == set(PAPERS)
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)
    assert [claim.paper for claim in CLAIMS if claim.headline] == PAPERS


def test_a_paper_cannot_have_claims_that_nobody_judges():
    with pytest.raises(ValueError, match=r"papers/comparison/results_read.py: write READS"):
        results_read("comparison")


@pytest.fixture(scope="module")
def papers():
    return shipped_settings("paper").papers


@pytest.mark.parametrize("paper", PAPERS)
def test_claims_read_methods_and_name_drawings_and_errata_that_there_are(papers, paper):
    for experiment, methods in results_read(paper).items():
        assert set(methods) <= set(papers[paper].experiments[experiment].methods)
    drawings = {drawing.name for drawing in drawings_of(papers[paper])} | set(papers[paper].claims)
    assert {claim.figure for claim in claims(paper) if claim.figure} <= drawings
    known = {entry.id for entry in (*errata_data.errata(paper), *errata_data.reading_notes(paper))}
    assert {key for claim in claims(paper) for key in claim.errata.split()} <= known


# -- the form ----------------------------------------------------------------------------------------------------------

WRONG = ("our expectation: ", "the measurement: ", "neither: ")


def test_every_claim_is_of_the_agreed_form_and_its_options_are_parameters_of_its_rule():
    for claim in CLAIMS:
        assert all(text == text.strip() != "" for text in (claim.where, claim.says, claim.stated)), claim.id
        for several in (claim.accountings, claim.targets, claim.errata.split()):
            assert len(set(several)) == len(several), claim.id
        assert claim.accountings and claim.targets, claim.id
        assert not claim.wrong or claim.wrong.startswith(WRONG), claim.id
        inspect.signature(claim.rule).bind("case", **claim.options)


def test_a_claim_depends_on_no_accounting_unless_it_states_some_and_claims_come_before_orderings():
    """An option may have the same name as an attribute of claims, here ``stated``."""
    made = stated_claims.Catalogue("dump")
    made.under("printed", "exact")("O-14", "1", "It works.", "always", "open")(len)
    made("DU-01", "1", "It works.", "always", stated=0.5)(len)
    ordering, claim = made.claims
    assert (claim.id, claim.stated, claim.expected, claim.options) == (
        "DU-01",
        "always",
        "holds",
        {"stated": 0.5},
    )
    assert (claim.accountings, claim.targets, claim.errata, claim.kind) == (("-",), ("-",), "", "claim")
    assert (ordering.accountings, ordering.kind) == (("printed", "exact"), "ordering")


def test_a_paper_without_claims_is_named():
    with pytest.raises(ValueError, match="no claims of 'allocation'"):
        claims("allocation")
