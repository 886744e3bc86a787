"""General rules, which any paper may use."""

import ast
import math
from dataclasses import replace

import numpy as np
import pytest

from shuffledp.pipeline.claims import general_rules
from shuffledp.pipeline.claims.case import Case
from shuffledp.pipeline.claims.claim_jobs import PAPERS
from shuffledp.pipeline.claims.errata_data import findings
from shuffledp.pipeline.claims.evidence import Evidence
from shuffledp.pipeline.claims.general_rules import erratum, in_order, never_above, without
from shuffledp.pipeline.query import Array


def case(tmp_path):
    return Case(Evidence(tmp_path, "random_population", {}), paper="random_population")


@pytest.fixture
def unshown(monkeypatch):
    """Let an erratum or a note have a witness that does not show it."""

    def let(part, id):
        known = findings("random_population")
        entry = next(e for e in getattr(known, part) if e.id == id)
        lost = replace(entry, compute=lambda: replace(entry.compute(), shows=False))
        only = replace(known, **{"errata": (), "notes": (), part: (lost,)})
        monkeypatch.setattr(general_rules, "findings", lambda paper: only)

    return let


def test_an_erratum_decides_by_its_witness(tmp_path, unshown):
    found = erratum(case(tmp_path), by="RP-E14", shown="fails")
    assert (found.verdict, found.measured) == ("fails", "1 against -0.1565 as printed")
    unshown("errata", "RP-E14")
    found = erratum(case(tmp_path), by="RP-E14", shown="fails")
    assert found.verdict == "holds"
    assert found.why.startswith("RP-E14 is not shown: ")
    with pytest.raises(ValueError, match="No erratum or note 'RP-E999'"):
        erratum(case(tmp_path), by="RP-E999", shown="fails")


def test_reading_note_contradicts_no_paper(tmp_path, unshown):
    found = erratum(case(tmp_path), by="RP-N10", shown="untestable")
    assert (found.verdict, found.measured) == ("untestable", "3e-05 against 1e-05 as read")
    assert erratum(case(tmp_path), by="RP-N26", shown="holds").verdict == "holds"
    for by, shown in (
        ("RP-N10", "fails"),
        ("RP-N10", "in part"),
        ("RP-E14", "untestable"),
        ("RP-E14", "holds"),
    ):
        with pytest.raises(ValueError, match=f"{by} cannot make the claim '{shown}'"):
            erratum(case(tmp_path), by=by, shown=shown)
    unshown("notes", "RP-N26")
    assert erratum(case(tmp_path), by="RP-N26", shown="holds").verdict == "untestable"


@pytest.mark.parametrize(
    "upper, outcome, said",
    [
        ([2, 2, 2, 2], "holds", "below at 4, above at 0 and tied (within 0.5 %) at 0 of 4 points"),
        ([1, 1, 1, 1.001], "holds", "tied (within 0.5 %) at 4"),
        ([2, 2, 0.5, 0.5], "in part", "above at 2"),
        ([2, 0.5, 0.5, 0.5], "fails", "above at 3"),
        ([2, math.nan, math.nan, math.nan], "holds", "of 1 points"),
    ],
)
def test_never_above_other_errors(upper, outcome, said):
    ours, theirs = (Array(np.array(values, float), dims=["eps"]) for values in ([1.0] * 4, upper))
    found = never_above([ours], [theirs])
    assert found.verdict == outcome
    assert said in found.why


def test_order_is_counted_by_pair():
    one, two = (Array(np.array(values, float), dims=["eps"]) for values in ([1, 1], [2, 0.5]))
    found = in_order({("ours", "theirs"): [one, two], ("ours", "itself"): [one, one]})
    assert (found.verdict, found.measured) == ("in part", "above at 1 of 4 points")
    assert found.why == (
        "ours below theirs at 1, above at 1, tied at 0; ours below itself at 0, above at 0, tied at 2"
    )


def test_fewer_points_are_said():
    errors = Array([1.0, 2.0], {"eps": [0.1, 0.5]}, ["eps"])
    assert without(errors, "eps", (0.1, 0.5)) == ""
    assert without(errors, "eps", (0.05, 0.1, 0.2)) == "; without eps 0.05, 0.2, which this run lacks"


@pytest.mark.parametrize("path", sorted(PAPERS.glob("*/*_claims.py")), ids=lambda path: path.stem)
def test_claims_hide_no_missing_results(path):
    """A claim with missing results is untestable: no function goes on without them."""
    caught = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ExceptHandler)]
    assert not [node for node in caught if node.type is None or "Infeasible" not in ast.unparse(node.type)]
    assert "suppress" not in path.read_text()
