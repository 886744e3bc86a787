"""A color, a marker and a line style per curve: hues for methods, grays for accountings, a ramp for values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

# Okabe and Ito's colors and three darker ones; a test simulates how color-blind readers see them.
COLORS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#555555",
    "#6B3A00",
    "#4B2A8A",
    "#C40031",
)
# One of them is solid: of lines that lie upon each other the upper one then has gaps.
DASHES: tuple[Any, ...] = (
    "-",
    (0, (9, 1.2)),
    (0, (5, 2)),
    (0, (1.5, 1.2)),
    (0, (6, 1.2, 1.5, 1.2)),
    (0, (7, 2, 1.5, 2)),
    (0, (3.5, 1.2)),
    (0, (2.5, 1)),
    (0, (8, 3)),
    (0, (4, 1, 1, 1)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h", "8", "d", "H")
GRAY, DARK, BLACK = "#8c8c8c", "#4d4d4d", "#000000"
PRINTED_DASH = (0, (4, 2))
THIN = 0.7
"""Width of the gray curves that have a number instead of a name."""
_LONGEST_SOLID = 9  # points of the strokes that looks beyond the listed ones are given


@dataclass(frozen=True)
class Look:
    """Color, marker and line of a curve in Matplotlib's notation; ``width`` 0 is the usual width."""

    color: str
    marker: str
    dash: Any
    width: float = 0.0


Looks = Mapping[str, Look]
"""Looks by the name of a curve."""
_ACCOUNTINGS = {
    "printed": Look(GRAY, "s", PRINTED_DASH),
    "simplified": Look(GRAY, "^", (0, (1.5, 1.2))),
    "corrected": Look(DARK, "D", (0, (6, 1.2, 1.5, 1.2))),
    "exact": Look(BLACK, "o", "-"),
}


OWN = 1_000_000
"""Number from which looks belong to the user's own methods, which are highlighted."""
_OWN_COLORS = ("#E6007E", "#00A000", "#5A00FF")
_OWN_WIDTH = 2.4
_PALER = 0.25  # share of white


def look(number: int) -> Look:
    """Return a look by its number; no two looks agree in all three parts, and the first ten agree in no part."""
    if number < 0:
        raise ValueError(f"The number of a look must be at least 0, got {number}.")
    if number >= OWN:
        own = number - OWN
        marker = MARKERS[(9 + own) % len(MARKERS)]
        again = own // (len(_OWN_COLORS) * len(MARKERS))
        dash: Any = (0, (_LONGEST_SOLID + again, 1)) if again else "-"
        return Look(_OWN_COLORS[(own + own // len(MARKERS)) % len(_OWN_COLORS)], marker, dash, _OWN_WIDTH)
    cycle = number // len(COLORS)
    dash = DASHES[(number + cycle) % len(DASHES)]
    again = number // (len(COLORS) * len(MARKERS))  # after all pairs of color and marker
    if again:
        dash = (0, (_LONGEST_SOLID + again, 1, 1, 1))
    return Look(COLORS[number % len(COLORS)], MARKERS[(number + cycle) % len(MARKERS)], dash)


def marked_apart(looks: Looks) -> dict[str, Look]:
    """Return the looks of names with several curves each; looks with equal markers get other markers if one is free."""
    found: dict[str, Look] = {}
    for name, one in looks.items():
        taken = {each.marker for each in found.values()}
        wanted = {each.marker for each in looks.values()}
        free = (marker for marker in MARKERS if marker not in wanted | taken)
        found[name] = replace(one, marker=next(free, one.marker)) if one.marker in taken else one
    return found


def told_apart(looks: Looks) -> dict[str, Look]:
    """Return the looks of a figure's curves; of equal looks, later ones get another line or marker."""
    found: dict[str, Look] = {}
    for curve, one in looks.items():
        others = (
            replace(one, marker=marker, dash=dash)
            for marker in (one.marker, *(MARKERS if one.marker else ()))
            for dash in (one.dash, *DASHES)
        )
        taken = {(each.color, each.marker, str(each.dash)) for each in found.values()}
        found[curve] = next((o for o in others if (o.color, o.marker, str(o.dash)) not in taken), one)
    return found


def assigned(groups: Sequence[Sequence[str]], fixed: Mapping[str, int], first: int = 0) -> dict[str, int]:
    """Return one look per method, the same in every drawing; methods in one group have different looks."""
    every = dict.fromkeys(method for group in groups for method in group)
    given = {method: fixed[method] for method in every if method in fixed}
    for method in every:
        if method not in given:
            met = {given[other] for group in groups if method in group for other in group if other in given}
            given[method] = next(n for n in range(first, first + len(met) + 1) if n not in met)
    return {method: given[method] for method in every}


def of_accounting(accounting: str, own: Look | None = None) -> Look:
    """Return the look of an accounting; with a method's look ``own`` it has its color, paler unless exact."""
    plain = _ACCOUNTINGS[accounting]
    if own is None:
        return plain
    shade = own.color if accounting == "exact" else lighter(own.color, _PALER)
    return Look(shade, own.marker, plain.dash, own.width)


def of_values(count: int) -> list[Look]:
    """Return looks for the values of a variable, from dark blue to light orange."""
    steps = [step / max(count - 1, 1) for step in range(count)]
    return [replace(look(i), color=_between(step)) for i, step in enumerate(steps)]


def behind(own: Look, dashed: bool) -> Look:
    """Return the look of a curve with a number instead of a name; its dash is kept if it has a meaning."""
    return Look(GRAY, "", own.dash if dashed else "-", THIN)


def lighter(color: str, share: float = 0.5) -> str:
    """Return the color between a color and white, by default halfway."""
    return _hex(channel + share * (255 - channel) for channel in _channels(color))


_RAMP = ("#16325c", "#1f7a8c", "#6a994e", "#e09f3e")


def _between(step: float) -> str:
    place = step * (len(_RAMP) - 1)
    left = min(int(place), len(_RAMP) - 2)
    pairs = zip(_channels(_RAMP[left]), _channels(_RAMP[left + 1]), strict=True)
    return _hex(a + (place - left) * (b - a) for a, b in pairs)


def _channels(color: str) -> list[int]:
    return [int(color[i : i + 2], 16) for i in (1, 3, 5)]


def _hex(channels: Iterable[float]) -> str:
    return "#" + "".join(f"{round(channel):02x}" for channel in channels)
