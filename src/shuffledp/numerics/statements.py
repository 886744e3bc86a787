"""Conditions of printed numbers: the users, the data and the side for which a number is right.

Text, JSON, CSV and Python objects are made from these conditions, so that no number is printed without them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shuffledp.numerics.rounding import Side, number_text

Who = Literal["planned", "counted", "mean"]
"""Kind of a number of users: of the calibration, of the data, or the mean of a random number."""
Data = Literal["given", "equal shares", "worst"]
"""Data of the users: with the shares of the given data, with equal shares, or any data, the worst included."""

_DATA: dict[Data, str] = {
    "given": " with the shares of the data",
    "equal shares": " with equal shares of all values",
    "worst": " with any values",
}
_WHO: dict[Who, str] = {"planned": "planned users", "counted": "counted users", "mean": "users on average"}


@dataclass(frozen=True)
class Conditions:
    """Conditions of a number.

    Parameters
    ----------
    users : float
        Number of users, user 1 included.
    who : {"planned", "counted", "mean"}
        Kind of this number. A ``mean`` stands for a random number of users, over which errors are averaged.
    data : {"given", "equal shares", "worst"}
        Data of the users.
    side : {"up", "down", "nearest"}
        Direction of rounding: ``up`` for an upper bound, ``down`` for a lower bound, ``nearest`` for neither.
    """

    users: float
    who: Who
    data: Data
    side: Side

    def text(self, value: float, digits: int = 3) -> str:
        """Return a number with significant digits, rounded to its side."""
        return number_text(value, self.side, digits)

    @property
    def clause(self) -> str:
        """Clause on the users and their data."""
        return f"for {self.users:,.12g} {_WHO[self.who]}{_DATA[self.data]}"

    def __str__(self) -> str:
        return f"{self.clause}, rounded {self.side}"
