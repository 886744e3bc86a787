"""The comparison of golden tables finds changed numbers, changed texts, and added or missing rows."""

import copy
import json
import math

import numpy as np
import pytest

from golden import tables
from golden.tables import differences, rows_of, text_of
from golden.values import row_of
from scripts_by_file import script
from shuffledp.pipeline.reference.comparator import report
from shuffledp.protocols import get
from small_tasks import BUILT_INS

FLAT = "protocols/summation.real_sum"
ROWS = {
    "usual": {"delta": [1e-6, 0.25], "dummies": 7, "is": "exact", "note": "n" * 100, "refused": False},
    "alone": {"raises": "Infeasible: no", "sums": [math.inf, math.nan, -0.5], "shape": "()"},
}


def changed(case, quantity, value):
    rows = copy.deepcopy(ROWS)
    rows[case][quantity] = value
    return rows


def moved(after, part="part"):
    return [(one.row, one.column) for one in differences(part, ROWS, after).differences]


def test_file_has_everything_written():
    text = text_of(ROWS)
    assert not list(report(differences("part", ROWS, rows_of(text))))
    assert text_of(rows_of(text)) == text
    assert json.loads(text)["texts"]  # the long one
    assert {type(rows_of(text)["usual"][name]) for name in ("dummies", "refused", "is")} == {int, bool, str}


@pytest.mark.parametrize(
    "case, quantity, value",
    [
        ("usual", "delta", [1e-6 * (1 + 1.1e-11), 0.25]),
        ("usual", "delta", [1e-6]),
        ("usual", "delta", [1e-6, 0.25, 0.25]),
        ("usual", "dummies", 8),
        ("usual", "dummies", 7.0),
        ("usual", "refused", 0),
        ("usual", "is", "upper"),
        ("usual", "new", 1.0),
        ("alone", "raises", "Infeasible: No"),
        ("alone", "sums", [math.inf, 0.0, -0.5]),
        ("alone", "sums", [math.inf, math.nan, 0.5]),
        ("alone", "sums", [1e300, math.nan, -0.5]),
    ],
)
def test_planted_change_is_named(case, quantity, value):
    assert moved(changed(case, quantity, value)) == [(case, quantity)]


@pytest.mark.parametrize("part, change, found", [("part", 9e-12, 0), (FLAT, 1e-7, 0), (FLAT, 1e-5, 1)])
def test_tolerance_of_part_is_applied(part, change, found):
    assert len(moved(changed("usual", "delta", [1e-6, 0.25 * (1 + change)]), part)) == found


def test_other_processor_number_is_equal():
    after = changed("usual", "delta", [1e-6, 0.2500001])
    assert not differences("part", ROWS, after, {"usual": {"delta": [1e-6, 0.2500001]}}).differences
    assert differences("part", ROWS, after, {"usual": {"delta": [1e-6, 0.2500002]}}).differences


def test_missing_and_additional_rows_are_found():
    fewer = copy.deepcopy(ROWS)
    del fewer["usual"]["dummies"]
    assert moved(fewer) == [("usual", "dummies")]
    one = {"usual": ROWS["usual"]}
    assert list(report(differences("part", ROWS, one))) == ["missing: alone"]
    assert list(report(differences("part", one, ROWS))) == ["additional: alone"]


# -- what is kept of an answer ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [4, 1000])
@pytest.mark.parametrize("kind", [np.int64, float])
def test_array_changes_and_exchanges_are_found(size, kind):
    array = np.arange(10, 10 + size).astype(kind)
    before = {"case": row_of(array, "array")}
    swapped, other = array.copy(), array.copy()
    swapped[[1, 2]] = swapped[[2, 1]]
    other[-1] += kind(1)
    for after in (swapped, other, array[:-1], array.reshape(2, -1)):
        assert differences("part", before, {"case": row_of(after, "array")}).differences
    assert not differences("part", before, {"case": row_of(array.copy(), "array")}).differences


# -- the table is whole ----------------------------------------------------------------------------------------


def test_table_has_every_accounting_name():
    rows = {name for part in ("functions", "shipped") for name in tables.read(f"accounting/{part}")}
    known = {name.partition("[")[0] for name in rows}
    tool = script("tools/bad_arguments.py")
    from valid_calls import DOORS

    public = {name for door in DOORS for name in door.__all__}
    no_calls = set(tool.SKIPPED) & public  # results, errors and types
    assert public - known == no_calls - known


def test_every_accounting_of_protocols_calibrates():
    for kind, name in BUILT_INS:
        rows = tables.read(f"protocols/{kind}.{name}")
        for accounting in get(kind, name).accountings:
            cases = [row for case, row in rows.items() if case.endswith(f"; {accounting}")]
            assert sum("cost" in row for row in cases) >= 3, f"{kind}.{name}, {accounting}"
            assert any("estimate" in key for row in cases for key in row), f"{kind}.{name}, {accounting}"


def test_only_moved_quantities_are_written():
    before = {"one": {"error": 1.0, "delta": 0.5}, "gone": {"error": 2.0}}
    after = {"one": {"error": 1.0 + 2e-16, "delta": 0.6}, "new": {"error": 3.0}}
    rows = tables.merge_rows(before, after, differences("part", before, after))
    assert rows == {"one": {"error": 1.0, "delta": 0.6}, "new": {"error": 3.0}}
