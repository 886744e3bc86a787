"""Numbers that demonstrate an erratum or reading note."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Witness:
    """Value of a quantity by the printed form, and the correct value; ``shows`` is the condition of the entry."""

    quantity: str
    printed: float
    correct: float
    shows: bool
    note: str


#: Function that computes a witness at every call.
WitnessFunction = Callable[[], Witness]
