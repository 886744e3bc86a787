"""Tables of claims: rows, differences from the expected outcome, all papers together, and headlines."""

from pathlib import Path

import pytest
from judged_claims import InMemory

from scripts_by_file import script
from shuffledp.pipeline.claims import stated_claims
from shuffledp.pipeline.claims.case import Verdict
from shuffledp.pipeline.claims.claim_jobs import paper_job, papers, results_read
from shuffledp.pipeline.claims.combined_tables import COLUMNS, HEADLINE_COLUMNS, headlines, published, union
from shuffledp.pipeline.claims.evidence import Evidence
from shuffledp.pipeline.claims.stated_claims import Claim
from shuffledp.pipeline.claims.verdict_rows import ANOTHER_SCALE, LEFT_OPEN, difference, rows
from shuffledp.storage import IntegrityError, verified


def mine(case, limit=1.0):
    value = float(case("expected", "correlated_sum", experiment="users", n=10))
    return Verdict(f"{value:g}", value < limit, f"the limit is {limit:g}")


def simplified_fails(case):
    return Verdict("", case.accounting != "simplified", "")


def undeclared(case):
    case("expected", "another", experiment="users")
    raise AssertionError


CLAIM = Claim(
    id="SU-01",
    paper="summation",
    place="1",
    statement="It works.",
    stated="always",
    rule="mine",
    headline=True,
)


def like(claim, **changes):
    return claim.model_copy(update=changes)


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """Let papers have the functions of this file, too."""
    own = {rule.__name__: rule for rule in (mine, simplified_fails, undeclared)}
    shipped = stated_claims.rules
    monkeypatch.setattr(stated_claims, "rules", lambda paper: own if paper == "summation" else shipped(paper))


def judged(claim, value):
    planted = {"users": ({"n": [10]}, {"correlated_sum": value})}
    evidence = InMemory(Path(), "summation", results_read("summation"), planted=planted)
    return list(rows(claim, evidence, "full", "paper"))


def printed_holds(accounting, point):
    return 0.5 if accounting == "printed" else 2.0


BOTH = like(CLAIM, accountings=("printed", "exact"))


def test_a_verdict_changes_with_the_table():
    (low, _), (high, _) = (judged(BOTH, v) for v in (0.5, 2.0))
    assert [(row["measured"], row["verdict"], row["overall"]) for row in (low, high)] == [
        ("0.5", "holds", "holds"),
        ("2", "fails", "fails"),
    ]


def test_rows_are_per_accounting_and_target():
    claim = like(BOTH, targets=("participants", "population"))
    found = judged(claim, printed_holds)
    assert [(row["accounting"], row["target"], row["verdict"]) for row in found] == [
        ("printed", "participants", "holds"),
        ("printed", "population", "holds"),
        ("exact", "participants", "fails"),
        ("exact", "population", "fails"),
    ]
    assert {row["overall"] for row in found} == {"in part"}
    assert all(sorted(row) == sorted(COLUMNS) for row in found)


def test_options_reach_the_rule():
    found = judged(like(BOTH, options={"limit": 3.0}), 2.0)
    assert [(row["verdict"], row["why"]) for row in found] == [("holds", "the limit is 3")] * 2


def test_simplified_form_does_not_count():
    claim = like(CLAIM, rule="simplified_fails", accountings=("printed", "exact", "simplified"))
    found = judged(claim, 1.0)
    assert [row["verdict"] for row in found] == ["holds", "holds", "fails"]
    assert {row["overall"] for row in found} == {"holds"}
    assert judged(like(claim, accountings=("simplified",)), 1.0)[0]["overall"] == "fails"


def test_missing_results_are_untestable(tmp_path):
    """A result that is not declared as read is a mistake."""
    evidence = Evidence(tmp_path, "summation", {})
    (row,) = rows(like(CLAIM, accountings=("exact",)), evidence, "full", "paper")
    assert (row["verdict"], row["measured"]) == ("untestable", "")
    assert "the configuration has no method summation.users.correlated_sum" in row["why"]
    with pytest.raises(
        ValueError, match=r"summation.users.another, which `reads` of papers/summation/claims.yaml"
    ):
        list(rows(like(CLAIM, rule="undeclared"), evidence, "full", "paper"))


