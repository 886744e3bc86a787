"""Limits and ticks of axes, common to all files of a drawing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from shuffledp.pipeline.figures.drawn_curves import Numbers, Strand
from shuffledp.pipeline.manifest import Scale

FEWEST_TO_CLIP = 4
"""Least number of curves of a picture in which one curve may be cut off."""
MOST_FOR_ONE = 1 / 3
"""Largest share of an axis, at an end, that one curve may have alone; beyond it, the axis ends with the other
curves."""
DECADES_SHOWN = 8.0
"""Decades of a logarithmic axis up to which no curve is cut off."""
UNEVEN = 1.5
"""Largest share for one curve alone, in units of the share if the ends of all curves were evenly spaced."""
_MARGIN = 0.05
_ROOM_FOR_MARKS = 0.11  # at an end where arrows stand
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LEAST_PLAIN, _MOST_PLAIN = 1e-3, 1e5  # labels of other numbers are powers of ten
_NUDGE = 1e-9
_EXPONENT = re.compile(r"(?<![\w.])\d+(?:\.\d+)?e[+-]?\d+\b")
_LONG_NUMBER = re.compile(r"(?<![\w.,])\d{4,}(?![\w.,]*\d)(?=$|[^\w])")


@dataclass(frozen=True)
class Axis:
    """Axis from ``low`` to ``high``; larger and smaller numbers are marked at its ends."""

    scale: Scale
    low: float
    high: float

    @classmethod
    def in_units(cls, scale: Scale, low: float, high: float) -> Axis:
        """Return the axis between two numbers, which are logarithms for a logarithmic scale."""
        return cls(scale, 10**low, 10**high) if scale == "log" else cls(scale, low, high)

    def units(self, numbers: Numbers) -> Numbers:
        """Return numbers as lengths along the axis from an arbitrary origin; -inf without a logarithm."""
        if self.scale == "linear":
            return np.asarray(numbers, float)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(np.asarray(numbers) > 0, np.log10(np.asarray(numbers, float)), -np.inf)

    @property
    def span(self) -> float:
        """Length of the axis in its `units`."""
        ends = self.units(np.array([self.low, self.high]))
        return float(ends[1] - ends[0])

    def share(self, number: float) -> float:
        """Return the position of a number: 0 at the lower and 1 at the upper end."""
        return float((self.units(np.array(number)) - self.units(np.array(self.low))) / self.span)


def vertical(every: Iterable[Strand], scale: Scale, others: Sequence[float] = ()) -> Axis:
    """Return the vertical axis for some curves.

    The axis omits one of n >= 4 curves if that curve lies wholly beyond the others in a panel and would take too much
    of the axis: more than a third, and more than 1.5 / (n - 1). At most one end is shortened in this way. Logarithmic
    axes of at most `DECADES_SHOWN` decades are not shortened.
    """
    every, unit = list(every), Axis(scale, 1.0, 10.0)
    ends = _ends(every, unit)
    free = unit.units(np.array(others, float))
    free = free[np.isfinite(free)]
    low = min([*(e[0] for e in ends.values()), *free], default=0.0)
    high = max([*(e[1] for e in ends.values()), *free], default=1.0)
    below = above = False
    if len(ends) >= FEWEST_TO_CLIP and (scale == "linear" or high - low > DECADES_SHOWN):
        lows, highs = sorted(e[0] for e in ends.values()), sorted(e[1] for e in ends.values())
        second_low, second_high = min([lows[1], *free]), max([highs[-2], *free])
        most = max(MOST_FOR_ONE, UNEVEN / (len(ends) - 1)) * (high - low)
        above = high - second_high > max(most, second_low - low) and _beyond(
            every, unit, second_high, above=True
        )
        below = not above and second_low - low > most and _beyond(every, unit, second_low, above=False)
        low, high = second_low if below else low, second_high if above else high
    below = below or (scale == "log" and any((strand.y <= 0).any() for strand in every))
    if high <= low:
        around = 0.5 if scale == "log" else max(0.05 * abs(low), _NUDGE)
        low, high = low - around, high + around
    room = high - low
    low -= room * (_ROOM_FOR_MARKS if below else _MARGIN)
    high += room * (_ROOM_FOR_MARKS if above else _MARGIN)
    return Axis.in_units(scale, low, high)


def _ends(every: Iterable[Strand], unit: Axis) -> dict[str, tuple[float, float]]:
    ends: dict[str, tuple[float, float]] = {}
    for strand in every:
        bar = np.nan_to_num(strand.error)
        lower = (
            np.where(strand.y - bar > 0, strand.y - bar, strand.y) if unit.scale == "log" else strand.y - bar
        )
        places = unit.units(np.concatenate([lower, strand.y + bar]))
        places = places[np.isfinite(places)]
        if len(places):
            low, high = ends.get(strand.curve, (math.inf, -math.inf))
            ends[strand.curve] = min(low, places.min()), max(high, places.max())
    return ends


def _beyond(every: Iterable[Strand], unit: Axis, end: float, *, above: bool) -> bool:
    places = [unit.units(strand.y) for strand in every]
    return any(((own > end) if above else (own < end)).all() for own in places if np.isfinite(own).all())


def horizontal(every: Iterable[Strand], scale: Scale, others: Sequence[float] = ()) -> Axis:
    """Return the axis that shows all horizontal positions."""
    unit = Axis(scale, 1.0, 10.0)
    at = [strand.x for strand in every if not strand.level]
    places = unit.units(np.concatenate([*at, np.array(others, float)]) if at or others else np.array([1.0]))
    places = places[np.isfinite(places)]
    low, high = (float(places.min()), float(places.max())) if len(places) else (0.0, 1.0)
    if high <= low:
        low, high = low - 0.5, high + 0.5
    room = _MARGIN * (high - low)
    low, high = low - room, high + room
    return Axis.in_units(scale, low, high)


# -- ticks ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ticks:
    """Tick positions with labels, and tick positions without labels."""

    major: tuple[float, ...]
    labels: tuple[str, ...]
    minor: tuple[float, ...] = ()


def ticks(axis: Axis, most: int) -> Ticks:
    """Return ticks with labels, at least two and at most about ``most``."""
    if axis.scale == "linear":
        return _linear(axis, most)
    low, high = math.log10(axis.low), math.log10(axis.high)
    decades = range(math.ceil(low - _NUDGE), math.floor(high + _NUDGE) + 1)
    if len(decades) >= 3 or (len(decades) == 2 and most <= 3):
        step = math.ceil(len(decades) / most)
        major = [10.0**d for d in decades if d % step == 0]
        if len(major) >= 2:
            between = _multiples(axis, range(2, 10)) if high - low <= 4 else []
            minor = between if step == 1 else [10.0**d for d in decades if d % step]
            return Ticks(tuple(major), tuple(_texts(major)), tuple(minor))
    for digits in ((1, 3), (1, 2, 5), (1, 2, 3, 5, 7)):
        major = _multiples(axis, digits)
        if len(major) >= 2 and (len(major) >= 3 or digits == (1, 2, 5)):
            if len(major) > most:
                break
            minor = sorted(set(_multiples(axis, range(1, 10))) - set(major))
            return Ticks(tuple(major), tuple(_texts(major)), tuple(minor))
    if len(major) > most:
        major = major[:: math.ceil(len(major) / most)]
        return Ticks(tuple(major), tuple(_texts(major)), ())
    return _linear(axis, most)


def _linear(axis: Axis, most: int) -> Ticks:
    values = MaxNLocator(nbins=most, steps=[1, 2, 5, 10]).tick_values(axis.low, axis.high)
    slack = _NUDGE * (axis.high - axis.low)
    major = [float(v) for v in values if axis.low - slack <= v <= axis.high + slack]
    major = [0.0 if abs(v) < slack else v for v in major]
    return Ticks(tuple(major), tuple(_texts(major)))


def _multiples(axis: Axis, digits: Iterable[int]) -> list[float]:
    powers = range(math.floor(math.log10(axis.low)), math.ceil(math.log10(axis.high)) + 1)
    every = (digit * 10.0**power for power in powers for digit in digits)
    return sorted(v for v in every if axis.low * (1 - _NUDGE) <= v <= axis.high * (1 + _NUDGE))


def _texts(values: Sequence[float]) -> list[str]:
    sizes = [abs(v) for v in values if v]
    plain = all(_LEAST_PLAIN * (1 - _NUDGE) <= size < _MOST_PLAIN * (1 - _NUDGE) for size in sizes)
    return [_plain(v) if plain else power(v) for v in values]


def _plain(value: float) -> str:
    return f"{value:,.6g}".replace("-", "−")


def power(value: float, digits: int = 3) -> str:
    """Return a number with a power of ten in Unicode superscripts."""
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)) + _NUDGE)
    mantissa = f"{value / 10.0**exponent:.{digits}g}".replace("-", "−")
    ten = "10" + str(exponent).translate(_SUPERSCRIPTS)
    return ten if mantissa == "1" else f"{mantissa}×{ten}"


def typeset(text: str) -> str:
    """Return a text of a picture with powers of ten instead of 1e-06, and commas in whole numbers of five digits."""
    powers = _EXPONENT.sub(lambda m: power(float(m[0]), 6), text)
    return _LONG_NUMBER.sub(lambda m: f"{int(m[0]):,}", powers)


def short(value: float) -> str:
    """Return a number with three digits for the label of an arrow."""
    if value == 0 or _LEAST_PLAIN <= abs(value) < _MOST_PLAIN:
        return _plain(float(f"{value:.3g}"))
    return power(value)


def inside(axis: Axis, numbers: Numbers) -> NDArray[np.bool_]:
    """Return, for each number, whether it lies within an axis."""
    return (numbers >= axis.low) & (numbers <= axis.high)
