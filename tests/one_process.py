"""What commands compute in a child process, computed in the process of the tests: an interpreter takes longer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def in_this_process(function: Callable[..., None], *arguments: Any, **_: Any) -> list[Any]:
    """The objects of :func:`shuffledp.protocols.child_process.results`, without limits of time and memory."""
    sent: list[Any] = []
    function(sent.append, *arguments)
    return sent


@pytest.fixture
def in_a_child() -> None:
    """Asked for by tests of the child process itself."""


@pytest.fixture(autouse=True)
def here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare in the process of the tests."""
    if "in_a_child" not in request.fixturenames:
        monkeypatch.setattr("shuffledp.comparison.command.results", in_this_process)
