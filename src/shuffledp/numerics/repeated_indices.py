"""Parts of an array of repeated indices, without the array."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def repeated(ends: NDArray[np.int64], start: int, stop: int) -> NDArray[np.int64]:
    """Return entries `start` to ``stop - 1`` of ``np.repeat(np.arange(k), counts)``; `ends` is ``cumsum(counts)``."""
    first, last = np.searchsorted(ends, (start, stop - 1), side="right")
    inside = np.diff(np.minimum(ends[first : last + 1], stop), prepend=start)
    return np.repeat(np.arange(first, last + 1), inside)


def pieces(counts: NDArray[np.int64], size: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield ``np.repeat(np.arange(k), counts)`` in pieces of `size` entries, with the position of each piece."""
    ends = np.cumsum(counts)
    total = int(ends[-1])
    for start in range(0, total, size):
        yield start, repeated(ends, start, min(start + size, total))
