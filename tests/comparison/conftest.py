"""Commands compare in the process of the tests, which has the numbers of the tests before."""

from __future__ import annotations

import pytest

from one_process import in_this_process


@pytest.fixture
def in_a_child() -> None:
    """Asked for by tests of the child process itself."""


@pytest.fixture(autouse=True)
def here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "in_a_child" not in request.fixturenames:
        monkeypatch.setattr("shuffledp.comparison.command.results", in_this_process)