def test_text_follows_claims_or_is_untestable(monkeypatch):
    other = like(BOTH, id="SU-02", options={"limit": 0.1}, headline=False)
    monkeypatch.setattr(stated_claims, "claims", lambda paper: (BOTH, other))
    ordering = like(BOTH, id="O-1", rule="", options={}, follows=("SU-01", "SU-02"))
    found = judged(ordering, printed_holds)
    assert [(row["verdict"], row["why"]) for row in found] == [
        ("in part", "follows from SU-01 (holds) and SU-02 (fails)"),
        ("fails", "follows from SU-01 (fails) and SU-02 (fails)"),
    ]
    lost = like(CLAIM, rule="", untestable="the number is lost")
    (row,) = judged(lost, 1.0)
    assert (row["verdict"], row["why"]) == ("untestable", "the number is lost")


WHY = "our expectation: Why."


@pytest.mark.parametrize(
    "changes, overall, scale, said",
    [
        ({}, "holds", "paper", ""),
        ({}, "fails", "shortened", ANOTHER_SCALE),
        ({}, "fails", "paper", "not explained"),
        ({"wrong": WHY}, "fails", "paper", WHY),
        ({"wrong": WHY}, "holds", "paper", ""),
        ({"expected": "open"}, "fails", "paper", LEFT_OPEN),
        ({"expected": "open"}, "fails", "shortened", ANOTHER_SCALE),
    ],
)
def test_difference_from_expectation_is_explained(changes, overall, scale, said):
    assert difference(like(CLAIM, **changes), overall, scale) == said


# -- jobs and tables ---------------------------------------------------------------------------------------------------


def test_job_names_methods_that_are_read():
    made = paper_job(
        "results", "summation", {"users": ["correlated_sum", "mine"], "other": ["x"]}, (), "quick"
    )
    assert made["methods"]["users"] == ["correlated_sum"]
    assert (made["paper"], made["scale"], made["effort"]) == ("summation", "paper", "quick")
    assert paper_job("results", "summation", {}, ("summation",), "full")["scale"] == "shortened"
    assert papers(["another", "dump", "random_population"]) == ["dump", "random_population"]


def test_scripts_write_reproducible_verified_tables(tmp_path):
    job = paper_job(str(tmp_path), "segmented", {}, (), "quick")
    own = tmp_path / "segmented/verdicts.csv"
    script("workflow/scripts/verdicts.py").main(job, own, own.with_suffix(".sha256"))
    before = verified(own, own.with_suffix(".sha256")).read_bytes()
    found = union([own])
    assert {row["id"] for row in found if row["verdict"] == "untestable"} >= {"SE-01"}
    assert all(row["why"] for row in found)
    script("workflow/scripts/verdicts.py").main(job, own, own.with_suffix(".sha256"))
    assert own.read_bytes() == before
    claims, leading = tmp_path / "claims.csv", tmp_path / "headlines.csv"
    script("workflow/scripts/claims.py").main(
        [own], claims, claims.with_suffix(".sha256"), leading, leading.with_suffix(".sha256")
    )
    assert verified(claims, claims.with_suffix(".sha256")).read_bytes() == before
    assert (
        verified(leading, leading.with_suffix(".sha256")).read_text().startswith(",".join(HEADLINE_COLUMNS))
    )


def test_a_damaged_table_is_not_united(tmp_path):
    path = tmp_path / "a/verdicts.csv"
    published([{"id": "X"}], ["id"], path, path.with_suffix(".sha256"), 2)
    assert union([path]) == [{"id": "X"}]
    path.write_text("id\n")
    with pytest.raises(IntegrityError):
        union([path])


def test_headline_has_both_accountings():
    claim = like(BOTH, targets=("participants", "population"), figure="fig1")
    other = like(CLAIM, id="SU-02", headline=False, accountings=("printed",))
    every = [
        *judged(claim, printed_holds),
        *judged(other, 1.0),
    ]
    (found,) = headlines(every)
    assert sorted(found) == sorted(HEADLINE_COLUMNS)
    assert (found["claim_id"], found["printed"], found["exact"]) == ("SU-01", "0.5", "2")
    assert found["verdict"] == "in part"
    assert found["why"] == (
        "Holds with printed accounting: the limit is 1. Fails with exact accounting: the limit is 1."
    )
