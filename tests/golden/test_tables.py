"""The comparison behind the golden table finds what it is for: numbers that move, texts, rows that come and go."""

import copy
import json
import math

import numpy as np
import pytest

from golden import tables
from golden.parts import PAPERS, PARTS, STUDIES
from golden.tables import Difference, differences, relative_difference, rows_of, summary, text_of
from golden.values import answer, row_of
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
        ("usual", "delta", [1e-6, 0.25 * (1 - 1e-11)], "moved"),
        ("usual", "delta", [1e-6], "changed"),
        ("usual", "delta", [1e-6, 0.25, 0.25], "changed"),
        ("usual", "delta", 1e-6, "changed"),
        ("usual", "dummies", 8, "changed"),
        ("usual", "dummies", 7.0, "changed"),
        ("usual", "refused", 0, "changed"),
        ("usual", "is", "upper", "changed"),
        ("usual", "note", "n" * 101, "changed"),
        ("usual", "new", 1.0, "added"),
        ("alone", "raises", "Infeasible: No", "changed"),
        ("alone", "sums", [math.inf, 0.0, -0.5], "moved"),
        ("alone", "sums", [1e308, math.nan, -0.5], "moved"),
        ("alone", "sums", [math.inf, math.nan, 0.5], "moved"),
    ],
)
def test_a_planted_change_is_found_and_named(case, quantity, value, kind):
    assert kinds(changed(case, quantity, value)) == [(case, quantity, kind)]


@pytest.mark.parametrize("factor", [1 + 1e-13, 1 - 1e-13])
def test_the_last_digits_may_differ(factor):
    assert kinds(changed("usual", "delta", [1e-6 * factor, 0.25])) == []


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


def test_a_value_of_another_processor_is_the_same_and_no_third_one_is():
    other = {"usual": {"delta": [1e-6, 0.5]}}
    text = text_of(ROWS, other)
    assert rows_of(text, "elsewhere") == other
    assert kinds(rows_of(text)) == []
    for delta, expected in (([1e-6, 0.5], 0), ([1e-6, 0.25], 0), ([1e-6, 0.3], 1)):
        assert len(list(differences("p", ROWS, changed("usual", "delta", delta), other))) == expected
    assert list(differences("p", ROWS, changed("usual", "dummies", 8), other))
    assert tables.only_different(ROWS, changed("usual", "delta", [1e-6, 0.5])) == other
    assert tables.only_different(ROWS, copy.deepcopy(ROWS)) == {}


def test_a_part_without_a_file_is_all_added(tmp_path):
    assert tables.read("protocols/no.such", tmp_path) == {}
    tables.write("protocols/some", ROWS, tmp_path)
    assert tables.parts_in(tmp_path) == {"protocols/some"}
    assert list(differences("part", tables.read("protocols/some", tmp_path), ROWS)) == []


def test_the_summary_groups_by_quantity_and_shows_the_largest():
    found = [
        Difference("p", f"case {i}", "delta", "moved", 1.0, 1 + size, size)
        for i, size in enumerate((1e-9, 0.5))
    ]
    (line,) = summary([*found])
    assert line == "p: delta moved in 2 cases, at most 0.5 relative; case 1: 1.0 -> 1.5"


@pytest.mark.parametrize(
    "a, b, expected", [(1.0, 1.1, 0.1 / 1.1), (0.0, 0.0, 0.0), (0.0, 1e-300, 1.0), (-1.0, 1.0, 2.0)]
)
def test_relative_differences_are_to_the_larger_number(a, b, expected):
    assert relative_difference(a, b) == relative_difference(b, a) == pytest.approx(expected)


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


def test_one_number_among_equal_ones_is_seen():
    array = np.full(50, 0.25)
    array[30] *= 1 + 1e-8
    assert list(differences("p", {"c": row_of(np.full(50, 0.25))}, {"c": row_of(array)}))


def test_errors_and_warnings_are_answers():
    assert answer(lambda: 1 / 0) == {"raises": "ZeroDivisionError: division by zero"}

    def warned():
        import warnings

        warnings.warn("careful", stacklevel=1)
        return 2

    assert answer(warned, "x") == {"x": 2, "x.warns": "UserWarning: careful"}


# -- the table is whole ----------------------------------------------------------------------------------------


def test_every_public_name_of_the_accounting_is_in_the_table():
    from shuffledp import accounting

    rows = {name for part in ("functions", "shipped") for name in tables.read(f"accounting/{part}")}
    known = {name.partition("[")[0] for name in rows}
    tool = script("tools/bad_arguments.py")
    no_calls = set(tool.SKIPPED) & set(accounting.__all__)  # results, errors and types
    assert set(accounting.__all__) - known == no_calls - known


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


def test_every_case_has_a_name_of_its_own_and_what_is_left_out_exists():
    from golden.settings import LEFT_OUT, PROFILES, cases_of, settings_of
    from shuffledp.protocols import available, get
    from shuffledp.tasks import TASK_KINDS

    for key in ((kind, name) for kind in TASK_KINDS for name in available(kind)):
        protocol = get(*key)
        cases = [case for case, _, _ in cases_of(protocol)]
        assert len(cases) == len(set(cases)), key
        every = {f"{one.name}; {how}" for one in settings_of(protocol) for how in protocol.accountings}
        assert set(LEFT_OUT.get(key, ())) <= every - set(cases), key
        assert set(PROFILES.get(key, ())) <= set(cases), key


@pytest.mark.pipeline
def test_the_parts_have_all_papers():
    from golden import inside

    assert set(inside.papers()) == {*PAPERS, *STUDIES}
    assert set(inside.papers_with_findings()) == {
        p.partition("/")[2] for p in PARTS if p.startswith("errata/")
    }


# -- make golden -----------------------------------------------------------------------------------------------


def test_the_tool_writes_the_table_and_says_what_moved(tmp_path, capsys):
    tool = script("tools/golden_table.py")
    parts = {"demo/a": lambda: ROWS}
    assert tool.renew(parts, tmp_path) == 0
    capsys.readouterr()
    parts = {"demo/b": lambda: ROWS, "demo/a": lambda: changed("usual", "delta", [1e-6, 0.5])}
    assert tool.renew(parts, tmp_path) == 0
    said = capsys.readouterr().out
    assert "demo/a: delta moved in 1 case, at most 0.5 relative; usual: [1e-06, 0.25] -> [1e-06, 0.5]" in said
    assert "demo/b" in said and "added" in said
    assert tables.read("demo/a", tmp_path)["usual"]["delta"] == [1e-6, 0.5]
    assert tool.renew({"demo/b": lambda: ROWS}, tmp_path) == 0
    assert "demo/a: delta missing in 1 case" in capsys.readouterr().out
    assert tables.parts_in(tmp_path) == {"demo/b"}


def test_checking_writes_nothing_and_fails_if_anything_differs(tmp_path, capsys):
    tool = script("tools/golden_table.py")
    tables.write("demo", ROWS, tmp_path)
    assert tool.renew({"demo": lambda: ROWS}, tmp_path, check=True) == 0
    assert "Nothing differs." in capsys.readouterr().out
    assert tool.renew({"demo": lambda: changed("usual", "is", "upper")}, tmp_path, check=True) == 1
    assert tables.read("demo", tmp_path)["usual"]["is"] == "exact"
    assert tool.renew({"demo": lambda: ROWS}, tmp_path, only="no such") == 2
