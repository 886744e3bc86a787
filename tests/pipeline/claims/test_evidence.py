"""Results for claims: closed forms of feasible cells by grid point, never simulated values."""

from __future__ import annotations

import made_up_results
import pytest

from shuffledp.pipeline.claims.evidence import Evidence, Untestable
from shuffledp.pipeline.experiments.bundle import Bundle
from shuffledp.storage import IntegrityError

GRID = {"eps": [0.5, 0.1], "k": [2, 9]}


@pytest.fixture
def evidence(tmp_path):
    def closed_form(accounting, point):
        return (
            None
            if point == {"eps": 0.1, "k": 9}
            else point["k"] / point["eps"] / (1 + (accounting == "exact"))
        )

    made_up_results.write(tmp_path, "one.errors.ours", GRID, closed_form, messages=lambda a, p: 1 + p["k"])
    made_up_results.write(
        tmp_path, "one.errors.printed_only", GRID, lambda a, p: 1.0, accountings=["printed"]
    )
    return Evidence(tmp_path, "one", {"errors": ["ours", "printed_only"]})


def test_closed_forms_are_indexed_by_the_grid_and_feasible(evidence):
    found = evidence.closed_forms("errors", "ours", "exact")
    assert found.index.names == ["eps", "k"]
    assert found.to_dict() == {(0.1, 2): 10.0, (0.5, 2): 2.0, (0.5, 9): 9.0}
    assert evidence.closed_forms("errors", "ours", "printed").to_dict()[0.5, 2] == 4.0


def test_cells_have_their_own_columns_too(evidence):
    assert evidence.cells("errors", "ours", "exact")["extra_messages"].to_list() == [2, 2, 9]


@pytest.mark.parametrize(
    ("experiment", "method", "accounting", "said"),
    [
        ("errors", "other", "exact", "no method one.errors.other"),
        ("nothing", "ours", "exact", "no method one.nothing.ours"),
        ("errors", "printed_only", "exact", "no result with exact accounting"),
    ],
)
def test_what_is_missing_is_said(evidence, experiment, method, accounting, said):
    with pytest.raises(Untestable, match=said):
        evidence.closed_forms(experiment, method, accounting)


def test_a_cell_without_closed_form_decides_nothing(tmp_path):
    made_up_results.write(tmp_path, "one.errors.ours", GRID, lambda a, p: float("nan"))
    with pytest.raises(Untestable, match="no closed form"):
        Evidence(tmp_path, "one", {"errors": ["ours"]}).closed_forms("errors", "ours", "printed")


def test_damaged_results_are_no_evidence(evidence):
    Bundle.locate(evidence.results, "one", "errors", "ours").values.write_bytes(b"")
    with pytest.raises(IntegrityError):
        evidence.closed_forms("errors", "ours", "exact")
