"""The comparison of golden tables finds changed numbers, changed texts, and added or missing rows."""

import copy
import json
import math

import numpy as np
import pytest

from golden import tables
from golden.parts import PAPERS, PARTS, STUDIES
from golden.tables import differences, rows_of, text_of
from golden.values import row_of
from scripts_by_file import script

ROWS = {
    "usual": {"delta": [1e-6, 0.25], "dummies": 7, "is": "exact", "note": "n" * 100, "refused": False},
    "alone": {"raises": "Infeasible: no", "sums": [math.inf, math.nan, -0.5], "shape": "()"},
}


def changed(case, quantity, value):
    rows = copy.deepcopy(ROWS)
    rows[case][quantity] = value
    return rows


def kinds(after):
    return [(d.case, d.quantity, d.kind) for d in differences("part", ROWS, after)]


def test_a_file_has_all_that_was_written():
    text = text_of(ROWS)
    assert kinds(rows_of(text)) == []
    assert text_of(rows_of(text)) == text
    assert json.loads(text)["texts"]  # the long one
    assert {type(rows_of(text)["usual"][name]) for name in ("dummies", "refused", "is")} == {int, bool, str}


@pytest.mark.parametrize(
    "case, quantity, value, kind",
    [
        ("usual", "delta", [1e-6 * (1 + 1e-11), 0.25], "moved"),
        ("usual", "delta", [1e-6], "changed"),
        ("usual", "delta", [1e-6, 0.25, 0.25], "changed"),
        ("usual", "dummies", 8, "changed"),
        ("usual", "dummies", 7.0, "changed"),
        ("usual", "refused", 0, "changed"),
        ("usual", "is", "upper", "changed"),
        ("usual", "new", 1.0, "added"),
        ("alone", "raises", "Infeasible: No", "changed"),
        ("alone", "sums", [math.inf, 0.0, -0.5], "moved"),
        ("alone", "sums", [math.inf, math.nan, 0.5], "moved"),
    ],
)
def test_a_planted_change_is_found_and_named(case, quantity, value, kind):
    assert kinds(changed(case, quantity, value)) == [(case, quantity, kind)]


@pytest.mark.parametrize(("change", "found"), [(1e-9, 0), (1e-7, 1)])
def test_numbers_of_a_sensitive_part_may_differ_by_a_hundred_millionth(change, found):
    part, after = next(iter(tables.SENSITIVE)), changed("usual", "delta", [1e-6, 0.25 * (1 + change)])
    assert len(list(differences(part, ROWS, after))) == found


def test_a_quantity_and_a_case_that_are_missing_or_added_are_found():
    fewer = copy.deepcopy(ROWS)
    del fewer["usual"]["dummies"]
    assert kinds(fewer) == [("usual", "dummies", "missing")]
    assert {kind for _, _, kind in kinds({"usual": ROWS["usual"]})} == {"missing"}
    added = list(differences("part", {"usual": ROWS["usual"]}, ROWS))
    assert {(d.case, d.kind) for d in added} == {("alone", "added")}


# -- what is kept of an answer ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [4, 1000])
@pytest.mark.parametrize("kind", [np.int64, float])
def test_a_change_or_an_exchange_of_elements_of_an_array_is_seen(size, kind):
    array = np.arange(10, 10 + size).astype(kind)
    before = {"case": row_of(array, "array")}
    swapped, other = array.copy(), array.copy()
    swapped[[1, 2]] = swapped[[2, 1]]
    other[-1] += kind(1)
    for after in (swapped, other, array[:-1], array.reshape(2, -1)):
        assert list(differences("part", before, {"case": row_of(after, "array")}))
    assert not list(differences("part", before, {"case": row_of(array.copy(), "array")}))


# -- the table is whole ----------------------------------------------------------------------------------------


def test_every_public_name_of_the_accounting_is_in_the_table():
    rows = {name for part in ("functions", "shipped") for name in tables.read(f"accounting/{part}")}
    known = {name.partition("[")[0] for name in rows}
    tool = script("tools/bad_arguments.py")
    from valid_calls import DOORS

    public = {name for door in DOORS for name in door.__all__}
    no_calls = set(tool.SKIPPED) & public  # results, errors and types
    assert public - known == no_calls - known


def test_every_accounting_of_every_protocol_calibrates_somewhere():
    from shuffledp.protocols import available, get
    from shuffledp.tasks import TASK_KINDS

    for kind in TASK_KINDS:
        for name in available(kind):
            rows = tables.read(f"protocols/{kind}.{name}")
            for accounting in get(kind, name).accountings:
                cases = [row for case, row in rows.items() if case.endswith(f"; {accounting}")]
                assert sum("cost" in row for row in cases) >= 3, f"{kind}.{name}, {accounting}"
                assert any("estimate" in key for row in cases for key in row), f"{kind}.{name}, {accounting}"


@pytest.mark.pipeline
def test_the_parts_have_all_papers():
    from golden import inside

    assert set(inside.papers()) == {*PAPERS, *STUDIES}
    assert set(inside.papers_with_findings()) == {
        p.partition("/")[2] for p in PARTS if p.startswith("errata/")
    }


# -- make golden -----------------------------------------------------------------------------------------------
