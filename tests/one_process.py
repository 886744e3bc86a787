"""Comparisons in the process of the tests, which has the numbers of the tests before."""

from __future__ import annotations

import pytest

from shuffledp.comparison.comparing import compared


def compare_here(patched: pytest.MonkeyPatch) -> None:
    """Compare without the worker process."""
    patched.setattr(
        "shuffledp.comparison.worker.compare_within", lambda seconds, asked, *_: (compared(asked), [])
    )


@pytest.fixture
def in_a_worker() -> None:
    """Requested by tests of the worker process."""


@pytest.fixture(autouse=True)
def here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare in the process of the tests."""
    if "in_a_worker" not in request.fixturenames:
        compare_here(monkeypatch)
