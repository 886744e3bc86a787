"""The count of rejections over many seeds: what is done is not done again, and nothing is lost on the way."""

import pytest

from scripts_by_file import script


@pytest.fixture(scope="module")
def tool():
    return script("tools/conformance_seeds.py")


CODES = {"a/x": "new", "a/y": "new"}


def test_a_run_goes_on_where_the_last_one_ended(tool, tmp_path):
    path = tmp_path / "logs" / "table.csv"
    rows = [
        tool.Done("a/x", 0, 0, 1.5, "new"),
        tool.Done("a/y", 0, 2, 2.5, "new", 'check_cost: "more", says it; check_claim: so much'),
        tool.Done("a/x", 1, 0, 1.0, "old"),
    ]
    for row in rows:
        tool.Table(path).add(row)
    assert tool.read(path) == rows
    path.write_bytes(path.read_bytes() + b"a/y,1,0,3.")  # the machine went down
    assert tool.read(path) == rows
    tool.Table(path).add(tool.Done("a/y", 1, 0, 3.0, "new"))
    assert [row.seed for row in tool.read(path)] == [0, 0, 1, 1]
    left = list(tool.missing(CODES, 3, tool.read(path), CODES))
    assert left == [("a/x", 1), ("a/x", 2), ("a/y", 2)]


def test_only_the_present_code_counts_and_a_pair_counts_once(tool):
    done = [
        tool.Done("a/x", 0, 1, 1.0, "old", "check_cost: no"),
        *[tool.Done("a/x", 0, 0, 1.0, "new")] * 2,
        tool.Done("a/y", 5, 3, 4.0, "new", "check_claim: no"),
    ]
    lines = tool.summary(CODES, done, CODES).splitlines()
    assert [line.split() for line in lines[1:4]] == [
        ["a/x", "1", "0", "1", "1", "1"],
        ["a/y", "1", "1", "4", "0", "0"],
        ["all", "2", "1", "5", "1", "1"],
    ]
    assert lines[4:] == ["  a/x, seed 0: check_cost: no", "  a/y, seed 5: check_claim: no"]


def test_the_page_counts_pairs_of_the_present_code_once(tool, monkeypatch):
    monkeypatch.setattr(tool, "cases", lambda *_: (None,) * 600)
    done = [
        tool.Done("a/x", 0, 1, 1.0, "old", "check_cost: no"),
        *[tool.Done("a/x", 0, 0, 1.0, "new")] * 2,
        tool.Done("a/y", 0, 0, 4.0, "new"),
        tool.Done("a/y", 5, 3, 4.0, "new", "check_claim: no"),
        tool.Done("b/z", 1, 0, 4.0, "new"),
        tool.Done("b/gone", 1, 1, 4.0, "new"),
    ]
    assert tool.page_table([*CODES, "b/z"], done, {**CODES, "b/z": "new"}).splitlines()[2:] == [
        "| a | 2 | 1 to 2 | 1,200 | 1 |",
        "| b | 1 | 1 | 600 | 0 |",
        "",
        "3 protocols, 4 pairs of a protocol and a seed, 1 rejection.",
        "",
        "- `a/y`, seed 5: `check_claim: no`",
    ]


def test_a_rejection_is_a_row(tool):
    def check_cost(protocol, settings):
        raise AssertionError("five bits\n instead of four")

    checks = (check_cost, tool.conformance.check_cost)
    row = tool.one("frequency/central_laplace", 3, "new", checks)
    assert (row.protocol, row.seed, row.rejections) == ("frequency/central_laplace", 3, 1)
    assert row.what == "check_cost: five bits instead of four"


def test_another_file_is_not_taken_for_the_table(tool, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(SystemExit, match="is no table of this program"):
        tool.read(path)
