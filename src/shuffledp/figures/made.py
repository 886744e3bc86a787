"""A finished picture of any kind: what draws it, its numbers, and what its caption may ask besides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure


@dataclass(frozen=True)
class Made:
    """One picture.

    Parameters
    ----------
    draw : callable
        Makes the figure, within the style.
    numbers : bytes
        What is drawn, as CSV.
    chart : mapping or None
        How the numbers are drawn (`shuffledp.figures.entries.chart`); None if they cannot be explored.
    without : sequence of str
        Reasons why methods are not drawn, besides infeasibility.
    questions : mapping
        What the caption may call, besides the questions about numbers.
    """

    draw: Callable[[], Figure]
    numbers: bytes
    chart: Mapping[str, Any] | None
    without: Sequence[str] = ()
    questions: Mapping[str, Any] = field(default_factory=dict)
