"""Interface between the runner and each kind of method, for one cell at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shuffledp.pipeline.experiments.job_parts import Job

Row = dict[str, Any]


def value_row(metric: str, kind: str, value: float, repeat: int = 0) -> Row:
    """Return a row for the values of a cell."""
    return {"metric": metric, "kind": kind, "repeat": repeat, "value": float(value)}


@dataclass
class Work(ABC):
    """Base class of jobs of one kind; ``results`` is the folder with the curves of training runs."""

    job: Job
    prepared: Path
    root: Path
    results: Path | None

    @property
    @abstractmethod
    def accountings(self) -> tuple[str, ...]:
        """Accountings of the method."""

    @abstractmethod
    def labels(self) -> Row:
        """Return the entries that all cells have in common."""

    @abstractmethod
    def cell(
        self, point: Mapping[str, Any], accounting: str, resolved: Mapping[str, Any]
    ) -> tuple[Row, list[Row]]:
        """Return the entries of a cell and its rows of values. Raise `Infeasible` if no parameters meet the budget."""

    @property
    def data(self) -> tuple[str, str]:
        """Source of the data, and the note that figures must show."""
        return "none", ""

    @property
    def details(self) -> dict[str, Any]:
        """Further entries of provenance about the data, for example the user's files with their checksums."""
        return {}
