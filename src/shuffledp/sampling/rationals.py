"""Parameters of exact samplers: rational numbers, and exponentials of rational numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational

#: Largest exponent whose exponential is bounded; the integers grow with it.
MOST_EXPONENT = 1000


@dataclass(frozen=True)
class Exponential:
    """Number ``exp(-exponent)`` in (0, 1], which is never computed.

    Parameters
    ----------
    exponent : rational
        An integer or Fraction >= 0.
    """

    exponent: Rational | int

    def __post_init__(self) -> None:
        object.__setattr__(self, "exponent", rational("Exponential: exponent", self.exponent, least=0))

    @property
    def rate(self) -> Fraction:
        """Exponent as a Fraction."""
        return Fraction(self.exponent)


#: Probability of heads of a coin.
Probability = Rational | int | Exponential


def rational(
    name: str,
    value: object,
    *,
    least: int | None = None,
    most: int | None = None,
    above: int | None = None,
    below: int | None = None,
) -> Fraction:
    """Return `value` as a Fraction if it is an integer or a Fraction in the range, else raise ValueError. Floating
    point numbers are rejected, because the float 0.1 is not 1/10, and callers must choose between them.
    """
    if isinstance(value, Rational) and not isinstance(value, bool):
        number = value if type(value) is Fraction else Fraction(int(value.numerator), int(value.denominator))
        inside = (
            (least is None or number >= least)
            and (most is None or number <= most)
            and (above is None or number > above)
            and (below is None or number < below)
        )
        if inside:
            return number
    limits = ((">=", least), (">", above), ("<=", most), ("<", below))
    allowed = f"an integer or a Fraction {' and '.join(f'{sign} {n}' for sign, n in limits if n is not None)}"
    hint = ""
    if isinstance(value, float):
        hint = f" Fraction({value!r}) is that number to the last bit, Fraction('{value!r}') the decimal."
    raise ValueError(f"{name} must be {allowed}, got {value!r}.{hint}")


def integer(name: str, value: object, least: int) -> int:
    """Return `value` as an int if it is an integer >= `least`, else raise ValueError."""
    if type(value) is int and value >= least:  # the usual case, without a slow check of an abstract class
        return value
    if isinstance(value, bool) or not isinstance(value, Rational) or value.denominator != 1 or value < least:
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}.")
    return int(value.numerator)


def probability(name: str, value: Probability) -> Fraction | Exponential:
    """Return `value` as a Fraction in [0, 1], or unchanged if it is an exponential, else raise ValueError."""
    if isinstance(value, Exponential) or (
        type(value) is Fraction and 0 <= value.numerator <= value.denominator
    ):
        return value
    return rational(name, value, least=0, most=1)


def exponential_from_below(exponent: Fraction, bits: int) -> int:
    """Return an integer at most ``2^bits exp(exponent)``, and less than 1 + 2^-64 below it.
    ``exp(x) = exp(x / 2^h)^(2^h)`` with ``x / 2^h < 1``, by a Taylor series of positive terms and h squarings in
    integers, each rounded down. Guard bits keep the sum of the rounding errors, one unit of the last place each, below
    2^-64 of a unit of the result.
    """
    halvings = max(0, int(exponent).bit_length())
    # The result has up to 1.45 x bits before the point; squaring doubles the relative error each time.
    places = bits + 3 * int(exponent) + 2 * halvings + 96
    x = exponent / 2**halvings
    total = term = 1 << places
    count = 0
    while term:
        count += 1
        term = term * x.numerator // (x.denominator * count)
        total += term
    for _ in range(halvings):
        total = total * total >> places
    return total >> (places - bits)
