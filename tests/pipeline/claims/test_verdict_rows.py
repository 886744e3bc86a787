"""Tables of claims: rows, differences from the expected outcome, all papers together, and headlines."""

import made_up_results
import pytest

from scripts_by_file import script
from shuffledp.pipeline.claims import stated_claims
from shuffledp.pipeline.claims.case import Verdict
from shuffledp.pipeline.claims.claim_jobs import paper_job, papers, results_read
from shuffledp.pipeline.claims.combined_tables import COLUMNS, HEADLINE_COLUMNS, headlines, published, union
from shuffledp.pipeline.claims.evidence import Evidence
from shuffledp.pipeline.claims.stated_claims import Claim
from shuffledp.pipeline.claims.verdict_rows import ANOTHER_SCALE, LEFT_OPEN, difference, rows, table
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


@pytest.fixture
def known(monkeypatch):
    """Let papers have the functions of this file."""
    functions = {rule.__name__: rule for rule in (mine, simplified_fails, undeclared)}
    monkeypatch.setattr(stated_claims, "rules", lambda paper: functions)


def judged(folder, claim, closed_form, scale="paper"):
    made_up_results.write(folder, "summation.users.correlated_sum", {"n": [10]}, closed_form)
    return list(rows(claim, Evidence(folder, "summation", results_read("summation")), "full", scale))


BOTH = CLAIM.model_copy(update={"accountings": ("printed", "exact")})


@pytest.mark.usefixtures("known")
def test_a_verdict_changes_with_the_table(tmp_path):
    (low, _), (high, _) = (judged(tmp_path, BOTH, lambda a, p, v=v: v) for v in (0.5, 2.0))
    assert [(row["measured"], row["verdict"], row["overall"]) for row in (low, high)] == [
        ("0.5", "holds", "holds"),
        ("2", "fails", "fails"),
    ]


@pytest.mark.usefixtures("known")
def test_rows_are_per_accounting_and_target(tmp_path):
    claim = BOTH.model_copy(update={"targets": ("participants", "population")})
    found = judged(tmp_path, claim, lambda a, p: 0.5 if a == "printed" else 2.0)
    assert [(row["accounting"], row["target"], row["verdict"]) for row in found] == [
        ("printed", "participants", "holds"),
        ("printed", "population", "holds"),
        ("exact", "participants", "fails"),
        ("exact", "population", "fails"),
    ]
    assert {row["overall"] for row in found} == {"in part"}
    assert all(sorted(row) == sorted(COLUMNS) for row in found)


@pytest.mark.usefixtures("known")
def test_options_reach_the_rule(tmp_path):
    found = judged(tmp_path, BOTH.model_copy(update={"options": {"limit": 3.0}}), lambda a, p: 2.0)
    assert [(row["verdict"], row["why"]) for row in found] == [("holds", "the limit is 3")] * 2


@pytest.mark.usefixtures("known")
def test_simplified_form_does_not_count(tmp_path):
    evidence = Evidence(tmp_path, "summation", {})
    claim = CLAIM.model_copy(
        update={"rule": "simplified_fails", "accountings": ("printed", "exact", "simplified")}
    )
    found = list(rows(claim, evidence, "full", "paper"))
    assert [row["verdict"] for row in found] == ["holds", "holds", "fails"]
    assert {row["overall"] for row in found} == {"holds"}
    alone = list(rows(claim.model_copy(update={"accountings": ("simplified",)}), evidence, "full", "paper"))
    assert alone[0]["overall"] == "fails"


@pytest.mark.usefixtures("known")
def test_missing_results_are_untestable(tmp_path):
    """A result that is not declared as read is a mistake."""
    evidence = Evidence(tmp_path, "summation", {})
    (row,) = rows(CLAIM.model_copy(update={"accountings": ("exact",)}), evidence, "full", "paper")
    assert (row["verdict"], row["measured"]) == ("untestable", "")
    assert "the configuration has no method summation.users.correlated_sum" in row["why"]
    with pytest.raises(
        ValueError, match=r"summation.users.another, which `reads` of papers/summation/claims.yaml"
    ):
        list(rows(CLAIM.model_copy(update={"rule": "undeclared"}), evidence, "full", "paper"))


