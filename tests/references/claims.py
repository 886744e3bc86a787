"""Stated errors of functions, the settings in which they are tested, and distances of values from references."""

from __future__ import annotations

import inspect
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import mpmath

Number = mpmath.mpf
Setting = dict[str, float | int | str]
#: Relative error of a closed form in floats.
ROUNDING = 1e-13
#: Relative step at a root for the slope.
BESIDE = mpmath.mpf(10) ** -15
#: Value below which numbers are not compared: references are sums of terms that cancel, in windows.
TOLD = mpmath.mpf(10) ** -50


@dataclass(frozen=True)
class Range:
    """Values of an argument: an interval, or a list."""

    low: float = 0.0
    high: float = 0.0
    kind: str = "log"
    choices: tuple[str, ...] = ()

    def drawn(self, draw: random.Random) -> float | int | str:
        """Return a random value."""
        if self.choices:
            return draw.choice(self.choices)
        if self.kind == "linear":
            return draw.uniform(self.low, self.high)
        value = math.exp(draw.uniform(math.log(self.low), math.log(self.high)))
        return round(value) if self.kind == "integer" else value

    def corner(self, upper: bool) -> float | int | str:
        """Return the first or the last value."""
        if self.choices:
            return self.choices[-1 if upper else 0]
        end = self.high if upper else self.low
        return round(end) if self.kind == "integer" else end

    def __str__(self) -> str:
        if self.choices:
            return ", ".join(self.choices)
        return f"{self.low:.4g} to {self.high:.4g}"


def log(low: float, high: float) -> Range:
    """Return a log-uniform range between two positive ends."""
    return Range(low, high)


def linear(low: float, high: float) -> Range:
    """Return a uniform range between two ends."""
    return Range(low, high, "linear")


def whole(low: int, high: int) -> Range:
    """Return a range of integers, log-uniform if both ends are positive."""
    return Range(low, high, "integer")


def one_of(*choices: str) -> Range:
    """Return a range of several names."""
    return Range(choices=choices)


@dataclass(frozen=True)
class Claim:
    """Public function with its stated error and the measure of the error.

    `name` has the variant in brackets if there are several. `measure` returns the signed relative error of a value, in
    50 digits, for the arguments of a setting. `below` and `above` are the largest relative errors below and above the
    reference; `below` is 0 for an upper bound. The `count` settings are corners, then seeded random ones, of `ranges`.
    `keep` selects valid settings.
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
        """Public name without the variant."""
        return self.name.partition(" ")[0]

    def settings(self) -> Iterator[Setting]:
        """Yield corners (all low, all high, one argument opposite to the others), then random settings."""
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
        """Return the ranges as text."""
        return "; ".join(f"{name} {values}" for name, values in self.ranges.items()) or "all there are"

    def holds(self, error: float) -> bool:
        """Return whether an error is within the stated error."""
        return -self.below <= error <= self.above


def claims_of(usual: dict[str, Range]) -> Callable[..., Claim]:
    """Return a function that makes claims; arguments have their usual ranges unless other ranges are given."""

    def stated(
        name: str,
        measure: Callable[..., Number | float],
        below: float = ROUNDING,
        above: float = ROUNDING,
        *,
        count: int = 40,
        keep: Callable[..., bool] = lambda **_: True,
        **ranges: Range,
    ) -> Claim:
        arguments = inspect.signature(measure).parameters
        known = {argument: (usual | ranges)[argument] for argument in arguments}
        return Claim(name, measure, below, above, known, count, keep)

    return stated


def off(found: float, true: Number) -> Number:
    """Return the signed relative error of a value; 0 for values below :data:`TOLD`."""
    found, true = mpmath.mpf(float(found)), mpmath.mpf(true)
    if abs(true) < TOLD and abs(found) < 2 * TOLD:
        return mpmath.mpf(0)
    return (found - true) / abs(true) if true else mpmath.inf * mpmath.sign(found)


def worst(errors: list[Number]) -> Number:
    """Return the error with the largest absolute value."""
    return max(errors, key=abs)


def off_by_inverse(found: float, forward: Callable[[Number], Number], target: float) -> Number:
    """Return the signed relative error of a root, relative to the forward function's root.

    The error follows from the slope of the logarithms at the root, or of the values if one value is 0. It is exact to
    first order in the error.
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


def off_by_root(
    found: float,
    forward: Callable[[Number], Number],
    delta: float,
    *,
    least: float = 1.01e-12,
    most: float = math.inf,
) -> Number:
    """Return the error of an eps; at an end of the range of eps, 0 if delta is met and -inf otherwise."""
    if least < found < most:
        return off_by_inverse(found, forward, delta)
    return mpmath.mpf(0) if found >= most or forward(mpmath.mpf(found)) <= delta else -mpmath.inf


def off_by_count(found: int, enough: Callable[[int], bool], *, least: int = 0) -> Number:
    """Return the error of a smallest sufficient number: 0 if right, otherwise infinite with the error's sign."""
    if not enough(found):
        return -mpmath.inf
    return mpmath.inf if found > least and enough(found - 1) else mpmath.mpf(0)
