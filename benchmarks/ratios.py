"""CPU time of one call relative to another in the same process, where the speed of the machine cancels."""

import time
from collections.abc import Callable

from shuffledp.numerics.memoize import forget_all


def seconds(call: Callable[[], object], repeats: int = 3) -> float:
    """Return the least CPU seconds of several calls with empty caches, after one call."""
    call()
    found = []
    for _ in range(repeats):
        forget_all()
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)


def times_as_fast(ours: Callable[[], object], theirs: Callable[[], object]) -> float:
    """Return the time of another implementation divided by the time of this library."""
    return seconds(theirs, 1) / seconds(ours)