@pytest.mark.usefixtures("known")
def test_text_follows_claims_or_is_untestable(tmp_path, monkeypatch):
    other = BOTH.model_copy(update={"id": "SU-02", "options": {"limit": 0.1}, "headline": False})
    monkeypatch.setattr(stated_claims, "claims", lambda paper: (BOTH, other))
    ordering = BOTH.model_copy(update={"id": "O-1", "rule": "", "options": {}, "follows": ("SU-01", "SU-02")})
    found = judged(tmp_path, ordering, lambda a, p: 0.5 if a == "printed" else 2.0)
    assert [(row["verdict"], row["why"]) for row in found] == [
        ("in part", "follows from SU-01 (holds) and SU-02 (fails)"),
        ("fails", "follows from SU-01 (fails) and SU-02 (fails)"),
    ]
    lost = CLAIM.model_copy(update={"rule": "", "untestable": "the number is lost"})
    (row,) = judged(tmp_path, lost, lambda a, p: 1.0)
    assert (row["verdict"], row["why"]) == ("untestable", "the number is lost")


@pytest.mark.parametrize(
    "claim, overall, scale, said",
    [
        (CLAIM, "holds", "paper", ""),
        (CLAIM, "fails", "shortened", ANOTHER_SCALE),
        (CLAIM, "fails", "paper", "not explained"),
        (
            CLAIM.model_copy(update={"wrong": "our expectation: Why."}),
            "fails",
            "paper",
            "our expectation: Why.",
        ),
        (CLAIM.model_copy(update={"wrong": "our expectation: Why."}), "holds", "paper", ""),
        (CLAIM.model_copy(update={"expected": "open"}), "fails", "paper", LEFT_OPEN),
        (CLAIM.model_copy(update={"expected": "open"}), "fails", "shortened", ANOTHER_SCALE),
    ],
)
def test_difference_from_expectation_is_explained(claim, overall, scale, said):
    assert difference(claim, overall, scale) == said


# -- jobs and tables ---------------------------------------------------------------------------------------------------


def test_job_names_methods_that_are_read():
    made = paper_job(
        "results", "summation", {"users": ["correlated_sum", "mine"], "other": ["x"]}, (), "quick"
    )
    assert made["methods"]["users"] == ["correlated_sum"]
    assert (made["paper"], made["scale"], made["effort"]) == ("summation", "paper", "quick")
    assert paper_job("results", "summation", {}, ("summation",), "full")["scale"] == "shortened"
    assert papers(["another", "dump", "random_population"]) == ["dump", "random_population"]


def test_claims_without_results_are_untestable(tmp_path):
    found = table(paper_job(str(tmp_path), "segmented", {}, (), "quick"))
    assert {row["id"] for row in found if row["verdict"] == "untestable"} >= {"SE-01"}
    assert all(row["why"] for row in found)


def test_scripts_write_reproducible_verified_tables(tmp_path):
    job = paper_job(str(tmp_path), "segmented", {}, (), "quick")
    own = tmp_path / "segmented/verdicts.csv"
    script("workflow/scripts/verdicts.py").main(job, own, own.with_suffix(".sha256"))
    before = verified(own, own.with_suffix(".sha256")).read_bytes()
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


@pytest.mark.usefixtures("known")
def test_headline_has_both_accountings(tmp_path):
    claim = BOTH.model_copy(update={"targets": ("participants", "population"), "figure": "fig1"})
    other = CLAIM.model_copy(update={"id": "SU-02", "headline": False, "accountings": ("printed",)})
    every = [
        *judged(tmp_path, claim, lambda a, p: 0.5 if a == "printed" else 2.0),
        *judged(tmp_path, other, lambda a, p: 1),
    ]
    (found,) = headlines(every)
    assert sorted(found) == sorted(HEADLINE_COLUMNS)
    assert (found["claim_id"], found["printed"], found["exact"]) == ("SU-01", "0.5", "2")
    assert found["verdict"] == "in part"
    assert found["why"] == (
        "Holds with printed accounting: the limit is 1. Fails with exact accounting: the limit is 1."
    )
