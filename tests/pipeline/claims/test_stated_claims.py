"""The catalogue of claims: complete, of the required form, and about existing experiments and methods."""

import inspect

import pytest

from shipped_settings import shipped_settings
from shuffledp.pipeline.claims import claim_jobs, errata_data, stated_claims
from shuffledp.pipeline.claims.claim_jobs import content, papers_with_claims, results_read
from shuffledp.pipeline.claims.stated_claims import claims
from shuffledp.pipeline.figures.drawings import drawings_of

PAPERS = papers_with_claims()
CLAIMS = [claim for paper in PAPERS for claim in claims(paper)]


@pytest.mark.parametrize("paper", PAPERS)
def test_claim_numbers_have_no_gap(paper):
    ids = [claim.id for claim in claims(paper) if claim.kind == "claim"]
    prefix = ids[0].partition("-")[0]
    assert ids == [f"{prefix}-{number:02d}" for number in range(1, len(ids) + 1)]


def test_ids_are_unique_with_one_headline(papers):
    """Every paper has one headline claim, and no study has one."""
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)
    replicated = [paper for paper in PAPERS if papers[paper].kind == "paper"]
    assert [claim.paper for claim in CLAIMS if claim.headline] == replicated


@pytest.mark.parametrize("file", ["claims.yaml", "error_claims.py"])
def test_unread_claims_are_an_error(monkeypatch, tmp_path, file):
    (tmp_path / "lonely").mkdir()
    (tmp_path / "lonely" / file).touch()
    monkeypatch.setattr(claim_jobs, "PAPERS", tmp_path)
    with pytest.raises(ValueError, match="Nobody reads the claims of lonely"):
        papers_with_claims()


def test_claims_may_read_no_results(monkeypatch):
    monkeypatch.setattr(claim_jobs, "content", lambda paper: {"claims": []})
    assert results_read("dump") == {}


@pytest.fixture(scope="module")
def papers():
    return shipped_settings("paper").papers


@pytest.mark.parametrize("paper", PAPERS)
def test_claims_read_existing_results(papers, paper):
    for experiment, methods in results_read(paper).items():
        assert set(methods) <= set(papers[paper].experiments[experiment].methods)
    drawings = {drawing.id for drawing in drawings_of(papers[paper])} | set(papers[paper].claims)
    assert {claim.figure for claim in claims(paper) if claim.figure} <= drawings
    known = {entry.id for entry in (*errata_data.errata(paper), *errata_data.reading_notes(paper))}
    assert {key for claim in claims(paper) for key in claim.errata.split()} <= known


# -- the form ----------------------------------------------------------------------------------------------------------

WRONG = ("our expectation: ", "the measurement: ", "neither: ")


def test_claims_have_the_agreed_form():
    for claim in CLAIMS:
        assert all(text == text.strip() != "" for text in (claim.place, claim.statement, claim.stated)), (
            claim.id
        )
        for several in (claim.accountings, claim.targets, claim.errata.split()):
            assert len(set(several)) == len(several), claim.id
        assert claim.accountings and claim.targets, claim.id
        assert not claim.wrong or claim.wrong.startswith(WRONG), claim.id
        assert [bool(claim.rule), bool(claim.follows), bool(claim.untestable)].count(True) == 1, claim.id
        if claim.rule:
            inspect.signature(claim.decide).bind("case", **claim.options)


NEW = {"id": "DU-99", "place": "1", "statement": "It works.", "stated": "always"}


ENTRIES = content("dump")["claims"]


@pytest.mark.parametrize(
    "entries, message",
    [
        (ENTRIES[1:], "no function, or no claim, has the rule 'domain_ratio'"),
        ([*ENTRIES, {**NEW, "rule": "misspelt"}], "has the rule 'misspelt'"),
        ([*ENTRIES, {**NEW, "rule": ""}], "has the rule ''"),
        (
            [*ENTRIES, {**NEW, "id": "O-99", "follows": ["DU-01", "DU-99"]}],
            r"an entry follows DU-99, which no function decides",
        ),
        ([{**NEW, "expected": "perhaps"}], r"dump/claims.yaml: 0.expected.*got 'perhaps'"),
    ],
)
def test_mistakes_in_claims_are_named(monkeypatch, entries, message):
    monkeypatch.setattr(stated_claims, "content", lambda paper: {"claims": entries})
    with pytest.raises(stated_claims.ClaimError, match=message):
        claims("dump")


def test_a_paper_without_claims_is_named():
    with pytest.raises(ValueError, match="no claims of 'allocation'"):
        claims("allocation")
