"""Where uniform bits come from: the operating system for deployments, a list for tests."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


class Source(Protocol):
    """Independent uniform bits."""

    def bits(self, count: int) -> int:
        """Return a uniform integer in 0..2^count - 1; 0 for no bits."""
        ...


@dataclass(frozen=True)
class SystemBits:
    """The cryptographic random numbers of the operating system, for deployments.

    Notes
    -----
    Every call asks the operating system (:mod:`secrets`). Nothing is kept between calls, so that two processes made
    from one by fork never share bits.
    """

    def bits(self, count: int) -> int:
        """Return a uniform integer in 0..2^count - 1; 0 for no bits."""
        return secrets.randbits(count) if count else 0


#: What every sampler uses if nothing else is given.
SYSTEM_BITS = SystemBits()


class OutOfBits(EOFError):  # noqa: N818  (says what is the case, as Infeasible does)
    """A list of bits is used up."""


class FixedBits:
    """Bits that are known beforehand, for tests alone: whoever knows them knows what is drawn.

    Parameters
    ----------
    bits : iterable of int
        0 or 1 each; taken one by one, the first is the highest of a number. May be endless.

    Attributes
    ----------
    used : int
        How many were taken.

    Raises
    ------
    OutOfBits
        When more bits are asked for than there are.
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
