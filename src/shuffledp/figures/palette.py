"""A color, a marker and a kind of line per curve, so that curves are told apart without their colors too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Okabe and Ito's colors in an order that keeps neighbours apart; they stay distinct for color-blind readers.
COLORS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#555555",
    "#8C510A",
    "#5E3C99",
    "#B2182B",
)
# Lines that lie upon each other stay visible, because the upper one has gaps.
DASHES: tuple[Any, ...] = (
    "-",
    "-",
    (0, (5, 2)),
    (0, (1.5, 1.5)),
    "-",
    (0, (7, 2, 1.5, 2)),
    "-",
    (0, (3, 1)),
    (0, (8, 3)),
    (0, (4, 1, 1, 1)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")


@dataclass(frozen=True)
class Look:
    """Color, marker and line of one curve."""

    color: str
    marker: str
    dash: Any


def looks(curves: Sequence[str], fixed: Mapping[str, int]) -> dict[str, Look]:
    """A look per curve.

    Parameters
    ----------
    curves : sequence of str
        In the order in which looks are handed out.
    fixed : mapping
        Curves that always have one and the same look, 0 to 9 in the order of this module; others take what no curve in
        this call keeps, in order, and begin again when all are taken.
    """
    taken = {fixed[c] for c in curves if c in fixed}
    free = [i for i in range(len(COLORS)) if i not in taken] or list(range(len(COLORS)))
    others = [c for c in curves if c not in fixed]
    handed_out = {c: free[i % len(free)] for i, c in enumerate(others)}
    chosen = {c: fixed[c] if c in fixed else handed_out[c] for c in curves}
    return {c: Look(COLORS[i], MARKERS[i], DASHES[i]) for c, i in chosen.items()}
