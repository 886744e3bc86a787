"""Bins of a numeric column: intervals of equal width, which contain their smallest number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from shuffledp.numerics.argument_ranges import check_count
from shuffledp.userdata.cells import number_of

#: Largest number of bins.
MOST_BINS = 1_000_000
#: Distance from an edge, in bins, up to which the bin of a number is found by exact fractions.
_NEAR = 1e-6


@dataclass(frozen=True)
class Bins:
    """Intervals ``[first + j width, first + (j + 1) width)`` for j = 0..number-1, with exact edges."""

    first: Fraction
    width: Fraction
    number: int

    @classmethod
    def parse(cls, text: str) -> Bins:
        """Return the bins of a text LOW:HIGH:WIDTH of decimals. Raise ValueError for any other text."""
        try:
            low, high, width = (
                Fraction(part if math.isfinite(float(part)) else "") for part in text.split(":")
            )
        except ValueError:
            raise ValueError(f"bins must be LOW:HIGH:WIDTH, such as 0:100:1, got {text!r}.") from None
        if width <= 0 or high <= low or (high - low) % width:
            raise ValueError(
                f"bins must have LOW below HIGH, and a WIDTH above 0 that divides HIGH - LOW, got {text!r}."
            )
        return cls(low, width, check_count("bins", int((high - low) / width), 2, MOST_BINS))

    @property
    def end(self) -> Fraction:
        """Smallest number above all bins."""
        return self.first + self.number * self.width

    @cached_property
    def edges(self) -> tuple[int | float, ...]:
        """Smallest number of each bin, and the end of the last bin."""
        edges = (self.first + place * self.width for place in range(self.number + 1))
        return tuple(int(edge) if edge.denominator == 1 else float(edge) for edge in edges)

    @property
    def values(self) -> tuple[int | float, ...]:
        """Smallest number of each bin."""
        return self.edges[:-1]

    def place(self, text: str) -> int:
        """Return the bin of a number; -1 for a number outside of all bins, or a text that is no number."""
        number = number_of(text)
        if not float(self.first - self.width) <= number <= float(self.end + self.width):
            return -1
        place = (number - float(self.first)) / float(self.width)
        if abs(place - round(place)) < _NEAR:
            exact = Fraction(number) if text in ("true", "false") else Fraction(text)
            place = float((exact - self.first) // self.width)
        return math.floor(place) if 0 <= place < self.number else -1

    def reason(self, text: str) -> str:
        """Return the reason why a text has no bin."""
        if math.isnan(number_of(text)):
            return "not a finite number"
        return f"outside the bins from {float(self.first):g} up to {float(self.end):g}"
