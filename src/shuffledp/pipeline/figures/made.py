"""Picture of a job as a function, with what its files, its chart and its caption need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from matplotlib.figure import Figure

from shuffledp.pipeline.figures.drawing_jobs import Fields
from shuffledp.pipeline.manifest import Chart


@dataclass(frozen=True)
class Made:
    """Drawing function of a picture, with its numbers, its chart, and notes for the manifest and the caption."""

    draw: Callable[[], Figure]
    numbers: bytes
    chart: Chart | None
    without: Sequence[str] = ()
    questions: Fields = field(default_factory=dict)
