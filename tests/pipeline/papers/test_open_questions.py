import math
from dataclasses import replace

import pytest

from shuffledp.pipeline.claims.errata_data import errata, papers, reading_notes
from shuffledp.pipeline.papers.open_questions import COLUMNS, VERDICTS, Question, questions, row, table

PLANTED = Question(
    *("OQ-0", "paper", "question", "statement", "searched", "method", "measure"),
    limit=1.0,
    values=lambda: iter([(0.5, "here"), (0.875, "there")]),
    proof="none",
)


@pytest.fixture(scope="module")
def quick():
    return table("quick")


def test_table_has_every_question_once(quick):
    assert all(sorted(each) == sorted(COLUMNS) for each in quick)
    assert [each["id"] for each in quick] == [f"OQ-{i}" for i in range(1, len(quick) + 1)]
    for each in quick:
        assert int(each["settings"]) > 3 and math.isfinite(float(each["extreme"])), each["id"]
        assert each["verdict"] in VERDICTS and each["proof"] and each["where"]
        assert (each["verdict"] == "violated") == (int(each["violations"]) > 0)
        if "counterexample" in each["proof"] or "It fails" in each["proof"]:
            assert each["verdict"] == "violated", each["id"]


def test_related_errata_exist(quick):
    known = {entry.id for key in papers() for entry in (*errata(key), *reading_notes(key))}
    named = {name for each in quick for name in each["related"].split()}
    assert named and named <= known


def test_search_is_reproducible(quick):
    again = questions("quick")[0]
    assert row(again, "quick") == quick[0]


@pytest.mark.parametrize(
    "limits, verdict, violations",
    [
        ({}, "no violation found", "0"),
        ({"limit": 0.6}, "violated", "1"),
        ({"limit": math.inf}, "bracketed", "0"),
        ({"limit": math.inf, "floor": 0.7}, "violated", "1"),
    ],
)
def test_a_planted_limit_decides(limits, verdict, violations):
    found = row(replace(PLANTED, **limits), "quick")  # type: ignore[arg-type]
    assert (found["verdict"], found["violations"], found["extreme"]) == (verdict, violations, "0.875")
    assert found["where"] == "there" and found["settings"] == "2"
