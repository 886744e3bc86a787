"""The catalogue of claims: complete, of the agreed form, and about things that there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from shuffledp.pipeline import claims as errata_of
from shuffledp.pipeline.claims import stated_claims
from shuffledp.pipeline.claims.results_read import READS
from shuffledp.pipeline.claims.stated_claims import ClaimError, claims, parsed
from shuffledp.pipeline.claims.verdict_rows import rules
from shuffledp.pipeline.config.config_files import read_yaml
from shuffledp.pipeline.figures.drawings import drawings_of
from shuffledp.pipeline.figures.selection import load_settings

ROOT = Path(__file__).resolve().parents[3]
#: How many claims of each paper there are, and the orderings about its results; a paper that is missing is incomplete.
COUNTS: dict[str, tuple[int, range]] = {
    "random_population": (48, range(1, 9)),
    "shuffle_gaussian": (33, range(9, 14)),
    "dump": (44, range(14, 20)),
    "summation": (36, range(20, 23)),
    "segmented": (37, range(23, 27)),
}
CLAIMS = [claim for paper in stated_claims.known() for claim in claims(paper)]


def numbered(prefix: str, numbers: range) -> list[str]:
    return [f"{prefix}-{number:02d}" for number in numbers]


def test_every_paper_has_a_file():
    assert stated_claims.known() == stated_claims.PAPERS == tuple(READS)


@pytest.mark.parametrize("paper", COUNTS)
def test_the_catalogue_of_a_paper_is_complete_and_in_order(paper):
    count, orderings = COUNTS[paper]
    wanted = numbered(stated_claims.PREFIXES[paper], range(1, count + 1)) + numbered("O", orderings)
    assert [claim.id for claim in claims(paper)] == wanted


def test_no_id_is_given_twice_and_every_paper_has_one_headline():
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)
    assert [claim.paper for claim in CLAIMS if claim.headline] == list(stated_claims.PAPERS)


@pytest.mark.parametrize("paper", stated_claims.PAPERS)
def test_every_claim_has_a_rule_and_every_rule_a_claim(paper):
    named = {claim.rule for claim in claims(paper)}
    shared = rules("random_population").keys() & rules("dump").keys()  # the general ones
    assert named <= set(rules(paper))
    assert set(rules(paper)) - shared <= named


@pytest.fixture(scope="module")
def papers():
    return load_settings(read_yaml(ROOT / "config/config.yaml"), ROOT).papers


@pytest.mark.parametrize("paper", stated_claims.PAPERS)
def test_claims_read_methods_and_name_drawings_and_errata_that_there_are(papers, paper):
    for experiment, methods in READS[paper].items():
        assert set(methods) <= set(papers[paper].experiments[experiment].methods)
    drawings = {drawing.name for drawing in drawings_of(papers[paper])} | set(papers[paper].claims)
    assert {claim.figure for claim in claims(paper) if claim.figure} <= drawings
    known = {entry.id for entry in (*errata_of.errata(paper), *errata_of.reading_notes(paper))}
    assert {key for claim in claims(paper) for key in claim.errata} <= known


# -- the form ----------------------------------------------------------------------------------------------------------

ENTRY = """  - id: {id}
    where: "1"
    says: "It works."
    stated: "always"
    expected: holds
    rule: erratum
    headline: true
"""


def text(*ids: str, paper: str = "dump", more: str = "") -> str:
    return f"paper: {paper}\nclaims:\n" + "".join(ENTRY.format(id=one) for one in ids) + more


def test_a_claim_depends_on_no_accounting_unless_it_says_so():
    (claim,) = parsed(text("DU-01"), "dump")
    assert (claim.accountings, claim.targets, claim.errata, claim.kind) == (("-",), ("-",), (), "claim")
    (claim,) = parsed(text("O-14", more="    accounting: [printed, exact]\n"), "dump")
    assert (claim.accountings, claim.kind) == (("printed", "exact"), "ordering")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (text("SU-01"), "SU-01 belong to another paper"),
        (text("DU-1"), "does not match"),
        (text("DU-45"), "the catalogue has no DU-45"),
        (text("O-00"), "the catalogue has no O-00"),
        (text("DU-01", more="    verdict: holds\n"), "Additional properties are not allowed"),
        (text("DU-01", more="    accounting: [guessed]\n"), "is not one of"),
        (text("DU-01", more="    accounting: [exact, exact]\n"), "non-unique"),
        (text("DU-01").replace("expected: holds", "expected: maybe"), "is not one of"),
        (text("DU-01", paper="summation"), "is about 'summation'"),
        (text("DU-01").replace("    headline: true\n", ""), "0 headline claims"),
        (text("DU-01", "DU-01"), "given twice: DU-01"),
        (text("DU-01") + "paper: dump\n", "given twice"),
        ("paper: dump\nclaims: []\n", "claims"),
    ],
)
def test_what_is_not_of_this_form_is_refused(content, said):
    with pytest.raises(ClaimError, match=said):
        parsed(content, "dump")


def test_a_paper_without_claims_is_named():
    with pytest.raises(ClaimError, match="no claims of 'allocation'"):
        claims("allocation")
