"""Conditions of printed numbers: the users, the data and the side for which a number is right.

Text, JSON, CSV and Python objects are made from these conditions, so that no number is printed without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from shuffledp.numerics.rounding import Side, number_text

#: Kind of a number of users: of the calibration, of the data, the mean of a random number, or its likeliest value if it
#: is announced before users send messages.
Who = Literal["planned", "counted", "mean", "likeliest"]
#: Data of the users: with the shares of the given data, with equal shares, a tenth of the users with the value, or any
#: data, the worst included.
Data = Literal["given", "equal shares", "a tenth", "worst"]

#: Data for which each number of a row holds, and side to which it is rounded. None: the data of the setting;
#: ``interval``: the given data, or the worst data if none are given.
STATED: Mapping[str, tuple[Data | Literal["interval"] | None, Side]] = {
    **dict.fromkeys(("mse", "floor_ratio", "blind_mse", "poisoning_errors"), (None, "nearest")),
    **dict.fromkeys(("simulated_mse", "simulated_standard_error", "simulated_coverage"), (None, "nearest")),
    "heavy_variance": ("a tenth", "nearest"),
    **dict.fromkeys(("half_width", "simultaneous_half_width"), ("interval", "up")),
    **dict.fromkeys(("messages_per_user", "bits_per_user", "shuffler_messages"), ("worst", "nearest")),
    **dict.fromkeys(("most_messages", "most_bits", "poisoning_gain"), ("worst", "up")),
    **dict.fromkeys(("eps_local", "eps_spent", "eps_colluding", "eps_dropped"), ("worst", "up")),
    **dict.fromkeys(("eps_one_round", "eps_all_rounds", "eps_if_repeated"), ("worst", "up")),
    **dict.fromkeys(("delta_floor_all",), ("worst", "up")),
    "eps_all_rounds_lower": ("worst", "down"),
    "messages_all_rounds": ("worst", "nearest"),
    "mse_one_release": (None, "nearest"),
    "slack": ("worst", "down"),
}

#: Fields with intervals.
WIDTHS = tuple(name for name, (data, _) in STATED.items() if data == "interval")
#: Clause on the data of the users.
OF_DATA: Mapping[str, str] = {
    "given": " with the shares of the data",
    "equal shares": " with equal shares of all values",
    "a tenth": " of whom a tenth have the value",
    "worst": " with any values",
}
_WHO: dict[Who, str] = {
    "planned": "planned users",
    "counted": "counted users",
    "mean": "users on average",
    "likeliest": "users (the likeliest number)",
}


@dataclass(frozen=True)
class Conditions:
    """Conditions of a number.

    Parameters
    ----------
    users : float
        Number of users, user 1 included.
    who : {"planned", "counted", "mean", "likeliest"}
        Kind of this number. A ``mean`` stands for a random number of users, over which errors are averaged.
    data : {"given", "equal shares", "a tenth", "worst"}
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
        return f"for {self.users:,.12g} {_WHO[self.who]}{OF_DATA[self.data]}"

    def __str__(self) -> str:
        return f"{self.clause}, rounded {self.side}"


def side_of(heading: str) -> Side:
    """Return the side to which the numbers under a heading are rounded, the name of a field or its words."""
    return STATED.get(heading.strip().replace(" ", "_"), (None, "nearest"))[1]
