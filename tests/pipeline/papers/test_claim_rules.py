"""General rules, which any paper may use."""

from __future__ import annotations

from dataclasses import replace

import judged_claims
import pandas as pd
import pytest

from shuffledp.pipeline.claims.case import Case
from shuffledp.pipeline.claims.errata_data import findings
from shuffledp.pipeline.claims.evidence import Evidence
from shuffledp.pipeline.claims.general_rules import erratum, monotone, never_above_best
from shuffledp.pipeline.claims.outcomes import Untestable


def case(tmp_path, accounting="-"):
    return Case(
        judged_claims.claim("RP-06"), Evidence(tmp_path, "random_population", {}), accounting, "-", "quick"
    )


def test_an_erratum_decides_by_its_witness(tmp_path, monkeypatch):
    found = erratum(case(tmp_path), by="RP-E14", shown="fails")
    assert (found.verdict, found.measured) == ("fails", "1 against -0.1565 as printed")
    entry = next(e for e in findings("random_population").errata if e.id == "RP-E14")
    unshown = replace(entry, compute=lambda: replace(entry.compute(), shows=False))
    monkeypatch.setattr(
        "shuffledp.pipeline.claims.general_rules.findings",
        lambda paper: replace(findings(paper), errata=(unshown,), notes=()),
    )
    found = erratum(case(tmp_path), by="RP-E14", shown="fails")
    assert found.verdict == "holds"
    assert found.why.startswith("RP-E14 is not shown: ")
    with pytest.raises(ValueError, match="no erratum or note 'RP-E999'"):
        erratum(case(tmp_path), by="RP-E999", shown="fails")


def test_a_reading_note_says_nothing_against_a_paper(tmp_path, monkeypatch):
    found = erratum(case(tmp_path), by="RP-N10", shown="untestable")
    assert (found.verdict, found.measured) == ("untestable", "3e-05 against 1e-05 as read")
    assert erratum(case(tmp_path), by="RP-N26", shown="holds").verdict == "holds"
    for by, shown in (
        ("RP-N10", "fails"),
        ("RP-N10", "in part"),
        ("RP-E14", "untestable"),
        ("RP-E14", "holds"),
    ):
        with pytest.raises(ValueError, match=f"RP-06: {by} cannot make the claim '{shown}'"):
            erratum(case(tmp_path), by=by, shown=shown)
    entry = next(e for e in findings("random_population").notes if e.id == "RP-N26")
    unshown = replace(entry, compute=lambda: replace(entry.compute(), shows=False))
    monkeypatch.setattr(
        "shuffledp.pipeline.claims.general_rules.findings",
        lambda paper: replace(findings(paper), errata=(), notes=(unshown,)),
    )
    assert erratum(case(tmp_path), by="RP-N26", shown="holds").verdict == "untestable"


INDEX = pd.MultiIndex.from_product([[1, 2], [0.1, 0.5]], names=["panel", "eps"])


def errors(values):
    return lambda case, experiment, method: pd.Series(values[method], INDEX, dtype=float).dropna()


@pytest.mark.parametrize(
    ("upper", "outcome", "said"),
    [
        ([2, 2, 2, 2], "holds", "below at 4, above at 0 and tied (within 0.5 %) at 0 of 4 points"),
        ([1, 1, 1, 1.001], "holds", "tied (within 0.5 %) at 4"),
        ([2, 2, 0.5, 0.5], "in part", "above at 2"),
        ([2, 0.5, 0.5, 0.5], "fails", "above at 3"),
        ([2, None, None, None], "holds", "of 1 points"),
    ],
)
def test_never_above_the_best_of_the_others(tmp_path, upper, outcome, said):
    read = errors({"a": [1, 1, 1, 1], "b": [9, 9, 9, 9], "c": upper})
    both = ["b", "c"] if None not in upper else ["c"]
    found = never_above_best(case(tmp_path, "exact"), read, ["adult"], "a", both)
    assert found.verdict == outcome
    assert said in found.why


def test_without_common_points_nothing_is_ordered(tmp_path):
    read = errors({"a": [1, 1, 1, 1], "b": [None] * 4})
    with pytest.raises(Untestable, match="both sides"):
        never_above_best(case(tmp_path, "exact"), read, ["adult"], "a", ["b"])


def test_steps_along_a_level_are_counted_at_each_point_of_the_others():
    values = pd.Series([1.0, 5.0, 2.0, 4.0], INDEX)
    assert monotone(values, "panel", rising=True) == (1, 1)
    assert monotone(values, "panel", rising=False) == (1, 1)
    assert monotone(values, "eps", rising=True) == (2, 0)
    assert monotone(values.xs(0.1, level="eps"), "panel", rising=True) == (1, 0)
