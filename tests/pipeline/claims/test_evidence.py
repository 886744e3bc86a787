"""Results for claims: numbers of feasible cells by grid point."""

import json
from itertools import product

import pytest
from judged_claims import points

from shuffledp.pipeline.claims import evidence as evidence_module
from shuffledp.pipeline.claims.evidence import Evidence
from shuffledp.pipeline.experiments import bundle
from shuffledp.pipeline.formatters import finite
from shuffledp.pipeline.query import MissingResultsError, Query
from shuffledp.storage import IntegrityError

GRID = {"eps": [0.5, 0.1], "k": [2, 9]}


def write(folder, method, closed_form, accountings):
    """Write a method's results with two repeats; a cell without a closed form is infeasible."""
    cells, values = [], []
    for number, (point, accounting) in enumerate(product(points(GRID), accountings)):
        known = {"cell": f"c{number}", "paper": "one", "experiment": "errors", "method": method}
        value = closed_form(accounting, **point)
        known |= {
            "accounting": accounting,
            "point": json.dumps(point),
            "status": "infeasible" if value is None else "ok",
            "extra_messages": float(point["k"]),
        }
        cells.append(dict.fromkeys(bundle.CELLS.names) | known)
        if value is not None:
            values += [
                {"cell": f"c{number}", "metric": "mse", "kind": kind, "repeat": repeat, "value": one}
                for kind, repeat, one in (
                    ("expected", 0, value),
                    ("simulated", 0, 1.0),
                    ("simulated", 1, 3.0),
                )
            ]
    tables = bundle.table(cells, bundle.CELLS), bundle.table(values, bundle.VALUES)
    bundle.write(bundle.Bundle.locate(folder, "one", "errors", method), *tables, {"job": {"grid": GRID}})


@pytest.fixture
def query(tmp_path, monkeypatch):
    def closed_form(accounting, eps, k):
        return None if (eps, k) == (0.1, 9) else k / eps / (1 + (accounting == "exact"))

    write(tmp_path, "ours", closed_form, ("printed", "exact"))
    write(tmp_path, "printed", lambda *a, **k: 1.0, ("printed",))
    reads = {"errors": ("ours", "printed", "unconfigured"), "nothing": ("ours",)}
    monkeypatch.setattr(evidence_module, "results_read", lambda paper: reads)
    evidence = Evidence(tmp_path, "one", {"errors": ["ours", "printed"]})
    return Query(evidence, {"experiment": "errors", "accounting": "exact"})


def test_numbers_are_those_of_the_accounting(query):
    found = query("expected", "ours")
    assert found.dims == ("eps", "k")
    assert finite(found).tolist() == [10.0, 2.0, 9.0]
    assert float(query("expected", "ours", accounting="printed", eps=0.5, k=2)) == 4.0


def test_cells_have_own_and_simulated_numbers(query):
    assert finite(query("extra_messages", "ours")).tolist() == [2, 2, 9]
    simulated = [query(name, "ours", eps=0.5, k=2) for name in ("mean", "standard_error", "count")]
    assert [float(number) for number in simulated] == [2.0, 1.0, 2.0]


@pytest.mark.parametrize(
    "at, method, error, said",
    [
        ({}, "unconfigured", MissingResultsError, "no method one.errors.unconfigured"),
        ({"experiment": "nothing"}, "ours", MissingResultsError, "no method one.nothing.ours"),
        ({}, "printed", MissingResultsError, "no result with exact accounting"),
        ({}, "misspelt", ValueError, r"claims.yaml does not list. Known: ours, printed, unconfigured"),
        ({"experiment": "misspelt"}, "ours", ValueError, "Known: none"),
    ],
)
def test_what_is_missing_is_said(query, at, method, error, said):
    with pytest.raises(error, match=said):
        query("expected", method, **at)


def test_damaged_results_are_no_evidence(query):
    bundle.Bundle.locate(query.tables.results, "one", "errors", "ours").values.write_bytes(b"")
    with pytest.raises(IntegrityError):
        query("expected", "ours")
