"""Waiting for another process; no other test code reads a clock."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Return whether a condition became true; the time limit only ends tests that would not end."""
    deadline = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return met
