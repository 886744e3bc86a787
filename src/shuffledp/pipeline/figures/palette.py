"""A color, a marker and a line style per curve: looks of protocols, grays for accountings, a ramp for values.

A protocol of the library has the look of its identity (`shuffledp.identities`) in all pictures. Its options
have the same color and another marker. Functions of the accounting have looks by number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from shuffledp.identities import Identity, colors, identities

#: Colors of functions, in the order of their numbers; a test simulates how color-blind readers see them.
COLORS = tuple(color for name, color in colors().items() if name != "black")
#: Line styles of identities.
LINES: Mapping[str, Any] = {"solid": "-", "dashdot": (0, (5, 1.5, 1.5, 1.5)), "dotted": (0, (1.5, 1.5))}
#: Line styles of curves that would look like another curve.
_OTHER_DASHES: tuple[Any, ...] = ((0, (9, 1.2)), (0, (8, 3)), (0, (7, 2, 1.5, 2)), (0, (2.5, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h", "8", "d", "H")
GRAY, DARK, BLACK = "#8c8c8c", "#4d4d4d", "#000000"
PRINTED_DASH = (0, (4, 2))


@dataclass(frozen=True)
class Look:
    """Color, marker and line of a curve in Matplotlib's notation; ``width`` 0 is the usual width."""

    color: str
    marker: str
    dash: Any
    width: float = 0.0


#: Looks by the name of a curve.
Looks = Mapping[str, Look]
_ACCOUNTINGS = {
    "printed": Look(GRAY, "s", PRINTED_DASH),
    "simplified": Look(GRAY, "^", (0, (1.5, 1.2))),
    "corrected": Look(DARK, "D", (0, (6, 1.2, 1.5, 1.2))),
    "exact": Look(BLACK, "o", "-"),
}


_OWN_COLORS = ("#E6007E", "#00A000", "#5A00FF")
_OWN_WIDTH = 2.4


def look_of(identity: Identity, color: str | None = None) -> Look:
    """Return the look of a protocol of the library, or of one of its options with a color of its own."""
    return Look(colors()[color] if color else identity.color, identity.marker, LINES[identity.line])


def numbered_look(number: int) -> Look:
    """Return the look of a function by its number; the first 135 differ in color or marker."""
    cycle, place = divmod(number, len(COLORS))
    return Look(COLORS[place], MARKERS[(place + cycle) % len(MARKERS)], "-")


def own_look(number: int) -> Look:
    """Return the look of a user's method by its number: a thick line."""
    cycle, place = divmod(number, len(_OWN_COLORS))
    return Look(_OWN_COLORS[place], MARKERS[(9 + place + cycle) % len(MARKERS)], "-", _OWN_WIDTH)


def with_other_marker(look: Look, looks_in_use: Iterable[Look]) -> Look:
    """Return the look with the first marker that no protocol and no taken look of its color has."""
    looks = (*map(look_of, identities().values()), *looks_in_use)
    markers = {other.marker for other in looks if other.color == look.color}
    return replace(look, marker=next((m for m in MARKERS if m not in markers), look.marker))


def told_apart(looks: Looks) -> dict[str, Look]:
    """Return the looks of a figure's curves; of equal looks, later ones get another line or marker."""
    distinct: dict[str, Look] = {}
    for curve, look in looks.items():
        others = (
            replace(look, marker=marker, dash=dash)
            for marker in (look.marker, *(MARKERS if look.marker else ()))
            for dash in (look.dash, *_OTHER_DASHES)
        )
        in_use = {(each.color, each.marker, str(each.dash)) for each in distinct.values()}
        distinct[curve] = next((o for o in others if (o.color, o.marker, str(o.dash)) not in in_use), look)
    return distinct


def of_accounting(accounting: str, method_look: Look | None = None) -> Look:
    """Return the look of an accounting; with the look of a method, it has the color of the method."""
    plain = _ACCOUNTINGS[accounting]
    if method_look is None:
        return plain
    return Look(method_look.color, method_look.marker, plain.dash, method_look.width)
