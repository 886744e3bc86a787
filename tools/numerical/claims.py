"""What is stated of a function, the settings it is tried in, and how far a value is from a reference."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import mpmath

Number = mpmath.mpf
Setting = dict[str, float | int | str]
#: Relative error of a closed form in floats.
ROUNDING = 1e-13
#: Where the slope at a root is taken, relative.
BESIDE = mpmath.mpf(10) ** -15
#: What is smaller is not compared: references are sums of terms that cancel, in windows.
TOLD = mpmath.mpf(10) ** -50


@dataclass(frozen=True)
class Range:
    """The values of an argument: between two ends, or one of several."""

    low: float = 0.0
    high: float = 0.0
    kind: str = "log"
    choices: tuple[str, ...] = ()

    def drawn(self, draw: random.Random) -> float | int | str:
        """One of them at random."""
        if self.choices:
            return draw.choice(self.choices)
        if self.kind == "linear":
            return draw.uniform(self.low, self.high)
        value = math.exp(draw.uniform(math.log(self.low), math.log(self.high)))
        return round(value) if self.kind == "integer" else value

    def corner(self, upper: bool) -> float | int | str:
        """The first or the last of them."""
        if self.choices:
            return self.choices[-1 if upper else 0]
        end = self.high if upper else self.low
        return round(end) if self.kind == "integer" else end

    def __str__(self) -> str:
        if self.choices:
            return ", ".join(self.choices)
        return f"{self.low:.4g} to {self.high:.4g}"


def log(low: float, high: float) -> Range:
    """Log-uniform between two positive numbers."""
    return Range(low, high)


def linear(low: float, high: float) -> Range:
    """Uniform between two numbers."""
    return Range(low, high, "linear")


def whole(low: int, high: int) -> Range:
    """Integers, log-uniform between two positive ones."""
    return Range(low, high, "integer")


def one_of(*choices: str) -> Range:
    """One of several names."""
    return Range(choices=choices)


@dataclass(frozen=True)
class Claim:
    """A function, what is stated about it, and how a value of it is measured.

    Attributes
    ----------
    name : str
        A public name, with the variant in brackets where there are several.
    measure : callable
        The arguments of a setting -> signed relative error of the value, in 50 digits.
    below, above : float
        How far a value may be below and above the reference, relative: 0 below for an upper bound.
    ranges : dict
        Values of the arguments.
    count : int
        Settings: corners first, then seeded random ones.
    keep : callable
        Which settings make sense.
    """

    name: str
    measure: Callable[..., Number | float]
    below: float
    above: float
    ranges: dict[str, Range]
    count: int = 12
    keep: Callable[..., bool] = lambda **_: True

    @property
    def public(self) -> str:
        """The public name."""
        return self.name.partition(" ")[0]

    def settings(self) -> Iterator[Setting]:
        """All lows, all highs, then one at the low and the others at the high end, then at random, by a fixed seed."""
        draw = random.Random(f"numerical errors of {self.name}")
        left = self.count
        corners = [{name: r.corner(up) for name, r in self.ranges.items()} for up in (False, True)]
        for place, name in enumerate(self.ranges):
            mixed = {other: r.corner(place % 2 == 0) for other, r in self.ranges.items()}
            corners.append({**mixed, name: self.ranges[name].corner(place % 2 == 1)})
        for corner in corners[: max(2, self.count // 3)]:
            if left and self.keep(**corner):
                yield corner
                left -= 1
        for _ in range(1000 * self.count):
            if not left:
                return
            setting = {name: r.drawn(draw) for name, r in self.ranges.items()}
            if self.keep(**setting):
                yield setting
                left -= 1
        raise ValueError(f"{self.name}: hardly any setting is kept.")

    def tried(self) -> str:
        """The ranges in words."""
        return "; ".join(f"{name} {values}" for name, values in self.ranges.items()) or "all there are"

    def holds(self, error: float) -> bool:
        """Whether an error is one that is stated."""
        return -self.below <= error <= self.above


def off(found: float, true: Number) -> Number:
    """Signed relative error of a value; what is below :data:`TOLD` has none."""
    found, true = mpmath.mpf(float(found)), mpmath.mpf(true)
    if abs(true) < TOLD and abs(found) < 2 * TOLD:
        return mpmath.mpf(0)
    return (found - true) / abs(true) if true else mpmath.inf * mpmath.sign(found)


def worst(errors: list[Number]) -> Number:
    """The largest in size of several errors."""
    return max(errors, key=abs)


def off_by_inverse(found: float, forward: Callable[[Number], Number], target: float) -> Number:
    """Signed relative error of a root: how far it is from where the forward function has the target.

    By the slope of the logarithms there, of the values themselves where one is 0: exact to first order in the error.
    """
    x, target = mpmath.mpf(found), mpmath.mpf(target)
    here = forward(x)
    if here == target:
        return mpmath.mpf(0)
    for step in (-BESIDE, BESIDE):
        there = forward(x * (1 + step))
        if here != there:
            logs = here > 0 and there > 0
            slope = (mpmath.log(there / here) if logs else there - here) / step
            return (mpmath.log(here / target) if logs else here - target) / slope
    return mpmath.inf if here > target else -mpmath.inf


def off_by_count(found: int, enough: Callable[[int], bool], *, least: int = 0) -> Number:
    """Error of a smallest sufficient number: 0 if it is that, else infinite on the side where it is wrong."""
    if not enough(found):
        return -mpmath.inf
    return mpmath.inf if found > least and enough(found - 1) else mpmath.mpf(0)
