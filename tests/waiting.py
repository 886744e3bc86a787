"""Wait for another process: the only place among the tests that reads a clock."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Whether a condition became true; the limit ends tests that would hang and is no measure of anything."""
    deadline = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return met
