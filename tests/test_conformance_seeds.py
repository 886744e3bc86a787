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


def test_a_rejection_is_a_row(tool):
    def check_cost(protocol, settings):
        raise AssertionError("five bits\n instead of four")

    checks = (check_cost, tool.conformance.check_cost)
    row = tool.one("frequency/central_laplace", 3, "new", checks)
    assert (row.protocol, row.seed, row.rejections) == ("frequency/central_laplace", 3, 1)
    assert row.what == "check_cost: five bits instead of four"
