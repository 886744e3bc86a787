"""What commands compute in a child process, computed in the process of the tests: an interpreter takes longer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def in_this_process(function: Callable[..., None], *arguments: Any, **_: Any) -> list[Any]:
    """The objects of :func:`shuffledp.protocols.child_process.results`, without limits of time and memory."""
    sent: list[Any] = []
    function(sent.append, *arguments)
    return sent
