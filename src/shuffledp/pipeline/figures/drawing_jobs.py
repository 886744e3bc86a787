"""Jobs of drawings as plain data, which the workflow stores, compares and passes to the drawing process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

#: Accounting of a picture with printed and exact numbers; questions of its caption are about the exact numbers.
BOTH = "both"
#: The two accountings of such a picture.
PAIR = ("printed", "exact")
#: Values of each variable in their order.
Grid = Mapping[str, Sequence[Any]]
#: Values by name: an entry of the configuration, conditions on rows, or a row.
Fields = Mapping[str, Any]


class Common(TypedDict):
    """Fields common to pictures, tables and tables of claims."""

    paper: str
    id: str
    title: str
    alt: str
    facts: dict[str, str]
    caption: str
    scale: str
    formats: list[str]


class TrainingJob(TypedDict):
    """Training run of a drawing: the variable over its rounds, and the methods that show the run."""

    round: str
    methods: list[str]
    described: str


class DrawingJob(Common):
    """Picture or table: everything on which it depends, except the content of its input files."""

    kind: Literal["figure", "table"]
    entry: dict[str, Any]
    quantity: str
    where: dict[str, Any]
    results: str
    experiment: str
    labels: dict[str, str | None]
    looks: dict[str, dict[str, Any]]
    points: dict[str, Any] | None
    grid: dict[str, list[Any]]
    accountings: list[str]
    repeats: int
    assumed: dict[str, str]
    training: list[TrainingJob]
    simulated_at: dict[str, list[Any]]


class ClaimTableJob(Common):
    """Table that `shuffledp.pipeline.claims` computes."""

    kind: Literal["claims"]
    table: str


class RankedJob(TypedDict):
    """Experiment with ranked protocols: the task's name, the error that determines the ranks, and the ranked cells."""

    results: str
    paper: str
    experiment: str
    methods: list[str]
    task: str
    metric: str
    unit: str | None
    where: dict[str, Any]


class PaperJob(TypedDict):
    """All drawings of a paper, and the other entries of its manifest."""

    paper: dict[str, Any]
    run: dict[str, Any]
    results: str
    drawings: list[DrawingJob | ClaimTableJob]


def figure_folder(results: Path, paper: str) -> Path:
    """Return the folder of a paper's figures and tables."""
    return results / "figures" / paper
