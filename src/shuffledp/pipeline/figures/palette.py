"""A color, a marker and a line style per curve: looks of protocols, grays for accountings, a ramp for values.

A protocol of the library has the look of its identity (`shuffledp.identities`) in all pictures. An option has another
marker. In a picture, curves of one color have different dashes; where dashes say the accounting, an option has a color
that no other curve of the picture has. Functions of the accounting have looks by number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from shuffledp.identities import Identity, colors, identities

#: Colors of functions, in the order of their numbers; a test simulates how color-blind readers see them.
COLORS = tuple(color for name, color in colors().items() if name != "black")
#: Line styles of identities.
LINES: Mapping[str, Any] = {"solid": "-", "dashdot": (0, (5, 1.5, 1.5, 1.5)), "dotted": (0, (1.5, 1.5))}
#: Line styles of further curves of a color in one picture.
_OTHER_DASHES: tuple[Any, ...] = ((0, (7, 2)), (0, (1, 3.5)), (0, (8, 2, 1.5, 2, 1.5, 2)), (0, (3, 1)))
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


def look_of(identity: Identity) -> Look:
    """Return the look of a protocol of the library."""
    return Look(identity.color, identity.marker, LINES[identity.line])


def numbered_look(number: int) -> Look:
    """Return the look of a function by its number; the first 135 differ in color or marker."""
    cycle, place = divmod(number, len(COLORS))
    return Look(COLORS[place], MARKERS[(place + cycle) % len(MARKERS)], "-")


def own_look(number: int) -> Look:
    """Return the look of a user's method by its number: a thick line."""
    cycle, place = divmod(number, len(_OWN_COLORS))
    return Look(_OWN_COLORS[place], MARKERS[(9 + place + cycle) % len(MARKERS)], "-", _OWN_WIDTH)


def with_other_marker(look: Look, looks_in_use: Iterable[Look]) -> Look:
    """Return the look with the first other marker that no protocol and no taken look of its color has."""
    looks = (look, *map(look_of, identities().values()), *looks_in_use)
    markers = {other.marker for other in looks if other.color == look.color}
    return replace(look, marker=next((m for m in MARKERS if m not in markers), look.marker))


def with_free_color(look: Look, others: Collection[str]) -> Look:
    """Return the look with a color that is not among others; controls keep black."""
    if look.color == BLACK or look.color not in others:
        return look
    return replace(look, color=next((color for color in COLORS if color not in others), look.color))


def told_apart(looks: Looks) -> dict[str, Look]:
    """Return the looks of a picture's curves; of curves with one color, later ones get another dash."""
    distinct: dict[str, Look] = {}
    for curve, look in looks.items():
        used = [str(other.dash) for other in distinct.values() if other.color == look.color]
        dash = next((d for d in (look.dash, *_OTHER_DASHES) if str(d) not in used), look.dash)
        distinct[curve] = replace(look, dash=dash)
    return distinct


def of_accounting(accounting: str, method_look: Look | None = None) -> Look:
    """Return the look of an accounting; with the look of a method, it has the color of the method."""
    plain = _ACCOUNTINGS[accounting]
    if method_look is None:
        return plain
    return Look(method_look.color, method_look.marker, plain.dash, method_look.width)
