"""How the tests are handed out to processes: what shares expensive preparations stays together, the longest first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
#: Files whose tests share nothing: one process per protocol, so that no process is left with all of them.
BY_PROTOCOL = {"protocols/test_conformance.py"}
#: What begins first, because it takes longest; the small files fill up what is left.
FIRST = (
    "pipeline/test_quick_run.py",
    "pipeline/",
    "protocols/test_conformance.py",
    "claims/test_summation.py",
)


def group_of(file: str, name: str) -> str:
    """Tests of a group run one after another in one process (``--dist loadgroup``)."""
    if file in BY_PROTOCOL and (found := re.search(r"\[(.+)-check_", name)):
        return f"{file} {found[1]}"
    return file


def rank(file: str) -> int:
    """Place in the order of `FIRST`."""
    return next((i for i, start in enumerate(FIRST) if file.startswith(start)), len(FIRST))


def file_of(item: pytest.Item) -> str:
    return item.path.relative_to(TESTS).as_posix()


def pytest_itemcollected(item: pytest.Item) -> None:
    # Not later: pytest-xdist reads the marks before any other hook sees the list of all tests.
    item.add_marker(pytest.mark.xdist_group(group_of(file_of(item), item.name)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: rank(file_of(item)))
