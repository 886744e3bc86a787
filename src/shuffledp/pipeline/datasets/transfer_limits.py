"""Limits on every transfer from any source, in bytes and seconds."""

from __future__ import annotations

import contextlib
import stat
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shuffledp.pipeline.datasets.source_errors import DownloadError

BLOCK = 1 << 16
SLACK = 1 << 20
"""Bytes that a file may have beyond its content, for example headers of gzip."""
ARCHIVE_SLACK = 1 << 24
"""Bytes that an archive may have beyond the required files in it."""
LEAST = (1024.0, 30.0)
"""Smallest rate of a transfer, in bytes per second, and the seconds over which it is averaged."""


@dataclass
class Pace:
    """Minimum speed of a transfer in each interval of time."""

    least: tuple[float, float] = LEAST
    now: Callable[[], float] = time.monotonic
    _since: float = field(init=False)
    _bytes: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._since = self.now()

    def too_slow(self, received: int) -> bool:
        """Return whether a transfer with `received` bytes so far was too slow in a completed interval."""
        speed, span = self.least
        elapsed = self.now() - self._since
        if elapsed < span:
            return False
        if received - self._bytes < speed * elapsed:
            return True
        self._since, self._bytes = self._since + elapsed, received
        return False

    def __str__(self) -> str:
        return f"less than {self.least[0]:g} bytes per second came for {self.least[1]:g} s"


def blocks_of_file(path: Path, limit: int, pace: Pace | None = None) -> Iterator[bytes]:
    """Yield the content of a file on a mirror."""
    pace = pace or Pace()
    received = 0
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise DownloadError(f"{path}: not a file. Correct SHUFFLEDP_MIRROR.")
        with path.open("rb", buffering=0) as stream:
            while block := stream.read(BLOCK):
                received += len(block)
                if received > limit:
                    raise DownloadError(f"{path}: has more than {limit} bytes. Correct the mirror.")
                if pace.too_slow(received):
                    raise DownloadError(f"{path}: {pace}. Correct the mirror.")
                yield block
    except OSError as error:
        raise DownloadError(f"{path}: cannot be read ({error}). Correct SHUFFLEDP_MIRROR.") from error


@contextlib.contextmanager
def bounded_urlopen(limit: int, least: tuple[float, float] = LEAST) -> Iterator[None]:
    """Limit the responses of ``urllib.request.urlopen`` in a context. A slower or larger one raises `DownloadError`."""
    original = urllib.request.urlopen

    def opened(*args: Any, **kwargs: Any) -> Any:
        response = original(*args, **kwargs)
        pieces = response.read1
        pace = Pace(least)

        def problem(received: int) -> str | None:
            if received > limit:
                return f"sends more than {limit} bytes"
            return str(pace) if pace.too_slow(received) else None

        def read(amount: int | None = None) -> bytes:
            content = bytearray()
            wanted = limit + 1 if amount is None or amount < 0 else amount
            while len(content) < wanted:
                block = pieces(min(BLOCK, wanted - len(content)))
                content += block
                wrong = problem(len(content))
                if wrong or not block:
                    response.close()
                if wrong:
                    raise DownloadError(f"{response.url}: {wrong}.")
                if not block:
                    break
            return bytes(content)

        response.read = read
        return response

    urllib.request.urlopen = opened
    try:
        yield
    finally:
        urllib.request.urlopen = original
