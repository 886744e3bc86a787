"""Sources of uniform bits: the operating system for deployments, a list for tests."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


class Source(Protocol):
    """Source of independent uniform bits, from which all samplers draw."""

    def bits(self, count: int) -> int:
        """Return a uniform integer in 0..2^count - 1; 0 for no bits."""
        ...


@dataclass(frozen=True)
class SystemBits:
    """Cryptographic random bits of the operating system, for deployments.

    Every call reads from :mod:`secrets` and keeps no bits, so that forked processes never share bits.
    """

    def bits(self, count: int) -> int:
        """Return a uniform integer in 0..2^count - 1; 0 for no bits."""
        return secrets.randbits(count) if count else 0


#: Default source of random bits of all samplers.
SYSTEM_BITS = SystemBits()


class OutOfBits(EOFError):  # noqa: N818  # a public name
    """Error of a draw that needs more bits than a list has."""


class FixedBits:
    """Given bits, which determine all draws; for tests only.

    Parameters
    ----------
    bits : iterable of int
        0 or 1 each, used in order; the first bit is the highest of a number. May be infinite.

    Attributes
    ----------
    used : int
        Number of bits that were used.

    Raises
    ------
    OutOfBits
        If a draw needs more bits than remain.
    """

    def __init__(self, bits: Iterable[int]) -> None:
        self._left = iter(bits)
        self.used = 0

    def bits(self, count: int) -> int:
        """Return the next bits as an integer in 0..2^count - 1."""
        number = 0
        for _ in range(count):
            bit = next(self._left, None)
            if bit is None:
                raise OutOfBits(f"All {self.used} bits of the list are used.")
            if bit not in (0, 1):
                raise ValueError(f"FixedBits: bits must be 0 or 1, got {bit!r}.")
            number = 2 * number + int(bit)
            self.used += 1
        return number
