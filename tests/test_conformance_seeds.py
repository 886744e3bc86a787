"""The count of rejections over many seeds."""

import pytest

from scripts_by_file import script


@pytest.fixture(scope="module")
def tool():
    return script("tools/conformance_seeds.py")


def test_the_page_counts_pairs_and_lists_rejections(tool, monkeypatch):
    monkeypatch.setattr(tool, "cases", lambda *_: (None,) * 600)
    found = {"a/x": {0: []}, "a/y": {0: [], 5: ["check_claim: no"]}, "b/z": {1: []}}
    assert tool.page_table(found).splitlines()[2:] == [
        "| a | 2 | 1 to 2 | 1,200 | 1 |",
        "| b | 1 | 1 | 600 | 0 |",
        "",
        "3 protocols, 4 pairs of a protocol and a seed, 1 rejection.",
        "",
        "- `a/y`, seed 5: `check_claim: no`",
    ]


def test_a_rejection_is_one_line(tool):
    def check_cost(protocol, settings):
        raise AssertionError("five bits\n instead of four")

    checks = (check_cost, tool.conformance.check_cost)
    assert tool.one("frequency/central_laplace", 3, checks) == ["check_cost: five bits instead of four"]
