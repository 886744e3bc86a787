"""Decimal texts of numbers, rounded to a side: an upper bound is printed rounded up, a lower bound rounded down."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Literal

#: Side of a printed number: ``up`` for an upper bound, ``down`` for a lower bound, ``nearest`` for neither.
Side = Literal["up", "down", "nearest"]
_ROUNDING = {"up": ROUND_CEILING, "down": ROUND_FLOOR, "nearest": ROUND_HALF_EVEN}


def round_to_digits(value: float, side: Side, digits: int = 6) -> float:
    """Return the decimal number of at most 15 significant digits next to a value, on one side of it."""
    # The shortest text of a float stands for it: an eps of 0.1 is printed as 0.1, not as 0.100001.
    if not math.isfinite(value):
        return value
    return float(Context(prec=digits, rounding=_ROUNDING[side]).create_decimal(repr(float(value))))


def decimals_text(value: float, side: Side, decimals: int) -> str:
    """Return a number as text with a fixed number of decimals, rounded to a side."""
    if not math.isfinite(value):
        return str(value)
    return f"{Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-decimals), _ROUNDING[side]):f}"


def parameter_text(value: float) -> str:
    """Return a calibrated number as text: a whole number in full, another one with six significant digits."""
    whole = abs(value) < 1e15 and value == int(value)
    return f"{value:.15g}" if whole else f"{value:.6g}"


def number_text(value: float, side: Side, digits: int = 6) -> str:
    """Return a number as text with significant digits, rounded to a side; an int is written in full."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{round_to_digits(value, side, digits):.{digits}g}"
